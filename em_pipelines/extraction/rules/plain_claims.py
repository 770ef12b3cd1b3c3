"""Claims that no frame states: built from a phrase and what the sentence around it does with it."""

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.extraction.model import Claim
from em_pipelines.extraction.rules.entity_types import EXPECTED_OBJECT, guess_type
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.noun_phrases import NounPhrase
from em_pipelines.extraction.rules.people import refer
from em_pipelines.vocabulary import EntityType, Flag, HedgeLevel, Mechanism, TemporalType


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
