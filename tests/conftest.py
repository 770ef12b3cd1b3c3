"""Fixtures that every test may use. Nothing here reaches the network, the user's home or the wall clock."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from filelock import FileLock
from hypothesis import settings as hypothesis_settings

from em_pipelines.schema.table import DATE, FLAG, INSTANT, INT, REAL, TEXT, TEXTS, Table
from em_pipelines.settings import Settings, load_settings

hypothesis_settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
hypothesis_settings.load_profile("project")

FITTING = {
    "role": "user", "channel": "text", "trust": "trusted", "relation": "likes", "polarity": 1, "status": "active",
    "entity_type": "person", "subject_type": "person", "object_type": "food", "temporal_type": "state",
    "hedge_level": "none", "source_mechanism": "explicit", "privacy_level": "L2", "valid_precision": "day",
    "session_type": "chat", "operation": "INSERT", "event_type": "edge_created", "act": "assert",
    "links": [], "withheld": [], "sentences": [],
}  # fmt: skip
FITTING_HERE = {
    ("probes", "kind"): "discovery", ("probes", "status"): "queued",
    ("starters", "kind"): "date", ("starters", "status"): "queued",
    ("dead_letters", "status"): "open", ("contradictions", "status"): "open", ("entity_ops", "operation"): "CREATE",
}  # fmt: skip
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Rows = Callable[..., pa.Table]
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 2**31
HEAVY = (
    "docs/test_reading_along.py", "interfaces/cli/test_llm.py", "governance/erasure/test_scopes.py",
    "storage/test_routes.py", "governance/erasure/test_crash.py", "lifecycle/test_state_retention.py",
    "governance/erasure/test_requests.py", "governance/test_corrections.py", "interfaces/cli/test_llm_secrets.py",
    "interfaces/cli/test_run.py", "assets/test_evaluation.py", "evaluation/test_journeys.py", "assets/test_daily.py",
    "graph/test_fold.py", "assets/test_inference.py", "lifecycle/inference/test_infer.py",
    "interfaces/cli/test_reading.py",
)  # fmt: skip
"""Files that take longest, first of all: a file is run by one worker, and one of these at the end would keep the other
idle. The two that need the run of the examples stand far apart, for one would wait for the other to make it."""


def pytest_configure() -> None:
    """Homes of tests lie in memory where there is room: SQLite waits for disks at each of thousands of commits."""
    folder = fast_folder()
    if folder:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(folder))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts what it puts in the background deaf to it, and whatever tests start inherits that.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Heavy files come first, the others in their order."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(HEAVY)}
    items.sort(key=lambda item: ranks.get(item.path, len(HEAVY)))


def fast_folder() -> Path | None:
    """A folder in memory, if there is one that may hold programs and has room."""
    if not os.access(MEMORY, os.W_OK):
        return None
    found = os.statvfs(MEMORY)
    is_fit = not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= MEMORY_BYTES
    return MEMORY if is_fit else None


def _scrub(environment: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("EM_", "OPENAI_", "DAGSTER_", "NEO4J_", "OTEL_")) or name.lower().endswith("_proxy"):
            environment.delenv(name)
    environment.setenv("DAGSTER_DISABLE_TELEMETRY", "1")
    environment.setenv("GX_ANALYTICS_ENABLED", "false")


@pytest.fixture(autouse=True, scope="session")
def scrubbed_session() -> Iterator[None]:
    """What is made once for many tests is made without the outside, too."""
    with pytest.MonkeyPatch.context() as environment:
        _scrub(environment)
        yield


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No EM_ variable, no key and no proxy of the outside reaches a test."""
    _scrub(monkeypatch)


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
            command = [
                sys.executable,
                "-c",
                "from em_pipelines.interfaces.cli.app import main; main()",
                "run",
                "examples/logs",
            ]
            environment = {**os.environ, "PYTHONPATH": str(root), "DAGSTER_DISABLE_TELEMETRY": "1"}
            done = subprocess.run(
                [*command, "--home", str(home)], cwd=root, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            (shared / "examples.txt").write_text(done.stdout, encoding="utf-8")
            (shared / "examples.done").touch()
    return home


MadeOnce: TypeAlias = Callable[[Path, Callable[[], object]], None]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """made_once(path, make): what `make()` leaves at `path`. Each `make` is called once a worker, then it is copied."""
    base = tmp_path_factory.mktemp("made-once")
    kept: dict[object, Path] = {}

    def put(path: Path, make: Callable[[], object]) -> None:
        if make.__code__ in kept:
            shutil.copytree(kept[make.__code__], path, symlinks=True, dirs_exist_ok=True)
            return
        make()
        kept[make.__code__] = base / str(len(kept))
        shutil.copytree(path, kept[make.__code__], symlinks=True)

    return put


@pytest.fixture(scope="session")
def examples_printed(examples_home: Path) -> str:
    """What the run of the examples printed, as if into the home `.em`."""
    printed = (examples_home.parent / "examples.txt").read_text(encoding="utf-8")
    return printed.replace(f" EM_HOME={examples_home}", "").replace(str(examples_home), ".em")


def _value(table: Table, name: str, kind: pa.DataType, number: int) -> Any:
    if (table.name, name) in FITTING_HERE or name in FITTING:
        return FITTING_HERE.get((table.name, name), FITTING.get(name))
    if kind == TEXT:
        return f"{name}-{number}"
    if kind == TEXTS:
        return [f"{name}-{number}"]
    plain = {INT: 1 + number, REAL: 0.5, FLAG: False, INSTANT: NOON, DATE: NOON.date(), pa.binary(): b"raw"}
    if kind in plain:
        return plain[kind]
    return [{"session_id": "s1", "turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "e1"}]


@pytest.fixture(scope="session")
def rows_of() -> Rows:
    """rows_of(table, {column: value}, {…}): one row for each dict, everything that it leaves open fitting the table."""

    def make(table: Table, *changes: dict[str, Any]) -> pa.Table:
        return table.from_rows(
            [
                {c.name: _value(table, c.name, c.type, number) for c in table.columns} | changed
                for number, changed in enumerate(changes)
            ]
        )

    return make
