"""Health, money and identity documents: facts that are kept only where settings allow it, whoever they are about.

They are told by what is said (words, endings, phrases of sensitive.yaml) and by relation; the rest of the message
stays. What is somebody's work or study is no such fact: a nurse, a pharmacy, cancer research, a mortgage broker.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from em_pipelines.safety.passages import Span, folded, merged, overlaps, sentences
from em_pipelines.vocabulary import RELATIONS_BY_GROUP

HEALTH, FINANCIAL, IDENTITY_DOCUMENT = "health", "financial", "identity_document"
HEALTH_RELATIONS = frozenset(RELATIONS_BY_GROUP["health"])
MIN_SUFFIXED_CHARACTERS = 8
N_EXEMPT_BEFORE, N_EXEMPT_AFTER = 3, 2
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


@dataclass(frozen=True)
class Category:
    """One category of sensitive.yaml, compiled."""

    name: str
    words: frozenset[str]
    suffixes: tuple[str, ...]
    besides: frozenset[str]
    phrases: tuple[re.Pattern[str], ...]
    companions: tuple[re.Pattern[str], ...]
    exempt_before: frozenset[str]
    exempt_after: frozenset[str]
    examples: tuple[dict[str, Any], ...]

    def has(self, word: str) -> bool:
        """Whether a folded word by itself belongs to the category; a plural or possessive s is put aside."""
        for form in _forms(word):
            if form in self.words:
                return True
        if len(word) < MIN_SUFFIXED_CHARACTERS or not self.suffixes:
            return False
        return any(f.endswith(self.suffixes) and f not in self.besides for f in _forms(word))


@cache
def categories() -> dict[str, Category]:
    """Every category by name, from sensitive.yaml."""
    data = yaml.safe_load(Path(__file__).with_name("sensitive.yaml").read_text(encoding="utf-8"))
    return {name: _category(name, entry) for name, entry in data.items()}


def sensitive_spans(text: str, names: tuple[str, ...]) -> list[Span]:
    """Where a text speaks of one of the categories, in order and without overlaps."""
    plain = folded(text)
    words = list(_WORD.finditer(plain))
    return merged(span for name in names for span in _spans(plain, words, categories()[name]))


@lru_cache(maxsize=16_384)
def is_sensitive(name: str, category: str) -> bool:
    """Whether the name of a thing, or a value, speaks of the category."""
    return bool(sensitive_spans(name, (category,)))


def _spans(plain: str, words: list[re.Match[str]], category: Category) -> Iterator[Span]:
    found = [
        word.span()
        for n, word in enumerate(words)
        if category.has(word.group()) and not _is_exempt(words, n, n, category)
    ]
    for pattern in category.phrases:
        found += [m.span() for m in pattern.finditer(plain) if not _is_exempt_phrase(words, m, category)]
    yield from found
    if found and category.companions:
        for place in sentences(plain):
            if overlaps(place, found):
                yield from (m.span() for pattern in category.companions for m in pattern.finditer(plain, *place))


def _is_exempt_phrase(words: list[re.Match[str]], match: re.Match[str], category: Category) -> bool:
    first = bisect_left(words, match.start(), key=lambda word: word.start())
    last = bisect_left(words, match.end(), key=lambda word: word.start()) - 1
    return last < first or _is_exempt(words, first, last, category)


def _is_exempt(words: list[re.Match[str]], first: int, last: int, category: Category) -> bool:
    before = words[max(0, first - N_EXEMPT_BEFORE) : first]
    after = words[last + 1 : last + 1 + N_EXEMPT_AFTER]
    return any(w.group() in category.exempt_before for w in before) or any(
        w.group() in category.exempt_after for w in after
    )


def _forms(word: str) -> tuple[str, ...]:
    bare = word.removesuffix("'s").removesuffix("'")
    return (word, bare, bare.removesuffix("s"), bare.removesuffix("es"))


def _category(name: str, entry: dict[str, Any]) -> Category:
    phrases = tuple(re.compile(pattern) for pattern in entry["phrases"])
    return Category(
        name=name,
        words=frozenset(entry["words"].split()),
        suffixes=tuple(entry["suffixes"].split()),
        besides=frozenset(entry["besides"].split()),
        phrases=phrases,
        companions=tuple(re.compile(pattern) for pattern in entry.get("companions", ())),
        exempt_before=frozenset(entry["exempt_before"].split()),
        exempt_after=frozenset(entry["exempt_after"].split()),
        examples=tuple(entry["examples"]),
    )
