"""Who is meant: kin phrases, names and pronouns, and the edges that kin phrases state by themselves.

`my wife Lena` states that the user and Lena are married wherever it stands. A pronoun is read only when exactly one
person named before it in the session fits; else nothing is said about anybody.
"""

from dataclasses import dataclass, field

from em_pipelines.extraction.rules.entity_types import gender_of_name, listed_type, type_of_name
from em_pipelines.extraction.rules.kinds_listed import kin_noun
from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.names import NOT_NAMES, Reading, is_name
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.extraction.rules.word_classes import TITLE
from em_pipelines.vocabulary import EntityType

FIRST_PERSON = words("words", "first_person")
_PAIR = 2
_OWN = frozenset({"my", "our"})
_FEMALE = words("people", "female")
_MALE = words("people", "male")
_FEMALE_TITLES = frozenset({"mrs", "ms", "miss", "madam", "aunt", "auntie"})
_MALE_TITLES = frozenset({"mr", "sir", "uncle"})
_ROLES = (words("nouns", "companions") | words("nouns", "professions") | words("people", "person_roles")) - (
    words("nouns", "gadgets") | words("nouns", "products") | frozenset(load_lexicon("nouns")["types"]["tool"].split())
)
_PLURAL = words("people", "plural")
_BARE_KIN = frozenset({"mum", "mom", "dad", "mam", "mummy", "mommy", "daddy"})
_GENDER_OF = {
    "he": "m",
    "him": "m",
    "his": "m",
    "she": "f",
    "her": "f",
    "they": "p",
    "their": "p",
    "them": "p",
    "both": "p",
}


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
    """The persons mentioned so far in one session, in order, for pronouns.

    `sentence` counts the sentences read; `last_met` says in which one each person was last mentioned. `thing` is what
    was last spoken of, with its sentence, for `it`.
    """

    met: list[Referent] = field(default_factory=list)
    sentence: int = 0
    last_met: dict[str, int] = field(default_factory=dict)
    thing: tuple[Referent, int] | None = None
    unnamed: tuple[Referent, Referent, int] | None = None
    """Kin or pet last given by its noun alone, whose it is, and the sentence: `her name is Olive` names it."""

    def meet(self, person: Referent) -> None:
        if person.entity_type is not EntityType.PERSON:
            return
        self.last_met[person.name] = self.sentence
        for n, other in enumerate(self.met):
            if other.name == person.name:
                if (person.gender and not other.gender) or (person.kin and not other.kin):
                    self.met[n] = person
                return
        self.met.append(person)

    def named_by(self, pronoun: str) -> Referent | None:
        """The one person whom the pronoun can mean; None when not exactly one."""
        fitting = self.all_named_by(pronoun)
        return fitting[0] if len(fitting) == 1 else None

    def all_named_by(self, pronoun: str) -> list[Referent]:
        """Whom the pronoun means: one person, the two of `they`, or nobody where it could be several.

        Those of this sentence and the one before come first; only when there is nobody, the rest of the session.
        """
        gender = _GENDER_OF.get(pronoun)
        if gender is None:
            return []
        near = [p for p in self.met if self.last_met.get(p.name, 0) >= self.sentence - 1]
        for among in (near, self.met):
            if gender == "p":
                many = [p for p in among if p.gender == "p"]
                if many or among:
                    return many if len(many) == 1 else among if not many and len(among) <= _PAIR else []
                continue
            sure = [p for p in among if p.gender == gender]
            fitting = sure + [p for p in among if not p.gender]
            if fitting:
                return fitting if len(fitting) == 1 else []
        return []

    def speak_of(self, thing: Referent) -> None:
        """Notes a thing for a coming `it`."""
        if thing.entity_type is not EntityType.PERSON:
            self.thing = (thing, self.sentence)

    def it(self) -> Referent | None:
        """What `it` means: the thing spoken of in this sentence or the one before."""
        return self.thing[0] if self.thing is not None and self.thing[1] >= self.sentence - 1 else None


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
    if (first := _behind_role(reading, phrase)) is not None:
        name = joined_text(reading, first, phrase.end)
        return Referent(name, EntityType.PERSON, first, phrase.end, gender_of_name(name))
    name = phrase_text(reading, phrase)
    head = tokens[phrase.head]
    is_person = head.low in KIN or (
        is_name(reading, phrase) and head.low not in NOT_NAMES and phrase.det in {None, "either"}
    )
    is_thing = listed_type(head.low) not in {None, EntityType.PERSON}
    if is_person and type_of_name(name) is EntityType.PLACE:
        return Referent(name, EntityType.PLACE, phrase.first, phrase.end)
    is_person = is_person and not is_thing and phrase.possessor_phrase is None
    is_person = is_person and (reading.has_capitals or bool(gender_of_name(name)) or head.low in KIN)
    kind = EntityType.PERSON if is_person else EntityType.CONCEPT
    title = tokens[phrase.first].low.rstrip(".")
    gender = "m" if title in _MALE_TITLES else "f" if title in _FEMALE_TITLES else gender_of_name(name)
    return Referent(name, kind, phrase.first, phrase.end, gender if is_person else "")


def _behind_role(reading: Reading, phrase: NounPhrase) -> int | None:
    """Where the name begins in `my dentist Bert Maas`, `the potter Ida`; None where no role stands before one."""
    tokens, first = reading.tokens, phrase.first
    while first < phrase.end and not (tokens[first].is_capital or tokens[first].bits & TITLE):
        first += 1
    if not phrase.first < first < phrase.end == phrase.head + 1 or phrase.possessor_phrase is not None:
        return None
    is_named = all(token.is_capital for token in tokens[first : phrase.end]) and reading.has_capitals
    is_given = phrase.possessor is not None or phrase.det == "the"
    is_role = tokens[first - 1].low in _ROLES and tokens[phrase.head].low not in NOT_NAMES
    is_place = type_of_name(joined_text(reading, first, phrase.end)) is EntityType.PLACE
    return first if is_named and is_given and is_role and not is_place else None


def _is_proper(reading: Reading, start: int, end: int) -> bool:
    first = reading.tokens[start]
    return first.is_capital or (not reading.has_capitals and end - start == 1 and first.verbs is None)
