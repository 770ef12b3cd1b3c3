"""Published snapshots to ask, and the engine's answers to hold them against."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.snapshot import publish
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

PRECISION_CHARACTERS = {"year": 4, "month": 7, "day": 10}
COLUMNS = (
    "subject", "relation", "object", "polarity", "status", "confidence", "valid_from", "valid_to", "temporal_type",
    "over", "flags", "learned_at", "last_reinforced", "reinforcement_count", "edge_id",
)  # fmt: skip
Asked = dict[str, dict[str, Any]]


def published(home: Pipeline, folder: Path, as_of: date | None = None) -> Path:
    """The snapshot of a home, in a folder of its own."""
    return publish(home.store, folder, home.time_rules, as_of, ledger=home.ledger).path


@pytest.fixture(scope="session")
def examples(examples_home: Path) -> Pipeline:
    """The home of the examples, only to be read."""
    return Pipeline(load_settings(home=examples_home))


@pytest.fixture(scope="session")
def examples_snapshot(examples: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The newest snapshot of the examples."""
    return published(examples, tmp_path_factory.mktemp("snapshots"))


@pytest.fixture
def snapshot(examples_snapshot: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the newest snapshot of the examples."""
    with connect(str(examples_snapshot), is_read_only=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def by_engine() -> Callable[..., Asked]:
    """by_engine(home, user, as_of, known_at=…, is_all=…): what `em facts` gives, by id."""

    def ask(home: Pipeline, user: str, as_of: date, **options: Any) -> Asked:
        found = facts(home.store, FactQuery(user, as_of, **options), home.settings.decay)
        return {fact["edge_id"]: {name: fact[name] for name in COLUMNS} for fact in found}

    return ask


@pytest.fixture(scope="session")
def by_macro() -> Callable[..., Asked]:
    """by_macro(connection, macro, *arguments): the rows of a macro, in the form of `em facts`, by id."""

    def ask(connection: duckdb.DuckDBPyConnection, macro: str, *arguments: object) -> Asked:
        marks = ", ".join("?" * len(arguments))
        found = connection.sql(f"FROM {macro}({marks})", params=list(arguments)).to_arrow_table().to_pylist()
        return {row["edge_id"]: _as_told(row) for row in found}

    return ask


def _as_told(row: dict[str, Any]) -> dict[str, Any]:
    characters = PRECISION_CHARACTERS[row["valid_precision"] or "day"]
    told = row | {
        "confidence": round(row["confidence"], 4),
        "valid_from": row["valid_from"].isoformat()[:characters] if row["valid_from"] else None,
        "valid_to": row["valid_to"].isoformat() if row["valid_to"] else None,
        "learned_at": row["learned_at"].isoformat(),
        "last_reinforced": row["last_reinforced"].isoformat(),
    }
    return {name: told[name] for name in COLUMNS}
