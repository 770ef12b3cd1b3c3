"""A home whose facts can be told: how they fade, and what was said of them just now."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Protocol

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.home import Home

if TYPE_CHECKING:
    from em_pipelines.schema.rows import FeedbackRow
    from em_pipelines.serving.facts import Overlay


class ReaderSettings(Protocol):
    """The settings of whoever tells facts."""

    @property
    def decay(self) -> DecaySettings: ...


class ReadableHome(Home):
    """What serving wants of a home beside its stores."""

    settings: ReaderSettings

    @abstractmethod
    def waiting(self, user_id: str, until: date, more: "Sequence[FeedbackRow]" = ()) -> "Overlay | None":
        """The person's feedback, said up to the end of a day, that has landed and is not folded yet, and `more` that
        has not landed; None without any."""
