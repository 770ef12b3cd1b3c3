"""Runs an extractor over segments and gives what it read ids, times and a place in the tables.

What is checked here holds for every extractor: what `em_pipelines.extraction.verification` asks of each reading,
nothing durable from untrusted sessions, and every message accounted for.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, tee
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.extraction.durable import DurableSettings, lasting_facts, whole_sessions
from em_pipelines.extraction.model import Claim, Extraction, Extractor, Issue, Mention, Segment, Turn
from em_pipelines.extraction.unread import PENDING
from em_pipelines.extraction.verification import VerificationSettings, verify
from em_pipelines.ids import content_id, correlation_id
from em_pipelines.resolution.roles import unique_role
from em_pipelines.safety.content import has_pasted_block
from em_pipelines.safety.guard import guarded, screened
from em_pipelines.safety.settings import SafetySettings
from em_pipelines.tables.extraction import CLAIMS, EXTRACTION_ISSUES, LLM_CALLS, MENTIONS
from em_pipelines.vocabulary import USER, Act, EntityType

Row = dict[str, Any]
UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Checks:
    """What every reading has to pass: the settings of verification, of the safety guard and of the session's end."""

    verification: VerificationSettings = field(default_factory=VerificationSettings)
    safety: SafetySettings = field(default_factory=SafetySettings)
    durable: DurableSettings = field(default_factory=DurableSettings)


DEFAULT_CHECKS = Checks()


@dataclass(slots=True)
class Extracted:
    """Rows of mentions, claims, extraction_issues and llm_calls, by their ids, so that nothing stands twice."""

    mentions: dict[str, Row] = field(default_factory=dict)
    claims: dict[str, Row] = field(default_factory=dict)
    issues: dict[str, Row] = field(default_factory=dict)
    calls: dict[str, Row] = field(default_factory=dict)
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
    found = Extracted()
    reader = f"{extractor.name}@{extractor.version}"
    read: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    segments, again = tee(segments)
    for segment, reading in readings(segments, extractor, checks):
        _collect(found, segment, reading, reader)
        if checks.durable.is_enabled:
            read[segment.user_id, segment.session_id] += reading.claims
    for session, reading in readings(whole_sessions(again, checks.durable), extractor, checks):
        added = lasting_facts(reading, read[session.user_id, session.session_id], checks.durable)
        _collect(found, session, added, reader, is_addition=True)
    return found.tables()


def prepare(segments: Iterable[Segment], extractor: Extractor, checks: Checks = DEFAULT_CHECKS) -> None:
    """Tells an extractor of the segments it will be asked to read, so that it can ask for many at once."""
    segments, again = tee(segments)
    wanted = chain(segments, whole_sessions(again, checks.durable))
    guards = (_guarded(segment, checks.safety)[0] for segment in wanted)
    extractor.prepare(seen for seen in guards if seen is not None)


def readings(
    segments: Iterable[Segment], extractor: Extractor, checks: Checks = DEFAULT_CHECKS
) -> Iterator[tuple[Segment, Extraction]]:
    """Each segment with what may be believed of it, in order.

    An extractor sees neither untrusted sessions nor what the guard takes out of a text; what it says of the rest is
    verified first and screened then, so that what is withheld still counts as a hallucination where it is one.
    """
    guards = ((segment, *_guarded(segment, checks.safety)) for segment in segments)
    asked, kept = tee(guards)
    read = extractor.extract_all(seen for _, seen, _ in asked if seen is not None)
    for segment, seen, issues in kept:
        if seen is None:
            yield segment, Extraction(issues=issues)
            continue
        reading = screened(verify(next(read), seen, checks.verification), seen, checks.safety)
        reading.issues += issues
        yield segment, reading


def _guarded(segment: Segment, safety: SafetySettings) -> tuple[Segment | None, list[Issue]]:
    """What an extractor may see of a segment, and what was taken out of it; nothing of an untrusted one."""
    if segment.trust == UNTRUSTED:
        return None, [_untrusted(turn) for turn in segment.turns]
    bounded, cut = _bounded(segment, safety.max_characters)
    seen, issues = guarded(bounded, safety)
    return seen, [*cut, *issues]


def _bounded(segment: Segment, max_characters: int) -> tuple[Segment, list[Issue]]:
    """The segment with the beginning of each turn: what nobody guards, nobody reads."""
    if all(len(turn.text) <= max_characters for turn in (*segment.turns, *segment.context)):
        return segment, []
    detail = f"only the first {max_characters} characters were read"
    issues = [
        Issue(turn.turn_number, "truncated", "too_long", "warning", detail)
        for turn in segment.turns
        if len(turn.text) > max_characters
    ]
    cut = [tuple(replace(t, text=t.text[:max_characters]) for t in turns) for turns in (segment.turns, segment.context)]
    return replace(segment, turns=cut[0], context=cut[1]), issues


