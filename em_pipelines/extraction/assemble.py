"""Runs an extractor over segments and gives what it read ids, times and a place in the tables: the step `extraction`.

What is checked here holds for every extractor: what `em_pipelines.extraction.verification` asks of each reading,
nothing durable from untrusted sessions, and every message accounted for. At the end of a session it may be read once
more as a whole, for lasting facts.
"""

import logging
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from itertools import chain, tee
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import EmError
from em_pipelines.extraction.durable import lasting_facts, whole_sessions
from em_pipelines.extraction.keeping import with_observations
from em_pipelines.extraction.quoted_material import without_quoted
from em_pipelines.extraction.second_reader import SecondReader
from em_pipelines.extraction.segmentation import read_segments, told_apart
from em_pipelines.extraction.settings import DurableSettings, VerificationSettings
from em_pipelines.extraction.verification import unconfirmed_held, verify, worded
from em_pipelines.extraction.working_rules import with_working_rules
from em_pipelines.guard.passages import has_pasted_block
from em_pipelines.guard.screening import guarded, screened
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.document import english
from em_pipelines.language.fact_keys import key_of_claim
from em_pipelines.language.name_keys import unique_role
from em_pipelines.language.values import iso_instant, local_day
from em_pipelines.schema.ids import content_id, correlation_id
from em_pipelines.schema.readings import (
    DEAD_LETTER,
    NOTE_CONFIDENCE,
    PENDING,
    UNTRUSTED_SESSION,
    Claim,
    Extraction,
    Extractor,
    Issue,
    Mention,
    Segment,
    Turn,
)
from em_pipelines.schema.rows import CallRow, ClaimRow, IssueRow, MentionRow, OriginColumns
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, LLM_CALLS, MENTIONS
from em_pipelines.schema.vocabulary import USER, Act, EntityType, Mechanism, PrivacyLevel, TemporalType
from em_pipelines.storage.tombstones import FACT, Tombstones

UNTRUSTED = "untrusted"
RAISED = "extractor_error"
"""Why a message is a dead letter at which the extractor itself failed."""
_LOGGER = logging.getLogger(__name__)
CLAIM_FIELDS = tuple(field_.name for field_ in fields(Claim))


@dataclass(frozen=True, slots=True)
class Checks:
    """What every reading has to pass: the settings of verification, of the safety guard and of the session's end. The
    second reader compares the claims of a model with their sentences."""

    verification: VerificationSettings = field(default_factory=VerificationSettings)
    safety: SafetySettings = field(default_factory=SafetySettings)
    durable: DurableSettings = field(default_factory=DurableSettings)
    second_reader: SecondReader | None = None


DEFAULT_CHECKS = Checks()


@dataclass(slots=True)
class Extracted:
    """Rows of mentions, claims, extraction_issues and llm_calls, by their ids, so that nothing stands twice."""

    mentions: dict[str, MentionRow] = field(default_factory=dict)
    claims: dict[str, ClaimRow] = field(default_factory=dict)
    issues: dict[str, IssueRow] = field(default_factory=dict)
    calls: dict[str, CallRow] = field(default_factory=dict)
    pasted: set[tuple[str, str]] = field(default_factory=set)
    """Sessions, by user and id, in which somebody else's words may have been pasted."""

    def tables(self) -> dict[str, pa.Table]:
        """The four tables, by name."""
        for row in self.claims.values():
            row["has_pasted_source"] = (row["user_id"], row["session_id"]) in self.pasted
        return {
            "mentions": MENTIONS.from_rows(list(self.mentions.values())),
            "claims": CLAIMS.from_rows(list(self.claims.values())),
            "extraction_issues": EXTRACTION_ISSUES.from_rows(list(self.issues.values())),
            "llm_calls": LLM_CALLS.from_rows(list(self.calls.values())),
        }


def extract(segments: Iterable[Segment], extractor: Extractor, checks: Checks = DEFAULT_CHECKS) -> dict[str, pa.Table]:
    """Reads segments; returns the tables mentions, claims, extraction_issues and llm_calls, by name."""
    rows = Extracted()
    reader = f"{extractor.name}@{extractor.version}"
    read: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    segments, again = tee(segments)
    for segment, reading in readings(segments, extractor, checks):
        _Collector(rows, segment, reader).collect(reading)
        if checks.durable.is_enabled:
            read[segment.user_id, segment.session_id] += reading.claims
    whole = whole_sessions(again, checks.durable) if checks.durable.is_enabled else ()
    for session, reading in readings(whole, extractor, checks):
        added = lasting_facts(reading, read[session.user_id, session.session_id], checks.durable)
        _Collector(rows, session, reader).collect(added, is_addition=True)
    return rows.tables()


