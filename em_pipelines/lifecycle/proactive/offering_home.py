"""A home that may say something by itself: its probes and starters, and the book of what was offered."""

from abc import abstractmethod
from collections.abc import Collection
from functools import cached_property
from typing import Protocol

from em_pipelines.home import Home
from em_pipelines.lifecycle.proactive.offers import OfferBook
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.storage.step import Step, StepReport


class OfferingHomeSettings(Protocol):
    """The settings of probes and starters."""

    @property
    def proactive(self) -> ProactiveSettings: ...


class OfferingHome(Home):
    """What offering wants of a home beside its stores."""

    settings: OfferingHomeSettings

    @cached_property
    def offers(self) -> OfferBook:
        """What was offered, and what was kept back."""
        return OfferBook(self.record, self.salt)

    @property
    @abstractmethod
    def proactive(self) -> tuple[Step, ...]:
        """The steps that make probes and starters, of one day only."""

    @property
    @abstractmethod
    def is_proactive_current(self) -> bool:
        """Whether the probes and starters are those that would be made now."""

    @abstractmethod
    def refresh_proactive(
        self, names: Collection[str] = ("probes", "starters"), *, is_forced: bool = False
    ) -> list[StepReport]:
        """Makes the probes and the starters, or what is named of them, of the last day with current edges unless they
        are current; of earlier days nothing stays. A report each: an empty one where there are no facts."""
