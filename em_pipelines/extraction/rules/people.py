"""Who is meant: kin phrases, names and pronouns, and the edges that kin phrases state by themselves.

`my wife Lena` states that the user and Lena are married wherever it stands. A pronoun is read only when exactly one
person named before it in the session fits; else nothing is said about anybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from em_pipelines.extraction.rules.names import NOT_NAMES, ROLES, SHORT_DATES, Reading, is_name, type_by_context
from em_pipelines.extraction.segmentation import are_several, owner_named
from em_pipelines.language.en.lexicon import gender_of_name, listed_type, type_of_name, words
from em_pipelines.language.en.noun_phrases import HAD_RELATIONS, KIN, PETS, NounPhrase, kin_noun
from em_pipelines.language.en.tokens import (
    TITLE,
    Token,
)
from em_pipelines.language.name_keys import noun_of, owned_name
from em_pipelines.schema.vocabulary import USER, EntityType

_PAIR = 2
OWN = frozenset({"my", "our"})
_FEMALE_TITLES = frozenset({"mrs", "ms", "miss", "madam", "aunt", "auntie"})
_MALE_TITLES = frozenset({"mr", "sir", "uncle"})
_GENDER_OF_KIN = (
    dict.fromkeys(words("people", "male"), "m")
    | dict.fromkeys(words("people", "female"), "f")
    | dict.fromkeys(words("people", "plural"), "p")
)
_BARE_KIN = frozenset({"mum", "mom", "dad", "mam", "mummy", "mommy", "daddy"})
_HAD_BY_PEOPLE = words("people", "had_by_people")
"""Relations whose subject is somebody."""
GENDER_OF = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "they": "p", "their": "p", "them": "p", "both": "p",
}  # fmt: skip


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
    is_unowned: bool = False
    """Given by a kin or role noun of which it is not clear whose it is."""

    @property
    def is_unnamed(self) -> bool:
        """Given by the kin or role noun alone."""
        return bool(self.kin) and noun_of(self.name).casefold() == self.kin


def speaker(name: str, token: int) -> Referent:
    """The one whose turn it is."""
    return Referent(name, EntityType.PERSON, token, token + 1, is_own=True)


@dataclass(slots=True)
class People:
    """The persons mentioned so far in one session, in order, for pronouns.

    `sentence` counts the sentences read; `last_met` says in which one each person was last mentioned. `thing` is what
    was last spoken of, with its sentence, for `it`.
    """

    met: list[Referent] = field(default_factory=list)
    sentence: int = 0
    read_before: int = 0
    """The sentences of the turns before."""
    last_met: dict[str, int] = field(default_factory=dict)
    thing: tuple[Referent, int] | None = None
    unnamed: tuple[Referent, Referent, int] | None = None
    """Kin or pet last given by its noun alone, whose it is, and the sentence: `her name is Olive` names it."""
    used: set[str] = field(default_factory=set)
    """Names, case-folded, of what somebody uses."""
    speakers: frozenset[str] = frozenset()
    """The names, case-folded, of those who speak: `she` means somebody else, and of each other they say `you`."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The same names, each with the subject of what that person says."""

    def begin_message(self) -> None:
        """Where somebody stood in the message before is no place in this one: its first word stands for it."""
        self.read_before = self.sentence
        if self.unnamed is not None:
            person, owner, at = self.unnamed
            self.unnamed = replace(person, start=0, end=1), replace(owner, start=0, end=1), at

    def meet(self, person: Referent) -> None:
        if person.entity_type is not EntityType.PERSON:
            return
        self.last_met[person.name] = self.sentence
        for n, other in enumerate(self.met):
            if other.name == person.name:
                self.met[n] = replace(other, start=person.start, end=person.end)
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

        Those of this sentence and the one before come first; only when there is nobody, the rest of the message. Among
        people, who go on about somebody named by the other, or not at all, only those of the same message count.
        """
        gender = GENDER_OF.get(pronoun)
        if gender is None:
            return []
        here = self._of_message()
        near = self._near() if not self.is_among_people else [person for person in here if person in self._near()]
        for among in (near, here):
            if gender == "p" and among:
                return _meant_by_they(among)
            fitting = [p for p in among if p.gender in {"", gender} and p.name.casefold() not in self.speakers]
            if fitting:
                return fitting if len(fitting) == 1 else []
        return []

    @property
    def is_among_people(self) -> bool:
        """Whether somebody else than the user and an assistant speaks: they have met more people than they name."""
        return len(self.speakers - {USER}) > 1

    def _of_message(self) -> list[Referent]:
        return [p for p in self.met if self.last_met.get(p.name, 0) > self.read_before]

    def _near(self) -> list[Referent]:
        return [p for p in self.met if self.last_met.get(p.name, 0) >= self.sentence - 1]

    def speak_of(self, thing: Referent) -> None:
        """Notes a thing for a coming `it`."""
        if thing.entity_type is not EntityType.PERSON:
            self.thing = (thing, self.sentence)

    def it(self) -> Referent | None:
        """What `it` means: the thing spoken of in this sentence or the one before."""
        return self.thing[0] if self.thing is not None and self.thing[1] >= self.sentence - 1 else None


def _meant_by_they(among: list[Referent]) -> list[Referent]:
    """The one plural (`the twins`), or else both of two persons; of one alone nobody certain says `they`."""
    plural = [p for p in among if p.gender == "p"]
    if plural:
        return plural if len(plural) == 1 else []
    return among if len(among) == _PAIR else []


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
    kin = _kin_meant(reading, phrase)
    if kin is not None:
        return kin
    first = _behind_role(reading, phrase)
    if first is not None:
        name = joined_text(reading, first, phrase.end)
        return Referent(name, EntityType.PERSON, first, phrase.end, gender_of_name(name))
    name = phrase_text(reading, phrase)
    kind = _type_meant(reading, phrase, name)
    if kind is not EntityType.PERSON:
        return Referent(name, kind, phrase.first, phrase.end)
    gender = _gender_of_title(reading.tokens[phrase.first].low) or gender_of_name(name)
    return Referent(name, kind, phrase.first, phrase.end, gender)


def _kin_meant(reading: Reading, phrase: NounPhrase) -> Referent | None:
    """`my wife Lena`, `Piet's two cats`, `mum`: by name where one follows the noun; None for other phrases."""
    at = kin_noun(reading.tokens, phrase)
    if at is None:
        return None
    noun = reading.tokens[at].low
    if not _is_introduced(phrase) and noun not in _BARE_KIN:
        return None
    is_named = at + 1 < phrase.end and _is_proper(reading, at + 1, phrase.end)
    if not is_named and at + 1 != phrase.end:
        return None
    start = at + 1 if is_named else at
    kind = EntityType.ANIMAL if noun in PETS else EntityType.PERSON
    name, gender = joined_text(reading, start, phrase.end), _GENDER_OF_KIN.get(noun, "")
    is_own = _is_own_kin(phrase, noun)
    if is_named:
        return Referent(name, kind, start, phrase.end, gender, noun, is_own)
    owner = _owner(reading, phrase, at)
    return Referent(owned_name(owner or "", name), kind, start, phrase.end, gender, noun, is_own, owner is None)


def _owner(reading: Reading, phrase: NounPhrase, at: int) -> str | None:
    """Whose the role noun at a token is, by name: USER or "" for the remembered person's; None where it is unclear."""
    if at not in reading.owners:
        reading.owners[at] = _owner_said(reading, phrase, reading.tokens[at].low)
    return reading.owners[at]


