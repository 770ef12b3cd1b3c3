"""Why memory does not know an imported fact: it waits, it was turned away, or it counts and says since when."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.governance.audit.why_not import Asked, why_not
from em_pipelines.governance.corrections import Corrections
from em_pipelines.governance.review import Review, Wanted
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.facts import waiting_feedback
from em_pipelines.settings import load_settings

CARD = "BEGIN:VCARD\nVERSION:4.0\nFN:Tilda Moor\nTITLE:Saddler\nEND:VCARD\n"
NOTE = "My cousin Wim lives in Delft.\n"


def materialize(home: Pipeline) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


def review(home: Pipeline) -> Review:
    return Review(home, home.settings.safety, home.settings.review.trusted_kinds)


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    found = Pipeline(load_settings(home=tmp_path / "home"))
    for name, data in (("cards.vcf", CARD), ("diary.md", NOTE)):
        (tmp_path / name).write_text(data, encoding="utf-8")
        how = {"settings": found.settings.landing, "user_id": "ida"}
        land([tmp_path / name], found.store.log, now=datetime.now(UTC), **how)
    materialize(found)
    return found


def ask(home: Pipeline, text: str) -> dict[str, Any]:
    decay, unfolded = home.settings.decay, waiting_feedback(home.store, "ida", date.max)
    asked = Asked("ida", text, datetime.now(UTC).date(), home.settings.fold.min_storage_confidence, decay, unfolded)
    return why_not(home.store.lake, asked)


def fates(home: Pipeline, text: str) -> tuple[str, set[str]]:
    found = ask(home, text)
    return found["verdict"], {fate["what"] for one in (*found["messages"], *found["feedback"]) for fate in one["fates"]}


@pytest.mark.parametrize("text", ["saddler", pytest.param("delft", marks=pytest.mark.slow)])
def test_what_waits_was_accepted_or_was_folded_is_told_as_it_is(home: Pipeline, text: str) -> None:
    assert fates(home, text) == ("not_known", {"waits_for_a_review"})
    review(home).accept(review(home).waiting())
    assert fates(home, text) == ("known", {"counts_already"})
    materialize(home)
    assert fates(home, text) == ("known", {"known"})


@pytest.mark.parametrize("text", ["saddler", pytest.param("delft", marks=pytest.mark.slow)])
def test_what_was_turned_away_says_how_it_counts_after_all(home: Pipeline, text: str) -> None:
    review(home).reject(review(home).waiting())
    assert fates(home, text) == ("not_known", {"turned_away"})
    found = ask(home, text)
    (told,) = [fate for one in (*found["messages"], *found["feedback"]) for fate in one["fates"] if "fact" not in fate][
        :1
    ]
    assert "`em review accept seed_" in told["reason"]


def test_a_fact_of_a_card_is_told_once(home: Pipeline) -> None:
    review(home).accept(review(home).waiting(Wanted(source_kind="contacts")))
    materialize(home)
    assert [told["type"] for told in ask(home, "saddler")["feedback"]] == ["seed"]


def test_what_a_correction_puts_away_is_not_known_for_that(home: Pipeline) -> None:
    review(home).accept(review(home).waiting())
    materialize(home)
    named = {"subject": "Tilda Moor", "relation": "works_as", "old_object": "Saddler"}
    Corrections(home, "ida").correct(named, "Weaver")
    assert ask(home, "weaver")["verdict"] == "known"
    (_, given) = ask(home, "saddler")["feedback"]
    assert [fate["is_about"] for fate in given["fates"]] == [False]
