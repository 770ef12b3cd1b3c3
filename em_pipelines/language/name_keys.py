"""Names made comparable, and the roles that stand for names ("my wife")."""

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from em_pipelines.language.cleaning import APOSTROPHES, HYPHENS, MARKS
from em_pipelines.schema.vocabulary import USER

DETERMINERS = frozenset(
    ["a", "an", "the", "my", "our", "his", "her", "their", "your", "its", "this", "that", "these", "those", "some"]
)  # fmt: skip
_SEPARATORS = re.compile(r"[_\s]+")
_EDGES = re.compile(rf"^[^\w#+{MARKS}]+|[^\w#+{MARKS}]+$")
_PARTS = re.compile(rf"[^\w#+{MARKS}]+|_+")
_DIGITS_BEGIN = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=(?:[ivx]{2,}|mm|cc|gb|tb|inch)$)")
_DOTTED = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}(?!\w)|(?<!\w)(?:[^\W\d_]\.)+[^\W\d_](?!\w)")
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d", "ð": "d", "þ": "th"}
)


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """Returns the normalised form of a name: NFKC, case-folded, without determiners, edge punctuation and 's.

    Underscores and runs of white space are one space. A name of nothing else keeps its words, so the key is empty
    only where the name is.
    """
    text = _straight(unicodedata.normalize("NFKC", name).casefold())
    words = [_EDGES.sub("", word) or word for word in _SEPARATORS.split(text) if word]
    words = [word.removesuffix("'s") or word for word in words]
    start = 0
    while start < len(words) - 1 and words[start] in DETERMINERS:
        start += 1
    return " ".join(words[start:])


def _straight(text: str) -> str:
    """The text with one hyphen and one apostrophe, whichever of their many forms it has."""
    return text if text.isascii() else text.translate(HYPHENS).translate(APOSTROPHES)


@lru_cache(maxsize=65_536)
def fold(text: str) -> str:
    """Returns a text without case and diacritics: `Sayın` and `sayin`, `Łódź` and `lodz` are equal."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_PLAIN_LETTERS)


@lru_cache(maxsize=65_536)
def name_tokens(name: str) -> tuple[str, ...]:
    """Returns the folded words of a name: divided at blanks, hyphens, dots and around numbers (`MK-4`, `MK4`: mk 4;
    `A7III`: a 7 iii), `&` read as `and`, dots between initials, apostrophes and leading determiners dropped."""
    text = _straight(fold(name)).replace("&", " and ")
    text = _DOTTED.sub(lambda initials: initials[0].replace(".", ""), text)
    text = text.replace("'", "")
    words = [word for word in _PARTS.split(text) if word]
    start = 0
    while start < len(words) - 1 and words[start] in DETERMINERS:
        start += 1
    return tuple(part for word in words[start:] for part in _DIGITS_BEGIN.split(word))


def compact_key(name: str) -> str:
    """Returns the words of a name run together: `fuelly-log`, `FuellyLog` and `Fuelly Log` are equal."""
    return "".join(name_tokens(name))


UNIQUE_ROLES = frozenset(
    {
        "wife", "husband", "spouse", "partner", "girlfriend", "boyfriend", "fiancé", "fiancée", "fiance", "fiancee",
        "mother", "mum", "mom", "father", "dad", "boss", "manager", "landlord", "landlady",
    }
)  # fmt: skip
"""Sisters, friends and colleagues are not here: there may be several, and the bare word does not say which."""

_ROLE = "|".join(sorted(UNIQUE_ROLES, key=len, reverse=True))
_BEFORE = re.compile(rf"\bmy ({_ROLE}),? $", re.IGNORECASE)
_AFTER = re.compile(rf"^,? (?:(?:is|who is|who's) )?my ({_ROLE})\b(?!['’]s\b)", re.IGNORECASE)
_WINDOW = 24  # longer than any role with what stands around it


def unique_role(text: str, start: int, end: int) -> str | None:
    """The role by which the name at text[start:end] is also given right beside it, or None."""
    found = _BEFORE.search(text[max(0, start - _WINDOW) : start]) or _AFTER.match(text[end : end + _WINDOW])
    return found.group(1).lower() if found else None


_OF_OWNER = "'s "


def owned_name(owner: str, noun: str) -> str:
    """The name of the `noun` of an owner; the plain noun where that is the remembered person, or nobody."""
    return noun if owner in {"", USER} else f"{owner}{_OF_OWNER}{noun}"


def noun_of(name: str) -> str:
    """The role or noun of an owned name, as worded: `brother` of `Bea's brother`; other names as they are."""
    return name.replace("’", "'").rpartition(_OF_OWNER)[2]


def owner_of(name: str) -> str:
    """The owner in an owned name, as worded; empty for other names."""
    return name.replace("’", "'").rpartition(_OF_OWNER)[0]


class Owned(NamedTuple):
    """Who is named by a role and a name: characters `start` to `end` of a text, and the name with its owner."""

    start: int
    end: int
    in_full: str


_NAME = r"[^\W\d_a-z][\w-]*"
_OWNED = re.compile(rf"\b(?:(?P<owner>{_NAME})['’]s|[Mm]y) (?P<role>[a-z-]+),? (?P<name>{_NAME})")


def namesakes(text: str) -> dict[str, list[Owned]]:
    """The names that a text gives to several people who are the same to different owners, each with its phrases:
    `Ann's brother Tom … Bea's brother Tom`. The remembered person's own is in full by the bare name."""
    found: dict[tuple[str, str], list[Owned]] = defaultdict(list)
    for match in _OWNED.finditer(text):
        owner, role, name = match["owner"], match["role"], match["name"]
        found[name, role].append(Owned(*match.span(), f"{owner}{_OF_OWNER}{role} {name}" if owner else name))
    return {name: owned for (name, _), owned in found.items() if len({one.in_full for one in owned}) > 1}
