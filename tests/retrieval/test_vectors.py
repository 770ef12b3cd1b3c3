"""Vectors: made once for each text, behind a real endpoint, and missed by nobody where it fails."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import build, is_current
from em_pipelines.retrieval.scoring import best_in_session
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.terms import first_person
from em_pipelines.retrieval.user_search import ask, opened
from em_pipelines.settings import load_settings
from resources.embedders import open_embedder
from tests.model_server.server import ModelServer
from tests.resources.test_embedder_breaker import SilentServer
from tests.retrieval.test_packs import NOW, tell

KEY = "sk-nobody-may-read-this"
MEANINGS = [("boat", "vessel", "ship"), ("kiln", "clay", "pottery"), ("heron", "bird")]
"""A small model's idea of the world: words of one line mean the same."""


def vectors(texts: list[str]) -> list[list[float]]:
    return [[*(float(any(word in text for word in words)) for words in MEANINGS), 0.1] for text in texts]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("EM_LLM_API_KEY", KEY)
    with ModelServer(api_key=KEY) as server:
        server.vectors = vectors
        yield server


@pytest.fixture
def home(home_path: Path, tmp_path: Path, server: ModelServer) -> Pipeline:
    settings = load_settings(home=home_path, embedder="openai:tiny", llm={"base_url": server.base_url})
    opened_home = Pipeline(settings, None, open_embedder)
    tell(opened_home, tmp_path, "ada", "The boat is moored.", "I sold the harp.", "The ferryman sang.")
    build(opened_home)
    return opened_home


def asked_texts(server: ModelServer) -> list[str]:
    return [text for data in server.raw for text in json.loads(data)["input"]]


def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(home: Pipeline) -> None:
    best, *_ = ask(home, "ada", Search("vessel?", 1, NOW.date(), frozenset({"message"})))
    assert best.text == "The boat is moored."
    assert best.components["meaning"] > 0


def test_a_conversation_counts_by_its_turn_that_is_best_in_session(home: Pipeline, tmp_path: Path) -> None:
    tell(home, tmp_path, "ada", "The harper sang.", session="s2", day="2026-03-05")
    build(home)
    found = {hit.text: hit for hit in ask(home, "ada", Search("Is the vessel moored?", 9, NOW.date()))}
    assert found["I sold the harp."].components["session"] == found["The boat is moored."].components["session"]
    assert "The harper sang." not in found, "it shares no word with the question, and is not near"


def test_a_conversation_is_as_alike_as_the_best_of_its_turns() -> None:
    alike = np.array([0.2, 0.5, 0.0, 1.0], np.float32)
    assert best_in_session(alike, np.array([0, 0, 1, 2], np.int32)).tolist() == [0.5, 0.5, 0.0, 1.0]
    assert best_in_session(np.zeros(0, np.float32), np.zeros(0, np.int32)).tolist() == []


def test_each_text_is_asked_for_once(home: Pipeline, server: ModelServer, tmp_path: Path) -> None:
    before = sorted(asked_texts(server))
    assert before == sorted(set(before))
    assert is_current(home)
    tell(home, tmp_path, "ada", "A heron came by.", session="s2", day="2026-03-05")
    build(home)
    assert sorted(set(asked_texts(server)) - set(before)) == sorted(asked_texts(server)[len(before) :])
    n_asked = len(server.raw)
    forget(home, Scope(ScopeKind.SESSION, "ada", "s2"), now=NOW)
    assert len(server.raw) == n_asked
    assert all(math.isclose(float((own**2).sum()), 1, abs_tol=1e-5) for own in opened(home, "ada").vectors)


@pytest.mark.slow
def test_where_the_endpoint_fails_words_still_find_and_the_next_run_asks_again(
    home: Pipeline, server: ModelServer, tmp_path: Path
) -> None:
    server.vectors = lambda texts: [[math.nan] for _ in texts]
    tell(home, tmp_path, "ada", "A heron came by.", session="s2", day="2026-03-05")
    build(home)
    assert ask(home, "ada", Search("heron?", 1, NOW.date()))[0].text == "A heron came by."
    assert not is_current(home)
    server.vectors = vectors
    build(home)
    assert is_current(home)
    assert ask(home, "ada", Search("bird?", 1, NOW.date()))[0].text == "A heron came by."


def test_questions_do_not_wait_for_an_endpoint_that_says_nothing(
    home: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    silent = SilentServer()
    down = {"base_url": silent.base_url, "embedder_seconds": 0.3}
    for _ in range(3):  # a process each
        process = Pipeline(load_settings(home=home.path, embedder="openai:tiny", llm=down), None, open_embedder)
        (best,) = ask(process, "ada", Search("boat?", 1, NOW.date(), frozenset({"message"})))
        assert best.text == "The boat is moored."
        assert "meaning" not in best.components
    assert silent.n_connections == 1
    assert "answered by words alone" in caplog.text
    silent.close()
    assert is_current(home), "a question that had no vector changes nothing that is kept"


def test_with_another_embedder_the_search_says_that_vectors_are_off(
    home: Pipeline, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    another = load_settings(home=home.path, embedder="openai:wider", llm={"base_url": server.base_url})
    n_before = len(server.raw)
    for _ in range(2):
        (best,) = ask(Pipeline(another, None, open_embedder), "ada", Search("boat?", 1, NOW.date()))
        assert best.text == "The boat is moored."
    assert len(server.raw) == n_before, "a model whose vectors are not comparable is not asked"
    (said,) = [one.getMessage() for one in caplog.records if "until the next `em run`" in one.getMessage()]
    assert "openai:tiny" in said
    assert "openai:wider" in said


def test_no_key_stands_in_a_pack(home: Pipeline) -> None:
    assert all(KEY.encode() not in path.read_bytes() for path in home.path.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When did Ida repair the harpsichord?", "I repair the harpsichord"),
        ("What kind of boat does Piet's sister own?", "boat does my sister own"),
        ("Where does the user live?", "I live"),
        ("How many herons?", "herons"),
        ("What?", "What?"),
        ("", ""),
    ],
)
def test_a_question_is_told_as_what_would_answer_it(question: str, told: str) -> None:
    assert first_person(question, frozenset({"ida", "piet"})) == told
