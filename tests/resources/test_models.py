"""Ladder, gateway, store and client together, against a real server that fails in every way it knows."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.breakers import BreakerState
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.ladder import Climb, Outcome, climb
from em_pipelines.llm.ladder_state import LadderStore
from em_pipelines.llm.protocol import ChatAnswer
from em_pipelines.llm.settings import LlmSettings
from resources.models import Watch, answers_path, open_models
from tests.model_server.questions import question
from tests.model_server.script import (
    Call,
    Script,
    Step,
    answer,
    by_attempt,
    dropped,
    failed,
    garbage,
    hang,
    malformed,
    rate_limited,
    with_faults,
)
from tests.model_server.server import ModelServer

ROOT = Path(__file__).parents[2]
N_SEGMENTS = 60


def read(found: ChatAnswer) -> Any:
    if found.finish_reason != "stop":
        raise UnusableAnswerError("reading an answer: it was cut; ask again")
    try:
        return json.loads(found.text)
    except ValueError:
        raise UnusableAnswerError("reading an answer: no JSON; ask again") from None


def echo(call: Call) -> Step:
    return answer({"segment": call.messages[-1]["content"].split(": ")[-1]})


def climbed(
    home: Path, server: ModelServer, n_segments: int, watch: Watch | None = None, **changes: Any
) -> list[Climb[Any]]:
    """Climbs for each segment, all at once, with a clock that does not wait."""
    settings = LlmSettings(**{"base_url": server.base_url, "small": "small", "timeout_seconds": 5, **changes})

    async def climbing() -> list[Climb[Any]]:
        async with open_models(home, settings, SecretStr("k"), clock=ManualClock(), watch=watch) as models:

            async def one(number: int) -> Climb[Any]:
                contexts = ["all", "all", "half", "none"]
                return await climb(
                    [lambda c=c: question(f"{c}: {number}", reference=f"seg_{number}") for c in contexts],
                    read,
                    gateway=models.gateway,
                    store=models.store,
                    clock=models.clock,
                    settings=settings.retries,
                )

            return await asyncio.gather(*map(one, range(n_segments)))

    return asyncio.run(climbing())


def test_one_call_in_ten_failing_and_two_in_ten_cut_lose_nothing_and_change_nothing(home_path: Path) -> None:
    watch = Watch()
    with ModelServer(echo) as server:
        climbed(home_path.parent / "before", server, 1, watch)  # so that the format is known
        server.script, n_before = with_faults(echo, seed=1), server.n_calls
        found = climbed(home_path, server, N_SEGMENTS, watch)
        assert {each.outcome for each in found} <= {Outcome.ANSWERED, Outcome.EXHAUSTED}, "none is left over"
        while any(each.outcome is Outcome.EXHAUSTED for each in found):
            replay(home_path)
            found = climbed(home_path, server, N_SEGMENTS, watch)
        assert [each.value for each in found] == [{"segment": str(number)} for number in range(N_SEGMENTS)]
        n_calls = server.n_calls
        assert [each.value for each in climbed(home_path, server, N_SEGMENTS)] == [each.value for each in found]
        assert server.n_calls == n_calls, "a re-run pays nothing"
    with AnswerStore(answers_path(home_path)) as store:
        outcomes = Counter((call.outcome, call.error_type) for call in store.calls() if not call.is_cache_hit)
    assert sum(outcomes.values()) == n_calls - n_before
    assert outcomes["ok", None] == N_SEGMENTS
    assert outcomes["failed", "ModelUnavailableError"] >= 2
    assert outcomes["failed", "UnusableAnswerError"] >= 5


def replay(home: Path) -> None:
    """Lets every dead letter begin again."""
    with AnswerStore(answers_path(home)) as store:
        ladders = LadderStore(store.database)
        for place in ladders.exhausted():
            assert ladders.reset(place.user_id, place.reference) == 1


def test_what_ends_as_a_dead_letter_is_as_without_faults_after_a_replay(home_path: Path) -> None:
    def script(call: Call) -> Step:
        return malformed("{}") if is_broken and call.messages[-1]["content"].endswith(": 3") else echo(call)

    with ModelServer(script) as server:
        is_broken = True
        found = climbed(home_path, server, 6)
        assert [each.outcome for each in found].index(Outcome.EXHAUSTED) == 3
        is_broken = False
        replay(home_path)
        again = climbed(home_path, server, 6)
        assert [each.value for each in again] == [{"segment": str(number)} for number in range(6)]
        assert again[3].rung == 0


@pytest.mark.parametrize(
    "step", [failed(500), failed(503), dropped(), garbage(), malformed('{"a": 1}'), rate_limited(3)],
    ids=["500", "503", "dropped", "garbage", "malformed", "rate-limited"],
)  # fmt: skip
def test_one_mishap_of_each_kind_is_mended_by_the_next_rung(step: Step, home_path: Path) -> None:
    with ModelServer(by_attempt(step, answer({"fine": True}))) as server:
        (found,) = climbed(home_path, server, 1)
        assert (found.outcome, found.value) == (Outcome.ANSWERED, {"fine": True})
        # A server that fails at the first call is asked in the other formats, too: it may fail at the format.
        assert server.n_calls == (4 if step.status == 500 else 2)


def test_a_hanging_endpoint_is_given_up_and_the_work_is_put_off(home_path: Path) -> None:
    with ModelServer([hang()]) as server:
        found = climbed(home_path, server, 3, timeout_seconds=0.02, n_awaited_trials=0)
        assert {each.outcome for each in found} == {Outcome.PENDING}
        server.script = echo
        assert {each.outcome for each in climbed(home_path, server, 3)} == {Outcome.ANSWERED}


def test_an_endpoint_that_is_down_is_left_alone_after_its_trials(home_path: Path) -> None:
    with ModelServer([failed(500)]) as server:
        found = climbed(home_path, server, 40)
        assert {each.outcome for each in found} == {Outcome.PENDING}
        assert server.n_calls < 20
        server.script = echo
        server.calls.clear()
        assert {each.outcome for each in climbed(home_path, server, 40)} == {Outcome.ANSWERED}
        assert server.n_calls == 40, "each is asked at its first rung again, once"


def test_a_wrong_key_stops_all_work_and_fails_none_of_it(home_path: Path) -> None:
    with ModelServer(echo, api_key="another") as server:
        found = climbed(home_path, server, 5, max_concurrent_calls=1)
        assert {(each.outcome, each.error_type) for each in found} == {(Outcome.PENDING, "ModelRefusedError")}
        with AnswerStore(answers_path(home_path)) as store:
            assert LadderStore(store.database).exhausted() == []


KILLED = """
import asyncio, sys
from pathlib import Path
from pydantic import SecretStr
from em_pipelines.llm.settings import LlmSettings
from resources.models import open_models
from tests.model_server.questions import question