def prepare(segments: Iterable[Segment], extractor: Extractor, checks: Checks = DEFAULT_CHECKS) -> None:
    """Tells an extractor of the segments it will be asked to read, so that it can ask for many at once."""
    segments, again = tee(segments)
    wanted = chain(segments, whole_sessions(again, checks.durable)) if checks.durable.is_enabled else segments
    guards = (_guarded(segment, checks.safety)[0] for segment in wanted)
    try:
        extractor.prepare(seen for seen in guards if seen is not None)
    except EmError:
        raise
    except Exception as error:  # at whichever segment it was shows when each is read
        _LOGGER.error("preparing to read: %s; segments are read one by one", type(error).__name__)  # noqa: TRY400  (it may quote them)


def readings(
    segments: Iterable[Segment], extractor: Extractor, checks: Checks = DEFAULT_CHECKS
) -> Iterator[tuple[Segment, Extraction]]:
    """Each segment with what may be believed of it, in order.

    An extractor sees neither untrusted sessions, nor what the guard takes out of a text, nor quoted material; what it
    says of the rest is verified first and screened then, so that what is withheld still counts as a hallucination where
    it is one.
    """
    guards = [(segment, *_guarded(segment, checks.safety)) for segment in segments]
    read = _read(extractor, [seen for _, seen, _ in guards if seen is not None])
    for segment, seen, issues in guards:
        if seen is None:
            yield segment, Extraction(issues=issues)
            continue
        reading = _judged(next(read), seen, checks)
        reading.issues += issues
        reading = unconfirmed_held(told_apart(reading, segment), segment)
        yield segment, reading if segment.project is None else with_working_rules(reading, segment, checks.safety)


def _read(extractor: Extractor, segments: Sequence[Segment]) -> Iterator[Extraction]:
    """What an extractor reads of each segment. One at which it raises is a dead letter, and the others are read."""
    n_read = 0
    try:
        for reading in extractor.extract_all(iter(segments)):
            yield reading
            n_read += 1
    except EmError:  # of the store, the settings, the endpoint: of no segment
        raise
    except Exception as error:
        if len(segments) == 1:
            yield Extraction(issues=_dead_letters(segments[0], error))
            return
        for segment in segments[n_read:]:  # one by one, so that none pays for another
            yield from _read(extractor, [segment])


def _judged(reading: Extraction, seen: Segment, checks: Checks) -> Extraction:
    try:
        verified = worded(verify(reading, seen, checks.verification, checks.second_reader), seen)
        return screened(with_observations(verified, seen), seen, checks.safety)
    except Exception as error:
        return Extraction(issues=_dead_letters(seen, error), calls=reading.calls)


def _dead_letters(segment: Segment, error: Exception) -> list[Issue]:
    """Why none of the messages was read. What the error says may quote them, so it is told by its type and place."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {place.name}, line {place.lineno} of {Path(place.filename).name}"
    _LOGGER.error("reading segment %s: %s; its messages are dead letters", segment.segment_id, where)
    return [Issue(turn.turn_number, DEAD_LETTER, RAISED, "error", where) for turn in segment.turns]


def _guarded(segment: Segment, safety: SafetySettings) -> tuple[Segment | None, list[Issue]]:
    """What an extractor may see of a segment, and what was taken out of it; nothing of an untrusted one."""
    if segment.trust == UNTRUSTED:
        detail = "no durable fact from an untrusted session"
        return None, [Issue(turn.turn_number, "skipped", UNTRUSTED_SESSION, detail=detail) for turn in segment.turns]
    seen, issues = guarded(segment, safety)
    seen, quoted = without_quoted(seen)
    return seen, list(dict.fromkeys([*issues, *quoted]))


def incomplete(issues: pa.Table) -> bool:
    """Whether a day's extraction_issues say that something is still to be read."""
    return bool(pc.any(pc.equal(issues["issue"], PENDING)).as_py())


