"""Journeys: the project's own hold, what does not hold is told, and what is no journey is refused."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.corpus import SHIPPED
from em_pipelines.evaluation.journeys import read_journeys, travel
from em_pipelines.pipeline import opener
from em_pipelines.settings import load_settings

OWN = SHIPPED / "journeys"
GOLD = Path(__file__).parents[2].parent / "shared" / "gold" / "journeys"


@pytest.mark.parametrize("name", ["not_a_fact", "days_ahead"])
def test_what_must_hold_on_the_days_of_a_journey_holds(name: str) -> None:
    (journey,) = read_journeys([OWN / f"{name}.expect.json"])
    assert travel(journey, opener(load_settings()))["failed"] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(OWN.glob("*.expect.json")), ids=lambda path: path.name.split(".")[0])
def test_all_of_the_projects_own_journeys_hold(path: Path) -> None:
    assert travel(read_journeys([path])[0], opener(load_settings()))["failed"] == []


@pytest.mark.slow
@pytest.mark.skipif(not GOLD.exists(), reason="the labelled journeys are not here")
def test_labelled_journeys_hold() -> None:
    failed = {journey.name: travel(journey, opener(load_settings()))["failed"] for journey in read_journeys([GOLD])}
    assert not any(failed.values()), failed


@pytest.fixture
def small(tmp_path: Path) -> Path:
    said = {
        "user_id": "ida", "session_id": "s", "turn_number": 0, "role": "user", "content": "I live in Porto.",
        "timestamp": "2026-03-01T10:00:00Z",
    }  # fmt: skip
    (tmp_path / "small.jsonl").write_bytes(orjson.dumps(said))
    return tmp_path / "small.expect.json"


def expect(path: Path, **check: Any) -> Path:
    path.write_bytes(orjson.dumps({"user_id": "ida", "checks": [{"as_of": "2026-03-02", **check}]}))
    return path


def test_an_opening_that_does_not_come_is_told(small: Path) -> None:
    said = {
        "user_id": "ida", "session_id": "s", "turn_number": 0, "role": "user",
        "content": "My exam is on 3 March.", "timestamp": "2026-03-01T10:00:00Z",
    }  # fmt: skip
    (small.parent / "small.jsonl").write_bytes(orjson.dumps(said))
    path = expect(small, reminded=["exam", "a unicorn"], not_reminded=["exam", "a unicorn"])
    found = travel(read_journeys([path.parent])[0], opener(load_settings()))
    assert found["passed"] == 2
    assert [(f["expected"], f["text"]) for f in found["failed"]] == [
        ("reminded", "a unicorn"),
        ("not_reminded", "exam"),
    ]


def test_what_does_not_hold_is_told_with_its_day(small: Path) -> None:
    home = {"subject": "user", "relation": "lives_in", "object": "Porto", "polarity": 1}
    path = expect(small, present=[home, home | {"min_confidence": 0.95}], absent=[home, home | {"object": "Rome"}])
    found = travel(read_journeys([path.parent])[0], opener(load_settings()))
    assert found["passed"] == 2
    assert [(f["expected"], f.get("min_confidence")) for f in found["failed"]] == [("present", 0.95), ("absent", None)]
    assert all(f["as_of"] == "2026-03-02" for f in found["failed"])


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"user_id": "a"}', b'{"user_id": "a", "checks": [{}]}'], ids=repr)
def test_what_is_no_journey_is_refused(small: Path, text: bytes) -> None:
    small.write_bytes(text)
    with pytest.raises(UsageError, match="reading"):
        read_journeys([small])


def test_a_folder_without_journeys_and_a_journey_without_log_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no NAME"):
        read_journeys([tmp_path])
    with pytest.raises(UsageError, match="would hold the log"):
        read_journeys([expect(tmp_path / "other.expect.json")])
