"""Doubts: what speaks for a coincidence, or for a failure that is none, although it recurs. Somebody looks first."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean

from em_pipelines.guard.passages import folded
from em_pipelines.language.fitted_models import SentenceWeights
from em_pipelines.language.values import read_yaml
from em_pipelines.lifecycle.consolidation.evidence import Evidence, category_key, is_like, words_of
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.slowness import is_time

ORDINARY, NOTED, PASSING, ECHO, CONTROL = "ordinary", "noted", "passing", "echo", "control"
UNEXPLAINED, UNORDERED, ANSWER, RETIRED = "unexplained", "unordered", "answer", "retired"
OUTAGE = "outage"
LARGER, MEANT = "larger", "meant"
SAYS = {
    ORDINARY: "such a failure is a tool's ordinary work",
    NOTED: "its exit code says that nothing failed",
    PASSING: "the same call just worked the next time",
    ECHO: "it follows the failure of another skill",
    CONTROL: "the same call fails at the same hour and nobody tries to mend it, as controls do",
    ANSWER: "it reads like what the tool is there to answer, or like trouble that passes, and nothing is known to help",
    OUTAGE: "no call of the skill worked at the time, whoever called it",
    LARGER: "there was more to do in proportion",
    MEANT: "it reads like waiting that was meant, like more work, or like trouble that passes",
    RETIRED: "its skill is not called any more",
    UNEXPLAINED: "the slow calls have nothing in common",
    UNORDERED: "the same skills came in other orders as often",
}
Doubted = tuple[Sequence[Evidence], tuple[str, ...]]
"""The evidence of one category, and the doubts about it."""
WEIGHTS = Path(__file__).with_name("lesson_weights.parquet")
SLOW_WEIGHTS = Path(__file__).with_name("slow_lesson_weights.parquet")
"""What messages of lessons are told by (`SentenceWeights`), of failures and of slow calls: fitted to invented ones by
training/lessons."""
MAX_MESSAGES_READ = 50
SURE = 1.0
"""Log-odds from which messages read so much like a lesson's that it counts for little what else could explain them."""
DIFFERENT_MARGIN, MIN_COMPARED_INPUTS = 0.5, 5
"""By how much the log-odds have to be better where no input failed twice; by nothing where each did: the world answers
to ever other questions, while a habit repeats itself. Chosen on five invented telemetries."""
MIN_CONTROLS = 10
MAX_CONTROL_SHARE = 0.1
"""Different inputs among the occurrences of a control."""
MIN_FOLLOWED = 0.25
"""Share of the failures after which the skill worked in the conversation, from which somebody does try to mend it."""
MAX_CONTROL_HOURS = 1.0
"""Circular standard deviation of the time of day."""
MAX_SPREAD_COMPARED = 20


def of_slow(
    component: str, condition: str | None, messages: Sequence[str] = (), *, is_more: bool = False
) -> tuple[str, ...]:
    """The doubts about slow calls of a skill, by what they print and what they have in common; `is_more` says that they
    had more to do in proportion."""
    if condition is None:
        return (UNEXPLAINED,)
    sureness = _sureness(SLOW_WEIGHTS, component, messages)
    speaking = {
        ORDINARY: _waits({*category_key(component).split(), *words_of(condition)}),
        LARGER: is_more and sureness < SURE,
        MEANT: not is_time(condition) and sureness < _weights(SLOW_WEIGHTS).least,
    }
    return tuple(doubt for doubt, is_so in speaking.items() if is_so)


def of_failures(
    evidence: Sequence[Evidence],
    settings: ConsolidationSettings,
    *,
    is_timed: bool = False,
    is_retired: bool = False,
    outage_share: float = 0.0,
) -> tuple[str, ...]:
    """The doubts about failures that recur; fewer where they keep to a time of the day or week at which other calls of
    their skill do not come as often, for then it is the time that an agent can act on. `outage_share` of them came in
    outages."""
    n, given = len(evidence), {one.given for one in evidence}
    n_passing, n_noted, n_echoed = (
        sum(getattr(one, name) for one in evidence) for name in ("is_passing", "is_noted", "is_echo")
    )
    is_helped = any(one.remedies for one in evidence)
    sureness = _sureness(WEIGHTS, evidence[0].key, [one.message for one in evidence])
    speaking = {
        ORDINARY: is_ordinary(evidence[0].key, [one.message for one in evidence], is_helped=is_helped),
        NOTED: 2 * n_noted > n,
        PASSING: len(given) > 1 and n_passing >= settings.max_passing_share * n and not is_timed,
        ECHO: n_echoed >= settings.max_echo_share * n,
        CONTROL: _is_control(evidence),
        ANSWER: not is_timed and not is_helped and sureness < _least(evidence),
        RETIRED: is_retired,
        OUTAGE: outage_share >= settings.max_outage_share and not is_timed,
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
            if doubt != ANSWER
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
    n_followed = sum(one.is_followed for one in evidence)
    if len(evidence) < MIN_CONTROLS or n_followed >= MIN_FOLLOWED * len(evidence):
        return False
    given = Counter(one.given for one in evidence)
    if None in given or len(given) > MAX_CONTROL_SHARE * len(evidence) + 1:
        return False
    angles = [2 * math.pi * (one.at.hour + one.at.minute / 60) / 24 for one in evidence]
    mean = math.hypot(sum(map(math.cos, angles)), sum(map(math.sin, angles))) / len(angles)
    return mean > 0 and math.sqrt(-2 * math.log(min(mean, 1.0))) * 24 / (2 * math.pi) <= MAX_CONTROL_HOURS


def is_ordinary(category: str, messages: Sequence[str], *, is_helped: bool = False) -> bool:
    """Whether a failure is what a tool is there to tell, by its category (a category_key) or by what most of its
    messages say: ordinary_failures.yaml. Where something helped it is one in few categories."""
    words, lists = set(category.split()), ("work",) if is_helped else ("work", "categories")
    if any(wanted <= words for name in lists for wanted in _ordinary()[name]):
        return True
    telling = sum(any(phrase <= words_of(message) for phrase in _ordinary()["messages"]) for message in messages)
    return 2 * telling > len(messages)


def said_of(name: str, message: str) -> str:
    """What the weights read of one failure, by its category, or of one slow call, by its skill."""
    return folded(f"{category_key(name)}: {message}")


def _least(evidence: Sequence[Evidence]) -> float:
    """What failures have to score at least not to read like answers."""
    share = len({one.given for one in evidence}) / len(evidence)
    margin = DIFFERENT_MARGIN * max(0.0, 2 * share - 1) if len(evidence) >= MIN_COMPARED_INPUTS else 0.0
    return _weights(WEIGHTS).least + margin


def _sureness(path: Path, name: str, messages: Sequence[str]) -> float:
    """The log-odds that what was said is of a lesson, on the whole; without bound where nothing was said."""
    said = dict.fromkeys(said_of(name, message) for message in messages[-MAX_MESSAGES_READ:] if words_of(message))
    return fmean(map(_weights(path).score, said)) if said else math.inf


@cache
def _weights(path: Path) -> SentenceWeights:
    return SentenceWeights.read(path)


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