class _Collector:
    """Puts what `extractor` (name@version) read in one segment among the rows."""

    def __init__(self, rows: Extracted, segment: Segment, extractor: str) -> None:
        self._rows = rows
        self._segment = segment
        self._extractor = extractor
        self._turns = {turn.turn_number: turn for turn in segment.turns}
        self._extraction_id = content_id("ext", segment.segment_id, extractor)
        self._mentioned: set[tuple[int, str]] = set()
        """Turn and name of every mention that was put."""

    def collect(self, reading: Extraction, *, is_addition: bool = False) -> None:
        """Takes all of a reading; turns of which it says nothing are skipped ones, but for an addition."""
        segment, calls = self._segment, self._rows.calls
        if segment.is_pasted_elsewhere or any(
            turn.subject is not None and has_pasted_block(turn.text) for turn in segment.turns
        ):
            self._rows.pasted.add((segment.user_id, segment.session_id))
        notes = {number for number, turn in self._turns.items() if turn.note_privacy}
        for mention in reading.mentions:
            if mention.turn_number in notes:  # nobody has looked at it yet, so it names nothing
                self._mentioned.add((mention.turn_number, mention.name))
            else:
                self._put_mention(mention)
        for claim in reading.claims:
            if claim.turn_number in notes:
                self._put_proposal(claim)
            else:
                self._put_stated(claim)
        for issue in reading.issues if is_addition else [*reading.issues, *self._nothing_found(reading)]:
            self._put_issue(issue)
        for call in reading.calls:
            calls[call["call_id"]] = call

    def _nothing_found(self, reading: Extraction) -> list[Issue]:
        accounted = {n for n, _ in self._mentioned} | {issue.turn_number for issue in reading.issues}
        return [Issue(n, "skipped", "nothing_found") for n in self._turns if n not in accounted]

    def _put_stated(self, claim: Claim) -> None:
        self._put_ends(claim)
        for stated in _parted(claim):
            self._put_claim(stated)

    def _put_ends(self, claim: Claim) -> None:
        """Ends of a claim that no mention names are implied."""
        for name, entity_type in _ends(claim):
            if (claim.turn_number, name) not in self._mentioned:
                self._put_mention(
                    Mention(claim.turn_number, name, entity_type, claim.start, claim.end, is_explicit=False)
                )

    def _put_mention(self, mention: Mention) -> None:
        turn = self._turns[mention.turn_number]
        self._mentioned.add((mention.turn_number, mention.name))
        key = content_id("men", turn.message_id, mention.start, mention.end, mention.name, mention.entity_type)
        self._rows.mentions[key] = {
            "mention_id": key,
            **self._origin(turn),
            "name": mention.name,
            "entity_type": mention.entity_type.value,
            "role": mention.role or _role(turn, mention),
            "span_start": mention.start,
            "span_end": mention.end,
            "is_explicit": mention.is_explicit,
        }

    def _put_claim(self, claim: Claim) -> None:
        turn = self._turns[claim.turn_number]
        said: tuple[object, ...] = (
            claim.subject, claim.relation, claim.object, claim.value, claim.attribute, claim.polarity,
        )  # fmt: skip
        if claim.act is not Act.ASSERT:
            said = (*said, claim.act.value)
        key = content_id("claim", turn.message_id, *said)
        row: dict[str, object] = {name: getattr(claim, name) for name in CLAIM_FIELDS}
        row["span_start"], row["span_end"] = row.pop("start"), row.pop("end")
        row["flags"] = [flag.value for flag in claim.flags]
        said_of = f"{turn.text[claim.start : claim.end]} {claim.object or claim.value} {claim.attribute or ''}"
        row["context_tags"] = list(claim.context_tags) or english.topics_of(claim.relation, claim.object_type, said_of)
        if _is_phrase(claim):
            row |= {"object": None, "object_type": None, "value": claim.object}
        made = {"claim_id": key, "extraction_id": self._extraction_id, **row, **self._origin(turn)}
        made["said_on"] = local_day(turn.timestamp)
        self._rows.claims.setdefault(key, cast("ClaimRow", made))  # has_pasted_source comes with the whole day

    def _put_proposal(self, claim: Claim) -> None:
        """What an imported note states waits for a review; what it takes back or ends is long past, and claims of rank
        are asked of nobody."""
        if claim.act is not Act.ASSERT or claim.requires_verification:
            return
        self._mentioned.add((claim.turn_number, claim.subject))
        level = PrivacyLevel(self._turns[claim.turn_number].note_privacy or PrivacyLevel.PERSONAL)
        proposed = replace(
            claim,
            act=Act.PROPOSE,
            source_mechanism=Mechanism.IMPORTED,
            confidence=min(claim.confidence, NOTE_CONFIDENCE),
            privacy_level=max(claim.privacy_level, level),
        )
        self._put_claim(proposed)

    def _put_issue(self, issue: Issue) -> None:
        turn = self._turns[issue.turn_number]
        key = content_id("issue", turn.message_id, issue.issue, issue.reason, issue.detail)
        self._rows.issues[key] = {
            "issue_id": key,
            **self._origin(turn),
            "issue": issue.issue,
            "reason": issue.reason,
            "severity": issue.severity,
            "detail": issue.detail,
        }

    def _origin(self, turn: Turn) -> OriginColumns:
        segment = self._segment
        return {
            "user_id": segment.user_id,
            "session_id": segment.session_id,
            "turn_number": turn.turn_number,
            "message_id": turn.message_id,
            "segment_id": segment.segment_id,
            "timestamp": turn.timestamp,
            "extractor": self._extractor,
            "correlation_id": correlation_id(segment.user_id, segment.session_id, turn.turn_number),
        }


