"""What may be said to a user now: what waits, each with the decision about it, and the book of what was offered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from em_pipelines.home import Home
from em_pipelines.lifecycle.proactive.delivery import Decision, Situation

MayBeTold = Callable[[Mapping[str, Any]], bool]
"""Whether a row may be told where it is asked for: of a domain, and beside what waits to be erased."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Rows that may be said now, worth most first, and what was decided about each that waits."""

    rows: tuple[dict[str, Any], ...]
    decisions: tuple[Decision, ...]


def offer_probes(  # noqa: PLR0913  (who asks, when, for whom, how many)
    home: Home, user_id: str, situation: Situation, may_be_told: MayBeTold, limit: int = 1, *, is_noted: bool
) -> Offered:
    """The user's probes that may be asked now. With `is_noted` what is offered and what is suppressed goes into the
    book: what was handed out counts as asked, for nobody knows what an agent did with it."""
    raise NotImplementedError
