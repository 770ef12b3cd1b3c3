"""Fixtures that every test may use. Nothing here reaches the network, the user's home or the wall clock."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings as hypothesis_settings

from em_pipelines.settings import Settings, load_settings

hypothesis_settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
hypothesis_settings.load_profile("project")


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No EM_ variable, no key and no proxy of the outside reaches a test."""
    for name in list(os.environ):
        if name.startswith(("EM_", "OPENAI_", "DAGSTER_", "NEO4J_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")
    monkeypatch.setenv("GX_ANALYTICS_ENABLED", "false")


@pytest.fixture
def home_path(tmp_path: Path) -> Iterator[Path]:
    """A fresh home."""
    yield tmp_path / "home"


@pytest.fixture
def settings(home_path: Path) -> Settings:
    """Default settings over a fresh home."""
    return load_settings(home=home_path)


@pytest.fixture(scope="session")
def examples_home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A home into which the example logs were run, for tests that only read; made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    home = shared / "examples-home"
    with FileLock(shared / "examples.lock"):
        if not (shared / "examples.done").exists():
            root = Path(__file__).parents[1]
            command = [sys.executable, "-c", "from em_pipelines.cli import main; main()", "run", "examples/logs"]
            environment = {**os.environ, "PYTHONPATH": str(root), "DAGSTER_DISABLE_TELEMETRY": "1"}
            done = subprocess.run(
                [*command, "--home", str(home)], cwd=root, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            (shared / "examples.done").touch()
    return home
