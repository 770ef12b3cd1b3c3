"""The ladder: what each rung asks, when it waits, and how it tells work that fails from an endpoint that does."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.errors import (
    AnswerCutError,
    AnswerRefusedError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
    SlowModelError,
    UnusableAnswerError,
)
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.gateway import ModelGateway
from em_pipelines.llm.ladder import Climb, Outcome, climb
from em_pipelines.llm.ladder_state import LadderStore
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings
from tests.llm.scripted import SETTINGS, Reply, ScriptedModel, gateway_to
from tests.model_server.questions import question

DOWN = ModelUnavailableError("asking: HTTP 500; try again")
GOOD = '{"likes": "plums"}'
CUT = '{"likes": "pl'
PATIENT = SETTINGS.model_copy(
    update={"small_breaker": SETTINGS.small_breaker.model_copy(update={"n_failures": 99})}
)  # the ladder by itself, without a breaker in its way


def read(answer: ChatAnswer) -> Any:
    try:
        return json.loads(answer.text)
    except ValueError:
        raise UnusableAnswerError("reading an answer: no JSON; ask again") from None


def rungs(text: str = "turns", **changes: Any) -> list[Any]:
    contexts = ["all the context", "all the context", "half", ""]
    return [lambda context=context: question(f"{context} {text}", **changes) for context in contexts]


class World:
    """A store, a clock, a model and a gateway, of one process."""

    def __init__(
        self, path: Path, clock: ManualClock, replies: Any, settings: LlmSettings = PATIENT, *, is_proven: bool = True
    ) -> None:
        self.store = AnswerStore(path)
        if is_proven:
            self.store.note_usable("small", clock.now())
        self.clock = clock
        self.model = ScriptedModel(replies)
        self.settings = settings
        self.gateway: ModelGateway = gateway_to(self.model, self.store, clock, settings)
        self.failures: list[tuple[int, str]] = []

    def climb(self, *, text: str = "turns", **changes: Any) -> Climb[Any]:
        return asyncio.run(self.climbing(text=text, **changes))

    async def climbing(
        self, *, text: str = "turns", can_be_smaller: bool = False, reads: Any = read, **changes: Any
    ) -> Climb[Any]:
        return await climb(
            rungs(text, **changes),
            reads,
            gateway=self.gateway,
            store=self.store,
            clock=self.clock,
            settings=self.settings.retries,
            on_failure=self.heard,
            can_be_smaller=can_be_smaller,
            waits_for_first_answer=True,
        )

    def heard(self, rung: int, request: ChatRequest, error: ModelError) -> None:
        self.failures.append((rung, type(error).__name__))

    @property
    def contexts(self) -> list[str]:
        return [request.messages[1].content.removesuffix("turns").strip() for request in self.model.asked]


@pytest.fixture
def world(tmp_path: Path, clock: ManualClock) -> Any:
    made: list[World] = []

    def make(replies: Any, settings: LlmSettings = PATIENT, *, is_proven: bool = True) -> World:
        for earlier in made:
            earlier.store.close()
        made.append(World(tmp_path / "answers.sqlite", clock, replies, settings, is_proven=is_proven))
        return made[-1]

    yield make
    for each in made:
        each.store.close()


def test_an_answer_at_the_first_rung_leaves_no_trace_of_a_climb(world: Any) -> None:
    here = world([GOOD])
    found = here.climb()
    assert (found.outcome, found.value, found.rung, found.n_attempts) == (Outcome.ANSWERED, {"likes": "plums"}, 0, 0)
    assert here.store.database.rows("SELECT * FROM ladders") == []
    assert here.clock.slept == []


def test_each_rung_waits_longer_and_asks_for_less_then_it_is_a_dead_letter(world: Any) -> None:
    here = world([CUT, CUT, CUT, CUT])
    found = here.climb()
    assert (found.outcome, found.n_attempts, found.error_type) == (Outcome.EXHAUSTED, 4, "UnusableAnswerError")
    assert here.contexts == ["all the context", "all the context", "half", ""]
    assert here.clock.slept == [1, 5, 30]
    assert here.failures == [(rung, "UnusableAnswerError") for rung in range(4)]
    assert [place.reference for place in LadderStore(here.store.database).exhausted("ines")] == ["seg_1"]


def test_the_rung_that_answers_is_the_one_that_a_re_run_asks_and_it_pays_nothing(world: Any) -> None:
    first = world([CUT, DOWN, GOOD])
    assert (first.climb().rung, first.contexts[-1]) == (2, "half")
    again = world([])
    found = again.climb()
    assert (found.outcome, found.rung, found.value) == (Outcome.ANSWERED, 2, {"likes": "plums"})
    assert found.answer.is_cache_hit
    assert again.model.asked == []


def test_exhausted_work_is_not_asked_again_before_it_is_replayed_and_then_from_the_first_rung(world: Any) -> None:
    world([CUT] * 4).climb()
    again = world([GOOD])
    assert again.climb().outcome is Outcome.EXHAUSTED
    assert again.model.asked == []
    assert LadderStore(again.store.database).reset("ines", "seg_1") == 1
    assert again.climb().outcome is Outcome.ANSWERED
    assert again.contexts == ["all the context"]


def test_a_new_prompt_is_a_new_climb(world: Any) -> None:
    world([CUT] * 4).climb()
    again = world([GOOD])
    assert again.climb(prompt_version="2").outcome is Outcome.ANSWERED


def test_a_crash_goes_on_at_the_next_rung(world: Any, clock: ManualClock) -> None:
    class Killed(BaseException):
        pass

    replies: list[Reply] = [CUT, CUT]
    here = world(replies)

    async def die(seconds: float) -> None:
        if len(here.model.asked) == 2:
            raise Killed
        clock.advance(seconds)

    real, clock.sleep = clock.sleep, die  # type: ignore[method-assign]
    with pytest.raises(Killed):
        here.climb()
    clock.sleep = real  # type: ignore[method-assign]
    again = world([GOOD])
    found = again.climb()
    assert (again.contexts, found.rung, found.n_attempts) == (["half"], 2, 2)


def test_a_request_that_is_too_long_is_asked_smaller(world: Any) -> None:
    too_long = RequestRefusedError("asking: HTTP 400, context_length_exceeded; a shorter request may pass")
    here = world([too_long, GOOD])
    assert here.climb().outcome is Outcome.ANSWERED
    assert here.contexts == ["all the context", "half"], "what was refused is not asked again as it was"
    assert world([too_long] * 4).climb(text="longer", reference="seg_2").outcome is Outcome.EXHAUSTED


def test_a_rate_limit_is_waited_out_at_the_same_rung(world: Any) -> None:
    here = world([RateLimitedError("429", 7), RateLimitedError("429", 2), RateLimitedError("429"), GOOD])
    found = here.climb()
    assert (found.outcome, found.rung, found.n_attempts) == (Outcome.ANSWERED, 0, 0)
    assert here.clock.slept == [7, 5, 30], "the longer of Retry-After and the ladder's own wait"


def test_rate_limits_without_end_are_left_to_the_next_run(world: Any) -> None:
    assert world([RateLimitedError("429", 121)]).climb().outcome is Outcome.PENDING
    here = world([RateLimitedError("429")] * 9)
    assert here.climb().outcome is Outcome.PENDING
    assert len(here.model.asked) == 6
    assert world([GOOD]).climb().outcome is Outcome.ANSWERED


@pytest.mark.parametrize("error", [ModelRefusedError("asking: HTTP 401; check the key")])
def test_an_endpoint_that_refuses_us_stops_the_climb_at_once(world: Any, error: ModelError) -> None:
    here = world([error])
    found = here.climb()
    assert (found.outcome, found.error) == (Outcome.PENDING, error)
    assert here.clock.slept == []


def test_a_spent_budget_puts_work_off_at_its_rung(world: Any, clock: ManualClock) -> None:
    budget = PATIENT.budget.model_copy(update={"max_calls_a_night": 2})
    settings = PATIENT.model_copy(update={"budget": budget})
    here = world([CUT, CUT], settings)
    found = here.climb()
    assert (found.outcome, found.error_type) == (Outcome.PENDING, "BudgetSpentError")
    clock.advance(24 * 3600)
    again = world([GOOD], settings)
    assert again.climb().outcome is Outcome.ANSWERED
    assert again.contexts == ["half"]


def test_an_endpoint_that_is_down_is_no_fault_of_the_work(world: Any) -> None:
    here = world(lambda _: DOWN, SETTINGS)
    found = [here.climb(text=f"turns of {name}", reference=name) for name in ("seg_1", "seg_2", "seg_3")]
    assert {climbed.outcome for climbed in found} == {Outcome.PENDING}
    assert LadderStore(here.store.database).exhausted() == []
    again = world(lambda _: GOOD, SETTINGS)
    for name in ("seg_1", "seg_2", "seg_3"):
        assert again.climb(text=f"turns of {name}", reference=name).rung == 0, "from the first rung"


def test_what_an_open_breaker_cut_short_begins_again_where_the_endpoint_went_down(world: Any) -> None:
    here = world([CUT, DOWN, DOWN, DOWN], SETTINGS.model_copy(update={"n_awaited_trials": 0}))
    assert here.climb().outcome is Outcome.PENDING
    again = world([GOOD])
    assert again.climb().rung == 1


def test_work_that_alone_is_not_answered_is_at_fault_itself(world: Any) -> None:
    here = world(lambda request: DOWN if "poison" in request.messages[1].content else GOOD)

    async def both() -> list[Climb[Any]]:
        poisoned = asyncio.create_task(here.climbing(text="poison", reference="seg_poison"))
        found = [await here.climbing(text=f"fine {number}", reference=f"seg_{number}") for number in range(3)]
        return [await poisoned, *found]

    poisoned, *others = asyncio.run(both())
    assert (poisoned.outcome, poisoned.error_type) == (Outcome.EXHAUSTED, "ModelUnavailableError")
    assert {climbed.outcome for climbed in others} == {Outcome.ANSWERED}


def test_work_that_is_put_off_run_after_run_while_others_are_answered_ends_as_a_dead_letter(world: Any) -> None:
    outcomes = []
    for number in range(4):
        here = world(lambda request: DOWN if "poison" in request.messages[1].content else GOOD)
        outcomes.append(here.climb(text="poison", reference="seg_poison").outcome)
        here.climb(text=f"fine {number}", reference=f"seg_{number}")
    assert outcomes == [Outcome.PENDING, Outcome.PENDING, Outcome.EXHAUSTED, Outcome.EXHAUSTED]


def test_work_alone_with_an_endpoint_that_is_down_is_never_a_dead_letter(world: Any) -> None:
    for _ in range(6):
        assert world(lambda _: DOWN).climb().outcome is Outcome.PENDING


def test_what_a_reader_gets_wrong_passes_through(world: Any) -> None:
    here = world([GOOD])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(
            climb(
                rungs(),
                lambda _: 1 / 0,
                gateway=here.gateway,
                store=here.store,
                clock=here.clock,
                settings=here.settings.retries,
            )
        )


def test_in_batch_mode_each_rung_waits_for_a_batch_and_for_nothing_else(world: Any) -> None:
    here = world([], PATIENT.model_copy(update={"mode": "batch"}))
    found = here.climb()
    assert (found.outcome, found.error_type) == (Outcome.PENDING, "AnswerPendingError")
    assert here.clock.slept == []


def raising(error: type[ModelError]) -> Any:
    def reading(answer: ChatAnswer) -> Any:
        if answer.text == CUT:
            raise error("reading an answer: not as it should be")
        return read(answer)

    return reading


def test_of_a_model_that_was_never_understood_nothing_is_a_dead_letter(world: Any) -> None:
    for _ in range(4):
        found = world([CUT] * 4, is_proven=False).climb()
        assert (found.outcome, found.message) == (Outcome.PENDING, "reading an answer: no JSON; ask again")
    assert world([GOOD], is_proven=False).climb().outcome is Outcome.ANSWERED
    assert world([CUT] * 4, is_proven=False).climb(text="more", reference="seg_2").outcome is Outcome.EXHAUSTED


def test_a_refusal_before_any_answer_is_one_of_the_settings(world: Any) -> None:
    here = world([RequestRefusedError("asking: HTTP 400: invalid model ID")], is_proven=False)
    found = here.climb()
    assert (found.outcome, found.message) == (Outcome.PENDING, "asking: HTTP 400: invalid model ID")
    assert len(here.model.asked) == 1


@pytest.mark.parametrize("error", [AnswerCutError, AnswerRefusedError])
def test_what_is_too_large_is_left_to_the_caller_and_not_asked_again(world: Any, error: type[ModelError]) -> None:
    here = world([CUT])
    assert here.climb(can_be_smaller=True, reads=raising(error)).outcome is Outcome.TOO_LARGE
    again = world([])
    found = again.climb(can_be_smaller=True, reads=raising(error))
    assert (found.outcome, found.error_type, again.model.asked) == (Outcome.TOO_LARGE, error.__name__, [])


def test_a_declined_answer_is_not_asked_for_again_unchanged(world: Any) -> None:
    here = world([CUT] * 2)
    assert here.climb(reads=raising(AnswerRefusedError)).outcome is Outcome.EXHAUSTED
    assert here.contexts == ["all the context", ""]


def test_a_cut_answer_is_asked_for_once_more(world: Any) -> None:
    here = world([CUT] * 2)
    assert here.climb(reads=raising(AnswerCutError)).outcome is Outcome.EXHAUSTED
    assert here.contexts == ["all the context"] * 2


def test_nothing_is_given_up_because_the_endpoint_is_slow(world: Any) -> None:
    slow = SlowModelError("asking: no progress until the time was over")
    for _ in range(5):
        here = world([slow, slow])
        assert here.climb().outcome is Outcome.PENDING
        assert here.contexts == ["all the context"] * 2
    assert world([slow, GOOD]).climb().outcome is Outcome.ANSWERED


def test_an_endpoint_that_has_never_answered_is_waited_for_once(world: Any) -> None:
    here = world([SlowModelError("asking: no progress until the time was over")], is_proven=False)
    assert here.climb().outcome is Outcome.PENDING
    assert len(here.model.asked) == 1


def test_a_dead_letter_keeps_its_reason_in_a_sentence(world: Any) -> None:
    world([CUT] * 4).climb()
    assert world([]).climb().message == "reading an answer: no JSON; ask again"