def _parted(claim: Claim) -> tuple[Claim, ...]:
    """A favourite is liked, and is the favourite of its kind: two facts, of which the second is one of a kind."""
    if claim.relation != "likes" or claim.attribute is None:
        return (claim,)
    liked = replace(claim, attribute=None)
    if claim.act is not Act.ASSERT or claim.polarity < 0:
        return (liked,)
    kept = TemporalType.ATTRIBUTE
    return liked, replace(
        claim, relation="has_attribute", object=None, object_type=None, value=claim.object, temporal_type=kept
    )


def _is_phrase(claim: Claim) -> bool:
    return claim.object is not None and english.is_phrase_of(claim.relation, claim.object)


def _ends(claim: Claim) -> list[tuple[str, EntityType]]:
    ends = [(claim.subject, EntityType.PERSON if claim.subject == USER else claim.subject_type)]
    if claim.object is not None and not _is_phrase(claim):
        ends.append((claim.object, claim.object_type or EntityType.CONCEPT))
    return ends


def _role(turn: Turn, mention: Mention) -> str | None:
    is_name = mention.entity_type is EntityType.PERSON and mention.is_explicit and mention.name[:1].isupper()
    return unique_role(turn.text, mention.start, mention.end) if is_name and turn.subject == USER else None


@dataclass(frozen=True)
class ExtractionRun:
    """Reads segments with an extractor, past all checks. Facts with a tombstone are not read again.

    `n_context_turns` are turns before a segment that are read with it.
    """

    extractor: Extractor
    checks: Checks
    n_context_turns: int
    tombstones: Tombstones | None = None

    def run(self, _: date, tables: Tables, __: Records) -> Tables:
        """The day's mentions, claims, extraction_issues and llm_calls, by name."""
        made = extract(self._segments(tables), self.extractor, self.checks)
        return {**made, "claims": without_erased(made["claims"], self.tombstones)} if self.tombstones else made

    def prepare(self, days: Iterable[Tables]) -> None:
        """Tells the extractor of the segments of days to come."""
        prepare((segment for tables in days for segment in self._segments(tables)), self.extractor, self.checks)

    @staticmethod
    def is_complete(made: Tables) -> bool:
        """Whether nothing of the day is still to be read."""
        return not incomplete(made["extraction_issues"])

    def _segments(self, tables: Tables) -> Iterable[Segment]:
        return read_segments(tables["segments"], tables["messages"], self.n_context_turns)


def without_erased(claims: pa.Table, tombstones: Tombstones) -> pa.Table:
    """The claims but those of erased facts, said up to their erasure.

    A claim of the same fact can come from words that no extractor had read before, or from a message that lands later.
    Days that stand need not be made again for it: their claims of the fact went with the erasure.
    """
    if tombstones.is_empty or not claims.num_rows:
        return claims
    kept = [
        not tombstones.covers(FACT, row["user_id"], *key_of_claim(row), said_at=iso_instant(row["timestamp"]))
        for row in cast("Iterator[ClaimRow]", rows_of(claims))
    ]
    return claims if all(kept) else claims.filter(pa.array(kept))
