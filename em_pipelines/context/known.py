"""What is known of one person, and the names, words and turns by which it is found."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import numpy.typing as npt

from em_pipelines.resolution.normalization import fold
from em_pipelines.retrieval.words import STOP_WORDS, stems
from em_pipelines.vocabulary import USER

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"(?:(?![{_UNSPACED}])[^\W_])+|[{_UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. `ends` are its subject and, where it is no literal, its object; `turns` where it was said."""

    edge_id: str
    subject: str
    relation: str
    object: str
    over: str | None
    polarity: int
    status: str
    confidence: float
    temporal_type: str
    valid_from: date | None
    precision: str
    learned_on: date
    last_said_on: date
    mechanism: str
    flags: tuple[str, ...]
    privacy_level: str
    ends: tuple[str, ...]
    slot: tuple[str, str, str] | None
    contradicts: str | None
    turns: tuple[tuple[str, int], ...]

    @property
    def sentence(self) -> str:
        """The fact in words: `user lives in Bremen`."""
        verb = self.relation.replace("_", " ")
        over = f" over {self.over}" if self.over else ""
        return f"{self.subject} {'' if self.polarity > 0 else 'not '}{verb} {self.object}{over}"


@dataclass(frozen=True)
class Known:
    """The facts of one person on one day, best first, and the names of what they are about."""

    facts: tuple[Fact, ...]
    names: dict[str, frozenset[str]]
    """Entity to its names, normalised."""

    @cached_property
    def entities(self) -> dict[str, int]:
        """Entity to its number."""
        return {entity: n for n, entity in enumerate(self.names)}

    @cached_property
    def ends(self) -> Integers:
        """Facts × 2: the numbers of subject and object; the subject's twice where the object is a literal."""
        pairs = [(fact.ends[0], fact.ends[-1]) for fact in self.facts]
        numbers = [[self.entities[end] for end in pair] for pair in pairs]
        return np.array(numbers, np.int64).reshape(len(pairs), 2)

    @cached_property
    def confidence(self) -> Floats:
        """Of each fact, 0 to 1."""
        return np.array([fact.confidence for fact in self.facts], np.float64)

    @cached_property
    def last_said(self) -> Integers:
        """Of each fact, the ordinal of the day."""
        return np.array([fact.last_said_on.toordinal() for fact in self.facts], np.int64)

    @cached_property
    def by_name(self) -> dict[tuple[str, ...], frozenset[str]]:
        """The folded words of a name to the entities that bear it; the person's own entity has none here."""
        found: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for entity, names in self.names.items():
            for words in {folded_words(name) for name in names}:
                if words and words != (USER,) and not STOP_WORDS.issuperset(words):
                    found[words].add(entity)
        return {words: frozenset(entities) for words, entities in found.items()}

    @cached_property
    def person(self) -> str | None:
        """The entity of the person themselves; None where no fact is about them."""
        return next((entity for entity, names in self.names.items() if USER in names), None)

    @cached_property
    def words(self) -> dict[str, Integers]:
        """Stem to the numbers of the facts it stands in."""
        found: dict[str, list[int]] = defaultdict(list)
        for n, fact in enumerate(self.facts):
            for stem in set(stems(fact.sentence)):
                found[stem].append(n)
        return {stem: np.array(numbers, np.int64) for stem, numbers in found.items()}

    @cached_property
    def said_in(self) -> dict[tuple[str, int], list[int]]:
        """Turn to the numbers of the facts that were said in it."""
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        for n, fact in enumerate(self.facts):
            for turn in dict.fromkeys(fact.turns):
                found[turn].append(n)
        return found

    @cached_property
    def conflicts(self) -> dict[int, tuple[int, ...]]:
        """A fact that cannot hold beside others to all of them and itself, the one said last first."""
        numbers = {fact.edge_id: n for n, fact in enumerate(self.facts)}
        groups: dict[int, set[int]] = {}
        slots: dict[tuple[str, str, str], set[int]] = defaultdict(set)
        for n, fact in enumerate(self.facts):
            if fact.contradicts in numbers:
                _join(groups, {n, numbers[fact.contradicts]})
            if fact.slot:
                slots[fact.slot].add(n)
        for members in slots.values():
            if len({self.facts[n].object for n in members}) > 1:
                _join(groups, members)
        return {
            n: tuple(sorted(group, key=lambda k: (-self.facts[k].last_said_on.toordinal(), self.facts[k].edge_id)))
            for n, group in groups.items()
        }


def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text without case and accents; of scripts without blanks each character is one."""
    return tuple(_WORD.findall(fold(text)))


def _join(groups: dict[int, set[int]], members: Iterable[int]) -> None:
    joined = set().union(*(groups.get(n, {n}) for n in members))
    groups.update(dict.fromkeys(joined, joined))
