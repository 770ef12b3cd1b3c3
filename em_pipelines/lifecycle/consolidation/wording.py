"""What an experience says, by template: for whoever reads it, and as a rule for an agent.

Only names, counts, days and times go into it, and words of tools' outputs that somebody has accepted.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from em_pipelines.language.counting import counted
from em_pipelines.language.values import read_yaml
from em_pipelines.lifecycle.consolidation.evidence import (
    ANOMALY,
    FAILURE,
    LINK_WORDS,
    PREFERENCE,
    PROCEDURE,
    STATE,
    STEP_MARK,
    Cluster,
    Evidence,
    alike,
)
from em_pipelines.lifecycle.consolidation.identifiers import shown_category, shown_skill
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.slowness import OUTPUT_SPEAKS

COMMON_SHARE = 0.8
"""Share of the messages in which a word has to stand to be what they have in common."""
MAX_TRIGGER_WORDS = 8
ENDINGS = ("s", "es", "d", "ed", "ing", "ly")
RIGHT_AFTER = "right after "
_PIECE = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Wording:
    """What is said of a cluster: `text` for people, `rule` for an agent (None of what is no rule), both of one line;
    `trigger`: accepted words of a failure, or when a skill is slow; `mitigation` of a failure; `names` and `prose` are
    what of it came from outside."""

    text: str
    rule: str | None
    trigger: str | None = None
    mitigation: str | None = None
    names: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()


def worded(cluster: Cluster, words: str | None = None) -> Wording:
    """The wording of a cluster; `words` are those of tools' outputs that somebody has accepted (`lent_words`)."""
    return _BY_KIND.get(cluster.kind, _reflection)(cluster, words)


def lent_words(cluster: Cluster, settings: ConsolidationSettings) -> str | None:
    """What the outputs of tools would add to the wording: words that failures have in common, or the word that tells
    slow calls; None where there is nothing."""
    if cluster.kind == FAILURE:
        telling = alike(cluster.evidence, settings) or cluster.evidence
        words = common_words([one.message for one in telling if one.message])
        return words if words and is_telling(words) else None
    return cluster.condition if cluster.kind == ANOMALY and _is_of_output(cluster.condition) else None


def _is_of_output(condition: str | None) -> bool:
    return condition is not None and condition.startswith(OUTPUT_SPEAKS)


def seen(cluster: Cluster) -> str:
    """How often it was seen, from when to when."""
    first, last = cluster.evidence[0].at.date(), cluster.evidence[-1].at.date()
    return (
        f"{counted(len(cluster.evidence), 'time')} in {counted(len(cluster.sources), 'conversation')}, "
        f"{first} to {last}"
    )


def _failure(cluster: Cluster, trigger: str | None) -> Wording:
    skill, category = shown_skill(cluster.component), shown_category(cluster.key)
    remedy = _remedy(cluster.evidence)
    said = f": {trigger}" if trigger else ""
    text = f"{skill} fails with {category}{said} ({seen(cluster)})."
    if remedy:
        name, n_helped, n_all = remedy
        text += f" After {name} it worked again, {n_helped} of {counted(n_all, 'time')}."
        rule = f"When {skill} fails with {category}{said}, call {name} before trying again."
    else:
        rule = f"When {skill} fails with {category}{said}, do not repeat the same call: change it, or ask."
    return Wording(
        text, rule, trigger, remedy[0] if remedy else None,
        names=(skill, category, *((remedy[0],) if remedy else ())), prose=(trigger,) if trigger else (),
    )  # fmt: skip


def _anomaly(cluster: Cluster, words: str | None) -> Wording:
    skill, condition = shown_skill(cluster.component), cluster.condition
    before = (condition or "").startswith(RIGHT_AFTER)
    if condition and before:
        condition = f"{RIGHT_AFTER}{shown_skill(condition.removeprefix(RIGHT_AFTER))}"
    elif _is_of_output(condition):
        condition = words
    when = condition or "now and then"
    text = f"{skill} takes far longer than usual {when} ({seen(cluster)})."
    rule = f"Allow {skill} more time {when}, and do not start it twice while it is at work."
    after = (when.removeprefix(RIGHT_AFTER),) if before else ()
    return Wording(text, rule, condition, names=(skill, *after), prose=(when,))


