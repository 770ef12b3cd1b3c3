"""A home that can be projected into a graph database: with the steps of which it has to be the settled result."""

from abc import abstractmethod
from typing import Protocol

from em_pipelines.home import Home
from em_pipelines.storage.duckdb_engine import EngineSettings
from em_pipelines.storage.step import Step


class ProjectionSettings(Protocol):
    """The settings of the projection."""

    @property
    def engine(self) -> EngineSettings: ...


class ProjectedHome(Home):
    """What the projection wants of a home beside its stores."""

    settings: ProjectionSettings

    @property
    @abstractmethod
    def steps(self) -> dict[str, Step]:
        """Every daily step by name, in order."""
