"""Who is meant: kin phrases, names and pronouns, and the edges that kin phrases state by themselves.

`my wife Lena` states that the user and Lena are married wherever it stands. A pronoun is read only when exactly one
person named before it in the session fits; else nothing is said about anybody.
"""

from dataclasses import dataclass, field

from em_pipelines.extraction.rules.entity_types import listed_type
from em_pipelines.extraction.rules.kinds import kin_noun
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import NOT_NAMES, Reading, is_name
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.vocabulary import EntityType

FIRST_PERSON = words("words", "first_person")
_OWN = frozenset({"my", "our"})
_FEMALE = words("people", "female")
_MALE = words("people", "male")
_PLURAL = words("people", "plural")
_BARE_KIN = frozenset({"mum", "mom", "dad", "mam", "mummy", "mommy", "daddy"})
_GENDER_OF = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "they": "p", "their": "p", "them": "p"}


@dataclass(frozen=True, slots=True)
class Referent:
    """Somebody or something a phrase stands for; tokens `start` to `end` name it."""

    name: str
    entity_type: EntityType
    start: int
    end: int
    gender: str = ""
    kin: str = ""
    """The kin or role noun, where one was used."""
    is_own: bool = False
    """Kin of the speaker."""


@dataclass(slots=True)
class People:
    """The persons mentioned so far in one session, in order, for pronouns."""

    met: list[Referent] = field(default_factory=list)

    def meet(self, person: Referent) -> None:
        if person.entity_type is not EntityType.PERSON:
            return
        for n, other in enumerate(self.met):
            if other.name == person.name:
                if person.gender and not other.gender:
                    self.met[n] = person
                return
        self.met.append(person)

    def named_by(self, pronoun: str, since: int = 0) -> Referent | None:
        """The one person whom the pronoun can mean, of those met since the `since`-th; None when not exactly one."""
        gender = _GENDER_OF.get(pronoun)
        if gender is None:
            return None
        fitting = [p for p in self.met[since:] if p.gender == gender or (not p.gender and gender != "p")]
        return fitting[0] if len(fitting) == 1 else None


def phrase_text(reading: Reading, phrase: NounPhrase) -> str:
    """The phrase as a name: as worded, without determiners; with the owner where that is a name or noun."""
    start = phrase.first
    owner = phrase.possessor_phrase
    if owner is not None:
        start = owner.first
    return joined_text(reading, start, phrase.end)


def joined_text(reading: Reading, start: int, end: int) -> str:
    """The text of tokens, on one line and without quotes."""
    seam = next((k for k in range(start + 1, end) if k in reading.seams), None) if reading.seams else None
    if seam is not None:
        return f"{joined_text(reading, start, seam)} {joined_text(reading, seam, end)}"
    raw = reading.text[reading.tokens[start].start : reading.tokens[end - 1].end]
    return " ".join(raw.replace('"', " ").split())


def refer(reading: Reading, phrase: NounPhrase) -> Referent:
    """What a noun phrase stands for: kin by name or role noun, a name, or a thing."""
    tokens = reading.tokens
    at = kin_noun(reading, phrase)
    if at is not None and (
        phrase.possessor or phrase.possessor_phrase or tokens[at].low in _BARE_KIN or phrase.det or phrase.number
    ):
        noun = tokens[at].low
        gender = "p" if noun in _PLURAL else "f" if noun in _FEMALE else "m" if noun in _MALE else ""
        kind = EntityType.ANIMAL if noun in PETS else EntityType.PERSON
        own = phrase.possessor in _OWN or (phrase.det is None and phrase.possessor is None and noun in _BARE_KIN)
        named = at + 1 < phrase.end and _is_proper(reading, at + 1, phrase.end)
        if named:
            return Referent(joined_text(reading, at + 1, phrase.end), kind, at + 1, phrase.end, gender, noun, own)
        if at + 1 == phrase.end:
            return Referent(joined_text(reading, at, phrase.end), kind, at, phrase.end, gender, noun, own)
    name = phrase_text(reading, phrase)
    head = tokens[phrase.head]
    is_person = head.low in KIN or (
        is_name(reading, phrase) and head.low not in NOT_NAMES and phrase.det in {None, "either"}
    )
    is_thing = listed_type(head.low) not in {None, EntityType.PERSON}
    kind = EntityType.PERSON if is_person and not is_thing and phrase.possessor_phrase is None else EntityType.CONCEPT
    return Referent(name, kind, phrase.first, phrase.end)


def _is_proper(reading: Reading, start: int, end: int) -> bool:
    first = reading.tokens[start]
    return first.is_capital or (not reading.has_capitals and end - start == 1 and first.verbs is None)
