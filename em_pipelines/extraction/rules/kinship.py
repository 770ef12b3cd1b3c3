"""The edges that kin phrases state: `my wife Lena`, `our twins Jonne and Aino`, `her brother`, `I have two sons`."""

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.extraction.model import Claim
from em_pipelines.extraction.rules.claims import speaker
from em_pipelines.extraction.rules.fillers import Fill
from em_pipelines.extraction.rules.kinds_listed import kin_noun
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import Reading, is_given_name, is_name
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.extraction.rules.people import People, Referent, refer
from em_pipelines.vocabulary import EntityType, HedgeLevel, Mechanism, TemporalType

_EX = words("people", "ex")
_ONLY_NAMED = words("people", "only_named")
PATTERN_ID = "people.kin_phrase"


def stated_relation(reading: Reading, person: Referent, phrase: NounPhrase) -> str | None:
    """The relation between the owner of a kin phrase and the person; None for ex-wives and unnamed vague roles."""
    if any(
        reading.tokens[k].low in _EX or reading.tokens[k].low.startswith("ex-") for k in range(phrase.first, phrase.end)
    ):
        return None
    if person.kin in PETS:
        return "has_pet"
    relation = KIN.get(person.kin)
    return None if relation in _ONLY_NAMED and person.name.casefold() == person.kin else relation


def ended_relation(reading: Reading, person: Referent, phrase: NounPhrase) -> str | None:
    """What `my ex Jonne`, `my ex-wife` say is over; None where nothing is, or where death ended it."""
    words_in = [reading.tokens[k].low for k in range(phrase.first, phrase.end)]
    if any(word == "ex" or word.startswith("ex-") for word in words_in):
        relation = KIN.get(person.kin)
        return relation if relation in {"spouse_of", "partner_of"} else None
    return None


def owner_of(reading: Reading, people: People, subject: str, person: Referent, phrase: NounPhrase) -> Referent | None:
    """Whose kin the phrase names; None where nobody certain."""
    if person.is_own:
        return speaker(subject, phrase.start)
    if phrase.possessor is not None:
        found = people.named_by(phrase.possessor)
        return found and Referent(
            found.name, found.entity_type, phrase.start, phrase.start + 1, found.gender, found.kin
        )
    if phrase.possessor_phrase is not None:
        owner = refer(reading, phrase.possessor_phrase)
        return owner if owner.entity_type is EntityType.PERSON else None
    return None


def named_after(reading: Reading, phrase: NounPhrase, following: list[NounPhrase]) -> list[Referent]:
    """The further names of `our twins Jonne and Aino`."""
    found = []
    end = phrase.end
    for other in following:
        between = {t.low for t in reading.tokens[end : other.start]}
        is_other = other.possessor is not None or other.det is not None or kin_noun(reading, other) is not None
        if not between or is_other or not between <= {"and", ",", "&"} or not is_name(reading, other):
            break
        meant = refer(reading, other)
        found.append(Referent(meant.name, EntityType.PERSON, meant.start, meant.end))
        end = other.end
    return found


def named_in_apposition(
    reading: Reading, person: Referent, phrase: NounPhrase, following: list[NounPhrase]
) -> Referent | None:
    """The name in `my mother, Ruth, …`."""
    tokens = reading.tokens
    if person.name.casefold() != person.kin or not following or phrase.end >= len(tokens):
        return None
    named = following[0]
    is_between_commas = (
        tokens[phrase.end].low == ","
        and named.start == phrase.end + 1
        and (named.end == len(tokens) or tokens[named.end].low in {",", ".", "!"})
    )
    return refer(reading, named) if is_between_commas and is_given_name(reading, named) else None


def kin_claim(
    reading: Reading, turn_number: int, owner: Referent, relation: str, person: Referent, *, polarity: int = 1
) -> Claim:
    """The edge from owner to person."""
    tokens = reading.tokens
    spans = [tokens[k] for k in (owner.start, owner.end - 1, person.start, person.end - 1)]
    return Claim(
        turn_number=turn_number,
        subject=owner.name,
        subject_type=EntityType.PERSON,
        relation=relation,
        object=person.name,
        object_type=person.entity_type,
        value=None,
        confidence=initial_confidence(Mechanism.EXPLICIT, HedgeLevel.NONE),
        start=min(token.start for token in spans),
        end=max(token.end for token in spans),
        temporal_type=TemporalType.STATE,
        polarity=polarity,
        pattern_id=PATTERN_ID,
    )


def denied_kin(
    reading: Reading, people: People, turn_number: int, speaker_name: str, subjects: list[Referent], fills: list[Fill]
) -> list[Claim]:
    """`Piet isn't my boss anymore`: the edge, with polarity −1."""
    claims = []
    for phrase in (fill.phrase for fill in fills if fill.phrase is not None):
        meant = refer(reading, phrase)
        relation = KIN.get(meant.kin)
        owner = owner_of(reading, people, speaker_name, meant, phrase)
        for subject in subjects:
            if relation is not None and owner is not None and not subject.kin and subject.name != owner.name:
                claims.append(kin_claim(reading, turn_number, owner, relation, subject, polarity=-1))
    return claims


def without_kin(claims: list[Claim], denied: Claim) -> list[Claim]:
    """The claims without the edge that a phrase stated by itself and its sentence denies: `our parrot died`."""
    edge = (denied.subject, denied.relation, denied.object)
    return [c for c in claims if c is denied or c.pattern_id != PATTERN_ID or (c.subject, c.relation, c.object) != edge]
