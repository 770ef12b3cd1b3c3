"""How one text is read by the rules, step by step: what came apart, what was tried, what was believed and what was not.

The text goes the way of every message (`assemble.readings`); only the reader is given a trace. Nothing is read twice
and nothing decided here.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from em_pipelines.errors import UsageError
from em_pipelines.extraction.assemble import Checks, readings
from em_pipelines.extraction.explanations import (
    ClaimJudged,
    ClauseSeen,
    Explanation,
    PatternTried,
    SentenceSeen,
    TokenSeen,
)
from em_pipelines.extraction.labelled import with_sentences
from em_pipelines.extraction.messages import language_of
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.rules.matching import Match
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.people import joined_text, phrase_text
from em_pipelines.extraction.rules.slots import Fill
from em_pipelines.extraction.rules.trace import Attempt, ClauseTrace, Trace
from em_pipelines.extraction.verification import verify
from em_pipelines.guard.passages import Span, overlaps
from em_pipelines.language.cleaning import CODE_MARK, clean_text, looks_like_code
from em_pipelines.language.en.clauses import Clause
from em_pipelines.language.en.tokens import CLASS_NAMES, PUNCT, Token
from em_pipelines.language.en.verb_groups import VerbGroup
from em_pipelines.language.masking import mask_text
from em_pipelines.schema.readings import Claim, Extraction, Extractor, LocalExtractor, Segment, Turn
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER, HedgeLevel

_VERB_SIGNS = (
    "is_negated", "is_past", "is_perfect", "is_progressive", "is_future", "is_passive", "is_participle", "is_inverted",
    "used_to", "has_begun", "has_ended",
)  # fmt: skip


class _Observed(LocalExtractor):
    """The rules extractor, of whose one reading it is kept what it was shown, how it went and what came of it."""

    def __init__(self, rules: RulesExtractor) -> None:
        self._rules = rules
        self.trace = Trace()
        self.seen: Segment | None = None
        self.read = Extraction()

    @property
    def name(self) -> str:
        return self._rules.name

    @property
    def version(self) -> str:
        return self._rules.version

    def extract(self, segment: Segment) -> Extraction:
        self.seen = segment
        self.read = self._rules.extract(segment, self.trace)
        return self.read


def explain(text: str, extractor: Extractor, checks: Checks, written_at: datetime) -> Explanation:
    """Reads a text as a user's message written at that time, which must have an offset. Raises UsageError where the
    extractor has no patterns."""
    text = mask_text(clean_text(text))
    has_code, language = looks_like_code(text), language_of(text)
    turn = Turn("explained", 0, "user", USER, text, written_at, has_code=has_code, language=language)
    (turn,) = with_sentences([turn])
    segment = Segment("explained", USER, "explained", "text", (turn,))
    observed = _Observed(_with_patterns(extractor))
    ((_, kept),) = readings([segment], observed, checks)
    seen = observed.seen or segment
    verified = verify(observed.read, seen, checks.verification, checks.second_reader)
    trace = observed.trace
    return Explanation(
        text=text,
        guarded=seen.turns[0].text,
        sentences=tuple(_sentences(turn, seen.turns[0], kept)),
        tokens=tuple(_token(trace.reading, token) for token in trace.reading.tokens) if trace.reading else (),
        clauses=tuple(_clause(trace.reading, clause) for clause in trace.clauses) if trace.reading else (),
        claims=tuple(_judged(observed.read, verified, kept)),
        mentions=tuple(kept.mentions),
        reader_issues=tuple(observed.read.issues),
        guard_issues=tuple(issue for issue in kept.issues if issue not in verified.issues),
        verification_issues=tuple(issue for issue in verified.issues if issue not in observed.read.issues),
        outcome=_outcome(kept),
    )


def _with_patterns(extractor: Extractor) -> RulesExtractor:
    if isinstance(extractor, RulesExtractor):
        return extractor
    raise UsageError(
        f"explaining a text: found the extractor {extractor.name}, which has no patterns; add --extractor rules"
    )


def _sentences(turn: Turn, seen: Turn, kept: Extraction) -> Iterator[SentenceSeen]:
    observed = {(claim.start, claim.end) for claim in kept.claims if claim.relation in OBSERVATIONS}
    for one in turn.sentences:
        span = (one.span_start, one.span_end)
        left_out = _why_left_out(span, seen) if one.kind is not None and span not in observed else None
        yield SentenceSeen(turn.text[slice(*span)], one.confidence, one.kind, left_out)


def _why_left_out(span: Span, seen: Turn) -> str:
    """What the guard found in a sentence, or that it is somebody else's words, or cannot be stored."""
    found = [one for one in seen.withheld or () if overlaps(span, [(one.span_start, one.span_end)])]
    quoted = ["quoted material"] if CODE_MARK in seen.text[slice(*span)] else []
    return ", ".join(dict.fromkeys(one.reason for one in found)) or next(iter(quoted), "unsafe content")


