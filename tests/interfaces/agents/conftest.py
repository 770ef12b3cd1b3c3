"""The home of two people, run once; each test gets a copy of its own."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from em_pipelines.interfaces.memory import Memory
from tests.interfaces.agents.homes import make, run


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of nora and ivo, after a run."""
    return make(tmp_path_factory.mktemp("agents") / "home")


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
