"""A home whose facts can be looked up: with the settings of revision, and of the models that it may ask."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from em_pipelines.home import Home
from em_pipelines.lifecycle.revision.model import Verifier
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.llm.settings import LlmSettings


class NightSettings(Protocol):
    """The settings of revision, and of the models that it may ask."""

    @property
    def revision(self) -> RevisionSettings: ...
    @property
    def llm(self) -> LlmSettings: ...


class RevisableHome(Home):
    """What revision wants of a home beside its stores."""

    settings: NightSettings


OpenVerifier = Callable[[RevisableHome], AbstractAsyncContextManager[Verifier]]
"""Home → what opens its verifier. `resources.verifier` has the one that calls out."""
