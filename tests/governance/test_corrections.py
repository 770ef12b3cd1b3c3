"""What people say is right: effective at once, folded for good, and so after another extractor has read it all."""

import dataclasses
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.governance.corrections import Corrections
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Extraction, LocalExtractor, Segment
from em_pipelines.settings import load_settings

SAID = (
    "I live in Porto. I like jazz.",
    "My sister Dana lives in Vienna. Dana likes Eames chairs.",
    "I own a kiln. I like pottery.",
)


class Rewording(LocalExtractor):
    """The rules under another version, wording some objects a little differently, as another prompt would."""

    name = "rules"
    version = "another"

    def __init__(self) -> None:
        self._rules = RulesExtractor()

    def extract(self, segment: Segment) -> Extraction:
        found = self._rules.extract(segment)
        names = {"jazz": "jazz music", "Eames chairs": "Eames chair", "kiln": "pottery kiln"}
        claims = [dataclasses.replace(c, object=names.get(c.object or "", c.object)) for c in found.claims]
        return dataclasses.replace(found, claims=claims, mentions=[])


class OtherHome(Pipeline):
    extractor = Rewording()


def materialize(home: Pipeline) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which ida said all that; only copies of it are changed."""
    folder = tmp_path_factory.mktemp("made")
    found = Pipeline(load_settings(home=folder / "home"))
    lines = [
        {
            "user_id": "ida", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": text,
            "timestamp": f"2026-03-0{n + 1}T10:00:00Z",
        }
        for n, text in enumerate(SAID)
    ]  # fmt: skip
    path = folder / "log.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    land([path], found.store.log, now=datetime.now(UTC), settings=found.settings.landing)
    materialize(found)
    return found.path


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Pipeline:
    shutil.copytree(made, tmp_path / "home")
    return Pipeline(load_settings(home=tmp_path / "home"))


def standing(home: Pipeline, user: str = "ida") -> set[tuple[str, str, str]]:
    return {(f["subject"], f["relation"], f["object"]) for f in Corrections(home, user).known(is_all=False)}


def fact(home: Pipeline, relation: str, object_: str) -> dict[str, Any]:
    known = Corrections(home, "ida").known(is_all=False)
    return next(f for f in known if (f["relation"], f["object"]) == (relation, object_))


def test_a_correction_is_seen_at_once_and_folded_to_the_same(home: Pipeline) -> None:
    said = Corrections(home, "ida")
    said.correct(fact(home, "lives_in", "Porto"), "Lisbon")
    said.correct({"subject": "Dana", "relation": "lives_in"}, "Graz")
    said.retract(fact(home, "likes", "Eames chairs"))
    said.confirm(fact(home, "owns", "kiln"))
    before = said.known()
    assert {("user", "lives_in", "Lisbon"), ("Dana", "lives_in", "Graz")} <= standing(home)
    assert not {("user", "lives_in", "Porto"), ("Dana", "likes", "Eames chairs")} & standing(home)
    assert fact(home, "owns", "kiln")["confidence"] == 1.0
    materialize(home)
    assert [f | {"provenance": None} for f in said.known()] == [f | {"provenance": None} for f in before]


@pytest.mark.slow
def test_a_corrected_fact_stays_corrected_when_another_extractor_reads_everything_anew(home: Pipeline) -> None:
    said = Corrections(home, "ida")
    said.correct(fact(home, "lives_in", "Porto"), "Lisbon")
    said.correct(fact(home, "likes", "jazz"), "blues")
    said.retract(fact(home, "likes", "Eames chairs"))
    materialize(home)
    other = OtherHome(home.settings)
    assert other.store.stale_days(other.steps["extraction"]), "another version puts every day out of date"
    materialize(other)
    found = standing(other)
    assert {("user", "lives_in", "Lisbon"), ("user", "likes", "blues"), ("user", "owns", "pottery kiln")} <= found
    assert {o for s, r, o in found if (s, r) == ("user", "lives_in")} == {"Lisbon"}
    assert {o for s, r, o in found if r == "likes"} == {"blues", "pottery"}


def test_what_is_taken_back_gives_back_what_it_displaced(home: Pipeline) -> None:
    said = Corrections(home, "ida")
    said.correct({"relation": "lives_in"}, "Lisbon")
    said.retract(fact(home, "lives_in", "Lisbon"))
    assert ("user", "lives_in", "Porto") in standing(home)
    materialize(home)
    assert ("user", "lives_in", "Porto") in standing(home)


def test_facts_are_found_by_their_words(home: Pipeline) -> None:
    said = Corrections(home, "ida")
    assert [f["object"] for f in said.matching("dana chairs")] == ["Eames chairs"]
    assert said.matching("submarine") == []
    with pytest.raises(UsageError, match="the text is empty"):
        said.matching("  ")


@pytest.mark.slow
def test_names_that_are_joined_are_read_as_one_and_parted_again(home: Pipeline) -> None:
    before = standing(home)
    said = Corrections(home, "ida")
    said.merge("Dana", "Danuta", rename=True)
    assert ("Danuta", "lives_in", "Vienna") in standing(home)
    materialize(home)
    assert ("Danuta", "lives_in", "Vienna") in standing(home)
    said.split("Dana", "Danuta")
    assert standing(home) == before
    materialize(home)
    assert standing(home) == before


@pytest.mark.slow
def test_facts_move_to_a_thing_of_their_own(home: Pipeline) -> None:
    said = Corrections(home, "ida")
    said.split("Dana", into="Dana Kowal", facts=[fact(home, "lives_in", "Vienna")])
    materialize(home)
    found = standing(home)
    assert ("Dana Kowal", "lives_in", "Vienna") in found
    assert ("Dana", "lives_in", "Vienna") not in found
    assert ("Dana", "likes", "Eames chairs") in found


def test_facts_that_an_agent_adds_are_checked_like_others(home: Pipeline) -> None:
    facts = [
        {"relation": "speaks", "object": "Portuguese", "confidence": 1.0},
        {"relation": "has_condition", "object": "diabetes"},
        {"relation": "has_attribute", "attribute": "password", "object": "hunter2hunter2"},
    ]
    Corrections(home, "ida")._give("add_facts", {"facts": facts})
    found = {f["object"]: f for f in Corrections(home, "ida").known()}
    assert found["Portuguese"]["confidence"] == 0.9
    assert not any("diabetes" in o or "hunter2" in o for o in found)


@pytest.mark.parametrize("edge_id", ["edge_", "edge_zzz", ""])
def test_an_id_that_names_no_single_fact_is_an_error(home: Pipeline, edge_id: str) -> None:
    with pytest.raises(UsageError, match=r"fact"):
        Corrections(home, "ida").fact(edge_id)


def test_nobody_corrects_the_facts_of_another(home: Pipeline) -> None:
    theirs = fact(home, "lives_in", "Porto")["edge_id"]
    with pytest.raises(UsageError, match="no fact"):
        Corrections(home, "eve").fact(theirs)
    Corrections(home, "eve").retract({"edge_id": theirs, **dict.fromkeys(("subject", "relation", "object"), "likes"),
                                      "polarity": 1})  # fmt: skip
    materialize(home)
    assert ("user", "lives_in", "Porto") in standing(home)


@pytest.mark.slow
def test_twelve_writers_at_once_lose_no_feedback(home: Pipeline) -> None:
    def give(number: int) -> str:
        one = Corrections(Pipeline(home.settings), "ida")
        return one.correct({"relation": "has_attribute", "attribute": f"key {number}"}, f"value {number}").feedback_id

    with ThreadPoolExecutor(12) as pool:
        given = set(pool.map(give, range(24)))
    landed = {r["feedback_id"] for day in home.store.log.days("feedback") for r in home.store.log.read("feedback", day)}
    assert len(given) == 24
    assert given <= landed
    assert sum(o.startswith("key ") for _, _, o in standing(home)) == 24
