"""Whether a name may stand in a question at all: short, whole, nobody's secret, and no order.

A name that is a clause, hangs on what was said around it, or speaks of what is private is not said. Lists are data
(shapes.yaml, and the lexicon of extraction). What a name looks like in a sentence is the business of `wording`.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from em_pipelines.guard.contact import personal_spans
from em_pipelines.guard.screening import is_unsafe_content
from em_pipelines.guard.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT, is_sensitive
from em_pipelines.language.document import english
from em_pipelines.language.values import read_yaml

SHAPES = Path(__file__).with_name("shapes.yaml")
MAX_CHARACTERS = 40
MAX_WORDS = 5
PREPOSITIONS = frozenset(
    ["to", "in", "at", "on", "of", "for", "from", "with", "by", "into", "through", "over", "under", "along"]
)
_ARTICLES = frozenset(["a", "an", "the"])
_SMALL = PREPOSITIONS | frozenset(["and", "the", "de", "van", "von", "der"])
_NO_END = PREPOSITIONS | _ARTICLES | {"and"}
_OTHERS = frozenset(["his", "her", "hers", "their", "theirs", "its", "your", "yours"])
_NAME = re.compile(r"[^\W_](?:[^\W_]|[ '’.&+#-])*")
"""Letters, figures and what stands inside names: no mark that ends a sentence, quotes, or opens anything."""
_PARTS = re.compile(r"[\s'’.&+#-]+")
_SOMEBODYS = re.compile(r"\b[^\W\dA-Z_][^\W_]*['’]s\b")
"""`daughter's jokes`: whose daughter was said elsewhere."""
_DETERMINER = re.compile(r"(?i)^(?:the|an?|my|our)\s+")
_NOT_DOING = frozenset(["something", "anything", "everything", "nothing", "morning", "evening", "ceiling", "wedding"])


@cache
def listed(key: str) -> frozenset[str]:
    """One list of shapes.yaml."""
    return frozenset(str(_lists()[key]).split())


@cache
def _lists() -> dict[str, Any]:
    data: dict[str, Any] = read_yaml(SHAPES.read_text(encoding="utf-8"))
    return data


@cache
def _delicate() -> tuple[str, ...]:
    return tuple(listed("delicate"))


@cache
def nouns(kind: str) -> frozenset[str]:
    """The nouns of the lexicon that name things of a type."""
    return frozenset(english.listed("nouns")["types"][kind].split())


@cache
def person_roles() -> frozenset[str]:
    """Words that say who somebody is to somebody: kin, friends, people at work and next door; none for several."""
    kin = frozenset(english.kin)
    return (
        (kin | english.words("people", "person_roles"))
        - english.words("people", "plural")
        - english.words("people", "ex")
    )


@cache
def common() -> frozenset[str]:
    """Words that are no names, whatever their first letter: nouns of the lexicon, and those of topics."""
    topics = " ".join(english.listed("topics")["words"].values()).split()
    things = (noun for kind in english.listed("nouns")["types"] if kind != "person" for noun in nouns(kind))
    own = map(listed, ("mass", "occasions", "undertakings", "bodies", "plain", "vague"))
    return frozenset([*topics, *things, *person_roles(), *english.words("people", "plural")]).union(*own)


@lru_cache(maxsize=65_536)
def is_private(name: str) -> bool:
    """Whether a name speaks of what is private to many, reaches somebody, or is an order, code or a secret."""
    parts = [part for part in _PARTS.split(name.casefold()) if part]
    if any(part.startswith(_delicate()) for part in parts) or not english.words("nouns", "feelings").isdisjoint(parts):
        return True
    if any(is_sensitive(name, category) for category in (HEALTH, FINANCIAL, IDENTITY_DOCUMENT)):
        return True
    return bool(personal_spans(name)) or is_unsafe_content(name)


@lru_cache(maxsize=65_536)
def plain(name: str) -> str | None:
    """The name without its determiner and in its usual case, or None where it fits into no sentence."""
    bare = _DETERMINER.sub("", " ".join(name.split()))
    if not _is_short_and_clean(bare):
        return None
    first, *rest = bare.split()
    if first.istitle() and first.casefold() in common() and all(word.islower() for word in rest):
        bare = bare[0].lower() + bare[1:]
    low = bare.casefold().split()
    if low[0] in PREPOSITIONS or low[-1] in _NO_END or not _OTHERS.isdisjoint(low) or _SOMEBODYS.search(bare):
        return None
    is_free = is_proper(bare) or is_doing(bare)
    return bare if is_free or (listed("clause_words") | _ARTICLES).isdisjoint(low) else None


def _is_short_and_clean(name: str) -> bool:
    """Whether it is one line of few words and plain marks, not shouted and not only figures."""
    n_words = len(name.split())
    if not 1 <= n_words <= MAX_WORDS or len(name) > MAX_CHARACTERS or not _NAME.fullmatch(name):
        return False
    return any(char.isalpha() for char in name) and not (n_words > 1 and name.isupper())


def is_proper(name: str) -> bool:
    """Whether every word of a name but small ones is written as names are."""
    each = name.split()
    return any(word[0].isupper() for word in each) and all(
        word[0].isupper() or word[0].isdigit() or word in _SMALL for word in each
    )


def has_name(name: str) -> bool:
    """Whether it begins with a proper name: `Shimpo wheel`, `iPhone 15`."""
    return any(char.isupper() for char in name.split(maxsplit=1)[0])


def head(name: str) -> str:
    """The noun that a phrase is about, case-folded: the last before a preposition."""
    before: list[str] = []
    for word in name.casefold().split():
        if word in PREPOSITIONS and before:
            break
        before.append(word)
    return before[-1]


def is_plural(word: str) -> bool:
    """Whether a word looks like a plural, or is one that does not."""
    if word in listed("irregular_plurals"):
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "ness"))


def is_doing(name: str) -> bool:
    """Whether it begins with what somebody does: `switching editors`, but no `climbing halls` or `morning run`."""
    first, *rest = name.split()
    if len(first) < 5 or not first.endswith("ing") or not (first.isalpha() and first.islower()):
        return False
    is_kind_of_thing = bool(rest) and first in nouns("activity") and rest[0].casefold() not in PREPOSITIONS
    return not is_kind_of_thing and first not in _NOT_DOING
