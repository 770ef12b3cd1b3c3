"""Health, money and identity documents: facts that are kept only where settings allow it, whoever they are about.

They are told by what is said (words, endings, phrases of sensitive.yaml) and by relation; the rest of the message
stays. What is the work or study of somebody is no such fact: a nurse, a pharmacy, cancer research, a mortgage broker.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.guard.passages import Span, folded, merged, overlaps, sentences
from em_pipelines.guard.phrases import TOKENS, Prefilter, signs_of
from em_pipelines.language.cleaning import UNSPACED
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.vocabulary import RELATIONS_BY_GROUP

HEALTH, FINANCIAL, IDENTITY_DOCUMENT = "health", "financial", "identity_document"
HEALTH_RELATIONS = frozenset(RELATIONS_BY_GROUP["health"])
MIN_SUFFIXED_CHARACTERS = 8
HINT_LETTERS = 4
N_EXEMPT_BEFORE, N_EXEMPT_AFTER = 3, 2
_NONE: frozenset[tuple[str, int]] = frozenset()
_SINGLE = -1
UNSPACED_SIGN = re.compile(rf"[{UNSPACED}]")
"""Of a word with one, a hint may stand anywhere."""


@dataclass(frozen=True)
class Category:
    """One category of sensitive.yaml, compiled."""

    name: str
    words: frozenset[str]
    suffixes: tuple[str, ...]
    besides: frozenset[str]
    phrases: tuple[tuple[frozenset[str], re.Pattern[str]], ...]
    """Hints and the pattern."""
    companions: tuple[re.Pattern[str], ...]
    exempt_before: frozenset[str]
    exempt_after: frozenset[str]
    examples: tuple[dict[str, Any], ...]

    def has(self, word: str) -> bool:
        """Whether a folded word by itself belongs to the category; a plural or possessive s is put aside."""
        bare = word.removesuffix("'s").removesuffix("'")
        forms = (word, bare, bare.removesuffix("s"), bare.removesuffix("es"), bare.partition("-")[0], _unelided(word))
        if any(form in self.words for form in forms):
            return True
        if len(word) < MIN_SUFFIXED_CHARACTERS or not self.suffixes:
            return False
        return any(form.endswith(self.suffixes) and form not in self.besides for form in forms)


@cache
def categories() -> dict[str, Category]:
    """Every category by name, from sensitive.yaml, with what sensitive_languages.yaml has of other languages."""
    english, others = (
        read_yaml(Path(__file__).with_name(name).read_text(encoding="utf-8"))
        for name in ("sensitive.yaml", "sensitive_languages.yaml")
    )
    return {name: _category(name, _joined(entry, others.get(name, {}))) for name, entry in english.items()}


def _joined(entry: dict[str, Any], others: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A category with the words, phrases, exemptions and examples of other languages."""
    joined = dict(entry)
    for listed in others.values():
        for key, value in listed.items():
            joined[key] = f"{joined[key]} {value}" if isinstance(value, str) else [*joined[key], *value]
    return joined


def sensitive_spans(text: str, names: tuple[str, ...]) -> list[Span]:
    """Where a text speaks of one of the categories, in order and without overlaps."""
    return merged(span for spans in spans_by_category(text, names).values() for span in spans)


def spans_by_category(text: str, names: tuple[str, ...]) -> dict[str, list[Span]]:
    """The same by category, for those that were found."""
    plain = folded(text)
    touched = _touched_by(plain)
    found = {name: _spans(text, plain, touched, categories()[name]) for name in names if name in touched}
    return {name: spans for name, spans in found.items() if spans}


@lru_cache(maxsize=16_384)
def is_sensitive(name: str, category: str) -> bool:
    """Whether the name of a thing, or a value, speaks of the category."""
    return bool(sensitive_spans(name, (category,)))


def _touched_by(plain: str) -> dict[str, set[int]]:
    """The categories that a text may speak of, by its words taken one by one, and their phrases to try: mostly none.

    The number of a phrase is its place; `_SINGLE` stands for a word that tells the category by itself.
    """
    touched: dict[str, set[int]] = {}
    hinted_at = _NONE.union(*map(_touched_by_word, signs_of(plain).tokens))
    for name, number in _possible(plain, hinted_at) if hinted_at else ():
        touched.setdefault(name, set()).add(number)
    return touched


