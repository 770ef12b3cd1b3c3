"""What is asked of a verifier and what comes back; every verifier, cache and fake speaks this and no more.

Who answers is no matter here: `resources.verifier` has the one that searches the web, and none is the default.
"""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Protocol

NO_USABLE_ANSWER = "no_usable_answer"
"""The reason of an unknown that a verifier gives where it was asked and nothing could be made of what it said."""


class Outcome(StrEnum):
    """What a verifier found: the fact holds, something else holds instead, or nobody can tell."""

    VERIFIED = "verified"
    CHANGED = "changed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """One fact to be looked up. What leaves the house is `fact` and the day; the rest says whose it is and why.

    `object` is a name where `object_type` is set, else a literal. `asked_on` is the day whose fold takes the outcome.
    `uses` counts how often the fact was repeated and its ends were mentioned.
    """

    user_id: str
    edge_id: str
    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str | None
    attribute: str | None
    asked_on: date
    is_contradicted: bool = False
    uses: int = 0

    @property
    def fact(self) -> dict[str, str]:
        """The bare fact: all that a verifier is told about it, besides the day."""
        told = {
            "subject": self.subject,
            "subject_type": self.subject_type,
            "relation": self.relation,
            "attribute": self.attribute,
            "object": self.object,
            "object_type": self.object_type,
        }
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome for one fact. `new_object` is what holds instead, of `changed` alone; `source` the page (an address
    without query, or a title) that says so. `reason` is a word of ours and never one of a page."""

    outcome: Outcome
    new_object: str | None = None
    source: str | None = None
    reason: str = "found"


class Verifier(Protocol):
    """Looks facts up."""

    @property
    def name(self) -> str:
        """Who answers, as it stands in the record: the model's name."""

    @property
    def cost_usd(self) -> float:
        """US dollars that its questions took since it was opened."""

    async def verify(self, question: FactQuestion) -> Finding:
        """Looks one fact up; raises a leaf of `em_pipelines.errors.ModelError` where nobody could be asked.

        Of BudgetSpentError, BreakerOpenError and RateLimitedError the caller concludes that asking on is of no use, of
        RequestRefusedError and other transient ones that this question has to wait, and of ModelRefusedError that
        somebody has to mend the settings.
        """


class NullVerifier:
    """The default: asks nobody."""

    name = "none"
    cost_usd = 0.0
    note = "no verifier is configured: nothing was selected, and nobody was asked; see docs/revision.md"

    async def verify(self, question: FactQuestion) -> Finding:  # noqa: ARG002  (the signature is the protocol's)
        """Knows nothing."""
        return Finding(Outcome.UNKNOWN, reason="no_verifier")
