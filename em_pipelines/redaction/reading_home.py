"""A home whose messages can be read again: with an extractor, and what every reading has to pass."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol

from em_pipelines.home import Home

if TYPE_CHECKING:
    from em_pipelines.extraction.assemble import Checks
    from em_pipelines.extraction.settings import SegmentationSettings
    from em_pipelines.schema.readings import Extractor


class ReadingSettings(Protocol):
    """The settings by which messages become what an extractor reads."""

    @property
    def segmentation(self) -> "SegmentationSettings": ...


class ReadingHome(Home):
    """What reading again wants of a home beside its stores."""

    settings: ReadingSettings

    @property
    @abstractmethod
    def extractor(self) -> "Extractor":
        """Who reads messages."""

    @property
    @abstractmethod
    def checks(self) -> "Checks":
        """What every reading has to pass."""
