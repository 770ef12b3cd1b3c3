"""Evidence: what happened, in the one form that the promotion gate judges, and clusters of what belongs together."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, pairwise

from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.schema.ids import content_id

FAILURE, ANOMALY, PROCEDURE = "failure", "anomaly", "procedure"
PREFERENCE, STATE, REFLECTION = "preference", "state", "reflection"
KINDS = (FAILURE, ANOMALY, PROCEDURE, PREFERENCE, STATE, REFLECTION)
OF_SKILLS = frozenset({FAILURE, ANOMALY, PROCEDURE})
"""Kinds that rest on skill invocations; the others rest on what was said."""

LINK_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "has",
        "have",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
        "was",
        "were",
        "while",
        "with",
    ]
)
LONGEST_WORD = 30
STEP_MARK = " > "
"""Between the skills of a procedure, in its key."""
MASK, MASKED_CATEGORY = "[masked:", "[masked:secret]"
MIN_SHARED_WORDS = 2
MAX_COMPARED = 200
_WORD = re.compile(r"[^\W\d_]{2,}")
_PART = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that happened.

    `component` is what it is about (a skill, a relation, a tag), `key` what tells its clusters apart (a category of
    errors, an object). `words` are the words of its message without numbers, by which occurrences are alike; `agrees`
    is False for what speaks against the rest; `remedies` are what was called before it worked again, `given` is a hash
    of what the skill was given, `is_passing` says that the same call just worked the next time, `is_followed` that its
    skill worked later in the conversation, `is_noted` that its exit code says that nothing failed, and `is_echo` that
    another skill had failed right before.
    """

    evidence_id: str
    user_id: str
    kind: str
    component: str
    key: str
    session_id: str
    at: datetime
    message: str = ""
    words: frozenset[str] = frozenset()
    agrees: bool = True
    remedies: frozenset[str] = frozenset()
    given: str | None = None
    is_passing: bool = False
    is_followed: bool = False
    is_noted: bool = False
    is_echo: bool = False
    turn_number: int | None = None


def experience_id(user_id: str, kind: str, component: str, key: str) -> str:
    """The id of what is known of such a cluster; the key of what was said of a fact is the id of its edge."""
    return content_id("exp", user_id, kind, component, key)


@dataclass(frozen=True)
class Cluster:
    """Evidence that belongs together, in order of time, and what is known of its background.

    `n_calls_since` says how often the component was called after the last occurrence; `quiet_hours` have passed since.
    `objection` says what stands against it, by a word; `doubts` are reasons for which somebody should look at it first;
    `condition` is what slow successes have in common; `label` is what it is called where the key is none to read.
    """

    user_id: str
    kind: str
    component: str
    key: str
    evidence: tuple[Evidence, ...]
    n_calls_since: int = 0
    quiet_hours: float = 0.0
    objection: str | None = None
    doubts: tuple[str, ...] = ()
    condition: str | None = None
    label: str = ""
    tags: tuple[str, ...] = field(default=())

    @property
    def experience_id(self) -> str:
        """The same for the same thing, however much evidence there is."""
        return experience_id(self.user_id, self.kind, self.component, self.key)

    @property
    def sources(self) -> set[str]:
        """The conversations in which it happened."""
        return {one.session_id for one in self.evidence}

    @property
    def span_hours(self) -> float:
        """From the first occurrence to the last."""
        return (self.evidence[-1].at - self.evidence[0].at).total_seconds() / 3600 if self.evidence else 0.0

    @property
    def n_days(self) -> int:
        """Different days, UTC."""
        return len({one.at.date() for one in self.evidence})


def words_of(text: str) -> frozenset[str]:
    """The words of a message without numbers, ids and little words, in small letters."""
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) < LONGEST_WORD) - LINK_WORDS


def category_key(category: str) -> str:
    """A category of errors however it is spelled: TimeoutError, timeout_error and "Timeout Error" are one. One that
    holds a secret is what is left of it, for the gates to see."""
    if MASK in category:
        return MASKED_CATEGORY
    return " ".join(part.lower() for part in _PART.split(category) if part)


def clusters(evidence: Iterable[Evidence]) -> list[list[Evidence]]:
    """Evidence by user, kind, component and key; within each in order of time."""
    ordered = sorted(evidence, key=lambda one: (_place(one), one.at, one.evidence_id))
    return [list(group) for _, group in groupby(ordered, key=_place)]


def _place(one: Evidence) -> tuple[str, str, str, str]:
    return one.user_id, one.kind, one.component, one.key


def alike(evidence: Sequence[Evidence], settings: ConsolidationSettings) -> list[Evidence]:
    """The occurrences that have one like them in another conversation: by the words of their messages, by what helped,
    or by what the skill was given.

    Of the newest 200, since each is held against each. Those without words are like each other.
    """
    newest = evidence[-MAX_COMPARED:]
    return [one for one in newest if any(_is_alike(one, other, settings.likeness) for other in newest)]


def _is_alike(one: Evidence, other: Evidence, likeness: float) -> bool:
    if one.session_id == other.session_id:
        return False
    if one.remedies & other.remedies or (one.given is not None and one.given == other.given):
        return True
    return is_like(one.words, other.words, likeness)


def is_like(some: frozenset[str], others: frozenset[str], likeness: float) -> bool:
    """Whether two messages share enough of the words of the shorter one; those without words are alike."""
    shared, least = some & others, min(len(some), len(others))
    if not least:
        return not some and not others
    return len(shared) >= min(MIN_SHARED_WORDS, least) and len(shared) >= likeness * least


def incidents(evidence: Sequence[Evidence], hours: float) -> int:
    """How many bursts there were: what comes within so many hours of the one before belongs to it. In order of time."""
    apart = sum((later.at - earlier.at).total_seconds() >= 3600 * hours for earlier, later in pairwise(evidence))
    return apart + 1 if evidence else 0
