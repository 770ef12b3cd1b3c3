"""A night: outcomes in the log of the next day, budgets, kills, repeats, and what stops it."""

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import (
    BreakerOpenError,
    BudgetSpentError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
    UsageError,
)
from em_pipelines.lifecycle.revision.model import NO_USABLE_ANSWER, Finding, NullVerifier, Outcome
from em_pipelines.lifecycle.revision.night import NightReport, due, night_before, revise, run_night
from em_pipelines.lifecycle.revision.outcomes import append, asked_before, record_of
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.feedback_payloads import check_payload
from em_pipelines.schema.table import Record
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.settings import load_settings
from tests.lifecycle.revision.worlds import TODAY, YESTERDAY, ScriptedVerifier, World, question_of

NOW = datetime.combine(TODAY, datetime.min.time(), UTC) + timedelta(hours=2)
PLACES = ("Kotor", "Perast", "Budva", "Tivat", "Ulcinj")


@pytest.fixture
def home(home_path: Path) -> Pipeline:
    """A home that knows five stale facts, the first the most used."""
    found = Pipeline(load_settings(home=home_path))
    world = World()
    for number, place in enumerate(PLACES):
        world.fact(f"Korvel {place}", "located_in", place, kinds="organization place", reinforcement_count=9 - number)
    found.store.lake.write(CURRENT_EDGES, YESTERDAY, world.edges)
    found.store.lake.write(ENTITIES, YESTERDAY, world.entities)
    return found


def night(home: Pipeline, verifier: Any, as_of: date = YESTERDAY, **changes: Any) -> NightReport:
    settings = home.settings.revision.model_copy(update={"is_enabled": True, **changes})

    def write(day: date, records: Sequence[Record]) -> None:
        append(home.store.log, day, records)

    return asyncio.run(revise(home.store, verifier, as_of, settings, write))


def outcomes(home: Pipeline, day: date = TODAY) -> list[dict[str, Any]]:
    return [orjson.loads(record["payload"]) for record in home.store.log.read("feedback", day)]


def log_files(home: Pipeline) -> dict[str, bytes]:
    return {str(p.relative_to(home.path)): p.read_bytes() for p in sorted((home.path / "log").rglob("*.jsonl"))}


def test_outcomes_are_feedback_of_the_day_after_at_its_first_instant(home: Pipeline) -> None:
    replies = {
        "Kotor": Finding(Outcome.VERIFIED, source="https://example.org/a"),
        "Perast": Finding(Outcome.CHANGED, "Risan", "https://example.org/b"),
        "Budva": Finding(Outcome.UNKNOWN, reason="not_decided"),
    }
    report = night(home, ScriptedVerifier(lambda q: replies[q.object]), max_calls_per_night=3)
    assert report.figures() == {
        "due": 5, "withheld": 0, "asked": 3, "verified": 1, "changed": 1, "unknown": 1, "deferred": 2, "cost_usd": 0.25,
    }  # fmt: skip
    assert report.reasons == {"not_decided": 1}
    (first, second, third) = home.store.log.read("feedback", TODAY)
    assert {r["timestamp"] for r in (first, second, third)} == {"2026-06-01T00:00:00.000000+00:00"}
    assert {(r["user_id"], r["type"], r["session_id"]) for r in (first, second, third)} == {("ada", "revision", None)}
    assert [orjson.loads(r["payload"]) for r in (first, second, third)] == [
        {"edge_id": "edge_00", "subject": "Korvel Kotor", "relation": "located_in", "object": "Kotor",
         "outcome": "verified", "source": "https://example.org/a", "reason": "found", "verifier": "scripted"},
        {"edge_id": "edge_01", "subject": "Korvel Perast", "relation": "located_in", "object": "Perast",
         "outcome": "changed", "new_object": "Risan", "source": "https://example.org/b", "reason": "found",
         "verifier": "scripted"},
        {"edge_id": "edge_02", "subject": "Korvel Budva", "relation": "located_in", "object": "Budva",
         "outcome": "unknown", "reason": "not_decided", "verifier": "scripted"},
    ]  # fmt: skip
    for payload in outcomes(home):
        check_payload("revision", payload)


def test_a_literal_says_its_attribute() -> None:
    question = question_of(relation="has_attribute", attribute="price", object="499 euros", object_type=None)
    finding = Finding(Outcome.CHANGED, "449 euros", "https://example.org/a")
    payload = orjson.loads(record_of(question, finding, "m")["payload"])
    assert (payload["attribute"], payload["object"], payload["new_object"]) == ("price", "499 euros", "449 euros")


def test_landed_outcomes_become_rows_of_the_day_after(home: Pipeline) -> None:
    night(home, ScriptedVerifier())
    home.store.run_days(home.steps["feedback"], home.store.days(home.steps["feedback"]))
    assert home.store.lake.days(FEEDBACK) == [TODAY]
    assert home.store.lake.read(FEEDBACK, TODAY).num_rows == 5


def test_the_same_night_again_asks_and_appends_nothing(home: Pipeline) -> None:
    night(home, ScriptedVerifier())
    before, again = log_files(home), ScriptedVerifier()
    report = night(home, again)
    assert (again.asked, report.figures()["due"]) == ([], 0)
    assert log_files(home) == before


