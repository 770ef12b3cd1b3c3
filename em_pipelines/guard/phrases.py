"""Phrases as data: loads the rule files of this package and finds their rules in text.

A rule has an id, a kind, an effect and either a `pattern` or, in `all`, several that must stand in one sentence.
Patterns are Python regular expressions over folded text (`passages.folded`): small letters, no accents. `{name}` in
one stands for the alternation of the word list of that name in the same file. `hints` are words of which one must
begin some word of the text, by its first four letters (six in the files of other languages), or signs that must stand
in it: else the rule is not tried.
Nor is it where the text lacks what its patterns need: `Prefilter` asks RE2 which of many patterns have the stretches of
text that they need, a sieve that never decides anything. Most sentences hold a word that some rule begins with and none
of the others it needs, and to see that one is missing is far cheaper than to try the pattern.
`examples` and `counter_examples` are run by the tests.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import re2
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from em_pipelines.errors import PatternError
from em_pipelines.guard.passages import Span
from em_pipelines.language.values import read_yaml

TOKENS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[0-9]+")
"""Words, joined by apostrophes and hyphens or not, and numbers."""
BEGINNING_LETTERS, LETTERS_OF_OTHERS = 4, 6
"""Of a hint that tell; more of those of other languages, for many an English word begins with four letters of one."""
_WORDS = re.compile(r"[^\W\d_]{2,}")
_INNER_WORD = re.compile(r"(?<=[^\w])(?:[a-z]{4,}|[a-z]{2,3}(?=[^\w]))")
"""A word in a sign that begins within it, as far as its beginning goes."""
_FLAGS = re.compile(r"\(\?[aiLmsux-]+[:)]")
_PIECE = re.compile(
    r"""(?xs) \\.                                                    # an escape
    | \[\^?\]?(?:\\.|[^\]\\])*\]                                     # a class
    | \((?:\?(?:<?[=!]|:|P<\w+>))?                                   # a group is opened
    | (?:[*+?]|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\})[+?]?              # a repeat
    | ."""
)
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
_ANY = "(?s:.)"
_NOTHING = "(?:)"
_IN_UNICODE = re.compile(r"\\[dDsSwW]|\[:")
"""Classes that mean more characters to `re` than to RE2, or something else."""


class TextSigns:
    """A folded text's tokens and marks: every character, and every word of two letters or more as it is and, after a
    caret, as it begins."""

    __slots__ = ("marks", "tokens")

    def __init__(self, text: str) -> None:
        self.tokens = frozenset(TOKENS.findall(text))
        self.marks = frozenset(text).union(*map(_marks_of, self.tokens))

    def has(self, beginning: str) -> bool:
        """Whether some word begins like this."""
        return any(mark.startswith(beginning) for mark in self.marks)


@lru_cache(maxsize=8)
def signs_of(text: str) -> TextSigns:
    """The signs of a folded text; everything that reads it asks for them in turn."""
    return TextSigns(text)


def beginning_mark(word: str) -> str:
    """The mark of a text that some word of it begins like this one, by its first letters."""
    return "^" + word[:BEGINNING_LETTERS]


@lru_cache(maxsize=65_536)
def _marks_of(token: str) -> frozenset[str]:
    words = _WORDS.findall(token)
    return frozenset([*words, *map(beginning_mark, words)])


class Prefilter:
    """Tells which of many patterns may match a text, in one pass over it.

    Patterns are those of `re`, compiled with no flag but MULTILINE. RE2 is given each in a wider form that it can read;
    one that it cannot read all the same, or that has flags of its own, is `unread` and may always match.
    """

    __slots__ = ("_filter", "_numbers", "unread")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._filter = re2.Filter()
        self._numbers: list[int] = []
        unread: list[int] = []
        for number, pattern in enumerate(patterns):
            (self._numbers if self._takes(pattern) else unread).append(number)
        self.unread = frozenset(unread)
        """The numbers of the patterns that RE2 was not given."""
        if self._numbers:
            self._filter.Compile()

    def _takes(self, pattern: str) -> bool:
        """Gives RE2 a pattern; says whether it can read it."""
        if _FLAGS.search(pattern):
            return False
        try:
            self._filter.Add(f"(?m:{widened(pattern)})", _OPTIONS)
        except re2.error:
            return False
        return True

    def possible(self, text: str) -> frozenset[int]:
        """The numbers of the patterns that may match, in the order in which they were given from 0 on."""
        if not self._numbers:
            return self.unread
        # Half a surrogate pair cannot be encoded; patterns that match one need nothing of RE2 that "?" has not.
        places = self._filter.Match(text.encode("utf-8", "replace"), potential=True) or ()
        return self.unread.union(map(self._numbers.__getitem__, places))


def widened(pattern: str) -> str:
    """A pattern that RE2 can read and that matches whatever this one does: without what stands around it (lookahead,
    lookbehind), with any character for classes of Unicode, and with repeats that have no end."""
    out: list[str] = []
    opened: list[int | None] = []
    """For each open group where it begins, if it is one that looks around."""
    for match in _PIECE.finditer(pattern):
        piece = match.group()
        if piece[0] == "(":
            opened.append(len(out) if piece[-1] in "=!" else None)
        elif piece == ")" and opened and (start := opened.pop()) is not None:
            out[start:] = [_NOTHING]
            continue
        out.append(_widened_piece(piece))
    return "".join(out)


def _widened_piece(piece: str) -> str:
    if piece == r"\Z":
        return r"\z"
    if piece[0] in "\\[" and len(piece) > 1 and _IN_UNICODE.search(piece):
        return _ANY
    if piece[0] == "{" and len(piece) > 1:
        return "+" if piece.strip("{}?+").partition(",")[0].strip("0") else "*"
    return piece[0] if piece[0] in "*+?" else piece


_BEHIND = re.compile(r"\(\?<![^)]*\)")
_MACRO = re.compile(r"\{([a-z_]+)\}")


class Rule(BaseModel):
    """One entry of a rule file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    """The rules of one file, and of others like it, compiled; each has words of its own. Raises PatternError when a
    file breaks the grammar, or an id stands twice."""

    def __init__(self, *paths: Path) -> None:
        self.rules: list[Rule] = []
        self._files: list[range] = []
        """The numbers of the rules of each file."""
        self._sieves: dict[range, tuple[Prefilter, dict[int, range]]] = {}
        self._patterns_by_id: dict[str, tuple[re.Pattern[str] | None, tuple[re.Pattern[str], ...]]] = {}
        files: dict[str, str] = {}
        """By the id of a rule the file that has it."""
        for path in paths:
            try:
                data = read_yaml(path.read_text(encoding="utf-8"))
                self.words: dict[str, list[str]] = {k: _entries(v) for k, v in (data.get("words") or {}).items()}
                rules = [Rule.model_validate(entry) for entry in _instances(data)]
                _note_files(files, rules, path)
                self._patterns_by_id |= {rule.id: self._patterns(rule) for rule in rules}
            except (OSError, yaml.YAMLError, ValidationError, re.error, KeyError, AttributeError) as error:
                raise PatternError(
                    f"reading the rules {path.name}: {error}; mend the entry or restore the file"
                ) from error
            self._files.append(range(len(self.rules), len(self.rules) + len(rules)))
            self.rules += rules

        self._by_start: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._by_sign: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for n, rule in enumerate(self.rules):
            for hint in rule.hints:
                is_word = hint.isalpha() and hint.isascii()
                if is_word:
                    n_letters = BEGINNING_LETTERS if n in self._files[0] else LETTERS_OF_OTHERS
                    self._by_start[beginning_mark(hint)].append((hint[:n_letters], n))
                else:
                    self._by_sign[_key_of(hint)][hint].append(n)
        self._keys = frozenset([*self._by_start, *self._by_sign])

    def candidates(self, folded: str) -> list[Rule]:
        """The rules that can apply to the text: mostly none, and then there is nothing to look for."""
        hinted = self._hinted_at(folded, signs_of(folded))
        if not hinted:
            return []
        found: list[int] = []
        for numbers in self._files:  # of a file of which nothing is hinted at, nothing is asked
            own = hinted.intersection(numbers)
            if own:
                prefilter, places = self._sieve(numbers)
                possible = prefilter.possible(folded)
                found += (n for n in own if possible.issuperset(places[n]))
        return [self.rules[n] for n in sorted(found)]

    def _hinted_at(self, folded: str, signs: TextSigns) -> set[int]:
        """The numbers of the rules of which a hint is there."""
        numbers: set[int] = set()
        for key in self._keys & signs.marks:
            numbers.update(
                n
                for stem, n in self._by_start.get(key, ())
                if len(stem) <= BEGINNING_LETTERS or (stem in folded and signs.has(stem))
            )
            for sign, places in self._by_sign.get(key, {}).items():
                if sign in folded:
                    numbers.update(places)
        return numbers

    def find(
        self, text: str, folded: str, sentences: Callable[[], Sequence[Span]], rules: Iterable[Rule]
    ) -> Iterator[Found]:
        """Every place where one of the rules applies; `folded` is as long as `text`, `sentences` are asked for late."""
        for rule in rules:
            pattern, parts = self._patterns_by_id[rule.id]
            if pattern is not None:
                spans = (match.span() for match in pattern.finditer(text if rule.is_cased else folded))
            else:
                spans = (span for place in sentences() if (span := _span_of_all(parts, folded, place)) is not None)
            yield from (Found(rule, *span) for span in spans)

    def patterns(self) -> list[re.Pattern[str]]:
        """All patterns of all rules, compiled, as they are sought in folded text; not those in text as written."""
        return [pattern for rule in self.rules if not rule.is_cased for pattern in self._patterns_of(rule)]

    def _sieve(self, numbers: range) -> tuple[Prefilter, dict[int, range]]:
        """The sieve of the patterns of a file, and by the number of a rule theirs in it; none of what is sought in text
        as written."""
        if numbers not in self._sieves:
            self._sieves[numbers] = self._made(numbers)
        return self._sieves[numbers]

    def _made(self, numbers: range) -> tuple[Prefilter, dict[int, range]]:
        patterns: list[str] = []
        places: dict[int, range] = {}
        for n in numbers:
            rule, first = self.rules[n], len(patterns)
            patterns += (pattern.pattern for pattern in self._patterns_of(rule) if not rule.is_cased)
            places[n] = range(first, len(patterns))
        return Prefilter(patterns), places

    def _patterns_of(self, rule: Rule) -> list[re.Pattern[str]]:
        whole, parts = self._patterns_by_id[rule.id]
        return [whole] if whole is not None else list(parts)

    def _patterns(self, rule: Rule) -> tuple[re.Pattern[str] | None, tuple[re.Pattern[str], ...]]:
        pattern = re.compile(self._expanded(rule.pattern), re.MULTILINE) if rule.pattern else None
        return pattern, tuple(re.compile(self._expanded(part), re.MULTILINE) for part in rule.all)

    def _expanded(self, pattern: str) -> str:
        while _MACRO.search(pattern):
            pattern = _MACRO.sub(lambda m: "(?:" + "|".join(self.words[m.group(1)]) + ")", pattern)
        return pattern


