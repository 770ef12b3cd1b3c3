"""Homes of two people who speak of the same things, run once; each test gets a copy of its own."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from em_pipelines.erasure.forget import catch_up
from em_pipelines.home import Home
from em_pipelines.memory import Memory
from em_pipelines.retrieval.packs import build
from em_pipelines.settings import load_settings

SAID = (
    ("s1", "2026-03-02T08:00:00Z", "I live in Bergen. My flatmate Torvald works at the aquarium."),
    ("s1", "2026-03-02T08:05:00Z", "I was born on 4 May 1990."),
    ("s2", "2026-03-05T09:00:00Z", "My wife Ylva likes cloudberries."),
)
OTHERS = (("s1", "2026-03-03T08:00:00Z", "My friend Torvald keeps a heron named Quillon. I live in Narvik."),)


def run(home: Path) -> None:
    """What a nightly run makes of the log: tables and packs."""
    opened = Home(load_settings(home=home))
    catch_up(opened)
    build(opened)


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of nora and ivo, after a run."""
    home = tmp_path_factory.mktemp("agents") / "home"
    for user, said in (("nora", SAID), ("ivo", OTHERS)):
        memory = Memory(home, user)
        for session, at, content in said:
            memory.store_messages(session, [{"role": "user", "content": content, "timestamp": at}])
    run(home)
    return home


@pytest.fixture
def home(made_home: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    return shutil.copytree(made_home, tmp_path / "home", symlinks=True)


@pytest.fixture
def nora(home: Path) -> Memory:
    """The memory of one of the two."""
    return Memory(home, "nora")


@pytest.fixture
def rerun(home: Path) -> Callable[[], None]:
    """Runs the home's pipeline again."""
    return lambda: run(home)
