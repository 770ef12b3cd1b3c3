"""What speaks against putting something to a person in these words: patterns of how nobody likes to be asked.

A text is looked over once by all patterns together (a set of RE2), so that a few thousand a second are judged. The
patterns read English; of a text in another language only its length, its marks and the number of its questions are
judged.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import re2
import yaml

from em_pipelines.errors import RuleFileError

RULES = Path(__file__).with_name("antipatterns.yaml")
MAX_CHARACTERS = 200
"""Two short sentences: what is longer is read as a form. Twice the ~100 characters that fit on one line of a phone."""
MAX_WORDS = 32
MIN_WORDS = 3
MAX_BENEFIT_CHARACTERS = 120
NO_BENEFIT, TOO_LONG, TOO_SHORT, NO_QUESTION, NO_ACTION, NO_WAY_OUT = (
    "no_tie_to_value", "too_long", "too_short", "no_question", "no_action", "no_way_to_dismiss",
)  # fmt: skip
_EMPTY_BENEFITS = re2.compile(
    r"(?i)^\W*(?:(?:so that|because|as|for|to) )?(?:i can|i|we|it|the system|memory|my|our|improve|update|complete"
    r"|store|learn|know|none|n/?a|null|you know|completeness|quality|statistics|analytics|training|marketing)\b"
    r"(?:.{0,60}"
    r"\b(?:know|store|save|remember|learn|complete|update|record|have|better understand|fill|curious|profile|data"
    r"|improve|train)\b.*)?\W*$"
)
"""What the asker gains, and not the person."""
_ACTION = re2.compile(
    r"(?i)\b(?:shall i|should i|would you like|want me to|i can|i could|do you want|may i|happy to|say the word"
    r"|we could)\b"
)
_WAY_OUT = re2.compile(
    r"(?i)\b(?:if not|no need|just ignore|ignore this|no worries|not now|or not|skip|otherwise|leave it|only if|if you"
    r" like|if you want|feel free|no problem|say no|never mind|dismiss|another time|later)\b"
)


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Patterns of several kinds, sought at once; `names` has the kind of each."""

    sought: re2.Set
    names: tuple[str, ...]

    def in_(self, text: str) -> set[str]:
        return {self.names[number] for number in self.sought.Match(text) or ()}


def objections(text: str, benefit: str) -> tuple[str, ...]:
    """The names of what is wrong with a question in these words, in order; empty where nothing is. `benefit` says in a
    few words what the person gains by an answer."""
    found = _kinds("probes").in_(text)
    if not benefit.strip() or len(benefit) > MAX_BENEFIT_CHARACTERS or _EMPTY_BENEFITS.search(benefit):
        found.add(NO_BENEFIT)
    if not text.rstrip().endswith(("?", ".")) or text.count("?") == 0:
        found.add(NO_QUESTION)
    return tuple(sorted(found | _of_length(text)))


def starter_objections(text: str) -> tuple[str, ...]:
    """The same of a starter, which has to name one thing that can be done and a way to wave it off."""
    found = _kinds("starters").in_(text)
    if not _ACTION.search(text):
        found.add(NO_ACTION)
    if not _WAY_OUT.search(text):
        found.add(NO_WAY_OUT)
    return tuple(sorted(found | _of_length(text)))


def _of_length(text: str) -> set[str]:
    n_words = len(text.split())
    if len(text) > MAX_CHARACTERS or n_words > MAX_WORDS:
        return {TOO_LONG}
    return {TOO_SHORT} if n_words < MIN_WORDS else set()


@cache
def _kinds(of: str) -> _Kinds:
    """Raises RuleFileError."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    sought = re2.Set.SearchSet(options)
    names = []
    for name, pattern in _patterns(of):
        try:
            sought.Add(pattern)
        except re2.error as error:
            raise RuleFileError(f"reading {RULES.name}: {name}: {pattern!r:.80} is no pattern: {error}") from error
        names.append(name)
    sought.Compile()
    return _Kinds(sought, tuple(names))


def _patterns(of: str) -> Iterable[tuple[str, str]]:
    kinds: Mapping[str, Mapping[str, object]] = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    for name, kind in kinds.items():
        patterns = kind["patterns"]
        assert isinstance(patterns, list)
        if kind.get("of", of) == of:
            yield from ((name, pattern) for pattern in patterns)
