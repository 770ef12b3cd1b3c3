"""A home that can be exported, and into which an export can be taken."""

from abc import abstractmethod
from typing import Protocol

from em_pipelines.landing.settings import LandingSettings
from em_pipelines.serving.readable_home import ReadableHome, ReaderSettings


class PortableSettings(ReaderSettings, Protocol):
    """The settings of whoever takes records in."""

    @property
    def landing(self) -> LandingSettings: ...


class PortableHome(ReadableHome):
    """What exports want of a home beside its stores."""

    settings: PortableSettings

    @property
    @abstractmethod
    def steering(self) -> dict[str, str]:
        """The settings that change what is made of a log, by dotted name, as people read them."""
