"""Phrases as data: loads the rule files of this package and finds their rules in text.

A rule has an id, a kind, an effect and either a `pattern` or, in `all`, several that must stand in one sentence.
Patterns are Python regular expressions over folded text (`passages.folded`): small letters, no accents. `{name}` in
one stands for the alternation of the word list of that name in the same file. `hints` are words of which one must
begin some word of the text, by its first four letters, or signs that must stand in it: else the rule is not tried.
Nor is it where the text lacks what its patterns `needs`, which never changes what is found.
`examples` and `counter_examples` are run by the tests.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from em_pipelines.errors import PatternError
from em_pipelines.safety.needs import Needs, needs_of
from em_pipelines.safety.passages import Span
from em_pipelines.safety.signs import TextSigns, beginning_mark, signs_of
from em_pipelines.yaml_text import read_yaml

_MACRO = re.compile(r"\{([a-z_]+)\}")


class Rule(BaseModel):
    """One entry of a rule file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    kind: str
    effect: str
    """What becomes of a find; each file says which effects it knows."""
    pattern: str | None = None
    all: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    is_cased: bool = False
    """The pattern is sought in the text as written."""
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A rule met in a text, and where; for `all`, from the first to the last of the parts."""

    rule: Rule
    start: int
    end: int


class RuleBook:
    """The rules of one file, compiled. Raises PatternError when the file breaks the grammar."""

    def __init__(self, path: Path) -> None:
        try:
            data = read_yaml(path.read_text(encoding="utf-8"))
            self.words: dict[str, list[str]] = {k: _entries(v) for k, v in (data.get("words") or {}).items()}
            self.rules = [Rule.model_validate(entry) for entry in _instances(data)]
            self._patterns_by_id = {rule.id: self._patterns(rule) for rule in self.rules}
        except (OSError, yaml.YAMLError, ValidationError, re.error, KeyError, AttributeError) as error:
            raise PatternError(f"reading the rules {path.name}: {error}; mend the entry or restore the file") from error

        self._needs: list[tuple[Needs, ...] | None] = [() if rule.is_cased else None for rule in self.rules]
        self._gates: list[frozenset[str] | None] = [None] * len(self.rules)
        """Of each rule marks of which one must be there, where that is known."""
        self._by_start: dict[str, list[int]] = defaultdict(list)
        self._by_sign: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for n, rule in enumerate(self.rules):
            for hint in rule.hints:
                is_word = hint.isalpha() and hint.isascii()
                place = self._by_start[beginning_mark(hint)] if is_word else self._by_sign[_rarest(hint)][hint]
                place.append(n)
        self._keys = frozenset([*self._by_start, *self._by_sign])

    def candidates(self, folded: str) -> list[Rule]:
        """The rules that can apply to the text: mostly none, and then there is nothing to look for."""
        signs = signs_of(folded)
        numbers: set[int] = set()
        for key in self._keys & signs.marks:
            if key in self._by_start:
                numbers.update(self._by_start[key])
                continue
            for sign, places in self._by_sign[key].items():
                if sign in folded:
                    numbers.update(places)
        gates, marks = self._gates, signs.marks
        return [
            self.rules[n]
            for n in sorted(numbers)
            if ((gate := gates[n]) is None or not gate.isdisjoint(marks)) and self._can_apply(n, signs)
        ]

    def find(
        self, text: str, folded: str, sentences: Callable[[], Sequence[Span]], rules: Iterable[Rule]
    ) -> Iterator[Found]:
        """Every place where one of the rules applies; `folded` is as long as `text`, `sentences` are asked for late."""
        for rule in rules:
            pattern, parts = self._patterns_by_id[rule.id]
            if pattern is not None:
                for match in pattern.finditer(text if rule.is_cased else folded):
                    yield Found(rule, *match.span())
                continue
            for start, end in sentences():
                spans = [part.search(folded, start, end) for part in parts]
                if all(spans):
                    yield Found(rule, min(m.start() for m in spans if m), max(m.end() for m in spans if m))

    def patterns(self) -> list[re.Pattern[str]]:
        """All patterns of all rules, compiled, as they are sought in folded text; not those in text as written."""
        both = [self._patterns_by_id[rule.id] for rule in self.rules if not rule.is_cased]
        return [pattern for whole, parts in both for pattern in (whole, *parts) if pattern is not None]

    def _can_apply(self, number: int, signs: TextSigns) -> bool:
        needs = self._needs[number]
        if needs is None:  # read when first asked for: most rules never are
            pattern, parts = self._patterns_by_id[self.rules[number].id]
            needs = tuple(needs_of(part.pattern) for part in ((pattern,) if pattern is not None else parts))
            self._needs[number] = needs
            self._gates[number] = next((need.gate for need in needs if need.gate is not None), None)
        return all(need.are_met(signs) for need in needs)

    def _patterns(self, rule: Rule) -> tuple[re.Pattern[str] | None, tuple[re.Pattern[str], ...]]:
        pattern = re.compile(self._expanded(rule.pattern), re.MULTILINE) if rule.pattern else None
        return pattern, tuple(re.compile(self._expanded(part), re.MULTILINE) for part in rule.all)

    def _expanded(self, pattern: str) -> str:
        while _MACRO.search(pattern):
            pattern = _MACRO.sub(lambda m: "(?:" + "|".join(self.words[m.group(1)]) + ")", pattern)
        return pattern


def _instances(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rules as written, and those of each language: templates that are filled with its words."""
    yield from data.get("rules") or []
    for language, entry in (data.get("languages") or {}).items():
        for name, template in (data.get("templates") or {}).items():
            if any(group not in entry for group in template["all"]):
                continue
            names = [*template["all"], *(["marks"] if "marks" in entry else [])]
            groups = [_any_of(entry[group], bool(entry.get("is_unspaced"))) for group in names]
            hints = [stem for group in template["hints"] for stem in _entries(entry[group])]
            yield {
                "id": f"{name}_{language}",
                "kind": template["kind"],
                "effect": template["effect"],
                "all": groups,
                "hints": [re.split(r"\\[sb]", hint)[0] for hint in hints],
                "examples": [entry["example"]] if name == "override" else [],
            }


def _rarest(sign: str) -> str:
    """The character of a sign by which it is looked up: another alphabet's before a mark before a letter."""
    return max(sign, key=lambda c: (not c.isascii(), not c.isalnum() and not c.isspace(), c))


def _any_of(stems: str | list[str], is_unspaced: bool) -> str:
    """Words that begin with one of the stems; where words are not spaced, the stems anywhere."""
    alternation = "|".join(_entries(stems))
    return f"(?:{alternation})" if is_unspaced else rf"(?<!\w)(?:{alternation})"


def _entries(value: Any) -> list[str]:
    return value.split() if isinstance(value, str) else [str(entry) for entry in value or []]


@lru_cache(maxsize=16)
def rule_book(name: str) -> RuleBook:
    """The rules of NAME.yaml of this package."""
    return RuleBook(Path(__file__).with_name(f"{name}.yaml"))
