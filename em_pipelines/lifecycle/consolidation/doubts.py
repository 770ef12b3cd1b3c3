"""Doubts: what speaks for a coincidence, or for a failure that is none, although it recurs. Somebody looks first."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from em_pipelines.lifecycle.consolidation.evidence import Evidence, category_key, is_like, words_of
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.text.values import read_yaml

ORDINARY, NOTED, PASSING, ECHO, CONTROL = "ordinary", "noted", "passing", "echo", "control"
UNEXPLAINED, UNORDERED = "unexplained", "unordered"
SAYS = {
    ORDINARY: "such a failure is a tool's ordinary work",
    NOTED: "its exit code says that nothing failed",
    PASSING: "the same call just worked the next time",
    ECHO: "it follows the failure of another skill",
    CONTROL: "the same call fails at the same hour and nobody tries to mend it, as controls do",
    UNEXPLAINED: "the slow calls have nothing in common",
    UNORDERED: "the same skills came in other orders as often",
}
Doubted = tuple[Sequence[Evidence], tuple[str, ...]]
"""The evidence of one category, and the doubts about it."""
MIN_CONTROLS = 10
MAX_CONTROL_SHARE = 0.1
"""Different inputs among the occurrences of a control."""
MAX_CONTROL_HOURS = 1.0
"""Circular standard deviation of the time of day."""
MAX_SPREAD_COMPARED = 20


def of_slow(component: str, condition: str | None) -> tuple[str, ...]:
    """The doubts about slow calls of a skill."""
    if condition is None:
        return (UNEXPLAINED,)
    return (ORDINARY,) if _waits({*category_key(component).split(), *words_of(condition)}) else ()


def of_failures(evidence: Sequence[Evidence], settings: ConsolidationSettings) -> tuple[str, ...]:
    """The doubts about failures that recur."""
    n, given = len(evidence), {one.given for one in evidence}
    n_passing, n_noted, n_echoed = (
        sum(getattr(one, name) for one in evidence) for name in ("is_passing", "is_noted", "is_echo")
    )
    speaking = {
        ORDINARY: is_ordinary(evidence[0].key, [one.message for one in evidence]),
        NOTED: 2 * n_noted > n,
        PASSING: len(given) > 1 and n_passing >= settings.max_passing_share * n,
        ECHO: n_echoed >= settings.max_echo_share * n,
        CONTROL: _is_control(evidence),
    }
    return tuple(doubt for doubt, is_so in speaking.items() if is_so)


def spread(groups: Mapping[str, Doubted], settings: ConsolidationSettings) -> dict[str, tuple[str, ...]]:
    """The doubts about the failures of one skill by category, with those that its other categories lend: one failure
    is spelled in many ways."""
    found = {}
    for category, (evidence, own) in groups.items():
        lent = {
            doubt
            for other, (theirs, doubts) in groups.items()
            if other != category and doubts and _are_alike(evidence, theirs, settings)
            for doubt in doubts
        }
        found[category] = (*own, *sorted(lent - set(own)))
    return found


def _are_alike(some: Sequence[Evidence], others: Sequence[Evidence], settings: ConsolidationSettings) -> bool:
    """Whether most occurrences of one category have messages like those of another."""
    ours, theirs = some[-MAX_SPREAD_COMPARED:], others[-MAX_SPREAD_COMPARED:]
    n_alike = sum(
        any(one.words and is_like(one.words, other.words, settings.likeness) for other in theirs) for one in ours
    )
    return 2 * n_alike > len(ours)


def _is_control(evidence: Sequence[Evidence]) -> bool:
    """Whether the same call fails at the same hour again and again, and is left at that."""
    if len(evidence) < MIN_CONTROLS or any(one.remedies or one.is_passing for one in evidence):
        return False
    given = Counter(one.given for one in evidence)
    if None in given or len(given) > MAX_CONTROL_SHARE * len(evidence) + 1:
        return False
    angles = [2 * math.pi * (one.at.hour + one.at.minute / 60) / 24 for one in evidence]
    mean = math.hypot(sum(map(math.cos, angles)), sum(map(math.sin, angles))) / len(angles)
    return mean > 0 and math.sqrt(-2 * math.log(min(mean, 1.0))) * 24 / (2 * math.pi) <= MAX_CONTROL_HOURS


def is_ordinary(category: str, messages: Sequence[str]) -> bool:
    """Whether a failure is what a tool is there to tell, by its category (a category_key) or by what most of its
    messages say: ordinary_failures.yaml."""
    words = set(category.split())
    if any(wanted <= words for wanted in _ordinary()["categories"]):
        return True
    telling = sum(any(phrase <= words_of(message) for phrase in _ordinary()["messages"]) for message in messages)
    return 2 * telling > len(messages)


def _waits(words: set[str]) -> bool:
    """Whether a slow skill waits for people, or for something that somebody wanted it to wait for."""
    return any(wanted <= words for wanted in _ordinary()["waiting"])


@cache
def _ordinary() -> dict[str, list[frozenset[str]]]:
    data = read_yaml(Path(__file__).with_name("ordinary_failures.yaml").read_text(encoding="utf-8"))
    # As the words of messages are: without little ones.
    return {
        name: [words_of(str(line)) or frozenset(str(line).split()) for line in lines] for name, lines in data.items()
    }
