"""A text as the engine reads it, and what it asks of the language that the text is in.

A message is read once: its `Document` holds sentences, words, names and dates, each found when it is first asked for
and then kept, so that guard, extraction, retrieval and erasure take the same spans. What a language knows stands behind
`Language`; English is the one there is (`em_pipelines.language.en`), and a second one is a class like it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, lru_cache
from typing import Any, Protocol

from em_pipelines.language.dates.calendar_spans import Tense
from em_pipelines.language.dates.partial_dates import PartialDate
from em_pipelines.language.dates.resolver import LONGEST_TEXT, DateSpan
from em_pipelines.language.dates.words import Word, words_of
from em_pipelines.language.en.english import English
from em_pipelines.language.sentences import Span, sentences
from em_pipelines.schema.vocabulary import EntityType

_NAME = re.compile(
    r"(?<![\w'’])[^\W\d_a-z][\w'’-]*(?: (?:[^\W\d_a-z][\w'’-]*|of|de|van|von))*(?<! of)(?<! de)(?<! van)(?<! von)"
)


class Language(Protocol):
    """What the engine asks of a language."""

    @property
    def code(self) -> str:
        """ISO 639-1."""

    @property
    def kin(self) -> Mapping[str, str]:
        """Nouns for somebody's relatives, friends and colleagues, with the relation that each states."""

    @property
    def pets(self) -> frozenset[str]:
        """Nouns for animals that people keep."""

    @property
    def first_person(self) -> frozenset[str]:
        """Its pronouns."""

    @property
    def own_words(self) -> frozenset[str]:
        """The first person and its possessives."""

    @property
    def expected_object(self) -> Mapping[str, EntityType]:
        """Relation → what its objects usually are."""

    def words(self, name: str, key: str) -> frozenset[str]:
        """A list of a file of word lists, as a set."""

    def words_of_language(self, key: str, language: str) -> frozenset[str]:
        """A list for other languages of that one (ISO 639-1); empty where there is none."""

    def words_of_languages(self, key: str) -> frozenset[str]:
        """The lists of all other languages together."""

    def listed(self, name: str) -> Mapping[str, Any]:
        """A file of word lists, as it is written. Raises PatternError where it cannot be read."""

    def tense_at(self, text: str) -> Callable[[int], Tense]:
        """The tense of the clause around a character of a text."""

    def dates(self, text: str, written_at: datetime) -> Sequence[DateSpan]:
        """The dates of a text in order, in the local time of its writing."""

    def date_of(self, words: str, written_on: date, tense: Tense = Tense.PRESENT) -> PartialDate | None:
        """The only date in some words; None where there is none, or more than one."""

    def since(self, words: str, written_on: date) -> PartialDate | None:
        """From when on something holds: `since 2019`, `for three years`."""

    def number_of(self, words: str) -> tuple[int, Sequence[str]] | None:
        """The whole number with which some words begin, and the words behind it."""

    def type_of(self, name: str, expected: EntityType | None = None) -> EntityType:
        """What a name is the name of."""

    def topics_of(self, relation: str, object_type: str | None, text: str) -> list[str]:
        """What a fact is about."""

    def is_profession(self, noun: str) -> bool:
        """Whether a noun in small letters names what somebody does for a living."""

    def is_clause(self, text: str) -> bool:
        """Whether a text is a sentence, or says what is done, and so names nothing."""

    def is_statement(self, text: str) -> bool:
        """Whether a name is a sentence about something: `Susan keeps me grounded`."""

    def is_verb_phrase(self, text: str) -> bool:
        """Whether a name says what is done: `watch a film`."""

    def is_beside(self, part: str, text: str) -> bool:
        """Whether a name stands in a longer one only behind a preposition: the beach in `camping at the beach`."""

    def is_phrase_of(self, relation: str, words: str) -> bool:
        """Whether the object of a relation is a phrase, stored as a value, and names nothing."""


english: Language = English()
"""What is known of English."""


@dataclass(frozen=True)
class Document:
    """A text; spans count its characters, from 0. `language` is None where nothing is known of it: it has sentences and
    words, and no dates."""

    text: str
    written_at: datetime
    language: Language | None = english

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """Where its sentences stand, in order."""
        return sentences(self.text)

    @cached_property
    def words(self) -> Sequence[Word]:
        """Its words, with straight apostrophes."""
        return words_of(self._straight)

    @cached_property
    def names(self) -> tuple[Span, ...]:
        """Where words with a capital stand that open no sentence, are in no date, and are no pronoun."""
        openings = {start for start, _ in self.sentences}
        dates = [one.span for one in self.dates]
        own = self.language.own_words if self.language is not None else frozenset()
        return tuple(
            found.span()
            for found in _NAME.finditer(self._straight)
            if found.start() not in openings
            and found.group().lower().split("'")[0] not in own
            and not any(start < found.end() and found.start() < end for start, end in dates)
        )

    @cached_property
    def dates(self) -> Sequence[DateSpan]:
        """Its dates in order, in the local time of its writing."""
        return self.language.dates(self._straight, self.written_at) if self.language is not None else ()

    @cached_property
    def tense_at(self) -> Callable[[int], Tense]:
        """The tense of the clause around a character."""
        return self.language.tense_at(self._straight) if self.language is not None else lambda _: Tense.PRESENT

    @property
    def _straight(self) -> str:
        return self.text[:LONGEST_TEXT].replace("’", "'")


@lru_cache(maxsize=512)
def document(text: str, written_at: datetime, language: str | None = None) -> Document:
    """A text as it is read; `language` (ISO 639-1) None means English."""
    return Document(text, written_at, english if language in {None, english.code} else None)
