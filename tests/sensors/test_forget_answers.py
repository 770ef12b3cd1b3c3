"""The job that forgets what models answered: dropped, and the days put out of date, for the sensor to make again."""

from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any

import dagster as dg
import pytest

from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.schema.tables.extraction import LLM_CALLS
from tests.model_server.questions import question
from tests.sensors.conftest import QUIET

DAYS = ("2026-03-01", "2026-03-02")
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def asked_on(world: Any, day: str) -> ChatRequest:
    """A question about a day, answered, with its call among the rows of the day."""
    request = question(day, user_id="ada", reference=f"seg_{day}", at=datetime.fromisoformat(f"{day}T10:00:00Z"))
    with AnswerStore(world.home.answers) as store:
        store.save(request, ChatAnswer(request.key, "{}", "stop", 4, 1, 5.0, 0.25), NOW)
        calls = [asdict(call) for call in store.calls_of("ada", request.reference)]
    world.home.store.lake.write(LLM_CALLS, date.fromisoformat(day), LLM_CALLS.from_rows(calls))
    return request


def run(world: Any, **config: str) -> dg.ExecuteInProcessResult:
    return world.definitions.resolve_job_def("forget_answers").execute_in_process(
        instance=world.instance,
        run_config={**QUIET, "ops": {"drop_asked": {"config": config}}},
        raise_on_error=False,
    )


def failure(result: dg.ExecuteInProcessResult) -> str:
    (failed,) = (event for event in result.all_events if event.is_step_failure)
    return str(failed.step_failure_data.user_failure_data or failed.message) + str(failed.event_specific_data)


def test_answers_of_the_days_are_dropped_and_the_days_made_again(world: Any) -> None:
    world.land(*DAYS)
    world.make_tables()
    kept, dropped = (asked_on(world, day) for day in DAYS)
    result = run(world, first_day=DAYS[1], last_day=DAYS[1], task="extraction", user="ada", model="small")
    assert result.success
    with AnswerStore(world.home.answers) as store:
        assert [store.answer(one, NOW) is not None for one in (kept, dropped)] == [True, False]
    extraction = world.home.steps["extraction"]
    assert [world.home.store.is_incomplete(extraction, date.fromisoformat(day)) for day in DAYS] == [False, True]
    logged = "".join(str(entry) for entry in world.instance.all_logs(result.run_id))
    assert "1 answer of 1 user forgotten" in logged
    assert run(world, first_day=DAYS[1], last_day=DAYS[1]).success, "nothing is left to forget"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"first_day": "yesterday", "last_day": DAYS[0]}, "give each as YYYY-MM-DD"),
        ({"first_day": DAYS[1], "last_day": DAYS[0]}, "give the earlier day first"),
        ({"first_day": DAYS[0], "last_day": DAYS[0], "model": "tiny"}, "no model 'tiny' was ever asked"),
    ],
)
def test_wrong_input_fails_with_a_sentence(world: Any, config: dict[str, str], told: str) -> None:
    asked_on(world, DAYS[0])
    result = run(world, **config)
    assert (result.success, told in failure(result)) == (False, True)


def test_while_a_run_is_at_work_the_job_fails_and_nothing_is_dropped(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked_on(world, DAYS[0])
    monkeypatch.setattr("em_pipelines.governance.forgotten_answers.WAITS_SECONDS", 0)
    with world.home.lock("run"):
        result = run(world, first_day=DAYS[0], last_day=DAYS[0])
    assert (result.success, "wait for it to end" in failure(result)) == (False, True)
    with AnswerStore(world.home.answers) as store:
        assert store.answer(request, NOW) is not None
