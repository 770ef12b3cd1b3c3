"""A home that can be searched: with index packs, what is archived, and perhaps vectors."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol

from em_pipelines.lifecycle.proactive.offering_home import OfferingHome, OfferingHomeSettings
from em_pipelines.retrieval.context.settings import ContextSettings
from em_pipelines.retrieval.settings import RetrievalSettings
from em_pipelines.serving.readable_home import ReadableHome, ReaderSettings

if TYPE_CHECKING:
    from em_pipelines.guard.sensitive import SafetySettings
    from em_pipelines.redaction.veils import Archived
    from em_pipelines.retrieval.scoring import Embedder


class SearchSettings(ReaderSettings, OfferingHomeSettings, Protocol):
    """The settings of retrieval; `embedder` is the name of what makes vectors, or none."""

    @property
    def retrieval(self) -> RetrievalSettings: ...
    @property
    def context(self) -> ContextSettings: ...
    @property
    def embedder(self) -> str: ...
    @property
    def safety(self) -> "SafetySettings": ...


class SearchableHome(ReadableHome, OfferingHome):
    """What retrieval wants of a home beside its stores."""

    settings: SearchSettings

    @property
    @abstractmethod
    def embedder(self) -> "Embedder | None":
        """What makes vectors for search; None where the settings want none."""

    @property
    @abstractmethod
    def archived(self) -> "Archived":
        """Which messages are not to be found any more."""
