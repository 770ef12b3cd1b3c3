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

from em_pipelines.errors import LockedError, ModelError, UnusableAnswerError
from em_pipelines.extraction.llm import prompt
from em_pipelines.extraction.llm.answer import ALL_SECTIONS, EntityItem, RelationItem, Section, answer_schema
from em_pipelines.extraction.llm.grounding import ground
from em_pipelines.extraction.llm.parsing import Parsed, merged, parse
from em_pipelines.extraction.llm.settings import LlmExtractionSettings
from em_pipelines.extraction.settings import GateSettings
from em_pipelines.extraction.skipping import skip_reason
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


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked about a segment: of which turns, by their index in it, and for which sections.

    `known` is what the model is told of the sections that are not asked for.
    """

    segment: Segment
    targets: dict[int, Turn]
    sections: tuple[Section, ...] = ALL_SECTIONS
    task: str = TASK
    known: str = ""

    def follow_up(self, parsed: Parsed) -> "_Question":
        """The question for what is missing."""
        return replace(self, sections=parsed.missing, task=FOLLOW_UP_TASK, known=_known(parsed))


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
            readings = await asyncio.gather(
                *(self._read(asking, s, targets, issues) for s, (targets, issues) in zip(segments, gated, strict=True))
            )
            await _tried("sending a batch", asking.gateway.flush)
            return readings

    async def _read(
        self, asking: Asking, segment: Segment, targets: dict[int, Turn], issues: list[Issue]
    ) -> Extraction:
        if not targets:
            return Extraction(issues=issues)
        parsed, last = await self._answered(asking, _Question(segment, targets))
        ended = _ENDINGS[last.outcome]
        reading = Extraction()
        if parsed is not None and ended is not Outcome.PENDING:  # half a reading would be another one tomorrow
            reading = ground(segment, targets, parsed)
        reading.outcome, reading.reason = ended, _in_words(last.error_type or "")
        if ended is not Outcome.COMPLETE:
            issue = PENDING if ended is Outcome.PENDING else DEAD_LETTER
            reading.issues += [Issue(t.turn_number, issue, reading.reason, "error") for t in targets.values()]
        reading.issues += issues
        calls = asking.store.calls_of(segment.user_id, segment.segment_id)
        reading.calls = [cast("CallRow", asdict(call)) for call in calls]
        return reading

    async def _answered(self, asking: Asking, question: _Question) -> tuple[Parsed | None, ladder.Climb[Parsed]]:
        """What was answered to the question and to that for what is missing, and how the last of them ended."""
        climbed = await self._climb(asking, question)
        parsed = climbed.value
        if parsed is None or not parsed.missing:
            return parsed, climbed
        again = await self._climb(asking, question.follow_up(parsed))
        return (parsed if again.value is None else merged(parsed, again.value)), again

    async def _climb(self, asking: Asking, question: _Question) -> ladder.Climb[Parsed]:
        n_context = len(question.segment.context)
        windows = (n_context, n_context, n_context // 2, 0)
        return await ladder.climb(
            [partial(self._request, question, window) for window in windows],
            partial(_readable, sections=question.sections, store=asking.store),
            gateway=asking.gateway,
            store=asking.store,
            clock=asking.clock,
            settings=asking.ladder,
        )

    def _request(self, question: _Question, n_context: int) -> ChatRequest:
        """The question with the last `n_context` turns of context."""
        segment, sections = question.segment, question.sections
        seen = replace(segment, context=segment.context[len(segment.context) - n_context :])
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
                prompt.segment_message(seen, shown, profile=profile, sections=sections, known=question.known),
            ),
            schema_name="facts",
            schema=answer_schema(sections, profile=profile, is_health_asked=is_health_asked),
            max_output_tokens=self.settings.max_output_tokens,
            temperature=self.settings.temperature,
            reference=segment.segment_id,
            correlation_id=correlation_id(segment.user_id, segment.session_id, first.turn_number),
            at=first.timestamp,
        )


_ENDINGS = {
    ladder.Outcome.ANSWERED: Outcome.COMPLETE,
    ladder.Outcome.PENDING: Outcome.PENDING,
    ladder.Outcome.EXHAUSTED: Outcome.FAILED,
}


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


def _readable(answer: ChatAnswer, sections: tuple[Section, ...], store: AnswerStore) -> Parsed:
    """The sections of an answer. Raises UnusableAnswerError where none are there, or of a follow-up not all."""
    parsed = parse(answer.text, wanted=sections)
    is_follow_up = sections != ALL_SECTIONS
    if parsed.missing and (is_follow_up or set(parsed.missing) == set(sections)):
        raise UnusableAnswerError(
            f"reading an answer: {', '.join(parsed.missing)} missing or cut off; it is asked again"
        )
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
