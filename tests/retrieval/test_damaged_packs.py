"""A pack with a flipped bit is refused by the name of its file, by whoever asks it, and made again by repair."""

import random
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.repair import apply, propose
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import packs
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.user_search import ask
from em_pipelines.settings import load_settings

SAID = ("I live in Graz.", "My sister Dana plays the oboe.", "I like rhubarb cake.", "The harbour is closed on Monday.")


def say(home: Pipeline, *said: str, first: int) -> None:
    rows = [
        {
            "user_id": "ada", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": content,
            "timestamp": f"2026-03-{n:02}T10:00:00Z",
        }
        for n, content in enumerate(said, start=first)
    ]  # fmt: skip
    home.path.mkdir(parents=True, exist_ok=True)
    source = home.path.parent / f"{home.path.name}.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    land([source], home.store.log, now=datetime(2026, 5, 1, tzinfo=UTC), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    packs.build(home)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Pipeline(load_settings(home=tmp_path_factory.mktemp("packs") / "home"))
    say(home, *SAID, first=1)
    return home.path


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=Path(shutil.copytree(made, tmp_path / "home"))))


def found(home: Pipeline) -> list[tuple[str, float]]:
    asked = Search("who plays the oboe on Monday", 5, date(2026, 3, 9))
    return [(hit.text, hit.score) for hit in ask(home, "ada", asked, n_hops=2)]


def flip(path: Path, seed: int) -> None:
    data = bytearray(path.read_bytes())
    data[random.Random(seed).randrange(len(data))] ^= 1 << seed % 8
    path.write_bytes(data)


@pytest.mark.slow
def test_flipped_bits_give_the_same_answer_or_a_refusal_that_names_the_file(made: Path, tmp_path: Path) -> None:
    wanted = found(Pipeline(load_settings(home=made)))
    assert wanted
    n_refused = 0
    for number, name in enumerate(sorted(p.relative_to(made) for p in (made / "packs").rglob("*") if p.is_file())):
        for seed in range(3):
            path = Path(shutil.copytree(made, tmp_path / f"{number}-{seed}"))
            flip(path / name, seed)
            try:
                assert found(Pipeline(load_settings(home=path))) == wanted, name
            except CorruptTableError as error:
                assert name.name in str(error)
                assert "em repair --apply" in str(error)
                n_refused += 1
    assert n_refused > 30


def test_doctor_finds_a_damaged_pack_and_repair_makes_it_again(home: Pipeline) -> None:
    wanted = found(home)
    flip(next((home.path / "packs").rglob("letters/*.npy")), 5)
    assert [d.subject for d in diagnose(home) if d.subject == "index packs" and not d.is_well]
    apply(home, propose(home, lambda _, __: 0), lambda _, __: 0)
    assert found(Pipeline(home.settings)) == wanted


@pytest.mark.slow
def test_a_damaged_pack_does_not_grow(home: Pipeline, tmp_path: Path) -> None:
    flip(next((home.path / "packs").rglob("tokens.npy")), 3)
    say(home, "I like gooseberries.", first=9)
    whole = Pipeline(load_settings(home=tmp_path / "whole"))
    say(whole, *SAID, first=1)
    say(whole, "I like gooseberries.", first=9)
    assert found(Pipeline(home.settings)) == found(whole)
