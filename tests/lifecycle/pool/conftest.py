"""Pools in folders, and homes that know of them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Where a pool may lie; nothing is there yet."""
    return tmp_path / "shared" / "pool"


@pytest.fixture
def opened(tmp_path: Path, pool: Path) -> Callable[..., Pipeline]:
    """Opens a home with the pool switched on."""

    def open_home(name: str = "home", contributors: Iterable[str] = (), **more: Any) -> Pipeline:
        chosen = {"is_enabled": True, "folder": str(pool), "contributors": frozenset(contributors), **more}
        return Pipeline(load_settings(home=tmp_path / name, pool=chosen))

    return open_home
