"""Embedders: models that run here, or behind an OpenAI-compatible endpoint. Nothing is imported or asked before use."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import openai

from em_pipelines.environment import environment
from em_pipelines.errors import ModelUnavailableError, SettingsError
from em_pipelines.llm.breakers import Breaker
from em_pipelines.llm.settings import BreakerSettings, LlmSettings
from em_pipelines.retrieval.scoring import Embedder
from em_pipelines.retrieval.terms import Floats
from resources.clock import SystemClock
from resources.endpoint import OPENAI_URL, our_errors, read_api_key

LOCAL, REMOTE = "sentence-transformers:", "openai:"
TIMEOUT_SECONDS = 30.0
RETRIES = 2
BREAKER = BreakerSettings(n_failures=5, open_seconds=30)
"""Whoever asks while an endpoint is down gets an answer by words at once, not after every try has timed out."""


class EmbedderSettings(Protocol):
    """The name of the embedder, and the endpoint of models."""

    @property
    def embedder(self) -> str: ...
    @property
    def llm(self) -> LlmSettings: ...


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder that the settings name; raises SettingsError where its package or key is missing."""
    kind, _, model = settings.embedder.partition(":")
    if f"{kind}:" == LOCAL:
        return LocalEmbedder(model)
    return RemoteEmbedder(model, settings.llm.base_url)


class LocalEmbedder:
    """A model of sentence-transformers, by name or folder; it runs in this process."""

    def __init__(self, model: str) -> None:
        self.name = f"{LOCAL}{model}"
        self._model_name = model

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1."""
        found = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, np.float32)

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (it takes seconds, and is an extra)
        except ImportError as error:
            raise SettingsError(
                f"opening the embedder {self.name}: sentence-transformers is not installed; `pip install "
                "'em-pipelines[embeddings]'`"
            ) from error
        try:
            return SentenceTransformer(self._model_name)
        except Exception as error:  # whatever its loaders raise: the model cannot be had
            raise SettingsError(
                f"opening the embedder {self.name}: {type(error).__name__}; give the name or the folder of a model"
            ) from error


class RemoteEmbedder:
    """A model behind EM_LLM_BASE_URL, with the key of the models."""

    def __init__(self, model: str, base_url: str | None) -> None:
        self.name = f"{REMOTE}{model}"
        self._model_name = model
        self._base_url = base_url
        self._key = read_api_key(environment())
        self._breaker = Breaker("embedder", BREAKER, SystemClock())

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1; raises ModelError where the endpoint gives none, or has just failed too
        often to be asked."""
        with self._breaker.calling():
            return self._embedded(texts)

    def _embedded(self, texts: Sequence[str]) -> Floats:
        with our_errors(f"asking {self._model_name} for vectors", SystemClock()), self._client() as client:
            answer = client.embeddings.create(
                model=self._model_name, input=list(texts), encoding_format="float", timeout=TIMEOUT_SECONDS
            )
        ordered = sorted(answer.data, key=lambda one: one.index)
        try:
            found = np.array([one.embedding for one in ordered], np.float32)
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
        except (TypeError, ValueError) as error:
            raise _unusable(self._model_name) from error
        if len(found) != len(texts) or not np.isfinite(found).all():
            raise _unusable(self._model_name)
        made: Floats = (found / np.where(lengths == 0, 1, lengths)).astype(np.float32)
        return made

    def _client(self) -> openai.OpenAI:
        return openai.OpenAI(
            base_url=self._base_url or OPENAI_URL, api_key=self._key.get_secret_value(), max_retries=RETRIES
        )


def _unusable(model: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"asking {model} for vectors: what came back was not one vector a text; try again")