def _procedure(cluster: Cluster, _: str | None) -> Wording:
    steps = steps_of(cluster)
    n_good = sum(one.agrees for one in cluster.evidence)
    way = ", then ".join(steps)
    text = f"{way}: came to a good end {n_good} of {counted(len(cluster.evidence), 'time')} ({seen(cluster)})."
    return Wording(text, f"What has worked: {way}.", names=steps)


def steps_of(cluster: Cluster) -> tuple[str, ...]:
    """The skills of a procedure as they are shown, in order; of anything else its category."""
    if cluster.kind == PROCEDURE:
        return tuple(map(shown_skill, cluster.key.split(STEP_MARK)))
    return (shown_category(cluster.key),)


def _fact(cluster: Cluster, _: str | None) -> Wording:
    often = "keeps coming back to it" if cluster.kind == STATE else "said again and again"
    return Wording(f"The user {cluster.label} ({often}: {seen(cluster)}).", None, prose=(cluster.label,))


def _reflection(cluster: Cluster, _: str | None) -> Wording:
    noted = counted(len(cluster.evidence), cluster.component)
    return Wording(f"{noted} on {cluster.key}, the latest: {cluster.label}", None, names=(cluster.key,),
                   prose=(cluster.label,))  # fmt: skip


_BY_KIND = {FAILURE: _failure, ANOMALY: _anomaly, PROCEDURE: _procedure, PREFERENCE: _fact, STATE: _fact}


def common_words(messages: Sequence[str]) -> str | None:
    """The words that nearly all messages have in common, in the order of the first; None of fewer than two.

    What varies (numbers, paths, ids) falls out, and so does what one message alone says, or is written as names of
    people are and no word of tools.
    """
    chosen = _shared_words(messages)[:MAX_TRIGGER_WORDS]
    while chosen and chosen[-1] in LINK_WORDS:
        chosen.pop()
    return " ".join(chosen) if len(chosen) >= 2 else None


def _shared_words(messages: Sequence[str]) -> list[str]:
    in_each = [dict.fromkeys(_PIECE.findall(message)) for message in messages]
    counts = Counter(word for words in in_each for word in {w.lower() for w in words})
    wanted = math.ceil(COMMON_SHARE * len(messages))
    first = in_each[0] if in_each else ()
    return [word.lower() for word in first if counts[word.lower()] >= wanted and not _is_name_like(word)]


def _is_name_like(word: str) -> bool:
    return word.istitle() and not is_plain(word, is_of_tools=True)


def is_telling(trigger: str) -> bool:
    """Whether words that failures have in common may be what a tool says: half of them are words of tools."""
    words = [word for word in trigger.split() if not word.isdigit()]
    return 2 * sum(is_plain(word, is_of_tools=True) for word in words) >= len(words)


@cache
def _plain_words(name: str) -> frozenset[str]:
    data = read_yaml(Path(__file__).with_name("plain_words.yaml").read_text(encoding="utf-8"))
    return frozenset(word for line in data[name] for word in str(line).split())


def is_plain(word: str, *, is_of_tools: bool = False) -> bool:
    """Whether a word is a plain one in any of its forms (plain_words.yaml), or with `is_of_tools` one that tools say
    when they fail."""
    low = word.lower().replace("’", "'")
    known = _plain_words("words") | _plain_words("messages") if is_of_tools else _plain_words("words")
    if low in known:
        return True
    return any(low.endswith(ending) and bool(_bases(low.removesuffix(ending)) & known) for ending in ENDINGS)


def _bases(stem: str) -> set[str]:
    """What a word without its ending may come from: chang(e), stop(p), retri → retry."""
    if len(stem) < 2:
        return set()
    doubled = {stem[:-1]} if stem[-1] == stem[-2] else set()
    return {stem, f"{stem}e", *doubled, *({f"{stem[:-1]}y"} if stem.endswith("i") else set())}


def _remedy(evidence: Sequence[Evidence]) -> tuple[str, int, int] | None:
    """What helped, after how many failures, and of how many; None where nothing did."""
    helped = Counter(name for one in evidence for name in one.remedies)
    if not helped:
        return None
    name, n_helped = min(helped.items(), key=lambda item: (-item[1], item[0]))
    return shown_skill(name), n_helped, len(evidence)


def is_one_line(text: str, max_tokens: int) -> bool:
    """Whether a text is a rule in its form: one line, not empty, of few enough tokens (characters ÷ 4)."""
    return bool(text.strip()) and "\n" not in text.strip() and len(text) <= 4 * max_tokens