def test_a_night_that_was_killed_goes_on_and_ends_as_an_undisturbed_one(home: Pipeline) -> None:
    n_asked = 0

    def killed(question: Any) -> Finding:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 3:
            raise KeyboardInterrupt
        return Finding(Outcome.VERIFIED)

    with pytest.raises(KeyboardInterrupt):
        night(home, ScriptedVerifier(killed))
    assert len(outcomes(home)) == 2
    again = ScriptedVerifier(lambda q: Finding(Outcome.VERIFIED))
    night(home, again)
    assert [q.edge_id for q in again.asked] == ["edge_02", "edge_03", "edge_04"]
    assert [o["edge_id"] for o in outcomes(home)] == [f"edge_{n:02}" for n in range(5)]


def test_a_spent_night_defers_the_rest_to_the_next_which_goes_on_where_it_stopped(home: Pipeline) -> None:
    first = night(home, ScriptedVerifier(), max_calls_per_night=2)
    assert (first.n_asked, first.n_deferred) == (2, 3)
    assert "max_calls_per_night" in first.put_off["budget"]
    assert night(home, ScriptedVerifier(), max_calls_per_night=2).n_asked == 0, "the same night has no more to spend"
    second = ScriptedVerifier()
    night(home, second, as_of=TODAY, max_calls_per_night=2)
    assert [q.edge_id for q in second.asked] == ["edge_02", "edge_03"]
    assert len(outcomes(home, TODAY + timedelta(days=1))) == 2


@pytest.mark.parametrize("error", [BudgetSpentError("spent"), BreakerOpenError("open"), RateLimitedError("later")])
def test_where_asking_on_is_of_no_use_the_rest_is_deferred_and_it_is_said(home: Pipeline, error: Any) -> None:
    verifier = ScriptedVerifier(lambda q: error if q.object == "Perast" else Finding(Outcome.VERIFIED))
    report = night(home, verifier)
    assert (report.n_asked, report.n_deferred, len(verifier.asked)) == (1, 4, 2)
    assert report.put_off == {type(error).__name__: str(error)}
    assert len(outcomes(home)) == 1


def test_one_question_that_fails_holds_up_no_other_and_is_asked_in_the_next_run(home: Pipeline) -> None:
    down = ModelUnavailableError("down")
    report = night(home, ScriptedVerifier(lambda q: down if q.object == "Perast" else Finding(Outcome.VERIFIED)))
    assert (report.n_asked, report.n_deferred) == (4, 1)
    again = ScriptedVerifier()
    night(home, again)
    assert [q.object for q in again.asked] == ["Perast"]


def test_a_refused_key_is_an_error_and_what_was_found_before_is_kept(home: Pipeline) -> None:
    verifier = ScriptedVerifier(
        lambda q: ModelRefusedError("wrong key") if q.object == "Perast" else Finding(Outcome.VERIFIED)
    )
    with pytest.raises(ModelRefusedError):
        night(home, verifier)
    assert len(outcomes(home)) == 1


@pytest.mark.parametrize(
    ("reply", "n_recorded"),
    [(RequestRefusedError("no such tool"), 0), (Finding(Outcome.UNKNOWN, reason=NO_USABLE_ANSWER), 3)],
)
def test_an_endpoint_of_which_nothing_comes_is_asked_three_times_and_no_more(
    home: Pipeline, reply: Any, n_recorded: int
) -> None:
    verifier = ScriptedVerifier(lambda _: reply)
    report = night(home, verifier)
    assert (len(verifier.asked), len(outcomes(home))) == (3, n_recorded)
    assert "check revision.api" in report.put_off["fruitless"]


def test_without_a_verifier_nothing_is_selected_and_that_is_said(home: Pipeline) -> None:
    report = night(home, NullVerifier())
    assert (report.n_due, report.n_asked, report.note) == (0, 0, NullVerifier.note)
    assert log_files(home) == {}


def test_the_null_verifier_knows_nothing() -> None:
    assert asyncio.run(NullVerifier().verify(question_of())).outcome is Outcome.UNKNOWN


def test_a_home_without_facts_has_nothing_due(home_path: Path) -> None:
    home = Pipeline(load_settings(home=home_path))
    assert due(home.store, YESTERDAY, home.settings.revision).questions == ()


def test_a_later_night_reads_the_newest_state_before_it(home: Pipeline) -> None:
    assert len(due(home.store, TODAY + timedelta(days=5), home.settings.revision).questions) == 5
    assert due(home.store, YESTERDAY - timedelta(days=1), home.settings.revision).questions == ()


def test_outcomes_are_remembered_as_long_as_they_matter(home: Pipeline) -> None:
    night(home, ScriptedVerifier())
    log = home.store.log
    assert len(asked_before(log, TODAY, 1)) == 5
    assert len(asked_before(log, TODAY + timedelta(days=89), 90)) == 5
    assert asked_before(log, TODAY + timedelta(days=90), 90) == []
    assert asked_before(log, YESTERDAY, 90) == [], "what comes later is not known yet"


def test_a_night_runs_under_its_lock_for_the_day_that_has_ended_last(home: Pipeline) -> None:
    verifier = ScriptedVerifier()

    @asynccontextmanager
    async def opened(_: Any) -> Any:
        with pytest.raises(Exception, match="revision lock"), home.lock("revision", timeout_seconds=0):
            pass
        yield verifier

    report = run_night(home, opened, NOW)
    assert (report.as_of, report.n_asked) == (YESTERDAY, 5)
    assert len(outcomes(home)) == 5
    assert night_before(NOW) == YESTERDAY
    with pytest.raises(UsageError, match="has not ended"):
        run_night(home, opened, NOW, TODAY)
