"""A home with nights: their book, and the tables that are made of them."""

from abc import abstractmethod
from functools import cached_property
from typing import Protocol

from em_pipelines.home import Home
from em_pipelines.lifecycle.consolidation.nights import NightBook, ReportBook
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.llm.asked import Asked
from em_pipelines.storage.step import Step, StepReport


class ConsolidationHomeSettings(Protocol):
    """The settings of consolidation."""

    @property
    def consolidation(self) -> ConsolidationSettings: ...


class ConsolidatingHome(Home):
    """What consolidation wants of a home beside its stores."""

    settings: ConsolidationHomeSettings

    @cached_property
    def nights(self) -> NightBook:
        """Which nights there were."""
        return NightBook(self.record)

    @cached_property
    def night_reports(self) -> ReportBook:
        """What each night came to, for people."""
        return ReportBook(self.record)

    @property
    @abstractmethod
    def consolidation(self) -> Step:
        """The step that makes what the nights come to, of one day only; raises RuleFileError."""

    @abstractmethod
    def refresh_consolidation(self, *, is_forced: bool = False) -> StepReport:
        """Makes what stands at the last night, unless it is current; of earlier nights nothing stays."""

    @abstractmethod
    def ask_for_words(self) -> Asked:
        """Asks the model, where one is wanted, for the words of rules that have none of its words yet. What it has
        answered counts from the next `refresh_consolidation` on."""