def _note_files(files: dict[str, str], rules: Iterable[Rule], path: Path) -> None:
    """Notes that rules are of this file. Raises PatternError for an id that is there: one of the two would be lost."""
    for rule in rules:
        if rule.id in files:
            where = f"twice in {path.name}" if files[rule.id] == path.name else f"in {files[rule.id]} and {path.name}"
            raise PatternError(
                f"reading the rules {path.name}: the id {rule.id!r:.80} stands {where}; rename one of them"
            )
        files[rule.id] = path.name


def _instances(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rules as written, and those of each language: templates that are filled with its words."""
    yield from data.get("rules") or []
    templates = (data.get("templates") or {}).items()
    for language, entry in (data.get("languages") or {}).items():
        for name, template in templates:
            if all(group in entry for group in template["all"]):
                yield _instance(name, template, language, entry)


def _instance(name: str, template: dict[str, Any], language: str, entry: dict[str, Any]) -> dict[str, Any]:
    """A template filled with the words of a language."""
    groups = [*template["all"], *(["marks"] if "marks" in entry else [])]
    hints = [stem for group in template["hints"] for stem in _entries(entry[group])]
    return {
        "id": f"{name}_{language}",
        "kind": template["kind"],
        "effect": template["effect"],
        "all": [_any_of(entry[group], bool(entry.get("is_unspaced"))) for group in groups],
        "hints": [re.split(r"\\[sb]", _BEHIND.sub("", hint))[0] for hint in hints],
        "examples": [entry["example"]] if name == "override" else [],
    }


def _span_of_all(parts: Iterable[re.Pattern[str]], folded: str, place: Span) -> Span | None:
    """From the first to the last of the parts, where all of them stand in one place."""
    there: list[Span] = []
    for part in parts:
        match = part.search(folded, *place)
        if match is None:
            return None
        there.append(match.span())
    return min(there)[0], max(end for _, end in there)


def _key_of(sign: str) -> str:
    """The mark by which a sign is looked up: how the longest word within it begins, else its rarest character."""
    words = _INNER_WORD.findall(sign) if sign.isascii() else []
    return beginning_mark(max(words, key=len)) if words else _rarest(sign)


def _rarest(sign: str) -> str:
    """The character of a sign by which it is looked up: another alphabet's before a mark before a letter."""
    return max(sign, key=lambda c: (not c.isascii(), not c.isalnum() and not c.isspace(), c))


def _any_of(stems: str | list[str], is_unspaced: bool) -> str:
    """Words that begin with one of the stems; where words are not spaced, the stems anywhere."""
    alternation = "|".join(_entries(stems))
    return f"(?:{alternation})" if is_unspaced else rf"(?<!\w)(?:{alternation})"


def _entries(value: Any) -> list[str]:
    return value.split() if isinstance(value, str) else [str(entry) for entry in value or []]


OF_THE_SAME_BOOK = {
    "injection": ("injection_languages", "composed"),
    "commands": ("commands_languages",),
    "privilege": ("privilege_languages",),
}
"""Files whose rules are those of a book as well: the same for other languages, and orders by what stands together."""


@lru_cache(maxsize=16)
def rule_book(name: str) -> RuleBook:
    """The rules of NAME.yaml of this package, with those of the files that belong to it."""
    names = [name, *OF_THE_SAME_BOOK.get(name, ())]
    return RuleBook(*(Path(__file__).with_name(f"{one}.yaml") for one in names))
