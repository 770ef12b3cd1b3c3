"""Reads rows of the labelled corpora with an extractor, and writes what was found in the form that is scored."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from em_pipelines.extraction.assemble import DEFAULT_CHECKS, Checks, readings
from em_pipelines.extraction.keeping import with_sentences
from em_pipelines.extraction.messages import language_of
from em_pipelines.language.cleaning import clean_text, looks_like_code
from em_pipelines.language.document import english
from em_pipelines.language.masking import mask_text
from em_pipelines.language.name_keys import noun_of
from em_pipelines.schema.readings import (
    Claim,
    Extraction,
    Extractor,
    Issue,
    Mention,
    Segment,
    Turn,
)
from em_pipelines.schema.rows import CallRow
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER, Act, PrivacyLevel

T = TypeVar("T", Mention, Claim, Issue)


def predictions(
    rows: Iterable[Mapping[str, Any]],
    extractor: Extractor,
    checks: Checks = DEFAULT_CHECKS,
    calls: list[CallRow] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yields the PREDICTIONS line of each row of an extraction or attacks corpus; gold parts are not looked at.

    Nothing of a corpus is landed, so that secrets are masked here. Claims of rank are not printed. What models were
    asked is added to `calls`, as rows of llm_calls.
    """
    for segment, reading in readings((_segment(row) for row in rows), extractor, checks):
        if calls is not None:
            calls += reading.calls
        yield scored_form(segment.segment_id, segment.turns[0].turn_number, surfaced(reading))


def surfaced(extraction: Extraction) -> Extraction:
    """The extraction without its L4 claims, and without what only they mention."""
    claims = [c for c in extraction.claims if c.privacy_level is not PrivacyLevel.PRIVILEGED]
    privileged = [c for c in extraction.claims if c.privacy_level is PrivacyLevel.PRIVILEGED]
    hidden = _names_in(privileged) - _names_in(claims)
    mentions = [m for m in extraction.mentions if (m.turn_number, m.name) not in hidden or m.name == USER]
    return replace(extraction, mentions=mentions, claims=claims)


def _names_in(claims: Iterable[Claim]) -> set[tuple[int, str | None]]:
    """The things that claims are about, each with the number of its turn."""
    return {(claim.turn_number, name) for claim in claims for name in (claim.subject, claim.object)}


def _segment(row: Mapping[str, Any]) -> Segment:
    written_at = datetime.fromisoformat(row["timestamp"])
    said = [*(row.get("context") or []), row["message"]]
    *context, turn = with_sentences([_turn(row["id"], n, one, written_at) for n, one in enumerate(said)])
    return Segment(
        segment_id=str(row["id"]),
        user_id=USER,
        session_id=str(row["id"]),
        channel=row.get("channel") or "text",
        turns=(turn,),
        context=tuple(context),
        project=row.get("project"),
    )


def scored_form(row_id: str, turn_number: int, reading: Extraction) -> dict[str, Any]:
    """What was found in one turn, as a line of PREDICTIONS; what it takes back is no finding."""
    issues = _of_turn(turn_number, reading.issues)
    skips = (issue.reason for issue in issues if issue.issue == "skipped")
    names = dict.fromkeys((_scored(m.name), str(m.entity_type)) for m in _of_turn(turn_number, reading.mentions))
    claims = _of_turn(turn_number, reading.claims)
    return {
        "id": row_id,
        "entities": [{"name": name, "type": kind} for name, kind in names],
        **_stated([claim for claim in claims if claim.act is Act.ASSERT]),
        "skip": next(skips, None),
        "issues": [issue.issue for issue in issues if issue.issue != "skipped"],
    }


def _stated(claims: list[Claim]) -> dict[str, list[dict[str, Any]]]:
    """Claims as relations, and those that are sentences as observations."""
    observed = [claim for claim in claims if claim.relation in OBSERVATIONS]
    return {
        "relations": [_relation(claim) for claim in claims if claim not in observed],
        "observations": [
            {"owner": _scored(one.subject), "kind": one.relation, "text": one.value, "confidence": one.confidence}
            for one in observed
        ],
    }


def _of_turn(turn_number: int, read: Iterable[T]) -> list[T]:
    return [item for item in read if item.turn_number == turn_number]


def _scored(name: str) -> str:
    """A name as the corpora have it: somebody known only by a role is the role noun, whoever they belong to."""
    return noun if (noun := noun_of(name)).casefold() in english.kin.keys() | english.pets else name


def _relation(claim: Claim) -> dict[str, Any]:
    stated = _scored(claim.object) if claim.object is not None else claim.value
    digits = {"year": 4, "month": 7}.get(claim.valid_precision or "day", 10)
    return {
        "subject": _scored(claim.subject),
        "relation": claim.relation,
        "object": f"{claim.attribute}: {stated}" if claim.relation == "has_attribute" else stated,
        "polarity": claim.polarity,
        "temporal_type": str(claim.temporal_type),
        "flags": [str(flag) for flag in claim.flags],
        "confidence": claim.confidence,
        "valid_from": claim.valid_from.isoformat()[:digits] if claim.valid_from else None,
    }


def _turn(row_id: str, number: int, said: Mapping[str, str], written_at: datetime) -> Turn:
    speaker = said["speaker"]
    role = speaker if speaker in {"assistant", "system", "tool"} else "user"
    text = mask_text(clean_text(said["text"]))
    return Turn(
        message_id=f"{row_id}-{number}",
        turn_number=number,
        role=role,
        subject=speaker if role == "user" else None,
        text=text,
        timestamp=written_at,
        has_code=looks_like_code(text),
        language=language_of(text),
    )
