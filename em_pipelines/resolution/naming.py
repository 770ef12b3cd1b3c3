"""What a name consists of: the words it is compared by, and, of a person's, titles, given name, surname and role.

A pure function of the wording and the type, so that what a row of the registry holds is enough to compare it.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from em_pipelines.resolution.lexicon import abbreviations, kind_words, known_names, roles, words
from em_pipelines.resolution.normalization import fold, name_key, name_tokens
from em_pipelines.vocabulary import EntityType

MAKERS = frozenset({EntityType.PRODUCT.value, EntityType.VEHICLE.value})
"""Types of things whose makers and families are abbreviated within their names: VW Golf, PS4."""
PEOPLE = frozenset({EntityType.PERSON.value})
_OWNER = re.compile(
    r"^(?:(my|our|his|her|their|your)\s+|([^\W\d_][\w-]*)['’]s\s+|([^\W\d_][\w-]*s)['’]\s+)", re.IGNORECASE
)
_WHERE = re.compile(r"^(?P<name>\S+(?: \S+)?) (?:at|from|in|with) (?P<where>[^\W\d_].*)$")
_WHERE_BEFORE = re.compile(r"^(?P<where>[^\W\d_A-Z][\w-]*(?: [^\W\d_A-Z][\w-]*)?) (?P<name>[^\W\d_a-z]\S*(?: \S+)?)$")
_HONORIFIC = re.compile(r"(?<=\w)-(san|sensei|kun|chan|sama|ji|bey|hanim)$")
_GENERATIONS = {"junior": "junior", "jr": "junior", "senior": "senior", "sr": "senior"}
_PARENT_OF = frozenset({"abu", "umm", "oum"})
_ROMAN = frozenset({"ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii"})
_OWN = frozenset({"my", "our", "your"})


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
    legal = words("legal_forms")
    end = len(every)
    if entity_type == EntityType.ORGANIZATION:
        while end > 1 and every[end - 1] in legal:
            end -= 1
    kept = tuple(token for token in every[:end] if token not in kind_words(entity_type))
    tokens = kept or every[:end]
    compact = "".join(every[:end])
    return Name(
        text=text,
        entity_type=entity_type,
        all_tokens=every[:end],
        tokens=tokens,
        compact=compact,
        known_as=known.get(compact, compact),
        digits=frozenset(t for n, t in enumerate(tokens) if any(c.isdigit() for c in t) or (n and t in _ROMAN)),
        is_legal=end < len(every),
        is_proper=_is_proper(text),
        person=parse_person(text, owner) if entity_type in PEOPLE else None,
    )


def _is_proper(text: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in text)


def role_of(phrase: str) -> str:
    """The role that a phrase names ("mum": mother, "older brother": older brother), or "".

    Modifiers that tell one bearer from another stay; those that praise go.
    """
    found = roles()
    parts = [fold(part) for part in name_key(phrase).replace("-", " - ").split()]
    joined = " ".join(parts).replace(" - ", "-")
    tokens = [token for token in joined.split() if token not in found.plain_modifiers]
    if tokens and tokens[-1].startswith("ex-"):
        tokens[-1:] = ["ex", tokens[-1].removeprefix("ex-")]
    if not tokens or (tokens[-1] not in found.canonical and not (len(tokens) > 1 and tokens[-1] in found.people)):
        return ""
    head = found.canonical.get(tokens[-1], tokens[-1])
    if all(token in found.telling_modifiers or token.startswith("ex-") for token in tokens[:-1]):
        return " ".join([*tokens[:-1], head])
    is_named = any(c.isupper() for c in phrase.removeprefix(phrase.split(maxsplit=1)[0]))
    return "" if is_named else " ".join([*tokens[:-1], head])


def head_role(role: str) -> str:
    """The role without what tells its bearers apart: brother of older brother."""
    head = role.rpartition(" ")[2]
    return head.removeprefix("ex-")


def parse_person(text: str, owner: str = "") -> Person:
    """Takes a person's name apart."""
    known = roles()
    stated = _OWNER.match(text)
    rest = text
    if stated:
        word = fold(stated.group(1) or stated.group(2) or stated.group(3))
        rest = text[stated.end() :]
        owner = "" if word in _OWN else word
    elif text[:4].casefold() == "the ":
        rest = text[4:]
    is_own = bool(stated) and not owner
    role = role_of(rest)
    if role:
        return Person(role=role, owner=owner, is_own=is_own)
    rest, where = _apart(rest)
    parts = [part for part in re.split(r"[\s_]+", fold(rest).replace("’", "'")) if part.strip(".,'\"")]
    parts = [part.strip(',"()').removesuffix("'s") for part in parts]
    title = next((found[1] for part in parts if (found := _HONORIFIC.search(part))), "")
    parts = [_HONORIFIC.sub("", part) for part in parts]
    generation = _GENERATIONS.get(parts[-1].rstrip("."), "") if len(parts) > 1 else ""
    if generation:
        parts = parts[:-1]
    is_titled, named_role = False, ""
    while len(parts) > 1:
        head = parts[0].rstrip(".")
        if head in known.formal_titles:
            is_titled, title = True, title or head
        elif head in known.canonical:
            named_role = known.canonical[head]
        elif head not in known.titles:
            break
        parts = parts[1:]
    if len(parts) > 1 and parts[-1].rstrip(".") in known.formal_titles:
        parts, title = parts[:-1], parts[-1].rstrip(".")
    if len(parts) > 1 and parts[0] in _PARENT_OF:
        parts = [" ".join(parts)]
    parts = [piece for part in parts for piece in (part.split(".") if len(part) < 5 else [part.rstrip(".")]) if piece]
    person = Person(
        tuple(parts), role=named_role, owner=owner, where=where, is_own=is_own, title=title, generation=generation
    )
    if not parts:
        return Person(role=named_role, owner=owner)
    if len(parts) == 1:
        return replace(person, surname=parts[0]) if is_titled or generation else replace(person, single=parts[0])
    return replace(person, given="" if parts[0] in known.particles else parts[0], surname=parts[-1])


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
