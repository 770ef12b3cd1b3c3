"""Whether an agent should look into memory at all before it answers: rarely, and for a reason."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from em_pipelines.language.values import read_yaml

SURE = 0.85
"""Whoever is at least so sure of the answer (0 to 1) needs no memory for it."""
LONGEST_TEXT = 2_000
"""Characters at either end of a message that are looked at: who asks for what was before says so there."""


class Reason(StrEnum):
    """Why memory is asked, or not."""

    LAST_TIME = "last_time"
    OWN_PAST = "own_past"
    KNOWN = "known"
    ERROR_RETRY = "error_retry"
    UNSURE = "unsure"
    DISSONANCE = "dissonance"
    NOT_NEEDED = "not_needed"
    NOTHING_KNOWN = "nothing_known"

    @property
    def is_recall(self) -> bool:
        """Whether memory is to be asked."""
        return self not in NO_RECALL


NO_RECALL = (Reason.NOT_NEEDED, Reason.NOTHING_KNOWN)


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent is about to answer. `confidence` (0 to 1) is its own; `rules_say` and `model_says` are what two
    ways of answering come to, where it has two."""

    text: str
    is_error_retry: bool = False
    confidence: float | None = None
    rules_say: str | None = None
    model_says: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What one person's memory has to do with a text: whether it holds anything at all, and a fact that answers."""

    is_any: bool
    is_answered: bool


def recall(situation: Situation, held: Held | None = None) -> Reason:
    """Why memory should be asked now; NOT_NEEDED where nothing speaks for it.

    Where it is known what is `held`, a question that a fact answers is a reason as well, and nothing is one where
    nothing is held.
    """
    reason = _spoken_for(situation)
    if held is None:
        return reason
    if reason is Reason.NOT_NEEDED:
        return Reason.KNOWN if held.is_answered else reason
    return reason if held.is_any else Reason.NOTHING_KNOWN


def _spoken_for(situation: Situation) -> Reason:
    if (referred := refers_back(situation.text)) is not None:
        return referred
    if situation.is_error_retry:
        return Reason.ERROR_RETRY
    if situation.confidence is not None and situation.confidence < SURE:
        return Reason.UNSURE
    answers = [" ".join(said.casefold().split()) for said in (situation.rules_say, situation.model_says) if said]
    return Reason.DISSONANCE if len(set(answers)) > 1 else Reason.NOT_NEEDED


def refers_back(text: str) -> Reason | None:
    """LAST_TIME or OWN_PAST where a message asks for what was before; the kinds and examples are in `recall.yaml`."""
    if len(text) > 2 * LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}\n{text[-LONGEST_TEXT:]}"
    return next((reason for pattern, reason in _kinds() if pattern.search(text)), None)


@cache
def _kinds() -> tuple[tuple[re.Pattern[str], Reason], ...]:
    found = read_yaml(Path(__file__).with_name("recall.yaml").read_text(encoding="utf-8"))
    return tuple(
        (re.compile(one["pattern"].replace("\n", ""), re.IGNORECASE), Reason(one["reason"])) for one in found.values()
    )
