"""The ladder: a piece of work that fails is asked again, later and smaller, until it is answered or a dead letter.

The caller gives the rungs, since each asks something else: the same question, the same question again, half the
context, no prior turns. Waits before the second, third and fourth are 1, 5 and 30 seconds. The rule:

| what a rung meets | what follows |
| --- | --- |
| an answer that can be read | answered |
| an answer that cannot (UnusableAnswerError), a refusal of this request, an unavailable endpoint | the next rung |
| an answer cut off or declined, a request too long | too large, where the caller can ask about less; else a rung on |
| a refusal before the model has ever given an answer that could be read | pending: the settings are at fault |
| no progress until the time was over | the same rung once more, then pending |
| a rate limit | the same rung again after the longer of Retry-After and the wait; pending where that is too long |
| an open breaker | pending, and the next run begins where the endpoint began to be unavailable |
| a spent budget, an answer that has to come with a batch, an endpoint that refuses us | pending at this rung |

After the last rung the work is exhausted, a dead letter, unless it is the endpoint that failed and not the work. That
is so where no answer of this model could ever be read (and the caller waits for one), and where the endpoint was
unavailable, and the model has answered nobody since that began. Then it is pending. What is put off like this run after
run while others are answered in between is exhausted after `max_deferrals` runs. Work is never exhausted because the
endpoint is slow.

Where it stands is written after each failure, together with the rejection of the answer that failed. A crash goes on
at the next rung; a run after an answer asks the rung that was answered, and the cache has it. Exhausted work is not
asked again before `LadderStore.reset`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from em_pipelines.errors import (
    AnswerCutError,
    AnswerPendingError,
    AnswerRefusedError,
    BreakerOpenError,
    BudgetSpentError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
    RequestTooLongError,
    SlowModelError,
    UnusableAnswerError,
)
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.documents import without_echo, without_reasoning
from em_pipelines.llm.ladder_state import CLIMBING, EXHAUSTED, TOO_LARGE, LadderStore, Place, answered
from em_pipelines.llm.protocol import ChatAnswer, ChatModel, ChatRequest
from em_pipelines.llm.settings import LadderSettings

T = TypeVar("T")
Rung = Callable[[], ChatRequest]
OnFailure = Callable[[int, ChatRequest, ModelError], None]

STOPPING = (BreakerOpenError, BudgetSpentError, AnswerPendingError, ModelRefusedError)
SMALLER = (AnswerCutError, AnswerRefusedError, RequestTooLongError)
"""What a question about less may get past."""
UNCHANGED = (AnswerRefusedError, RequestRefusedError)
"""What the same question meets again."""


class Outcome(StrEnum):
    """How a climb ended: with a reading, to be gone on with in the next run, as a dead letter, or to be asked about
    in smaller parts."""

    ANSWERED = "answered"
    PENDING = "pending"
    EXHAUSTED = "exhausted"
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class Climb(Generic[T]):
    """The end of a climb. `value` and `answer` are set where it is answered, `error_type` (the name of our error) where
    it is not, and what it says is `message`. `n_attempts` counts failed attempts of all runs."""

    outcome: Outcome
    value: T | None = None
    answer: ChatAnswer | None = None
    rung: int = 0
    n_attempts: int = 0
    error_type: str | None = None
    error: ModelError | None = None
    message: str = ""


async def climb(  # noqa: PLR0913  (what a ladder stands on: each is a part of its own, made by its caller)
    rungs: Sequence[Rung],
    read: Callable[[ChatAnswer], T],
    *,
    gateway: ChatModel,
    store: AnswerStore,
    clock: Clock,
    settings: LadderSettings,
    on_failure: OnFailure | None = None,
    can_be_smaller: bool = False,
    waits_for_first_answer: bool = False,
) -> Climb[T]:
    """Climbs the rungs until `read` returns of an answer without raising UnusableAnswerError.

    `read` is given neither the reasoning that a model puts before its answer nor the prompt that it repeats. All rungs
    ask for the same user, task and reference. `on_failure(rung, request, error)` hears of each failure.
    `can_be_smaller`: the caller can ask about less. `waits_for_first_answer`: what fails before any answer of the model
    could be read is pending and no dead letter. Other errors of `read` pass through.
    """
    ladder = _Ladder(rungs, store, clock, settings, on_failure, is_patient=waits_for_first_answer)
    known_end: Climb[T] | None = ladder.known_end(can_be_smaller=can_be_smaller)
    if known_end is not None:
        return known_end
    while True:
        rung = ladder.place.rung
        request = ladder.request()
        try:
            answer = await gateway.complete(request)
            prompt = "\n".join(message.content for message in request.messages)
            value = read(replace(answer, text=without_echo(without_reasoning(answer.text), prompt)))
        except ModelError as error:
            end: Climb[T] | None = await ladder.failed(request, error, can_be_smaller=can_be_smaller)
            if end is not None:
                return end
        else:
            ladder.reached(rung)
            store.note_usable(request.model, clock.now())
            return Climb(Outcome.ANSWERED, value, answer, rung, ladder.place.n_attempts)


class _Ladder:
    """One climb: its place, and the steps of the rule."""

    def __init__(  # noqa: PLR0913  (what `climb` is given)
        self,
        rungs: Sequence[Rung],
        store: AnswerStore,
        clock: Clock,
        settings: LadderSettings,
        on_failure: OnFailure | None,
        *,
        is_patient: bool,
    ) -> None:
        self._rungs = rungs
        self._store = store
        self._ladders = LadderStore(store.database)
        self._clock = clock
        self._settings = settings
        self._on_failure = on_failure
        self._is_patient = is_patient
        self._first = rungs[0]()
        self._n_answered = store.n_answered(self._first.model)
        self._n_rate_limits = self._n_slow = 0
        known = self._ladders.place(self._first)
        self._is_kept = known is not None
        first = self._first
        self.place = known or Place(first.user_id, first.work, first.reference, first.key)

    def known_end(self, *, can_be_smaller: bool) -> Climb[T] | None:
        """How an earlier climb of the same question ended, where it is not to be asked again."""
        place = self.place
        is_too_large = place.status == TOO_LARGE and can_be_smaller
        if place.status != EXHAUSTED and not is_too_large:
            return None
        outcome = Outcome.TOO_LARGE if is_too_large else Outcome.EXHAUSTED
        return Climb(outcome, None, None, place.rung, place.n_attempts, place.last_error, None, place.last_message)

    def request(self) -> ChatRequest:
        """The question of the rung at which it stands."""
        rung = min(self.place.rung, len(self._rungs) - 1)
        return self._rungs[rung]() if rung else self._first

    def reached(self, rung: int) -> None:
        """Keeps which rung was answered; who never failed leaves no trace."""
        if self._is_kept and self.place.status in {CLIMBING, TOO_LARGE}:
            self.place = self._ladders.keep(answered(self.place, rung), self._clock.now())

    async def failed(self, request: ChatRequest, error: ModelError, *, can_be_smaller: bool) -> Climb[T] | None:
        """Follows the rule where a rung failed; returns the end of the climb, None where it goes on."""
        if isinstance(error, RateLimitedError):
            return None if await self.waits_out(request, error) else self.ended(Outcome.PENDING, error)
        if isinstance(error, STOPPING):
            return self.stopped(request, error)
        left: Climb[T] | None = self.left(request, error, can_be_smaller=can_be_smaller)
        if left is not None:
            return left
        outcome = await self.goes_on(request, error)
        return None if outcome is None else self.ended(outcome, error)

    async def waits_out(self, request: ChatRequest, error: RateLimitedError) -> bool:
        """Waits as long as the endpoint asks for, if that is not too long or too often."""
        self._tell(request, error)
        self._n_rate_limits += 1
        asked = error.retry_after_seconds or 0.0
        if asked > self._settings.max_retry_after_seconds or self._n_rate_limits > self._settings.max_rate_limits:
            return False
        await self._clock.sleep(max(asked, self._delay(self._n_rate_limits)))
        return True

    def left(self, request: ChatRequest, error: ModelError, *, can_be_smaller: bool) -> Climb[T] | None:
        """The end of a climb that no further rung would help; None where one may."""
        if can_be_smaller and isinstance(error, SMALLER):
            self._tell(request, error)
            if isinstance(error, UnusableAnswerError):  # asked again, it would be as long
                place = replace(self.place, status=TOO_LARGE, last_error=type(error).__name__, last_message=str(error))
                self.place = self._ladders.keep(place, self._clock.now(), rejected=request)
            return self.ended(Outcome.TOO_LARGE, error)
        is_proven = self._store.has_usable(request.model)
        if isinstance(error, RequestRefusedError) and self._is_patient and not is_proven:
            return self.stopped(request, error)
        if isinstance(error, SlowModelError):
            self._n_slow += 1
            if self._n_slow > 1 or not is_proven:
                return self.stopped(request, error)
        return None

    async def goes_on(self, request: ChatRequest, error: ModelError) -> Outcome | None:
        """Writes down a failed rung and waits for the next one; returns how the climb ends where there is none."""
        self._tell(request, error)
        self._n_rate_limits = 0
        if isinstance(error, SlowModelError):
            return None
        place = self._failed(request, error)
        outcome = self._end(place) if place.rung >= len(self._rungs) else None
        if outcome is Outcome.EXHAUSTED:
            place = replace(place, status=EXHAUSTED, rung=len(self._rungs) - 1)
        elif outcome is not None:
            place = replace(place, rung=place.streak_rung or 0, streak_rung=None, n_deferrals=place.n_deferrals + 1)
        rejected = request if isinstance(error, UnusableAnswerError) else None
        self.place = self._ladders.keep(place, self._clock.now(), rejected=rejected)
        self._is_kept = True
        if outcome is None:
            await self._clock.sleep(self._delay(place.rung))
        return outcome

    def _failed(self, request: ChatRequest, error: ModelError) -> Place:
        """The place one rung on; where the endpoint was unavailable, with the rung at which it began to be."""
        place = self.place
        is_unavailable = isinstance(error, ModelUnavailableError)
        if is_unavailable and place.streak_rung is None:
            self._n_answered = self._store.n_answered(self._first.model)
        begun = place.rung if place.streak_rung is None else place.streak_rung
        return replace(
            place,
            status=CLIMBING,
            rung=self._next_rung(request, error),
            streak_rung=begun if is_unavailable else None,
            n_attempts=place.n_attempts + 1,
            n_answered_before=place.n_answered_before if place.n_deferrals else self._n_answered,
            last_error=type(error).__name__,
            last_message=str(error),
        )

    def _next_rung(self, request: ChatRequest, error: ModelError) -> int:
        """The next rung; of what the same question meets again, the next that asks something else."""
        rung = self.place.rung + 1
        if isinstance(error, AnswerCutError) and rung > 1:  # less context makes no answer shorter
            return len(self._rungs)
        if isinstance(error, AnswerRefusedError):  # what is declined may stand in any turn of the context
            rung = max(rung, len(self._rungs) - 1)
        if isinstance(error, UNCHANGED):
            while rung < len(self._rungs) and self._rungs[rung]().messages == request.messages:
                rung += 1
        return rung

    def stopped(self, request: ChatRequest, error: ModelError) -> Climb[T]:
        """Puts the work off; what an endpoint that was down cost it in rungs is given back."""
        self._tell(request, error)
        if isinstance(error, BreakerOpenError) and self.place.streak_rung is not None:
            place = replace(self.place, rung=self.place.streak_rung, streak_rung=None)
            self.place = self._ladders.keep(place, self._clock.now())
        return self.ended(Outcome.PENDING, error)

    def ended(self, outcome: Outcome, error: ModelError) -> Climb[T]:
        """The end without a reading."""
        name = type(error).__name__
        return Climb(outcome, None, None, self.place.rung, self.place.n_attempts, name, error, str(error))

    def _end(self, place: Place) -> Outcome:
        """Whether it was the work that failed, or the endpoint."""
        if self._is_patient and not self._store.has_usable(self._first.model):
            return Outcome.PENDING
        if place.last_error != ModelUnavailableError.__name__:
            return Outcome.EXHAUSTED
        n_now = self._store.n_answered(self._first.model)
        if n_now > self._n_answered:
            return Outcome.EXHAUSTED
        is_put_off_for_long = place.n_deferrals + 1 >= self._settings.max_deferrals
        return Outcome.EXHAUSTED if is_put_off_for_long and n_now > place.n_answered_before else Outcome.PENDING

    def _delay(self, number: int) -> float:
        """Seconds before the retry of that number, from 1."""
        delays = self._settings.delays_seconds
        return delays[min(number, len(delays)) - 1] if delays else 0.0

    def _tell(self, request: ChatRequest, error: ModelError) -> None:
        if self._on_failure:
            self._on_failure(self.place.rung, request, error)
