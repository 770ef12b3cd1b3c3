"""The same in other words is one thing; what differs in a number, a name, a denial or what it is about is two."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from em_pipelines.governance.audit.why import why
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.resolution.linking import compare
from em_pipelines.resolution.name_parts import parse_name
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

SAME = [
    ("rowing in the mornings", "rowing"),
    ("rowing every Tuesday evening", "rowing"),
    ("fishing", "go fishing"), ("sew", "sewing"),
    ("very strong coffee", "strong coffee"), ("stories", "story"), ("cookies", "cookie"), ("shoes", "shoe"),
    ("tomatoes", "tomato"), ("glasses of milk", "milk glass"), ("going for a ski", "skiing"),
    ("jogging", "going for jogs"), ("jogging", "jog"), ("running", "running every morning"), ("running", "runs"),
    ("going for a swim", "swimming on Sundays"), ("having a swim", "swim daily"), ("doing yoga", "yoga"),
    ("coffee cup", "cup of coffee"), ("a coffee cup", "cups of coffee"), ("baking bread", "bread baking"),
    ("long walks in the forest", "going for long forest walks"), ("new laptop for work", "new work laptop"),
    ("playing board games", "play board games"), ("growing tomatoes", "grow tomatoes"),
    ("learn Danish", "learning Danish"), ("learn how to knit", "learn knitting"), ("learn to knit", "learning to knit"),
    ("my grandmother's apple pie", "the apple pie of my grandmother"), ("taking photos", "take photographs"),
    ("documentaries about rivers", "watching documentaries about rivers"), ("jazz", "listening to jazz"),
    ("herring", "eating herring"), ("movies", "watching films"), ("getting up early", "get up early"),
    ("painting the small old wooden boat in the shed", "painting the old wooden boat in the shed"),
]  # fmt: skip
OTHER = [
    ("rowing in the morning fog", "rowing"),
    ("fishing", "fish"), ("gardening", "garden"), ("shopping", "shops"), ("training", "trains"), ("gaming", "games"),
    ("animals", "animation"), ("university", "universe"), ("organs", "organizations"), ("general", "generous"),
    ("skiing", "ski"), ("painting", "paint"), ("dating", "dates"), ("news", "new"), ("go fishing", "fish"),
    ("running", "running a shop"), ("two cats", "three cats"), ("running 5 km", "running 10 km"), ("tea", "iced tea"),
    ("coffee", "coffee cups"), ("cake of Anna", "cake of Maria"), ("hot weather", "cold weather"),
    ("indoor climbing", "outdoor climbing"), ("cooking", "cooking shows"), ("playing football", "watching football"),
    ("football", "watching football"), ("beach", "beach volleyball"), ("learn Spanish", "learn Danish"),
    ("buy a house", "sell a house"), ("move in", "move out"), ("moving", "moving out"), ("getting up", "going up"),
    ("teach children", "teach adults"), ("dogs", "hot dogs"), ("red wine", "white wine"),
    ("being alone", "being together"),
    ("eating meat", "not eating meat"), ("cooking with meat", "cooking without meat"), ("art", "art history"),
    ("modern art", "ancient art"), ("getting up early", "getting up late"), ("early mornings", "early evenings"),
    ("board games", "video games"), ("quit smoking", "start smoking"), ("open a bakery", "close the bakery"),
    ("skiing", "water skiing"), ("race horse", "horse race"), ("reading", "reading out loud"),
    ("my first novel", "novel"),
    ("swimming in the sea", "sea view"), ("house in Rome", "house in Riga"), ("Java", "Javanese dancing"),
    ("paint the small boat in the old shed", "paint the big boat in the old shed"), ("half a marathon", "marathon"),
    ("paint the boat in the old wooden shed twice a year", "do not paint the boat in the old wooden shed twice a year"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_one_thing(one: str, other: str) -> None:
    for left, right in ((one, other), (other, one)):
        verdict = compare(parse_name(left, "concept"), parse_name(right, "activity"))
        assert verdict is not None
        assert verdict.score >= 0.9


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_is_near_and_another_thing_stays_two(one: str, other: str) -> None:
    for left, right in ((one, other), (other, one)):
        verdict = compare(parse_name(left, "concept"), parse_name(right, "concept"))
        assert verdict is None or verdict.score < 0.9, verdict


@pytest.mark.parametrize(
    ("one", "other", "kind", "is_same"),
    [
        ("red bike", "red bicycle", "product", True),
        ("bike", "bikes", "product", False),
        ("boarding school", "board schools", "organization", False),
    ],
)
def test_of_things_that_there_may_be_several_of_only_words_cut_short_are_the_same(
    one: str, other: str, kind: str, is_same: bool
) -> None:
    verdict = compare(parse_name(one, kind), parse_name(other, kind))
    assert (verdict is not None and verdict.score >= 0.9) == is_same


def said(place: Path, day: int, content: str) -> Path:
    log = place / f"said-{day}.jsonl"
    message = {
        "user_id": "ada", "session_id": f"s{day}", "turn_number": 0, "role": "user", "content": content,
        "timestamp": f"2026-03-{day:02d}T10:00:00Z",
    }  # fmt: skip
    log.write_text(json.dumps(message) + "\n", encoding="utf-8")
    return log


def run(home: Pipeline, *logs: Path) -> None:
    now = datetime(2026, 4, 1, tzinfo=UTC)
    for log in logs:
        land([log], home.store.log, now=now, settings=home.settings.landing)
        for step in home.steps.values():
            home.store.run_days(step, home.store.stale_days(step))


def test_told_again_in_other_words_a_fact_grows_and_says_so(tmp_path: Path) -> None:
    first = said(tmp_path, 2, "I enjoy jogging.")
    second = said(tmp_path, 3, "I love to go for a jog because it clears my head.")
    home, late = (Pipeline(load_settings(home=tmp_path / name)) for name in ("home", "late"))
    run(home, first, second)
    (fact,) = facts(home.store, FactQuery("ada", date(2026, 3, 3)), home.settings.decay)
    assert fact["reinforcement_count"] == 1
    assert fact["statement"] == "I love to go for a jog because it clears my head"
    told = why(home.store.lake, fact["edge_id"], date(2026, 3, 3), home.settings.decay)
    assert told is not None
    assert [change["method"] for change in told["entities"][1]["changes"]] == ["rewording"]
    assert len(told["entities"][1]["names"]) == 2
    run(late, second, first)
    assert state_hash(late.store, late.settings.decay) == state_hash(home.store, home.settings.decay)


@pytest.mark.slow
def test_what_somebody_takes_apart_is_two_things_again(tmp_path: Path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    run(home, said(tmp_path, 2, "I enjoy jogging."), said(tmp_path, 3, "I love to go for a jog."))
    (fact,) = facts(home.store, FactQuery("ada", date(2026, 3, 3)), home.settings.decay)
    told = why(home.store.lake, fact["edge_id"], date(2026, 3, 3), home.settings.decay)
    assert told is not None
    names = told["entities"][1]["names"]
    split = tmp_path / "split.jsonl"
    feedback = {"kind": "feedback", "type": "split", "user_id": "ada", "timestamp": "2026-03-04T10:00:00Z"}
    split.write_text(json.dumps({**feedback, "entities": names}) + "\n", encoding="utf-8")
    run(home, split, said(tmp_path, 5, "I love to go for a jog."))
    rows = facts(home.store, FactQuery("ada", date(2026, 3, 5)), home.settings.decay)
    assert {row["object"] for row in rows if row["relation"] == "likes"} == set(names)
