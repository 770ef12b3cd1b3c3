"""Phrases without a word in common are one thing where a model says that they mean the same: asked once, kept, and
missed by nobody where the endpoint fails."""

import json
import logging
import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from em_pipelines.errors import SettingsError
from em_pipelines.governance.audit.why import why
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.llm.database import Database
from em_pipelines.llm.phrase_vectors import PhraseVectors
from em_pipelines.pipeline import Pipeline
from em_pipelines.resolution.meanings import comparable_stems
from em_pipelines.serving.facts import FactQuery, FactRow, facts
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings
from resources.embedders import open_embedder
from tests.llm.answer_files import write_file_of_version
from tests.model_server.homes import NOW, run, tell
from tests.model_server.server import ModelServer

MEANINGS = {
    "jogging": (1.0, 0.0),
    "running": (0.92, 0.39),
    "sprinting": (0.88, 0.47),
    "pottery": (0.0, 1.0),
    "sculling": (0.9, 0.19**0.5),
    "rowing": (1.0, 0.0),
}
"""What a model makes of some phrases: cosines to jogging are 0.92, 0.88 and 0."""


def vectors(texts: list[str]) -> list[list[float]]:
    return [[*MEANINGS.get(text, (0.0, 0.0)), 0.0 if text in MEANINGS else 1.0] for text in texts]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("EM_LLM_API_KEY", "k")
    with ModelServer() as server:
        server.vectors = vectors
        yield server


@pytest.fixture
def opened(tmp_path: Path, server: ModelServer) -> Callable[[str], Pipeline]:
    def open_home(name: str = "home") -> Pipeline:
        settings = load_settings(home=tmp_path / name, embedder="openai:tiny", llm={"base_url": server.base_url})
        return Pipeline(settings, None, open_embedder)

    return open_home


def liked(home: Pipeline, user: str = "ada") -> list[FactRow]:
    return facts(home.store, FactQuery(user, date(2026, 3, 31)), home.settings.decay)


def asked(server: ModelServer) -> list[str]:
    return [text for data in server.raw for text in json.loads(data)["input"]]


def kept(home: Pipeline, user: str = "ada") -> list[str]:
    with closing(Database(home.answers)) as database:
        return PhraseVectors(database).phrases(user)


def waits(home: Pipeline, day: int) -> bool:
    return home.store.is_incomplete(home.steps["resolution"], date(2026, 3, day))


def test_what_means_the_same_is_one_fact_that_grows_and_says_why(
    opened: Callable[..., Pipeline], server: ModelServer
) -> None:
    home, late = opened(), opened("late")
    for day, content in ((2, "I enjoy jogging."), (3, "I love running."), (4, "I enjoy pottery.")):
        tell(home, day, content)
    first, second = sorted(liked(home), key=lambda fact: fact["learned_at"])
    assert (first["reinforcement_count"], second["object"]) == (1, "pottery")
    told = why(home.store.lake, first["edge_id"], date(2026, 3, 4), home.settings.decay)
    assert told is not None
    assert [change["method"] for change in told["entities"][1]["changes"]] == ["meaning"]
    assert sorted(asked(server)) == ["jogging", "pottery", "running"]
    for day, content in ((4, "I enjoy pottery."), (3, "I love running."), (2, "I enjoy jogging.")):
        tell(late, day, content)
    assert state_hash(late.store, late.settings.decay) == state_hash(home.store, home.settings.decay)


@pytest.mark.slow
def test_a_rebuild_asks_nobody_and_comes_out_the_same(opened: Callable[..., Pipeline], server: ModelServer) -> None:
    home = opened()
    tell(home, 2, "I enjoy jogging. I love running.")
    before, n_asked = state_hash(home.store, home.settings.decay), len(server.raw)
    shutil.rmtree(home.path / "lake")
    server.vectors = None
    again = opened()
    run(again)
    assert len(liked(again)) == 1
    assert state_hash(again.store, again.settings.decay) == before
    assert len(server.raw) == n_asked
    assert not waits(again, 2)


def test_what_is_less_alike_is_two_and_so_is_everything_without_an_embedder(
    opened: Callable[..., Pipeline], tmp_path: Path
) -> None:
    home, without = opened(), Pipeline(load_settings(home=tmp_path / "without"))
    tell(home, 2, "I enjoy jogging.")
    tell(home, 3, "I love sprinting.")
    tell(without, 2, "I enjoy jogging. I love running.")
    assert [len(liked(one)) for one in (home, without)] == [2, 2]
    assert not without.answers.exists()


def test_a_cosine_of_just_as_much_as_is_needed_is_enough(opened: Callable[..., Pipeline]) -> None:
    home = opened()
    tell(home, 2, "I enjoy rowing. I love sculling.")
    assert len(liked(home)) == 1


def test_with_another_model_the_days_of_resolution_are_made_again(opened: Callable[..., Pipeline]) -> None:
    home = opened()
    tell(home, 2, "I enjoy jogging. I love running.")
    others = [Pipeline(home.settings.model_copy(update={"embedder": name})) for name in ("openai:other", "none")]
    for other in others:
        stale = {name for name, step in other.steps.items() if other.store.stale_days(step)}
        assert stale == {"resolution"}


