"""Whether an agent should look into memory at all before it answers: rarely, and for a reason."""

import re
from dataclasses import dataclass
from enum import StrEnum

SURE = 0.85
"""Whoever is at least so sure of the answer (0 to 1) needs no memory for it."""
_LAST_TIME = re.compile(
    r"\b(?:(?:the )?last time|previously|(?:we|i|you) (?:already )?(?:talked|spoke|discussed|mentioned|said|told"
    r"|agreed|decided|tried|did)\b.{0,40}\b(?:before|earlier|last|yesterday|ago)|as (?:i|we|you) (?:said|discussed|"
    r"agreed)|"
    r"(?:do|did|can) you (?:still )?(?:remember|recall)|remember (?:when|that|what|how)|what did (?:i|we|you) (?:say|"
    r"decide|agree|do|try)|(?:same|like) as (?:last time|before)|again like)\b",
    re.IGNORECASE,
)


class Reason(StrEnum):
    """Why memory is asked, or not."""

    LAST_TIME = "last_time"
    ERROR_RETRY = "error_retry"
    UNSURE = "unsure"
    DISSONANCE = "dissonance"
    NOT_NEEDED = "not_needed"


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent is about to answer. `confidence` (0 to 1) is its own; `rules_say` and `model_says` are what two
    ways of answering come to, where it has two."""

    text: str
    is_error_retry: bool = False
    confidence: float | None = None
    rules_say: str | None = None
    model_says: str | None = None


def recall(situation: Situation) -> Reason:
    """Why memory should be asked now; NOT_NEEDED where nothing speaks for it."""
    if _LAST_TIME.search(situation.text):
        return Reason.LAST_TIME
    if situation.is_error_retry:
        return Reason.ERROR_RETRY
    if situation.confidence is not None and situation.confidence < SURE:
        return Reason.UNSURE
    answers = [" ".join(said.casefold().split()) for said in (situation.rules_say, situation.model_says) if said]
    return Reason.DISSONANCE if len(set(answers)) > 1 else Reason.NOT_NEEDED
