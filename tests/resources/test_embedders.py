"""Embedders by name: what is missing is said, and vectors come out in order and of length 1."""

import json
import sys

import numpy as np
import pytest

from em_pipelines.errors import ModelRefusedError, ModelUnavailableError, RequestRefusedError, SettingsError
from em_pipelines.settings import load_settings
from resources.embedders import open_embedder
from tests.model_server.script import Step
from tests.model_server.server import ModelServer


def test_vectors_come_in_the_order_of_the_texts_and_of_length_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_LLM_API_KEY", "k")
    with ModelServer() as server:
        server.vectors = lambda texts: [[float(len(text)), 0.0, 1.0] for text in texts]
        found = open_embedder(
            load_settings(embedder="openai:tiny", llm={"base_url": server.base_url})
        ).embed(["a", "four"])  # fmt: skip
    assert np.allclose(found, [[0.5**0.5, 0, 0.5**0.5], [4 / 17**0.5, 0, 1 / 17**0.5]])


def test_a_refused_key_and_a_wrong_answer_are_said_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_LLM_API_KEY", "sk-wrong")
    with ModelServer(api_key="sk-right") as server:
        server.vectors = lambda texts: [[1.0]] * (len(texts) + 1)
        settings = load_settings(embedder="openai:tiny", llm={"base_url": server.base_url})
        with pytest.raises(ModelRefusedError) as refused:
            open_embedder(settings).embed(["a"])
        assert "sk-" not in str(refused.value)
        monkeypatch.setenv("EM_LLM_API_KEY", "sk-right")
        with pytest.raises(ModelUnavailableError, match="not one vector a text"):
            open_embedder(settings).embed(["a"])


def test_without_key_or_package_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="EM_LLM_API_KEY"):
        open_embedder(load_settings(embedder="openai:tiny"))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SettingsError, match="embeddings"):
        open_embedder(load_settings(embedder="sentence-transformers:any")).embed(["a"])
    with pytest.raises(SettingsError, match="embedder"):
        load_settings(embedder="magic")


def test_the_embedder_may_have_an_address_and_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(api_key="sk-chat") as chat, ModelServer(api_key="sk-vectors") as vectors:
        vectors.vectors = chat.vectors = lambda texts: [[1.0]] * len(texts)
        monkeypatch.setenv("EM_LLM_BASE_URL", chat.base_url)
        monkeypatch.setenv("EM_LLM_API_KEY", "sk-chat")
        open_embedder(load_settings(embedder="openai:tiny")).embed(["a"])
        assert len(chat.raw) == 1, "unset, address and key of the chat models serve"
        monkeypatch.setenv("EM_EMBEDDER_BASE_URL", vectors.base_url)
        with pytest.raises(ModelRefusedError, match="check the key in EM_EMBEDDER_API_KEY or EM_LLM_API_KEY"):
            open_embedder(load_settings(embedder="openai:tiny")).embed(["a"])
        monkeypatch.setenv("EM_EMBEDDER_API_KEY", "sk-vectors")
        settings = load_settings(embedder="openai:tiny")
        open_embedder(settings).embed(["a"])
        assert (len(chat.raw), len(vectors.raw)) == (1, 2)
    with pytest.raises(ModelUnavailableError, match="check EM_EMBEDDER_BASE_URL"):
        open_embedder(settings).ask("a")
    assert "sk-vectors" not in repr(settings)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_server_that_takes_fewer_texts_is_sent_fewer_from_then_on(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("EM_EMBEDDER_API_KEY", "k")
    texts = [f"{n}" for n in range(100)]
    with ModelServer() as server:
        server.vectors = lambda some: [[float(text), 1.0] for text in some]
        server.refused_texts = lambda some: too_many(some, 10, status)
        embedder = open_embedder(load_settings(embedder="openai:tiny", llm={"embedder_base_url": server.base_url}))
        vectors = embedder.embed(texts)
        assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(100)), "in the order of the texts"
        assert sizes(server) == [64, 32, 16, *[8] * 12, 4]
        server.raw.clear()
        embedder.embed(texts[:20])
        assert sizes(server) == [8, 8, 4], "no request is refused twice"


def test_a_text_that_is_refused_by_itself_is_an_error_and_no_lesson_on_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_EMBEDDER_API_KEY", "sk-0123456789abcdef")
    said = "no room for my sister grows plums in Norway with sk-0123456789abcdef"
    with ModelServer() as server:
        server.vectors = lambda some: [[1.0]] * len(some)
        server.refused_texts = lambda some: Step("status", status=422, message=said) if "sister" in str(some) else None
        embedder = open_embedder(load_settings(embedder="openai:tiny", llm={"embedder_base_url": server.base_url}))
        with pytest.raises(RequestRefusedError, match=r"HTTP 422.*no room for.*EM_EMBEDDER") as refused:
            embedder.embed(["tea", "coffee", "my sister grows plums in Norway", "milk"])
        assert not any(word in str(refused.value) for word in ("plums", "Norway", "sk-01"))
        server.raw.clear()
        assert embedder.embed(["tea"] * 64).shape == (64, 1)
        assert sizes(server) == [64]


def test_vectors_of_different_lengths_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_EMBEDDER_API_KEY", "k")
    with ModelServer() as server:
        server.vectors = lambda some: [[1.0] * len(some)] * len(some)
        llm = {"embedder_base_url": server.base_url, "embedder_batch_size": 2}
        with pytest.raises(ModelUnavailableError, match="not one vector a text"):
            open_embedder(load_settings(embedder="openai:tiny", llm=llm)).embed(["a", "b", "c"])


@pytest.mark.parametrize(
    ("name", "value"), [("batch_size", 0), ("batch_size", 2.5), ("base_url", "https://me:hunter2@vectors.example/v1")]
)
def test_settings_that_cannot_be_are_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=rf"llm\.embedder_{name}") as refused:
        load_settings(llm={f"embedder_{name}": value})
    assert "hunter2" not in str(refused.value)


def too_many(texts: list[str], most: int, status: int) -> Step | None:
    said = f"batch size {len(texts)} > maximum allowed batch size {most}"
    return Step("status", status=status, message=said) if len(texts) > most else None


def sizes(server: ModelServer) -> list[int]:
    """How many texts each request had, in order."""
    return [len(json.loads(body)["input"]) for body in server.raw]