def incomplete(issues: pa.Table) -> bool:
    """Whether a day's extraction_issues say that something is still to be read."""
    return bool(pc.any(pc.equal(issues["issue"], PENDING)).as_py())


def _untrusted(turn: Turn) -> Issue:
    return Issue(turn.turn_number, "skipped", "untrusted_session", detail="no durable fact from an untrusted session")


def _collect(
    found: Extracted, segment: Segment, reading: Extraction, extractor: str, *, is_addition: bool = False
) -> None:
    turns = {turn.turn_number: turn for turn in segment.turns}
    if any(turn.subject is not None and has_pasted_block(turn.text) for turn in segment.turns):
        found.pasted.add((segment.user_id, segment.session_id))
    mentioned: set[tuple[int, str]] = set()
    for mention in reading.mentions:
        mentioned.add((mention.turn_number, mention.name))
        _put_mention(found, segment, turns[mention.turn_number], mention, extractor)
    extraction_id = content_id("ext", segment.segment_id, extractor)
    for claim in reading.claims:
        turn = turns[claim.turn_number]
        for name, entity_type in _ends(claim):
            if (claim.turn_number, name) not in mentioned:
                mentioned.add((claim.turn_number, name))
                implied = Mention(claim.turn_number, name, entity_type, claim.start, claim.end, is_explicit=False)
                _put_mention(found, segment, turn, implied, extractor)
        _put_claim(found, segment, turn, claim, extraction_id, extractor)
    accounted = {n for n, _ in mentioned} | {issue.turn_number for issue in reading.issues}
    missed = [Issue(n, "skipped", "nothing_found") for n in turns if n not in accounted and not is_addition]
    for issue in [*reading.issues, *missed]:
        _put_issue(found, segment, turns[issue.turn_number], issue, extractor)
    for call in reading.calls:
        found.calls[call["call_id"]] = call


def _ends(claim: Claim) -> list[tuple[str, EntityType]]:
    ends = [(claim.subject, EntityType.PERSON if claim.subject == USER else claim.subject_type)]
    if claim.object is not None:
        ends.append((claim.object, claim.object_type or EntityType.CONCEPT))
    return ends


def _origin(segment: Segment, turn: Turn, extractor: str) -> Row:
    return {
        "user_id": segment.user_id,
        "session_id": segment.session_id,
        "turn_number": turn.turn_number,
        "message_id": turn.message_id,
        "segment_id": segment.segment_id,
        "timestamp": turn.timestamp,
        "extractor": extractor,
        "correlation_id": correlation_id(segment.user_id, segment.session_id, turn.turn_number),
    }


def _put_mention(found: Extracted, segment: Segment, turn: Turn, mention: Mention, extractor: str) -> None:
    key = content_id("men", turn.message_id, mention.start, mention.end, mention.name, mention.entity_type)
    found.mentions[key] = {
        "mention_id": key,
        **_origin(segment, turn, extractor),
        "name": mention.name,
        "entity_type": mention.entity_type.value,
        "role": mention.role or _role(turn, mention),
        "span_start": mention.start,
        "span_end": mention.end,
        "is_explicit": mention.is_explicit,
    }


def _role(turn: Turn, mention: Mention) -> str | None:
    is_name = mention.entity_type is EntityType.PERSON and mention.is_explicit and mention.name[:1].isupper()
    return unique_role(turn.text, mention.start, mention.end) if is_name and turn.subject == USER else None


def _put_claim(
    found: Extracted, segment: Segment, turn: Turn, claim: Claim, extraction_id: str, extractor: str
) -> None:
    said: tuple[object, ...] = (
        claim.subject, claim.relation, claim.object, claim.value, claim.attribute, claim.polarity,
    )  # fmt: skip
    if claim.act is not Act.ASSERT:
        said = (*said, claim.act.value)
    key = content_id("claim", turn.message_id, *said)
    row = asdict(claim)
    row["span_start"], row["span_end"] = row.pop("start"), row.pop("end")
    row["flags"], row["context_tags"] = [flag.value for flag in claim.flags], list(claim.context_tags)
    found.claims.setdefault(
        key, {"claim_id": key, "extraction_id": extraction_id, **row, **_origin(segment, turn, extractor)}
    )


def _put_issue(found: Extracted, segment: Segment, turn: Turn, issue: Issue, extractor: str) -> None:
    key = content_id("issue", turn.message_id, issue.issue, issue.reason, issue.detail)
    found.issues[key] = {
        "issue_id": key,
        **_origin(segment, turn, extractor),
        "issue": issue.issue,
        "reason": issue.reason,
        "severity": issue.severity,
        "detail": issue.detail,
    }
