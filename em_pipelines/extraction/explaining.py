"""How one text is read: its sentences with labels, names and dates, the claims, and why something was left out.

The text goes the way of every message (`assemble.readings`); what the extractor returns is kept on the way. Nothing is
decided here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from em_pipelines.errors import UsageError
from em_pipelines.extraction.assemble import Checks, readings
from em_pipelines.extraction.keeping import with_sentences
from em_pipelines.extraction.messages import language_of
from em_pipelines.extraction.verification import verify
from em_pipelines.guard.passages import Span, overlaps
from em_pipelines.language.cleaning import CODE_MARK, clean_text, looks_like_code
from em_pipelines.language.document import Document, document
from em_pipelines.language.masking import mask_text
from em_pipelines.schema.readings import Claim, Extraction, Extractor, Issue, LocalExtractor, Mention, Segment, Turn
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER


@dataclass(frozen=True, slots=True)
class SentenceSeen:
    """A sentence from `start` to `end` in the text, how probably it is worth keeping (0 to 1), and the kind of
    observation; None where it is none. `left_out` says why it makes none although it is worth keeping."""

    text: str
    start: int
    end: int
    confidence: float
    kind: str | None
    left_out: str | None
    names: tuple[str, ...]
    dates: dict[str, str]
    """The words of each date → its first day, ISO."""


@dataclass(frozen=True, slots=True)
class ClaimJudged:
    """A claim as it was read, and what became of it: kept (with what confidence), or dropped by whom."""

    claim: Claim
    verdict: str
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one text was read; secrets in it are masked.

    `guarded` is what the guard lets an extractor see. `outcome` says in a sentence what came of it, or why nothing.
    """

    text: str
    guarded: str
    sentences: tuple[SentenceSeen, ...]
    claims: tuple[ClaimJudged, ...]
    mentions: tuple[Mention, ...]
    reader_issues: tuple[Issue, ...]
    guard_issues: tuple[Issue, ...]
    verification_issues: tuple[Issue, ...]
    outcome: str


class _Observed(LocalExtractor):
    """An extractor, of whose one reading it is kept what it was shown and what came of it."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self.name, self.version = extractor.name, extractor.version
        self.seen: Segment | None = None
        self.read = Extraction()

    def extract(self, segment: Segment) -> Extraction:
        self.seen = segment
        (self.read,) = self._extractor.extract_all([segment])
        return self.read


def explain(text: str, extractor: Extractor, checks: Checks, written_at: datetime) -> Explanation:
    """Reads a text as a user's message written at that time, which must have an offset. Raises UsageError where the
    extractor asks a model."""
    if not isinstance(extractor, LocalExtractor):
        raise UsageError(
            f"explaining a text: the extractor {extractor.name} asks a model; add --extractor rules, which asks none"
        )
    text = mask_text(clean_text(text))
    has_code, language = looks_like_code(text), language_of(text)
    turn = Turn("explained", 0, "user", USER, text, written_at, has_code=has_code, language=language)
    (turn,) = with_sentences([turn])
    segment = Segment("explained", USER, "explained", "text", (turn,))
    observed = _Observed(extractor)
    ((_, kept),) = readings([segment], observed, checks)
    seen = observed.seen or segment
    verified = verify(observed.read, seen, checks.verification, checks.second_reader)
    return Explanation(
        text=text,
        guarded=seen.turns[0].text,
        sentences=tuple(_sentences(turn, seen.turns[0], kept)),
        claims=tuple(_judged(observed.read, verified, kept)),
        mentions=tuple(kept.mentions),
        reader_issues=tuple(observed.read.issues),
        guard_issues=tuple(issue for issue in kept.issues if issue not in verified.issues),
        verification_issues=tuple(issue for issue in verified.issues if issue not in observed.read.issues),
        outcome=_outcome(kept),
    )


def _sentences(turn: Turn, seen: Turn, kept: Extraction) -> Iterator[SentenceSeen]:
    observed = {(claim.start, claim.end) for claim in kept.claims if claim.relation in OBSERVATIONS}
    of_text = document(turn.text, turn.timestamp, turn.language)
    for one in turn.sentences:
        span = (one.span_start, one.span_end)
        left_out = _why_left_out(span, seen) if one.kind is not None and span not in observed else None
        names = tuple(turn.text[slice(*name)] for name in of_text.names if overlaps(span, [name]))
        dates = _dates(of_text, span)
        yield SentenceSeen(turn.text[slice(*span)], *span, one.confidence, one.kind, left_out, names, dates)


def _dates(of_text: Document, span: Span) -> dict[str, str]:
    return {
        of_text.text[slice(*one.span)]: one.start.isoformat() for one in of_text.dates if overlaps(span, [one.span])
    }


def _why_left_out(span: Span, seen: Turn) -> str:
    """What the guard found in a sentence, or that it is somebody else's words, or cannot be stored."""
    found = [one for one in seen.withheld or () if overlaps(span, [(one.span_start, one.span_end)])]
    quoted = ["quoted material"] if CODE_MARK in seen.text[slice(*span)] else []
    return ", ".join(dict.fromkeys(one.reason for one in found)) or next(iter(quoted), "unsafe content")


def _judged(read: Extraction, verified: Extraction, kept: Extraction) -> Iterator[ClaimJudged]:
    believed = {_fact(claim) for claim in verified.claims}
    confidences = {_fact(claim): claim.confidence for claim in kept.claims}
    for claim in read.claims:
        fact = _fact(claim)
        if fact in confidences:
            is_doubted = confidences[fact] < claim.confidence
            yield ClaimJudged(claim, "kept, doubted" if is_doubted else "kept", confidences[fact])
        else:
            by = "the guard" if fact in believed else "verification"
            yield ClaimJudged(claim, f"dropped by {by}", None)


def _fact(claim: Claim) -> tuple[object, ...]:
    stated = (claim.subject, claim.relation, claim.object, claim.value, claim.attribute)
    return (*stated, claim.polarity, claim.act)


def _outcome(kept: Extraction) -> str:
    if kept.claims or kept.mentions:
        return f"kept: claims {len(kept.claims)}, mentions {len(kept.mentions)}"
    why = ", ".join(dict.fromkeys(f"{issue.issue} ({issue.reason})" for issue in kept.issues))
    return f"nothing is kept: {why or 'no reason is known'}"