def _possible(plain: str, hinted_at: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """Of phrases that a text hints at those that it may hold; words that tell a category by themselves stay."""
    prefilter, places = _prefilter()
    possible = {places[number] for number in prefilter.possible(plain)}
    return frozenset(place for place in hinted_at if place in possible or place[1] == _SINGLE)


@cache
def _prefilter() -> tuple[Prefilter, list[tuple[str, int]]]:
    """The sieve of all phrases, and of each its category and its place there."""
    places = [(name, n) for name, entry in categories().items() for n in range(len(entry.phrases))]
    return Prefilter(categories()[name].phrases[n][1].pattern for name, n in places), places


def _unelided(word: str) -> str:
    """A word without what an apostrophe joins to it before: asthme of l'asthme; the whole where little is left."""
    rest = word.rpartition("'")[2]
    return rest if len(rest) >= HINT_LETTERS else word


@lru_cache(maxsize=65_536)
def _touched_by_word(word: str) -> frozenset[tuple[str, int]]:
    """The categories of a word, and the phrases that have a word which begins like it."""
    starts = {word[: 1 if word[0].isdigit() else HINT_LETTERS], _unelided(word)[:HINT_LETTERS]}
    hints_at = [(name, n, hints) for name, entry in categories().items() for n, (hints, _) in enumerate(entry.phrases)]
    hinted = {(name, n) for name, n, hints in hints_at if not starts.isdisjoint(hints)}
    if not word.isascii() and UNSPACED_SIGN.search(word):
        hinted |= {(name, n) for name, n, hints in hints_at if any(hint in word for hint in hints)}
    return frozenset(hinted.union((name, _SINGLE) for name in _categories_of(word)))


def _spans(text: str, plain: str, touched: dict[str, set[int]], category: Category) -> list[Span]:
    numbers = touched[category.name]
    phrases = [category.phrases[n][1] for n in sorted(numbers - {_SINGLE})]
    matches = [match for pattern in phrases for match in pattern.finditer(plain)]
    if not matches and _SINGLE not in numbers:
        return []
    words = list(TOKENS.finditer(plain))
    spans = _spans_of_words(words, category)
    spans += [_trimmed(match) for match in matches if not _is_exempt_phrase(words, match, category)]
    if spans and category.companions:
        spans += _spans_of_companions(text, plain, spans, category)
    return spans


def _trimmed(match: re.Match[str]) -> Span:
    """Where a phrase stands, without the full stop or comma behind a number: they close its sentence or clause."""
    return match.start(), match.start() + len(match.group().rstrip(".,"))


def _spans_of_words(words: list[re.Match[str]], category: Category) -> list[Span]:
    return [
        word.span()
        for n, word in enumerate(words)
        if category.name in _categories_of(word.group()) and not _is_exempt(words, n, n, category)
    ]


def _spans_of_companions(text: str, plain: str, spans: list[Span], category: Category) -> list[Span]:
    """What goes along with a find in the same sentence."""
    places = [place for place in sentences(text) if overlaps(place, spans)]
    return [m.span() for place in places for p in category.companions for m in p.finditer(plain, *place)]


def _is_exempt_phrase(words: list[re.Match[str]], match: re.Match[str], category: Category) -> bool:
    if UNSPACED_SIGN.search(match.group()):  # no words stand around it
        return False
    first = bisect_left(words, match.start(), key=lambda word: word.start())
    last = bisect_left(words, match.end(), key=lambda word: word.start()) - 1
    return last < first or _is_exempt(words, first, last, category)


def _is_exempt(words: list[re.Match[str]], first: int, last: int, category: Category) -> bool:
    before = words[max(0, first - N_EXEMPT_BEFORE) : first]
    after = words[last + 1 : last + 1 + N_EXEMPT_AFTER]
    return any(w.group() in category.exempt_before for w in before) or any(
        w.group() in category.exempt_after for w in after
    )


@lru_cache(maxsize=65_536)
def _categories_of(word: str) -> frozenset[str]:
    return frozenset(name for name, category in categories().items() if category.has(word))


def _category(name: str, entry: dict[str, Any]) -> Category:
    phrases = tuple(
        (
            frozenset(hint[:HINT_LETTERS] for hint in phrase["hints"].split()),
            re.compile(phrase["pattern"]),
        )
        for phrase in entry["phrases"]
    )
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


class SafetySettings(BaseModel):
    """Which private facts are kept, and how much of a message is looked at. What is off is blanked before anything
    reads the text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_health_enabled: bool = Field(
        default=False,
        description="Keep facts about health: conditions, medicines, allergies, treatments, pregnancies; of anybody.",
    )
    is_financial_enabled: bool = Field(
        default=False,
        description=(
            "Keep facts about money: income, debts, savings, loans, credit. Account and card numbers are masked anyway."
        ),
    )
    is_identity_document_enabled: bool = Field(
        default=False,
        description=(
            "Keep facts about identity documents, such as when a passport ends. Their numbers are masked anyway."
        ),
    )

    max_characters: int = Field(
        default=20_000,
        ge=1,
        description="Of one message; the rest of a longer one is neither guarded nor read, and an issue says so.",
    )

    @property
    def withheld(self) -> tuple[str, ...]:
        """The categories of sensitive.yaml that are not kept."""
        enabled = {
            HEALTH: self.is_health_enabled,
            FINANCIAL: self.is_financial_enabled,
            IDENTITY_DOCUMENT: self.is_identity_document_enabled,
        }
        return tuple(name for name, is_on in enabled.items() if not is_on)
