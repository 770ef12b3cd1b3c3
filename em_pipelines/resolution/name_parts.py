"""What a name consists of: the words it is compared by, and, of a person's, titles, given name, surname and role.

A pure function of the wording and the type, so that what a row of the registry holds is enough to compare it. Also the
qualifiers that tell namesakes apart: roles ("sister"), roles to others ("mother of katya"), whose a role is ("of
katya"), and where somebody is from ("at reception"), kept as plain words.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from em_pipelines.language.cleaning import is_capital
from em_pipelines.language.name_keys import fold, name_key, name_tokens
from em_pipelines.resolution.word_lists import abbreviations, kind_words, known_names, roles, words
from em_pipelines.schema.vocabulary import EntityType

MAKERS = frozenset({EntityType.PRODUCT.value, EntityType.VEHICLE.value})
"""Types of things whose makers and families are abbreviated within their names: VW Golf, PS4."""
PEOPLE = frozenset({EntityType.PERSON.value})
_OWNER = re.compile(
    r"^(?:(my|our|his|her|their|your)\s+(?![^'’]*['’]s\s)|(\S[^,;]{0,80})['’]s\s+|([^\W\d_][\w-]*s)['’]\s+)",
    re.IGNORECASE,
)
_WHERE = re.compile(r"^(?P<name>\S+(?: \S+)?) (?:at|from|in|with) (?P<where>[^\W\d_].*)$")
_WHERE_BEFORE = re.compile(r"^(?P<where>[^\W\d_A-Z][\w-]*(?: [^\W\d_A-Z][\w-]*)?) (?P<name>[^\W\d_a-z]\S*(?: \S+)?)$")
_HONORIFIC = re.compile(r"(?<=\w)-(san|sensei|kun|chan|sama|ji|bey|hanim)$")
_GENERATIONS = {"junior": "junior", "jr": "junior", "senior": "senior", "sr": "senior"}
_PARENT_OF = frozenset({"abu", "umm", "oum"})
_ROMAN = frozenset({"ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii"})
NAMED_LIKE_DATES = frozenset(
    {EntityType.PERSON, EntityType.PLACE, EntityType.WORK, EntityType.PROJECT, EntityType.ANIMAL}
)
ABBREVIATED = frozenset({EntityType.ORGANIZATION, EntityType.PLACE, EntityType.TOOL, EntityType.PRODUCT})
"""Types of which a word in capitals is a name: the WHO, the US."""
_OWN = frozenset({"my", "our", "your"})
UMLAUTS = (("ae", "a"), ("oe", "o"), ("ue", "u"))
_SOUNDS = (
    *UMLAUTS,
    ("ph", "f"),
    ("kh", "h"),
    ("ch", "k"),
    ("ck", "k"),
    ("c", "k"),
    ("x", "ks"),
    ("y", "i"),
    ("z", "s"),
    ("w", "v"),
    ("th", "t"),
)


@dataclass(frozen=True, slots=True)
class Person:
    """A person's name, of which `parts` are all words; `single` is a lone name, given or inherited.

    `role` is set where the name is a role ("wife") or begins with one ("neighbour Arvid"); `owner` says whose it is,
    empty for the remembered person's own, and `is_own` that it is said so ("my brother Tom"). `where` is what tells
    the bearer apart ("Sarah at reception", "allotment Tom"). `title` is the one before or behind the name ("mr",
    "sensei"), `generation` junior or senior.
    """

    parts: tuple[str, ...] = ()
    given: str = ""
    surname: str = ""
    single: str = ""
    role: str = ""
    owner: str = ""
    where: str = ""
    is_own: bool = False
    title: str = ""
    generation: str = ""

    @property
    def is_role(self) -> bool:
        """Named by the role alone."""
        return bool(self.role) and not (self.given or self.surname or self.single)


@dataclass(frozen=True, slots=True)
class Name:
    """A name made comparable. `tokens` are its words without legal forms and kind words, `all_tokens` with them."""

    text: str
    entity_type: str
    all_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    compact: str
    known_as: str
    digits: frozenset[str]
    is_legal: bool
    is_proper: bool
    person: Person | None

    @property
    def n_telling(self) -> int:
        """How many words there are to tell one thing from another of the same name: Cinder Lane may be a band, too."""
        return sum(token not in words("street_kinds") for token in self.tokens)

    @property
    def is_person(self) -> bool:
        """Compared as a person's name."""
        return self.person is not None


