"""Embedders by name: what is missing is said, and vectors come out in order and of length 1."""

import sys

import numpy as np
import pytest

from em_pipelines.errors import ModelRefusedError, ModelUnavailableError, SettingsError
from em_pipelines.settings import load_settings
from resources.embedders import open_embedder
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