async def ask():
    settings = LlmSettings(base_url=sys.argv[2], small="small", max_concurrent_calls=2)
    async with open_models(Path(sys.argv[1]), settings, SecretStr("k")) as models:
        await asyncio.gather(*(models.gateway.complete(question(str(number))) for number in range(30)))

asyncio.run(ask())
"""


@pytest.mark.slow
def test_a_killed_process_pays_again_for_what_was_under_way_and_for_nothing_else(home_path: Path) -> None:
    running: list[subprocess.Popen[bytes]] = []

    def script(call: Call) -> Step:
        if call.number in {8, 17}:
            os.kill(running[-1].pid, signal.SIGKILL)
        return answer({"n": call.number})

    command = [sys.executable, "-c", KILLED, str(home_path)]
    with ModelServer(script) as server:
        codes = []
        for _ in range(3):
            running.append(subprocess.Popen([*command, server.base_url], cwd=ROOT))
            codes.append(running[-1].wait())
        assert codes == [-9, -9, 0]
        assert len({call.prompt for call in server.calls}) == 30
        assert server.n_calls <= 30 + 2 * 2, "at most the calls that were at work when it was killed"
    with AnswerStore(answers_path(home_path)) as store:
        assert store.n_answered("small") == 30


def test_the_state_of_the_breaker_can_be_read_for_a_metric(home_path: Path) -> None:
    async def state(script: Script, n_calls: int) -> BreakerState:
        with ModelServer(script) as server:
            settings = LlmSettings(base_url=server.base_url, small="small", n_awaited_trials=0)
            async with open_models(home_path, settings, SecretStr("k"), clock=ManualClock()) as models:
                for number in range(n_calls):
                    await asyncio.gather(models.gateway.complete(question(str(number))), return_exceptions=True)
                return models.breakers.of("small").state

    assert asyncio.run(state(lambda _: failed(), 3)) is BreakerState.OPEN
    assert asyncio.run(state(echo, 3)) is BreakerState.CLOSED