@lru_cache(maxsize=200_000)
def parse_name(text: str, entity_type: str, owner: str = "") -> Name:
    """Takes a name apart; `owner` is whose role it is, where the words before the name say so."""
    known = known_names(entity_type)
    makers = known if entity_type in MAKERS else {}
    every = tuple(makers.get(token, abbreviations().get(token, token)) for token in name_tokens(text))
    all_tokens = _without_legal_form(every) if entity_type == EntityType.ORGANIZATION else every
    tokens = tuple(token for token in all_tokens if token not in kind_words(entity_type)) or all_tokens
    compact = "".join(all_tokens)
    return Name(
        text=text,
        entity_type=entity_type,
        all_tokens=all_tokens,
        tokens=tokens,
        compact=compact,
        known_as=known.get(compact, compact),
        digits=_numbers_in(tokens),
        is_legal=len(all_tokens) < len(every),
        is_proper=_is_proper(text),
        person=parse_person(text, owner) if entity_type in PEOPLE else None,
    )


def _without_legal_form(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Words without `Inc`, `Ltd` and their like at the end; the first word stays, whatever it is."""
    end = len(tokens)
    while end > 1 and tokens[end - 1] in words("legal_forms"):
        end -= 1
    return tokens[:end]


def _numbers_in(tokens: tuple[str, ...]) -> frozenset[str]:
    """Words with digits, and Roman numbers that do not begin the name."""
    return frozenset(t for n, t in enumerate(tokens) if any(c.isdigit() for c in t) or (n and t in _ROMAN))


def _is_proper(text: str) -> bool:
    return any(c.isdigit() or is_capital(c) for c in text)


def role_of(phrase: str) -> str:
    """The role that a phrase names ("mum": mother, "older brother": older brother), or "".

    Modifiers that tell one bearer from another stay; those that praise go.
    """
    *modifiers, head = _role_words(phrase) or [""]
    is_role = head in roles().canonical or (bool(modifiers) and head in roles().people)
    if not is_role or not (_are_telling(modifiers) or not _is_named_within(phrase)):
        return ""
    told = (roles().same_modifiers.get(word, word) for word in modifiers)
    return " ".join([*told, roles().canonical.get(head, head)])


def _role_words(phrase: str) -> list[str]:
    """The folded words of a phrase without those that praise; `ex` by itself."""
    parts = [fold(part) for part in name_key(phrase).replace("-", " - ").split()]
    joined = " ".join(parts).replace(" - ", "-")
    tokens = [token for token in joined.split() if token not in roles().plain_modifiers]
    if tokens and tokens[-1].startswith("ex-"):
        tokens[-1:] = ["ex", tokens[-1].removeprefix("ex-")]
    return tokens


def _are_telling(modifiers: list[str]) -> bool:
    return all(token in roles().telling_modifiers or token.startswith("ex-") for token in modifiers)


def _is_named_within(phrase: str) -> bool:
    """Whether a capital stands behind the first word: `Boston roommate` is a role, `my Boston Globe editor` none."""
    return any(c.isupper() for c in phrase.removeprefix(phrase.split(maxsplit=1)[0]))


def head_role(role: str) -> str:
    """The role without what tells its bearers apart: brother of older brother."""
    head = role.rpartition(" ")[2]
    return head.removeprefix("ex-")


def parse_person(text: str, owner: str = "") -> Person:
    """Takes a person's name apart."""
    rest, owner, is_own = _without_owner(text, owner)
    role = role_of(rest)
    if role:
        return Person(role=role, owner=owner, is_own=is_own)
    rest, where = _apart(rest)
    affixes = _Affixes(_words_of_person(rest))
    affixes.strip()
    parts = _without_dots(affixes.parts)
    if not parts:
        return Person(role=affixes.role, owner=owner)
    person = Person(
        tuple(parts), role=affixes.role, owner=owner, where=where, is_own=is_own, title=affixes.title,
        generation=affixes.generation,
    )  # fmt: skip
    if len(parts) > 1:
        return replace(person, given="" if parts[0] in roles().particles else parts[0], surname=parts[-1])
    if affixes.is_titled or affixes.generation:
        return replace(person, surname=parts[0])
    return replace(person, single=parts[0])


def _without_owner(text: str, owner: str) -> tuple[str, str, bool]:
    """A name without the words that say whose it is, whose it is, and whether it is said to be one's own."""
    stated = _OWNER.match(text)
    if stated is None:
        return (text[4:] if text[:4].casefold() == "the " else text), owner, False
    word = fold(name_key(stated.group(1) or stated.group(2) or stated.group(3)))
    return text[stated.end() :], "" if word in _OWN else word, word in _OWN


def _words_of_person(text: str) -> list[str]:
    """The folded words of a name, dots kept."""
    parts = [part for part in re.split(r"[\s_]+", fold(text).replace("’", "'")) if part.strip(".,'\"")]
    return [part.strip(',"()').removesuffix("'s") for part in parts]


def _without_dots(parts: list[str]) -> list[str]:
    """Words with initials taken apart (`J.R.`) and dots dropped."""
    split = (part.split(".") if len(part) < 5 else [part.rstrip(".")] for part in parts)
    return [piece for pieces in split for piece in pieces if piece]


@dataclass(slots=True)
class _Affixes:
    """What stands around a person's name, taken off its words; at least one word stays in `parts`.

    `is_titled` says that a formal title stands before it, so that a lone word is a surname.
    """

    parts: list[str]
    title: str = ""
    role: str = ""
    generation: str = ""
    is_titled: bool = False

    def strip(self) -> None:
        """Takes off honorifics, a generation, what stands before the name, and a title behind it, in that order."""
        self._take_honorifics()
        self._take_generation()
        while len(self.parts) > 1 and self._takes_off(self.parts[0].rstrip(".")):
            self.parts = self.parts[1:]
        if len(self.parts) > 1 and self.parts[-1].rstrip(".") in roles().formal_titles:
            self.title = self.parts.pop().rstrip(".")
        if len(self.parts) > 1 and self.parts[0] in _PARENT_OF:
            self.parts = [" ".join(self.parts)]

    def _take_honorifics(self) -> None:
        self.title = next((found[1] for part in self.parts if (found := _HONORIFIC.search(part))), "")
        self.parts = [_HONORIFIC.sub("", part) for part in self.parts]

    def _take_generation(self) -> None:
        self.generation = _GENERATIONS.get(self.parts[-1].rstrip("."), "") if len(self.parts) > 1 else ""
        if self.generation:
            self.parts.pop()

    def _takes_off(self, head: str) -> bool:
        """Whether a word before a name is a title or a role; keeps what it says."""
        known = roles()
        if head in known.formal_titles:
            self.is_titled, self.title = True, self.title or head
        elif head in known.canonical:
            self.role = known.canonical[head]
        return head in known.formal_titles or head in known.canonical or head in known.titles


def _apart(text: str) -> tuple[str, str]:
    """A name, and what stands with it to tell which bearer is meant."""
    found = _WHERE.match(text) or _WHERE_BEFORE.match(text)
    if (
        not found
        or fold(found["where"]) in roles().canonical
        or fold(found["where"]).rstrip(".") in (roles().titles | roles().formal_titles | roles().particles)
    ):
        return text, ""
    return found["name"], name_key(fold(found["where"]))


def is_nameable(name: str, entity_type: str) -> bool:
    """Whether anything can be known by the name: not by a pronoun, a stop word, a date or a bare verb."""
    key = fold(name_key(name))
    if entity_type == EntityType.PERSON and name[:1].isupper() and key in words("names_of_many_things"):
        return True
    if not any(c.isalnum() for c in key) or _is_stop_word(name, key, entity_type):
        return False
    return entity_type in NAMED_LIKE_DATES or key not in words("dates")


def _is_stop_word(name: str, key: str, entity_type: str) -> bool:
    """Whether a word names nothing; capitals make it an abbreviation, and everybody may know it as a name."""
    is_abbreviated = name.isupper() and len(key) > 1 and entity_type in ABBREVIATED
    return key in words("nothing") and not is_abbreviated and key not in known_names(entity_type)


@lru_cache(maxsize=65_536)
def sounds(word: str) -> str:
    """A spelling without what is written in two ways: Eric and Erik, Philip and Phillip, Sara and Sarah."""
    for written, sound in _SOUNDS:
        word = word.replace(written, sound)
    word = word.removesuffix("h")
    word = word[1:] if word.startswith("ie") and len(word) > 3 else word  # Yevgeny, Evgeny
    return "".join(c for n, c in enumerate(word) if n == 0 or word[n - 1] != c)