def _token(reading: Reading, token: Token) -> TokenSeen:
    classes = [name for n, name in enumerate(CLASS_NAMES) if token.bits >> n & 1]
    if token.bits & PUNCT:
        classes.append("marks")
    if token.is_capital:
        classes.append("capital")
    return TokenSeen(reading.text[token.start : token.end], tuple(classes), tuple(token.verbs or ()))


def _clause(reading: Reading, traced: ClauseTrace) -> ClauseSeen:
    clause = traced.clause
    return ClauseSeen(
        subject=_subject(reading, clause),
        verb=_text(reading, clause.verb.start, clause.verb.end),
        lemmas=clause.verb.lemmas,
        verb_signs=_verb_signs(clause.verb),
        complement=_text(reading, clause.verb.end, clause.right),
        meant=_meant(traced.mods),
        passed_over=traced.passed_over.value if traced.passed_over is not None else None,
        patterns=tuple(_pattern(reading, attempt) for attempt in traced.attempts),
    )


def _subject(reading: Reading, clause: Clause) -> str:
    if clause.pronoun is not None:
        return _text(reading, clause.pronoun, clause.pronoun + 1)
    named = ", ".join(phrase_text(reading, phrase) for phrase in clause.subject)
    return named or ("(the speaker)" if clause.is_own else "")


def _verb_signs(verb: VerbGroup) -> tuple[str, ...]:
    signs = [name.removeprefix("is_") for name in _VERB_SIGNS if getattr(verb, name)]
    return tuple([verb.modal, *signs] if verb.modal else signs)


def _meant(mods: Modifiers) -> tuple[str, ...]:
    """The modifiers that are set: `reported`, `hedge slight`."""
    signs = [name.removeprefix("is_") for name in Modifiers.__slots__ if getattr(mods, name) is True]
    return tuple(signs if mods.hedge is HedgeLevel.NONE else [*signs, f"hedge {mods.hedge}"])


def _pattern(reading: Reading, attempt: Attempt) -> PatternTried:
    pattern, result = attempt.pattern, attempt.result
    if not isinstance(result, Match):
        return PatternTried(pattern.pattern_id, pattern.frame, result.value, (), {}, 0)
    subjects = tuple(subject.name for subject in result.subjects)
    slots = {name: tuple(_fill(reading, fill) for fill in fills) for name, fills in result.slots.items()}
    return PatternTried(pattern.pattern_id, pattern.frame, None, subjects, slots, attempt.n_claims)


def _fill(reading: Reading, fill: Fill) -> str:
    if fill.text is not None:
        return fill.text
    return fill.when.iso() if fill.when is not None else _text(reading, fill.start, fill.end)


def _text(reading: Reading, start: int, end: int) -> str:
    return joined_text(reading, start, end) if start < end else ""


def _judged(read: Extraction, verified: Extraction, kept: Extraction) -> Iterable[ClaimJudged]:
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