def _owner_said(reading: Reading, phrase: NounPhrase, noun: str) -> str | None:
    if _is_own_kin(phrase, noun):
        return reading.talk.speaker
    if phrase.possessor_phrase is not None:
        owner = refer(reading, phrase.possessor_phrase)
        return None if owner.is_unowned else owner_named(reading.talk.names, owner.name)
    if phrase.possessor == "your":
        return reading.talk.listener or None
    if phrase.possessor is not None:
        return reading.talk.whose(reading, phrase.possessor)
    # "the boss" of whoever talks to an assistant is theirs; among people it may be the other's.
    return None if are_several(reading.talk.names) else ""


def had_by(reading: Reading, owner: str, kin: Referent, phrase: NounPhrase) -> Referent:
    """Of a role that somebody is said to have (`two brothers`), the same as that person's, here and from here on."""
    if not kin.is_unnamed or phrase.possessor is not None or phrase.possessor_phrase is not None or phrase.det == "the":
        return kin
    reading.owners[kin.start] = owner
    return replace(kin, name=owned_name(owner, noun_of(kin.name)), is_unowned=False)


def kin_name(reading: Reading, kin: Referent, phrase: NounPhrase, relation: str, owner: str) -> str:
    """The name of a relative or pet as the object of what is said of an owner; empty where it is unclear whose."""
    kin = had_by(reading, owner, kin, phrase) if relation in HAD_RELATIONS else kin
    return "" if kin.is_unowned else kin.name


def _is_introduced(phrase: NounPhrase) -> bool:
    return bool(phrase.possessor or phrase.possessor_phrase or phrase.det or phrase.number)


