"""Phrases as data: loads the rule files of this package and finds their rules in text.

A rule has an id, a kind, an effect and either a `pattern` or, in `all`, several that must stand in one sentence.
Patterns are Python regular expressions over folded text (`passages.folded`): small letters, no accents. `{name}` in
one stands for the alternation of the word list of that name in the same file. `hints` are words of which one must
begin some word of the text, by its first four letters, or signs that must stand in it: else the rule is not tried.
`examples` and `counter_examples` are run by the tests.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from em_pipelines.errors import PatternError
from em_pipelines.safety.passages import Span

HINT_LETTERS = 4
_WORDS = re.compile(r"[^\W\d_]{2,}")
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
            data = yaml.safe_load(path.read_text(encoding="utf-8"))
            self.words: dict[str, list[str]] = {k: _entries(v) for k, v in (data.get("words") or {}).items()}
            self.rules = [Rule.model_validate(entry) for entry in _instances(data)]
            self._patterns_by_id = {rule.id: self._patterns(rule) for rule in self.rules}
        except (OSError, yaml.YAMLError, ValidationError, re.error, KeyError, AttributeError) as error:
            raise PatternError(f"reading the rules {path.name}: {error}; mend the entry or restore the file") from error

        self._by_start: dict[str, list[int]] = defaultdict(list)
        self._by_sign: dict[str, list[int]] = defaultdict(list)
        for n, rule in enumerate(self.rules):
            for hint in rule.hints:
                is_word = hint.isalpha() and hint.isascii()
                (self._by_start[hint[:HINT_LETTERS]] if is_word else self._by_sign[hint]).append(n)

    def candidates(self, folded: str) -> list[Rule]:
        """The rules whose hints stand in the text: mostly none, and then there is nothing to look for."""
        beginnings = _beginnings(folded)
        numbers = {n for start in beginnings & self._by_start.keys() for n in self._by_start[start]}
        is_ascii = folded.isascii()
        for sign, places in self._by_sign.items():
            if (not is_ascii or sign.isascii()) and sign in folded:
                numbers.update(places)
        return [self.rules[n] for n in sorted(numbers)]

    def find(self, text: str, folded: str, sentences: Iterable[Span], rules: Iterable[Rule]) -> Iterator[Found]:
        """Every place where one of the rules applies; `folded` is as long as `text`."""
        sentences = list(sentences)
        for rule in rules:
            pattern, parts = self._patterns_by_id[rule.id]
            if pattern is not None:
                for match in pattern.finditer(text if rule.is_cased else folded):
                    yield Found(rule, *match.span())
                continue
            for start, end in sentences:
                spans = [part.search(folded, start, end) for part in parts]
                if all(spans):
                    yield Found(rule, min(m.start() for m in spans if m), max(m.end() for m in spans if m))

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


@lru_cache(maxsize=8)
def _beginnings(folded: str) -> frozenset[str]:
    """Of all words of a text; each of the rule files asks for them in turn."""
    return frozenset(word[:HINT_LETTERS] for word in _WORDS.findall(folded))


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
