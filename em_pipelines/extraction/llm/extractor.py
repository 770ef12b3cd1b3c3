"""The llm extractor: one question a segment for stages 2 to 5, a smaller one for what is missing, and no third.

What is asked goes through a gateway that remembers every answer, so reading a segment again costs nothing. A segment
that nobody answers for is pending; one whose answers cannot be used is a dead letter, with what could be salvaged.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import cast

from em_pipelines.errors import (
    LockedError,
    ModelError,
    ModelRefusedError,
    RequestRefusedError,
    SlowModelError,
    UnusableAnswerError,
)
from em_pipelines.extraction.keeping import skip_reason
from em_pipelines.extraction.llm import prompt
from em_pipelines.extraction.llm.answer import ALL_SECTIONS, EntityItem, RelationItem, Section, answer_schema
from em_pipelines.extraction.llm.parsing import Parsed, merged
from em_pipelines.extraction.llm.settings import LlmExtractionSettings
from em_pipelines.extraction.llm.usable_answers import best_grounded, is_mostly_refused, sections_of
from em_pipelines.extraction.settings import GateSettings
from em_pipelines.extraction.support import N_EARLIER
from em_pipelines.llm import ladder
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.asking import Asking, OpenAsking
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.schema.ids import content_id, correlation_id
from em_pipelines.schema.readings import DEAD_LETTER, PENDING, Extraction, Issue, Outcome, Segment, Turn
from em_pipelines.schema.rows import CallRow
from em_pipelines.storage.step import code_digest

_LOGGER = logging.getLogger(__name__)
TASK = "extraction"
FOLLOW_UP_TASK = "extraction_follow_up"
MAX_HALVINGS = 4
"""A question about twenty turns, that often halved, is about one or two."""
_Gated = tuple[Segment, tuple[dict[int, Turn], list[Issue]]]
"""A segment, its turns worth asking about by their index, and why the others are not."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked about a segment: of which turns, by their index in it, and for which sections.

    `known` is what the model is told of the sections that are not asked for. `part` is empty for all of the turns that
    are asked about, else a digit for each time that they were halved.
    """

    segment: Segment
    targets: dict[int, Turn]
    sections: tuple[Section, ...] = ALL_SECTIONS
    task: str = TASK
    known: str = ""
    part: str = ""

    @property
    def shown(self) -> slice:
        """The turns of the segment that are shown: all of them, of a part those from its first to its last."""
        return slice(min(self.targets), max(self.targets) + 1) if self.part else slice(None)

    @property
    def earlier(self) -> tuple[Turn, ...]:
        """The turns before those, as many as are shown at most."""
        before = (*self.segment.context, *self.segment.turns[: self.shown.start or 0])
        return before[-max(N_EARLIER, len(self.segment.context)) :]

    @property
    def can_be_smaller(self) -> bool:
        """Whether it may be asked in two halves."""
        return self.sections == ALL_SECTIONS and len(self.targets) > 1 and len(self.part) < MAX_HALVINGS

    def halves(self) -> tuple["_Question", "_Question"]:
        """The questions about the first and the second half of the turns."""
        turns = list(self.targets.items())
        middle = len(turns) // 2
        first, second = dict(turns[:middle]), dict(turns[middle:])
        return replace(self, targets=first, part=f"{self.part}0"), replace(self, targets=second, part=f"{self.part}1")

    def follow_up(self, parsed: Parsed) -> "_Question":
        """The question for what is missing."""
        return replace(self, sections=parsed.missing, task=FOLLOW_UP_TASK, known=_known(parsed))


@dataclass(frozen=True, slots=True)
class _Part:
    """What was answered about some turns of a segment, and how asking ended."""

    targets: dict[int, Turn]
    parsed: Parsed | None
    climbs: tuple[ladder.Climb[Parsed], ...]
    """Of the question and of that for what was missing."""

    @property
    def climb(self) -> ladder.Climb[Parsed]:
        """The last of them."""
        return self.climbs[-1]

    @property
    def ended(self) -> Outcome:
        """How the reading of these turns ended."""
        return _ENDINGS[self.climb.outcome]


class LLMExtractor:
    """Implements `em_pipelines.schema.readings.Extractor` over a model.

    `open_asking` is called when something is to be asked, and not before; what `prepare` has read is held until
    `extract_all` asks for it.
    """

    def __init__(
        self,
        model: str,
        open_asking: OpenAsking,
        settings: LlmExtractionSettings | None = None,
        *,
        is_health_asked: bool = False,
    ) -> None:
        self.settings = settings or LlmExtractionSettings()
        self._model = model
        self._open_asking = open_asking
        self._is_health_asked = is_health_asked
        self._held: dict[Segment, Extraction] = {}

    @property
    def name(self) -> str:
        return "llm"

    @property
    def version(self) -> str:
        """Changes with the source and all it imports, the prompts, the word lists, the model and the settings."""
        parts = (self._model, self.settings.model_dump_json(), self._is_health_asked)
        return f"{code_digest(__name__)[:12]}-{content_id('v', *parts)[-6:]}"

    def prepare(self, segments: Iterable[Segment]) -> None:
        """Asks for all segments, many at a time, and in batch mode sends off what is not answered yet."""
        wanted = list(segments)
        self._held.update(zip(wanted, self._read_now(wanted), strict=True))

    def extract_all(self, segments: Iterable[Segment]) -> Iterator[Extraction]:
        """Reads segments, many at a time; yields in their order."""
        wanted = list(segments)
        held = [self._held.pop(segment, None) for segment in wanted]
        read = iter(self._read_now([s for s, reading in zip(wanted, held, strict=True) if reading is None]))
        for reading in held:
            yield reading if reading is not None else next(read)

    def _read_now(self, segments: Sequence[Segment]) -> list[Extraction]:
        return asyncio.run(self._read_all(segments)) if segments else []

    async def _read_all(self, segments: Sequence[Segment]) -> list[Extraction]:
        gated = [_gated(segment, self.settings.gate) for segment in segments]
        if not any(targets for targets, _ in gated):
            return [Extraction(issues=issues) for _, issues in gated]
        async with self._open_asking() as asking:
            await _tried("collecting batches", asking.collect)
            readings = await self._read_each(asking, list(zip(segments, gated, strict=True)))
            await _tried("sending a batch", asking.gateway.flush)
            return readings

    async def _read_each(self, asking: Asking, wanted: Sequence[_Gated]) -> list[Extraction]:
        """Reads segments, all at once where the model is known to give answers that can be read.

        Where it is not, some are tried one by one, far apart. If none of them can be read the settings, the endpoint or
        the model are at fault, and the others wait with the same reason instead of being asked in vain.
        """
        readings: dict[int, Extraction] = {}
        failed: ladder.Climb[Parsed] | None = None
        for n in () if asking.store.has_usable(self._model) else _spread(wanted):
            segment, (targets, issues) = wanted[n]
            parts = await self._parts(asking, _Question(segment, targets))
            readings[n] = self._reading(asking, segment, targets, issues, parts)
            failed = parts[-1].climb if isinstance(parts[-1].climb.error, _AT_FAULT) else None
            if failed is None or isinstance(failed.error, ModelRefusedError):
                break
        left = [n for n in range(len(wanted)) if n not in readings]
        if failed is not None:
            readings.update({n: self._waiting(asking, wanted[n], failed) for n in left})
        else:
            others = await asyncio.gather(*(self._read(asking, *wanted[n]) for n in left))
            readings.update(zip(left, others, strict=True))
        return [readings[n] for n in range(len(wanted))]

    def _waiting(self, asking: Asking, wanted: _Gated, why: ladder.Climb[Parsed]) -> Extraction:
        """The reading of a segment that is not asked about, for the reason that others were not read."""
        segment, (targets, issues) = wanted
        pending = replace(why, outcome=ladder.Outcome.PENDING)
        return self._reading(asking, segment, targets, issues, [_Part(targets, None, (pending,))] if targets else [])

    async def _read(self, asking: Asking, segment: Segment, gated: tuple[dict[int, Turn], list[Issue]]) -> Extraction:
        targets, issues = gated
        parts = await self._parts(asking, _Question(segment, targets)) if targets else []
        return self._reading(asking, segment, targets, issues, parts)

    def _reading(
        self, asking: Asking, segment: Segment, targets: dict[int, Turn], issues: list[Issue], parts: Sequence[_Part]
    ) -> Extraction:
        """The reading of a segment out of what was answered about its parts. Half a reading would be another one
        tomorrow: while one part waits, all of it does."""
        if not parts:
            return Extraction(issues=issues)
        worst = max(parts, key=lambda part: _SEVERITY.index(part.ended))
        reading = Extraction(outcome=worst.ended, reason=_in_words(worst.climb.error_type or ""))
        for part in parts if worst.ended is not Outcome.PENDING else ():
            if part.parsed is not None:
                found = best_grounded(segment, part.targets, part.parsed)
                if is_mostly_refused(found, segment, self.settings.n_refused_to_ask_again):
                    _refuse(part.climbs, asking.store)
                reading.mentions += found.mentions
                reading.claims += found.claims
                reading.issues += found.issues
            if part.ended is not Outcome.COMPLETE:
                reading.issues += _unread(part, DEAD_LETTER, part.targets)
        if worst.ended is Outcome.PENDING:
            reading.issues += _unread(worst, PENDING, targets)
        reading.issues += issues
        calls = asking.store.calls_of(segment.user_id, segment.segment_id)
        reading.calls = [cast("CallRow", asdict(call)) for call in calls]
        return reading

    async def _parts(self, asking: Asking, question: _Question) -> list[_Part]:
        """What was answered to the question and to that for what is missing; in halves, where it is too large. What
        waits keeps the rest from being asked."""
        climbed = await self._climb(asking, question)
        if climbed.outcome is ladder.Outcome.TOO_LARGE:
            first, second = question.halves()
            parts = await self._parts(asking, first)
            if parts[-1].ended is Outcome.PENDING:
                return [*parts, _Part(second.targets, None, parts[-1].climbs)]
            return parts + await self._parts(asking, second)
        parsed = climbed.value
        if parsed is None or not parsed.missing:
            return [_Part(question.targets, parsed, (climbed,))]
        again = await self._climb(asking, question.follow_up(parsed))
        parsed = parsed if again.value is None else merged(parsed, again.value)
        return [_Part(question.targets, parsed, (climbed, again))]

    async def _climb(self, asking: Asking, question: _Question) -> ladder.Climb[Parsed]:
        n_context = len(question.earlier)
        windows = ((n_context, 1), (n_context, 2), (n_context // 2, 2), (0, 2))
        return await ladder.climb(
            [partial(self._request, question, window, times) for window, times in windows],
            partial(_readable, question=question, store=asking.store),
            gateway=asking.gateway,
            store=asking.store,
            clock=asking.clock,
            settings=asking.ladder,
            can_be_smaller=question.can_be_smaller,
            waits_for_first_answer=True,
        )

    def _request(self, question: _Question, n_context: int, times: int) -> ChatRequest:
        """The question with the last `n_context` turns of context, and `times` the usual room for its answer."""
        segment, sections = question.segment, question.sections
        seen = replace(segment, context=question.earlier[len(question.earlier) - n_context :])
        shown = frozenset(turn.turn_number for turn in question.targets.values())
        first = next(iter(question.targets.values()))
        profile, is_health_asked = self.settings.profile, self._is_health_asked
        return ChatRequest(
            user_id=segment.user_id,
            task=question.task,
            model=self._model,
            prompt_version=prompt.prompt_version(profile),
            messages=(
                prompt.system_message(profile, is_health_asked=is_health_asked),
                prompt.segment_message(
                    seen, shown, profile=profile, sections=sections, known=question.known, shown=question.shown
                ),
            ),
            schema_name="facts",
            schema=answer_schema(sections, profile=profile, is_health_asked=is_health_asked),
            max_output_tokens=self.settings.max_output_tokens * times,
            temperature=self.settings.temperature,
            reference=segment.segment_id,
            correlation_id=correlation_id(segment.user_id, segment.session_id, first.turn_number),
            at=first.timestamp,
            part=question.part,
        )


_AT_FAULT = (ModelRefusedError, RequestRefusedError, UnusableAnswerError, SlowModelError)
"""What says, of a model that has never given an answer that could be read, that it never will."""
_SEVERITY = (Outcome.COMPLETE, Outcome.FAILED, Outcome.PENDING)
_ENDINGS = {
    ladder.Outcome.ANSWERED: Outcome.COMPLETE,
    ladder.Outcome.PENDING: Outcome.PENDING,
    ladder.Outcome.EXHAUSTED: Outcome.FAILED,
}


def _spread(wanted: Sequence[_Gated]) -> Iterable[int]:
    """The places of the first, the middle and the last segment that there is something to ask about."""
    asked = [n for n, (_, (targets, _)) in enumerate(wanted) if targets]
    return dict.fromkeys([asked[0], asked[len(asked) // 2], asked[-1]])


def _unread(part: _Part, issue: str, targets: dict[int, Turn]) -> list[Issue]:
    """The issues of turns that were not read, with the reason in a word, and in a sentence as detail."""
    reason = _in_words(part.climb.error_type or "")
    return [Issue(turn.turn_number, issue, reason, "error", part.climb.message) for turn in targets.values()]


def _refuse(climbs: Iterable[ladder.Climb[Parsed]], store: AnswerStore) -> None:
    """Notes that the answers which a reading is made of were made up for the most part."""
    for climbed in climbs:
        if climbed.answer is not None:
            store.refuse(climbed.answer.key)


async def _tried(what: str, act: Callable[[], Awaitable[object]] | None) -> None:
    """Does what can be done later as well: where it fails, its segments stay pending."""
    if act is None:
        return
    try:
        await act()
    except (ModelError, LockedError) as error:
        _LOGGER.warning("%s failed: %s", what, error)


def _gated(segment: Segment, settings: GateSettings) -> tuple[dict[int, Turn], list[Issue]]:
    """The turns worth asking about, by their index, and why the others are not."""
    targets, issues = {}, []
    for index, turn in enumerate(segment.turns):
        reason = skip_reason(turn, settings)
        if reason is None:
            targets[index] = turn
        else:
            issues.append(Issue(turn.turn_number, "skipped", reason))
    return targets, issues


def _readable(answer: ChatAnswer, question: _Question, store: AnswerStore) -> Parsed:
    """The sections of an answer, and how well it could be read in the table of calls."""
    parsed = sections_of(answer, question.sections, can_be_smaller=question.can_be_smaller)
    if not answer.is_cache_hit and (parsed.missing or parsed.is_repaired or parsed.n_invalid):
        store.mark(answer.key, "partial" if parsed.missing else "repaired")
    return parsed


def _known(parsed: Parsed) -> str:
    """What a follow-up is told of the sections that stand."""
    if Section.RELATIONS not in parsed.missing:
        relations = [item for item in parsed.items.get(Section.RELATIONS, []) if isinstance(item, RelationItem)]
        return prompt.known_relations([(r.t, r.subject, r.relation, r.object) for r in relations])
    entities = [item.name for item in parsed.items.get(Section.ENTITIES, []) if isinstance(item, EntityItem)]
    return prompt.known_entities(entities)


def _in_words(error_type: str) -> str:
    """BreakerOpenError → breaker_open."""
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in error_type.removesuffix("Error"))
    return words.lstrip("_")