def test_the_bar_cannot_be_lowered(opened: Callable[..., Pipeline], tmp_path: Path, server: ModelServer) -> None:
    with pytest.raises(SettingsError, match="min_meaning"):
        load_settings(resolution={"min_meaning": 0.89})
    settings = load_settings(
        home=tmp_path / "strict", embedder="openai:tiny", llm={"base_url": server.base_url},
        resolution={"min_meaning": 0.95},
    )  # fmt: skip
    strict = Pipeline(settings, None, open_embedder)
    tell(strict, 2, "I enjoy jogging. I love running.")
    assert len(liked(strict)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I enjoy red wine.", "I enjoy white wine."),
        pytest.param("I love swimming.", "I love swimming pools.", marks=pytest.mark.slow),
        pytest.param("I enjoy jogging.", "I enjoy Buddhism.", marks=pytest.mark.slow),
    ],
)
def test_what_shares_a_word_or_has_a_number_or_a_name_is_two_whatever_a_model_says(
    opened: Callable[..., Pipeline], server: ModelServer, one: str, other: str
) -> None:
    server.vectors = lambda texts: [[1.0, 0.0] for _ in texts]
    home = opened()
    tell(home, 2, one)
    tell(home, 3, other)
    assert len(liked(home)) == 2


@pytest.mark.parametrize(
    ("text", "kind", "is_compared"),
    [
        ("jogging", "activity", True), ("long walks", "concept", True), ("two cats", "concept", False),
        ("half marathons", "activity", False), ("not smoking", "activity", False), ("Buddhism", "concept", False),
        ("5 km walks", "concept", False), ("The Long Walk", "work", False), ("it", "concept", False),
    ],
)  # fmt: skip
def test_only_phrases_without_a_number_a_name_or_a_denial_are_compared(text: str, kind: str, is_compared: bool) -> None:
    assert bool(comparable_stems(text, kind)) == is_compared


def test_users_do_not_meet(opened: Callable[..., Pipeline]) -> None:
    home = opened()
    tell(home, 2, "I enjoy jogging.")
    tell(home, 2, "I love running.", user="ben")
    tell(home, 3, "I love running.", user="ben")
    assert [fact["object"] for user in ("ada", "ben") for fact in liked(home, user)] == ["jogging", "running"]
    assert home.answers.exists() is False  # nobody had two phrases to compare


@pytest.mark.parametrize(
    "answer",
    [
        None,
        pytest.param(lambda texts: [[math.nan, 1.0] for _ in texts], marks=pytest.mark.slow),
        pytest.param(lambda _: [[1.0]], marks=pytest.mark.slow),
    ],
)
def test_an_endpoint_that_fails_changes_nothing_is_asked_once_and_again_by_the_next_run(
    opened: Callable[..., Pipeline],
    server: ModelServer,
    caplog: pytest.LogCaptureFixture,
    answer: Callable[[list[str]], list[list[float]]] | None,
) -> None:
    server.vectors = answer
    home = opened()
    with caplog.at_level(logging.WARNING):
        tell(home, 2, "I enjoy jogging. I love running.")
        tell(home, 3, "I enjoy pottery.")
    assert len(liked(home)) == 3
    assert caplog.text.count("words alone decide") == 1
    assert waits(home, 2)
    assert waits(home, 3)
    server.vectors = vectors
    again = opened()
    run(again)
    assert len(liked(again)) == 2
    assert not any(again.store.stale_days(step) for step in again.steps.values())


def test_without_a_key_or_a_client_words_decide(
    opened: Callable[..., Pipeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EM_LLM_API_KEY")
    home = opened()
    tell(home, 2, "I enjoy jogging. I love running.")
    assert len(liked(home)) == 2
    assert len(liked(Pipeline(home.settings))) == 2
    tell(Pipeline(home.settings), 3, "I enjoy pottery.")
    assert len(liked(home)) == 3


def test_vectors_of_another_length_are_not_compared(opened: Callable[..., Pipeline], server: ModelServer) -> None:
    home = opened()
    tell(home, 2, "I enjoy jogging. I love sprinting.")
    server.vectors = lambda texts: [[1.0, 0.0, 0.0, 0.0] for _ in texts]
    tell(home, 3, "I love running.")
    assert len(liked(home)) == 3


@pytest.mark.slow
def test_what_somebody_takes_apart_stays_two(opened: Callable[..., Pipeline]) -> None:
    home = opened()
    tell(home, 2, "I enjoy jogging.")
    tell(home, 3, "I love running.")
    split = home.path.parent / "split.jsonl"
    feedback = {"kind": "feedback", "type": "split", "user_id": "ada", "timestamp": "2026-03-04T10:00:00Z"}
    split.write_text(json.dumps({**feedback, "entities": ["jogging", "running"]}) + "\n", encoding="utf-8")
    land([split], home.store.log, now=NOW, settings=home.settings.landing)
    tell(home, 5, "I love running.")
    assert {fact["object"] for fact in liked(home)} == {"jogging", "running"}


@pytest.mark.slow
def test_what_is_forgotten_has_no_vector(opened: Callable[..., Pipeline]) -> None:
    home = opened()
    tell(home, 2, "I enjoy jogging. I enjoy pottery.")
    tell(home, 3, "I love running.")
    tell(home, 2, "I enjoy jogging. I love running.", user="ben")
    assert kept(home) == ["jogging", "pottery", "running"]
    forget(home, Scope(ScopeKind.ENTITY, "ada", "pottery"), now=NOW)
    assert (kept(home), kept(home, "ben")) == (["jogging", "running"], ["jogging", "running"])
    forget(home, Scope(ScopeKind.USER, "ada"), now=NOW)
    assert (kept(home), kept(home, "ben")) == ([], ["jogging", "running"])
    assert all(b"pottery" not in path.read_bytes() for path in home.answers.parent.glob("*"))


def test_a_file_of_answers_of_before_takes_vectors(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    write_file_of_version(path, 1)
    with closing(Database(path)) as database:
        assert PhraseVectors(database).phrases("ada") == []
