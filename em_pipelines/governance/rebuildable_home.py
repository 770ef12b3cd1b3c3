"""A home whose tables can be made again: with steps, extractor and the settings that both work by."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Protocol

from em_pipelines.extraction.settings import DurableSettings
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.lifecycle.pool.pooling_home import PoolingHome, PoolingHomeSettings
from em_pipelines.lifecycle.proactive.offering_home import OfferingHome, OfferingHomeSettings
from em_pipelines.redaction.reading_home import ReadingHome, ReadingSettings
from em_pipelines.retrieval.searchable_home import SearchableHome, SearchSettings
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.storage.step import Step, StepReport


class RebuildSettings(SearchSettings, ReadingSettings, PoolingHomeSettings, OfferingHomeSettings, Protocol):
    """The settings of whoever makes tables again after the log has changed."""

    @property
    def landing(self) -> LandingSettings: ...
    @property
    def durable(self) -> DurableSettings: ...


class RebuildableHome(SearchableHome, ReadingHome, PoolingHome, OfferingHome):
    """What erasure, repair and evaluation want of a home beside its stores."""

    settings: RebuildSettings

    @property
    @abstractmethod
    def steps(self) -> dict[str, Step]:
        """Every daily step by name, in order."""

    @property
    @abstractmethod
    def inference(self) -> Step:
        """The step that makes inferred edges, of one day only; raises RuleFileError."""

    @property
    @abstractmethod
    def time_rules(self) -> TimeRules:
        """What time and repetition do to facts."""

    @property
    @abstractmethod
    def is_inferred(self) -> bool:
        """Whether the inferred edges of the last day are those that would be made now."""

    @abstractmethod
    def infer(self, until: date | None = None, *, is_forced: bool = False) -> StepReport:
        """Makes the inferred edges of the last day with current edges (up to `until`) unless they are current."""

    @abstractmethod
    def note_inferred(self, days: Sequence[date]) -> None:
        """Makes the audit trail of days again of which something else is inferred since it was made."""


OpenHome = Callable[[Path], RebuildableHome]
"""Path → a home there, with the settings of whoever asks: for work on homes that are thrown away."""
