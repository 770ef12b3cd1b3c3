"""Claims that no frame states: built from a phrase and what the sentence around it does with it."""

from dataclasses import replace

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.extraction.model import Claim
from em_pipelines.extraction.rules.entity_types import EXPECTED_OBJECT, guess_type
from em_pipelines.extraction.rules.message import Sentence
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.noun_phrases import NounPhrase
from em_pipelines.extraction.rules.people import refer
from em_pipelines.vocabulary import RELATIONS_BY_GROUP, EntityType, Flag, HedgeLevel, Mechanism, TemporalType

_SHAREABLE = frozenset(RELATIONS_BY_GROUP["preference"]) | {"wants", "believes", "follows"}
_AGREED = tuple(tuple(p.split()) for p in ("me too", "so do i", "so am i", "same here", "as do i", "so would i"))


def unframed_claims(
    reading: Reading, claims: list[Claim], turn_number: int, speaker: str, sentence: Sentence
) -> list[Claim]:
    """What a sentence says without a frame for it, given the claims read so far."""
    if not claims and not sentence.mocked:
        return []
    mocked = mocked_claims(reading, turn_number, speaker, sentence.mocked)
    known = {claim.object for claim in claims}
    return shared_claims(reading, claims, speaker, sentence) + [c for c in mocked if c.object not in known]


def shared_claims(reading: Reading, claims: list[Claim], speaker: str, sentence: Sentence) -> list[Claim]:
    """What the speaker shares of the likings and opinions just told of somebody else: `… and I agree`."""
    told = [c for c in claims if c.subject != speaker and c.relation in _SHAREABLE]
    if not told or not _agrees(reading, sentence):
        return []
    last = told[-1]
    flags = tuple(flag for flag in last.flags if flag is not Flag.SECONDHAND)
    is_wish = last.relation == "wants"
    confidence = initial_confidence(Mechanism.EXPLICIT, HedgeLevel.NONE, flags, is_wish=is_wish)
    return [
        replace(c, subject=speaker, subject_type=EntityType.PERSON, flags=flags, confidence=confidence)
        for c in told
        if (c.subject, c.relation, c.start) == (last.subject, last.relation, last.start)
    ]


def _agrees(reading: Reading, sentence: Sentence) -> bool:
    lows = tuple(token.low for token in reading.tokens[sentence.start : sentence.stop])
    if any(lows[k : k + len(words)] == words for words in _AGREED for k in range(len(lows))):
        return True
    return any(
        "agree" in clause.verb.lemmas
        and not clause.verb.is_negated
        and clause.verb.modal is None
        and clause.pronoun is not None
        and reading.tokens[clause.pronoun].low in {"i", "we"}
        and (clause.right == clause.verb.end or reading.tokens[clause.verb.end].low in {"with", ",", "completely"})
        for clause in sentence.clauses
    )


def mocked_claims(reading: Reading, turn_number: int, speaker: str, phrases: list[NounPhrase]) -> list[Claim]:
    """What is mocked is disliked: `Oh great, another fire drill`. Nothing for people and bare pronouns."""
    found = (_mocked_claim(reading, turn_number, speaker, phrase) for phrase in phrases)
    return [claim for claim in found if claim is not None]


def _mocked_claim(reading: Reading, turn_number: int, speaker: str, phrase: NounPhrase) -> Claim | None:
    meant = refer(reading, phrase)
    if meant.kin or not meant.name or (meant.entity_type is EntityType.PERSON and phrase.det is None):
        return None
    tokens = reading.tokens
    flags = (Flag.SARCASM_DETECTED,)
    return Claim(
        turn_number=turn_number,
        subject=speaker,
        subject_type=EntityType.PERSON,
        relation="dislikes",
        object=meant.name,
        object_type=guess_type(meant.name, EXPECTED_OBJECT.get("dislikes")),
        value=None,
        confidence=initial_confidence(Mechanism.EXPLICIT, HedgeLevel.NONE, flags),
        start=tokens[phrase.start].start,
        end=tokens[phrase.end - 1].end,
        temporal_type=TemporalType.TRAIT,
        flags=flags,
        pattern_id="preference.mocked",
    )
