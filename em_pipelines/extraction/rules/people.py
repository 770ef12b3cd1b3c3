"""Who is meant: kin phrases, names and pronouns, and the edges that kin phrases state by themselves.

`my wife Lena` states that the user and Lena are married wherever it stands. A pronoun is read only when exactly one
person named before it in the session fits; else nothing is said about anybody.
"""

from dataclasses import dataclass, field, replace

from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import (
    NOT_NAMES,
    ROLES,
    SHORT_DATES,
    Reading,
    gender_of_name,
    is_name,
    listed_type,
    type_by_context,
    type_of_name,
)
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase, kin_noun
from em_pipelines.extraction.rules.tokens import (
    ADV,
    AUX,
    PAST,
    PREP,
    PUNCT,
    RELATIVE,
    S_FORM,
    TITLE,
    Token,
    is_quoted,
    low_at,
)
from em_pipelines.schema.vocabulary import USER, EntityType

FIRST_PERSON = words("words", "first_person")
_PAIR = 2
_OWN = frozenset({"my", "our"})
_APART = frozenset({",", ".", "!", "?", "\n", "…"})
_SENTENCE_ENDS = frozenset(".!?…\n")
_TO_LISTENER = frozenset({"you", "your", "how", "what", "please", "let", "thanks", "thank"})
_LISTING = frozenset({"and", "or", "my", "our"})
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
_GENDER_OF = {
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

    @property
    def is_unnamed(self) -> bool:
        """Given by the kin or role noun alone."""
        return bool(self.kin) and self.name.casefold() == self.kin


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
        gender = _GENDER_OF.get(pronoun)
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
    return Referent(name, kind, start, phrase.end, gender, noun, _is_own_kin(phrase, noun))


def _is_introduced(phrase: NounPhrase) -> bool:
    return bool(phrase.possessor or phrase.possessor_phrase or phrase.det or phrase.number)


def _is_own_kin(phrase: NounPhrase, noun: str) -> bool:
    """`my aunt`, or `dad` by itself; not `Ida's dad`."""
    is_bare = phrase.det is None and phrase.possessor is None and phrase.possessor_phrase is None
    return phrase.possessor in _OWN or (is_bare and noun in _BARE_KIN)


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


def is_called_out(reading: Reading, phrase: NounPhrase) -> bool:
    """`ok mom`, `Ingrid, my sister, …`, `'Dad?'`: who is spoken to, or spoken of by others, is no relative told of."""
    tokens = reading.tokens
    if is_quoted(tokens, reading.text, phrase.head):
        return True
    before = tokens[phrase.start - 1] if phrase.start else None
    after = tokens[phrase.end] if phrase.end < len(tokens) else None
    is_apart = after is None or after.low in _APART
    if not is_apart or (before is not None and not before.bits & (PUNCT | ADV)):
        return False
    if phrase.possessor is None and phrase.det is None:
        return phrase.first == phrase.head
    if phrase.start > 1 and tokens[phrase.start - 2].low in reading.speakers:
        return True
    return phrase.possessor in _OWN and phrase.end == phrase.head + 1 and _is_vocative(tokens, phrase)


def _is_vocative(tokens: list[Token], phrase: NounPhrase) -> bool:
    """`happy Easter, my brother!`, `my sister, you are a genius`; not `my mum, my sister, and I`."""
    mark, following = (low_at(tokens, k, len(tokens)) for k in (phrase.end, phrase.end + 1))
    if phrase.start == 0 or tokens[phrase.start - 1].low != ",":
        return mark == "!" or (mark == "," and following in _TO_LISTENER)
    opening = tokens[sentence_start(tokens, phrase.start) : phrase.start - 1]
    is_listed = following in _LISTING or any(token.low in _OWN for token in opening)
    is_name = bool(opening) and opening[-1].is_capital and bool(gender_of_name(opening[-1].low))
    return not is_listed and not is_name


def sentence_start(tokens: list[Token], i: int) -> int:
    """The first token of the sentence in which token i stands."""
    return next((k + 1 for k in range(i - 1, -1, -1) if tokens[k].low in _SENTENCE_ENDS), 0)


def is_name_apposed(reading: Reading, named: Referent, phrase: NounPhrase, kin: NounPhrase) -> bool:
    """Whether what stands before a kin phrase is a name: `Solvei, my sister, lives`; not `happy Easter, my sister!`

    A given name that is known is one. Of any other word a capital at the start of a sentence shows nothing: it has to
    be the subject of a verb or to stand behind one.
    """
    tokens = reading.tokens
    if named.gender:
        return True
    opening = tokens[sentence_start(tokens, phrase.start) : phrase.start]
    if opening:
        return tokens[phrase.start - 1].low != "," and any(token.verbs or token.bits & AUX for token in opening)
    behind = tokens[kin.end + 1 : kin.end + 2] if kin.end < len(tokens) and tokens[kin.end].low == "," else []
    behind = behind or tokens[kin.end : kin.end + 1]
    return any(token.bits & (AUX | RELATIVE) or (token.forms & (S_FORM | PAST) and not token.bits) for token in behind)


def may_own(reading: Reading, person: Referent, possessive: str) -> bool:
    """Whether the words show that `his`, `her` or `their` can be that of a name: somebody's, no place's and no firm's.

    Nor is it where the same sentence has a pronoun before the name: `he's off to see Anders, his wife is ill`.
    """
    tokens, start = reading.tokens, person.start
    pronouns = {low for low, gender in _GENDER_OF.items() if gender == _GENDER_OF[possessive]}
    if any(token.low in pronouns for token in tokens[sentence_start(tokens, start) : start]):
        return False
    if person.kin or person.gender or type_shown(reading, person) is EntityType.PERSON:
        return True
    is_governed = start > 0 and bool(tokens[start - 1].bits & PREP)
    acts = person.end < len(tokens) and bool(tokens[person.end].verbs or tokens[person.end].bits & AUX)
    return acts and not is_governed and type_of_name(person.name) is not EntityType.PLACE


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