def _is_own_kin(phrase: NounPhrase, noun: str) -> bool:
    """`my aunt`, or `dad` by itself; not `Ida's dad`."""
    is_bare = phrase.det is None and phrase.possessor is None and phrase.possessor_phrase is None
    return phrase.possessor in OWN or (is_bare and noun in _BARE_KIN)


def _type_meant(reading: Reading, phrase: NounPhrase, name: str) -> EntityType:
    """Person or place where the words can name nothing else; concept for all the rest."""
    low = reading.tokens[phrase.head].low
    is_named = low in KIN or _may_name_person(reading, phrase)
    if is_named and type_of_name(name) is EntityType.PLACE:
        return EntityType.PLACE
    is_thing = listed_type(low) not in {None, EntityType.PERSON} or phrase.possessor_phrase is not None
    if not is_named or is_thing:
        return EntityType.CONCEPT
    is_sure = reading.has_capitals or low in KIN or gender_of_name(name)
    return EntityType.PERSON if is_sure else EntityType.CONCEPT


def _may_name_person(reading: Reading, phrase: NounPhrase) -> bool:
    is_open = phrase.det in {None, "either"} and reading.tokens[phrase.head].low not in NOT_NAMES
    return is_open and is_name(reading, phrase)


def _gender_of_title(low: str) -> str:
    title = low.rstrip(".")
    return "m" if title in _MALE_TITLES else "f" if title in _FEMALE_TITLES else ""


def _behind_role(reading: Reading, phrase: NounPhrase) -> int | None:
    """Where the name begins in `my dentist Bert Maas`, `the potter Ida`; None where no role stands before one."""
    is_given = phrase.possessor is not None or phrase.det == "the"
    if not is_given or phrase.possessor_phrase is not None or phrase.end != phrase.head + 1:
        return None
    tokens = reading.tokens
    first = next((k for k in range(phrase.first, phrase.end) if _may_open_name(tokens[k])), phrase.end)
    if not phrase.first < first < phrase.end or tokens[first - 1].low not in ROLES:
        return None
    return first if _is_persons_name(reading, first, phrase.end) else None


def _may_open_name(token: Token) -> bool:
    return token.is_capital or bool(token.bits & TITLE)


def _is_persons_name(reading: Reading, start: int, end: int) -> bool:
    tokens = reading.tokens
    if not reading.has_capitals or not all(token.is_capital for token in tokens[start:end]):
        return False
    return tokens[end - 1].low not in NOT_NAMES and type_of_name(joined_text(reading, start, end)) != EntityType.PLACE


def _is_proper(reading: Reading, start: int, end: int) -> bool:
    first = reading.tokens[start]
    return first.is_capital or (not reading.has_capitals and end - start == 1 and first.verbs is None)


COUPLES = frozenset({"spouse_of", "partner_of"})
_OF_OTHERS = {"his": "m", "her": "f", "their": "p"}


def couple_relation(reading: Reading, companion: NounPhrase, relation: str) -> str:
    """Of a couple that is one no more: that which the word for the other one says (`my wife and I`)."""
    return KIN.get(refer(reading, companion).kin, relation) if relation in COUPLES else relation


def is_of_another(subject: Referent, phrase: NounPhrase | None, *, is_lost: bool) -> bool:
    """Whether a thing is not the subject's: `I sold his boat`, and, of what is lost, `they lost my cello`."""
    if phrase is None or phrase.possessor_phrase is not None:
        return False
    is_speaker = subject.is_own and not subject.kin
    if phrase.possessor not in _OF_OTHERS:
        return is_lost and phrase.possessor in {"my", "our"} and not is_speaker
    gender = _OF_OTHERS[phrase.possessor]
    return is_speaker or (gender != "p" and subject.gender not in {"", gender})


def is_short_date(referent: Referent) -> bool:
    """`Fri`, `Sept`: no name, but for those that are given to people."""
    return not referent.gender and referent.name.casefold().rstrip(".") in SHORT_DATES


def type_shown(reading: Reading, referent: Referent) -> EntityType:
    """The type of a name that stands by itself: a person only where the sentence shows one.

    A capital alone shows nothing, for tools, towns, firms and feasts have it as well. What shows a person is a title, a
    kinship or a role, a given name, what only people do or have, who is greeted, and a person beside it.
    """
    if referent.entity_type is not EntityType.PERSON or referent.kin:
        return referent.entity_type
    place = referent.start, referent.end
    return type_by_context(reading.tokens, referent.name, *place, is_given=bool(referent.gender))


def type_told(reading: Reading, referent: Referent, kind: EntityType, relation: str) -> EntityType:
    """The type of an end of a claim: a person by what is claimed, or by what shows one; else as it was read."""
    is_told = kind is not EntityType.PERSON or relation in _HAD_BY_PEOPLE
    return kind if is_told else type_shown(reading, referent)
