"""Embedders: models that run here, or behind an OpenAI-compatible endpoint. Nothing is imported or asked before use."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import openai
from openai.types import CreateEmbeddingResponse

from em_pipelines.environment import environment
from em_pipelines.errors import BreakerOpenError, ModelUnavailableError, RequestRefusedError, SettingsError
from em_pipelines.llm.breakers import Breaker
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.retrieval.scoring import Embedder
from em_pipelines.retrieval.terms import Floats
from em_pipelines.storage.outage import OutageNote
from resources.clock import SystemClock
from resources.endpoint import KEY_VARIABLES, OPENAI_URL, Sent, Variables, our_errors, read_api_key

LOCAL, REMOTE = "sentence-transformers:", "openai:"
TIMEOUT_SECONDS, CONNECT_SECONDS = 30.0, 5.0
"""Of a batch of texts, for which nobody waits."""
RETRIES = 2
VARIABLES = Variables(
    "EM_EMBEDDER_BASE_URL (unset: EM_LLM_BASE_URL)",
    "EM_EMBEDDER, which names the model",
    ("EM_EMBEDDER_API_KEY", *KEY_VARIABLES),
)
NOTE = Path("locks", "embedder.down")
"""In the home, while questions do without vectors."""


Result = TypeVar("Result")


class EmbedderSettings(Protocol):
    """The home, the name of the embedder, and the endpoint of models."""

    @property
    def home(self) -> Path: ...
    @property
    def embedder(self) -> str: ...
    @property
    def llm(self) -> LlmSettings: ...


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder that the settings name; raises SettingsError where its package or key is missing."""
    kind, _, model = settings.embedder.partition(":")
    if f"{kind}:" == LOCAL:
        return LocalEmbedder(model)
    note = OutageNote(settings.home / NOTE, settings.llm.embedder_breaker.open_seconds)
    return RemoteEmbedder(model, settings.llm, note)


class LocalEmbedder:
    """A model of sentence-transformers, by name or folder; it runs in this process."""

    def __init__(self, model: str) -> None:
        self.name = f"{LOCAL}{model}"
        self._model_name = model

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1."""
        found = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, np.float32)

    def ask(self, text: str) -> Floats:
        """The vector of a question, of length 1."""
        asked: Floats = self.embed([text])[0]
        return asked

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
    """A model behind EM_EMBEDDER_BASE_URL, with EM_EMBEDDER_API_KEY; where they are unset, with address and key of the
    chat models. Servers differ in how many texts they take at once: what is refused is sent again in halves, and the
    number that passes is kept.

    It has a breaker for batches and one for questions, which are given up within seconds. That a question had no
    answer is noted in the home, so that the next process does not wait for the same silence.
    """

    def __init__(self, model: str, settings: LlmSettings, note: OutageNote) -> None:
        self.name = f"{REMOTE}{model}"
        self._model_name = model
        self._settings = settings
        self._base_url = settings.embedder_base_url or settings.base_url or OPENAI_URL
        self._key = read_api_key(environment(), VARIABLES.keys)
        self._batch_size = settings.embedder_batch_size
        self._note = note
        self._batches, self._questions = (
            Breaker("embedder", settings.embedder_breaker, SystemClock()) for _ in range(2)
        )  # fmt: skip

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1; raises ModelError where the endpoint gives none."""
        size, rows = self._batch_size, list[Floats]()
        while len(rows) < len(texts):
            some = texts[len(rows) : len(rows) + size]
            try:
                with self._batches.calling():
                    answer = self._answer(some, openai.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS), RETRIES)
            except RequestRefusedError:
                if len(some) == 1:  # it is the text that is refused: nothing is learned of the size
                    raise
                size = len(some) // 2
                continue
            rows.extend(self._read(answer, len(some)))
        self._note.clear()
        self._batch_size = size
        return self._joined(rows)

    def ask(self, text: str) -> Floats:
        """The vector of a question, of length 1; raises ModelError where there is none within `embedder_seconds`."""
        if left := self._note.left_seconds:
            raise BreakerOpenError(
                f"asking {self._model_name} for a vector: not tried, since it gave none just before; it is tried again "
                f"in {left:.0f} s",
                retry_after_seconds=left,
            )
        seconds = self._settings.embedder_seconds
        try:
            with self._questions.calling():
                answer = within(seconds, lambda: self._answer([text], openai.Timeout(seconds), 0))
        except ModelUnavailableError:
            self._note.put()
            raise
        found: Floats = self._read(answer, 1)[0]
        return found

    def _answer(self, texts: Sequence[str], timeout: openai.Timeout, n_retries: int) -> CreateEmbeddingResponse:
        asked, sent = f"asking {self._model_name} for vectors", Sent("\n".join(texts), self._key)
        with our_errors(asked, SystemClock(), sent, VARIABLES), self._client(n_retries) as client:
            return client.embeddings.create(
                model=self._model_name, input=list(texts), encoding_format="float", timeout=timeout
            )

    def _read(self, answer: CreateEmbeddingResponse, n_texts: int) -> Floats:
        """Of an answer that came: whoever answers is not down, whatever it says."""
        ordered = sorted(answer.data, key=lambda one: one.index)
        try:
            found = np.array([one.embedding for one in ordered], np.float32)
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
        except (TypeError, ValueError) as error:
            raise _unusable(self._model_name) from error
        if len(found) != n_texts or not np.isfinite(found).all():
            raise _unusable(self._model_name)
        made: Floats = (found / np.where(lengths == 0, 1, lengths)).astype(np.float32)
        return made

    def _joined(self, rows: list[Floats]) -> Floats:
        try:
            return np.array(rows, np.float32)
        except ValueError as error:  # of different lengths
            raise _unusable(self._model_name) from error

    def _client(self, n_retries: int) -> openai.OpenAI:
        return openai.OpenAI(base_url=self._base_url, api_key=self._key.get_secret_value(), max_retries=n_retries)


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """What work returns or raises, if it ends in time; else ModelUnavailableError, and the work is left to itself.

    Timeouts of a client are between bytes: whoever sends one a second, or a name that nobody resolves, outlasts them.
    """
    ended: Future[Result] = Future()

    def run() -> None:
        try:
            ended.set_result(work())
        except BaseException as error:
            ended.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return ended.result(seconds)
    except FutureTimeout:
        if ended.done():  # the work itself ended with it
            raise
        raise ModelUnavailableError(f"asking for a vector: none came within {seconds:g} s; try again") from None


def _unusable(model: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"asking {model} for vectors: what came back was not one vector a text; try again")
