"""Trusting nothing: the hallucination checks that every extraction passes, whoever made it.

Each check is a named issue. One or two of them halve the confidence of what they touch; from three on the whole
extraction is discarded, and every claim of it is counted. Add a check as a function from a reading to doubts; what is
merely private or dangerous is judged elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from em_pipelines.extraction.rules.lexicon import load_lexicon
from em_pipelines.extraction.settings import VerificationSettings
from em_pipelines.extraction.spans import find_span
from em_pipelines.schema.readings import HALLUCINATIONS, Claim, Extraction, Issue, Mention, Segment, Turn
from em_pipelines.schema.vocabulary import RELATIONS, USER, Act, HedgeLevel
from em_pipelines.text.name_keys import name_key

DISCARDED = "discarded"
"""The issue of an item of a discarded extraction."""

TEMPLATE_NAMES = ("Zerelda", "Quillham", "Obrantz")
"""Names in the examples of prompts, and nowhere else: in an answer they show that the examples came back."""

_PLACEHOLDER = re.compile(
    r"^(?:<.{0,80}>|\{.{0,80}\}|\[.{0,80}\]|\.{3}|…|name|string|null|none|n/a|unknown|example)$", re.I
)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_CLAUSE_END = re.compile(r"[.!?;,:\n]")


@dataclass(frozen=True, slots=True)
class Doubt:
    """One warning: the issue, and which claims and names it touches. `is_unfit`: the claim cannot be stored at all."""

    issue: Issue
    claims: tuple[int, ...] = ()
    names: tuple[tuple[int, str], ...] = ()
    is_unfit: bool = False


def verify(reading: Extraction, segment: Segment, settings: VerificationSettings | None = None) -> Extraction:
    """Returns the reading with its doubts as issues, doubted claims at half their confidence and unfit ones dropped;
    or, after too many doubts, without any mention or claim."""
    settings = settings or VerificationSettings()
    doubts = list(_doubts(reading, segment, settings))
    n_warnings = len(doubts) + sum(issue.issue in HALLUCINATIONS for issue in reading.issues)
    if not n_warnings:
        return reading
    issues = [*reading.issues, *(doubt.issue for doubt in doubts)]
    if n_warnings >= settings.n_warnings_to_discard:
        return replace(reading, mentions=[], claims=[], issues=[*issues, *_discarded(reading)])
    return replace(reading, claims=_weighed(reading.claims, doubts, settings.factor), issues=issues)


def _weighed(claims: Sequence[Claim], doubts: Sequence[Doubt], factor: float) -> list[Claim]:
    """The claims without the unfit ones, those that are doubted or whose ends are at `factor` of their confidence."""
    unfit = set(chain.from_iterable(doubt.claims for doubt in doubts if doubt.is_unfit))
    doubted = set(chain.from_iterable(doubt.claims for doubt in doubts))
    names = set(chain.from_iterable(doubt.names for doubt in doubts))
    return [
        replace(claim, confidence=round(claim.confidence * factor, 6))
        if n in doubted or names.intersection(_ends(claim))
        else claim
        for n, claim in enumerate(claims)
        if n not in unfit
    ]


def _discarded(reading: Extraction) -> Iterator[Issue]:
    """One issue a claim and a mention, so that they can be counted; a turn loses everything that was read in it."""
    of_turn: Counter[int] = Counter()
    items: list[Claim | Mention] = [*reading.claims, *reading.mentions]
    for item in items:
        of_turn[item.turn_number] += 1
        number = of_turn[item.turn_number]
        what = item.relation if isinstance(item, Claim) else item.entity_type
        detail = f"item {number}, {what}: too many warnings in its segment"
        yield Issue(item.turn_number, DISCARDED, "hallucination", "error", detail)


def _doubts(reading: Extraction, segment: Segment, settings: VerificationSettings) -> Iterator[Doubt]:
    turns = {turn.turn_number: turn for turn in segment.turns}
    yield from _unspoken(reading.mentions, turns, segment)
    yield from _too_many(reading.mentions, turns, settings)
    mentioned = {(m.turn_number, m.name) for m in reading.mentions}
    seen: set[tuple[object, ...]] = set()
    for n, claim in enumerate(reading.claims):
        turn = turns[claim.turn_number]
        unfit = _unfit(claim, turn, segment, mentioned)
        key = (claim.act, claim.turn_number, claim.subject, claim.relation, claim.object, claim.value, claim.attribute)
        if unfit is None and (*key, claim.polarity) in seen:
            unfit = "repetition", "the same relation again in the same message"
        seen.add((*key, claim.polarity))
        if unfit is not None:
            yield Doubt(_warning(claim.turn_number, *unfit, n), claims=(n,), is_unfit=True)
        elif _is_overconfident(claim, turn, settings):
            detail = f"confidence {claim.confidence:g} on a hedged clause"
            yield Doubt(_warning(claim.turn_number, "confidence_anomaly", detail, n), claims=(n,))


def _warning(turn_number: int, issue: str, detail: str, number: int) -> Issue:
    return Issue(turn_number, issue, "hallucination", "warning", f"{detail} (item {number})")


def _unspoken(mentions: Iterable[Mention], turns: dict[int, Turn], segment: Segment) -> Iterator[Doubt]:
    """Explicit names that stand in no turn of the segment: span, template_leak or context_bleed."""
    for n, mention in enumerate(mentions):
        why = _why_unspoken(mention, turns, segment) if mention.is_explicit else None
        if why is not None:
            name = (mention.turn_number, name_key(mention.name))
            yield Doubt(_warning(mention.turn_number, *why, n), names=(name,))


def _why_unspoken(mention: Mention, turns: dict[int, Turn], segment: Segment) -> tuple[str, str] | None:
    """Issue and detail of a name that stands in no turn of the segment; None where it does."""
    here = turns[mention.turn_number].text[mention.start : mention.end]
    if here == mention.name or (here and find_span(mention.name, here)) or _is_in(mention.name, turns.values()):
        return None
    if mention.name in TEMPLATE_NAMES or _PLACEHOLDER.match(mention.name):
        return "template_leak", "a name out of the prompt or a placeholder"
    if _is_in(mention.name, segment.context):
        return "context_bleed", "a new entity that stands in earlier turns alone"
    if here and name_key(here) == name_key(mention.name):
        return None
    return "span", "an explicit name that stands nowhere"


def _is_in(name: str, turns: Iterable[Turn]) -> bool:
    return any(find_span(name, turn.text) for turn in turns)


def _too_many(mentions: Iterable[Mention], turns: dict[int, Turn], settings: VerificationSettings) -> Iterator[Doubt]:
    """More entities in a message than half its words."""
    of_turn: dict[int, set[str]] = {}
    for mention in mentions:
        of_turn.setdefault(mention.turn_number, set()).add(name_key(mention.name))
    for turn_number, names in of_turn.items():
        if len(names) * 2 <= settings.min_counted_words:
            continue
        n_words = len(_WORD.findall(turns[turn_number].text))
        if n_words >= settings.min_counted_words and len(names) * 2 > n_words:
            detail = f"{len(names)} entities in {n_words} words"
            yield Doubt(_warning(turn_number, "count", detail, 0), names=tuple((turn_number, name) for name in names))


def _unfit(claim: Claim, turn: Turn, segment: Segment, mentioned: set[tuple[int, str]]) -> tuple[str, str] | None:
    """Why a claim cannot be stored, as issue and detail; None where it can."""
    if claim.relation not in RELATIONS:
        return "out_of_vocabulary", "a relation that is not in the vocabulary"
    if (claim.object is None) == (claim.value is None):
        return "orphan_relation", "needs an object or a value, and not both"
    keys = [name_key(name) for name in _end_names(claim)]
    if not all(keys):
        return "orphan_relation", "an end has no name"
    if len(keys) > 1 and keys[0] == keys[1]:
        return "orphan_relation", "says something of a thing and itself"
    if not all(_is_mentioned(name, turn, segment, mentioned) for name in _end_names(claim)):
        return "orphan_relation", "an end that nothing mentions"
    return None


def _is_mentioned(name: str, turn: Turn, segment: Segment, mentioned: set[tuple[int, str]]) -> bool:
    """Whether an end of a claim of the turn is a person of the conversation, a mention, or stands in any text."""
    is_known = name in {USER, turn.subject} or (turn.turn_number, name) in mentioned
    return is_known or _is_in(name, (turn, *segment.turns, *segment.context))


def _is_overconfident(claim: Claim, turn: Turn, settings: VerificationSettings) -> bool:
    """Whether a clause says "maybe" or "I think" and the claim does not. What is taken back is never too sure."""
    if claim.act is Act.RETRACT:
        return False
    if claim.confidence < settings.min_high_confidence or claim.hedge_level is not HedgeLevel.NONE:
        return False
    before = [m.end() for m in _CLAUSE_END.finditer(turn.text, 0, claim.start)]
    clause = turn.text[before[-1] if before else 0 : claim.end]
    return bool(_HEDGES.search(clause.replace("’", "'")))


def _end_names(claim: Claim) -> list[str]:
    return [claim.subject] if claim.object is None else [claim.subject, claim.object]


def _ends(claim: Claim) -> set[tuple[int, str]]:
    return {(claim.turn_number, name_key(name)) for name in _end_names(claim)}


def _hedges() -> re.Pattern[str]:
    """Words that weaken whatever follows them. "may" is left out for the month, verbs for what else they mean."""
    listed = load_lexicon("hedges")
    phrases = {phrase.strip() for level in ("moderate", "strong") for phrase in listed[level]} - {
        "may",
        "likely",
        "seem",
    }
    longest_first = sorted(phrases, key=lambda p: (-len(p), p))
    return re.compile(rf"(?<![\w'])(?:{'|'.join(re.escape(p) for p in longest_first)})(?![\w'])", re.IGNORECASE)


_HEDGES = _hedges()
