"""Fixtures that every test may use. Nothing here reaches the network, the user's home or the wall clock."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
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
