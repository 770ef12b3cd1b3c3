"""How probable it is that a claim of a pattern is right and worth keeping: what is improbable makes no claim.

A pattern that fits says that the words are there. Whether they were meant, of a real person, and matter in a month, a
logistic regression estimates from the pattern, the ends of the claim, and how probable it is that its sentence is worth
keeping (`em_pipelines.language.sentence_labels`). It is fitted to claims that readers judged: training/claims,
docs/model-card.md. Retractions and corrections are not judged, for who takes something back is believed, nor are claims
with a flag, whose confidence is low anyhow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import exp, log
from pathlib import Path

import numpy as np

from em_pipelines.errors import PatternError
from em_pipelines.extraction.keeping import with_sentences
from em_pipelines.language.en.lexicon import gender_of_name
from em_pipelines.language.en.noun_phrases import KIN, PETS
from em_pipelines.schema.readings import Claim, Segment, Sentence, Turn
from em_pipelines.schema.vocabulary import USER, Act, HedgeLevel, Mechanism

WEIGHTS = Path(__file__).with_name("confidence.npz")
BIAS = ""
"""The mark of every claim."""
_ROLE_NOUNS = KIN.keys() | PETS
_LEAST = 0.002
"""Probabilities of sentences are kept this far from 0 and 1, where the log odds are infinite."""
_MANY_WORDS, _MANY_CHARACTERS = 6, 240
_AMONG_PEOPLE = "among people"
"""Whether several people talk: a mark."""


def with_confidence(claims: Sequence[Claim], turn: Turn, segment: Segment, min_right: float) -> list[Claim]:
    """The claims of a turn that are right with the probability `min_right` at least. The confidence of one that was
    said plainly among people, who joke, is at most that probability. With 0 none is judged. Raises PatternError if the
    weights cannot be read."""
    if not min_right:
        return list(claims)
    kept = []
    for claim, found in zip(claims, marks(claims, turn, segment), strict=True):
        right = 1.0 if found is None else probability(found)
        if right < min_right:
            continue
        is_lowered = found is not None and found[_AMONG_PEOPLE] and claim.hedge_level is HedgeLevel.NONE
        kept.append(replace(claim, confidence=min(claim.confidence, round(right, 2))) if is_lowered else claim)
    return kept


def probability(found: dict[str, float]) -> float:
    """That a claim with these marks is right, 0 to 1."""
    weights = _weights()
    odds = weights[BIAS] + sum(weights.get(mark, 0.0) * much for mark, much in found.items())
    return 1 / (1 + exp(-odds))


def marks(claims: Sequence[Claim], turn: Turn, segment: Segment) -> Iterator[dict[str, float] | None]:
    """What each claim of a turn of a segment is judged by; None of those that are not judged."""
    earlier = [*segment.context, *(one for one in segment.turns if one.turn_number < turn.turn_number)]
    judged = [_is_judged(claim) for claim in claims]
    labelled = turn if turn.sentences or not any(judged) else with_sentences([*earlier, turn], len(earlier))[-1]
    people = {one.subject for one in (*earlier, *segment.turns) if one.subject}
    of_talk = {"first message": float(not earlier), _AMONG_PEOPLE: float(len(people) > 1)}
    for claim, is_judged in zip(claims, judged, strict=True):
        yield {**_of_claim(claim, turn), **of_talk, **_of_sentence(claim, labelled.sentences)} if is_judged else None


def _is_judged(claim: Claim) -> bool:
    return claim.act is Act.ASSERT and claim.source_mechanism is Mechanism.EXPLICIT and not claim.flags


def _of_claim(claim: Claim, turn: Turn) -> dict[str, float]:
    """Pattern, relation, kind of the subject, and form of the object."""
    group, said = (claim.pattern_id or "").partition(".")[0], claim.object or claim.value or ""
    is_own = claim.subject == (turn.subject or USER)
    whose = "the speaker's" if is_own else "a relative's" if claim.subject.islower() else "another's"
    form, pattern = f"{_form(said)} {group}", f"pattern {claim.pattern_id}"
    named = (pattern, f"relation {claim.relation}", f"group {group}", whose, f"{whose} {group}", form)
    return {
        **dict.fromkeys(named, 1.0),
        "denied": float(claim.polarity < 0),
        f"hedge {claim.hedge_level}": 1.0,
        "words": min(len(said.split()), _MANY_WORDS) / 3,
    }


def _form(said: str) -> str:
    """What an object looks like: in a message without capitals `my mum lied` names nobody."""
    head = said.casefold().rsplit(" ", 1)[-1]
    if {head, head.removesuffix("s")} & _ROLE_NOUNS:
        return "role"
    if gender_of_name(said):
        return "given name"
    return "capital" if said[:1].isupper() else "number" if said[:1].isdigit() else "small letters"


def _of_sentence(claim: Claim, sentences: Sequence[Sentence]) -> dict[str, float]:
    """How probably the sentence of a claim is worth keeping, its place and length, and how much of it is read."""
    near = [one for one in sentences if one.span_start < claim.end and claim.start < one.span_end]
    best = max(near, key=lambda one: one.confidence, default=None)
    start, end, kept = (best.span_start, best.span_end, best.confidence) if best else (claim.start, claim.end, 0.0)
    kept = min(max(kept, _LEAST), 1 - _LEAST)
    odds, group = log(kept / (1 - kept)) / 3, (claim.pattern_id or "").partition(".")[0]
    return {
        "odds": odds,
        f"odds of {group}": odds,
        "opens": float(start == 0),
        "length": min(end - start, _MANY_CHARACTERS) / 120,
        "share read": min(1.0, (claim.end - claim.start) / max(end - start, 1)),
    }


@cache
def _weights() -> dict[str, float]:
    try:
        with np.load(WEIGHTS, allow_pickle=False) as fitted:
            return dict(zip(fitted["marks"].tolist(), fitted["weights"].tolist(), strict=True))
    except (OSError, ValueError, KeyError) as error:
        raise PatternError(f"reading the weights {WEIGHTS.name}: {error}; restore the file") from error
