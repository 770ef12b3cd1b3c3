"""One real `dagster dev` for all tests of this folder, over a home with three days of facts, driven over GraphQL."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import NotMadeError
from em_pipelines.interfaces.cli.dagster_storage import prepare_dagster_home
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.settings import load_settings

ROOT = Path(__file__).parents[2]
DAGSTER_DEV = (sys.executable, "-m", "dagster", "dev", "--workspace", "workspace.yaml", "--host", "127.0.0.1")
START_SECONDS = 90
USUAL_START_SECONDS = 12
STOP_SECONDS = 20
POLL_SECONDS = 0.5
LATER = datetime(2026, 4, 1, tzinfo=UTC)
SAID = {"2026-03-01": "I live in Berlin.", "2026-03-02": "I like tea.", "2026-03-03": "I have a dog."}


def message(day: str, text: str, user_id: str = "ada") -> bytes:
    return orjson.dumps(
        {
            "user_id": user_id, "session_id": f"s-{day}", "turn_number": 0, "role": "user", "content": text,
            "timestamp": f"{day}T10:00:00Z",
        }
    )  # fmt: skip


@dataclass
class Ui:
    """A running UI, its address, and the home that it looks at."""

    home: Pipeline
    address: str
    slowness: float = 1.0
    """How many times longer than usual this machine takes at present; deadlines are stretched by it."""

    def query(self, text: str, **variables: Any) -> Any:
        """The data that a query or mutation answers; fails with what went wrong."""
        request = urllib.request.Request(
            f"{self.address}/graphql",
            json.dumps({"query": text, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                said = json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(error.read().decode()) from error
        assert "errors" not in said, said["errors"]
        return said["data"]

    def wait(self, what: str, seconds: float, found: Callable[[], Any]) -> Any:
        """Polls until something is found; fails when it is not within the seconds of a machine with time to spare."""
        deadline = time.monotonic() + seconds * self.slowness
        while time.monotonic() < deadline:
            if (value := found()) is not None and value is not False:
                return value
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"{what}: not within {seconds:g} s, {self.slowness:.1f} times as long on this machine")

    def relations(self, user_id: str) -> set[str]:
        """The relations of all facts that are known of a user."""
        query = FactQuery(user_id, as_of=date(2026, 3, 31))
        return {fact["relation"] for fact in facts(self.home.store, query, self.home.settings.decay)}

    def finds(self, user_id: str, question: str) -> list[str]:
        """The texts that a search gives, best first; none while nothing of the user is indexed."""
        with suppress(NotMadeError):
            return [hit.text for hit in Memory(self.home.path, user_id).retrieve_memories(question)]
        return []

    def drop(self, name: str, day: str, text: str, user_id: str) -> None:
        """Drops a file into the inbox, as somebody with a mouse would."""
        path = self.home.inbox / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(message(day, text, user_id))


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    # On a tmpfs where there is one: Dagster's SQLite waits for the disk at every event.
    fast = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=fast if fast.is_dir() else tmp_path_factory.mktemp("ui")) as folder:
        home = Pipeline(load_settings(home=Path(folder) / "home"))
        _make_facts(home)
        log = tmp_path_factory.mktemp("ui-log") / "dagster-dev.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        found = Ui(home, f"http://127.0.0.1:{port}")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*DAGSTER_DEV, "--port", str(port)],
                cwd=ROOT,
                env=_environment(home),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            _wait_for_start(found, process, log)
            yield found
        finally:
            _stop(process)


def _make_facts(home: Pipeline) -> None:
    """Lands three days and makes their tables without Dagster, so that the sensors find nothing to do."""
    path = home.path / "said.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n".join(message(day, text) for day, text in SAID.items()))
    land([path], home.store.log, now=LATER, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


def _environment(home: Pipeline) -> dict[str, str]:
    scrubbed = ("EM_", "DAGSTER_", "OPENAI_", "NEO4J_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(scrubbed) and not k.lower().endswith("_proxy")}
    return kept | {
        "EM_HOME": str(home.path),
        "DAGSTER_HOME": str(prepare_dagster_home(home)),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        "GX_ANALYTICS_ENABLED": "false",
    }


def _wait_for_start(ui: Ui, process: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        with suppress(OSError):
            return bool(ui.query("{ version }"))
        return False

    began = time.monotonic()
    ui.wait(f"start of dagster dev (its log: {log})", START_SECONDS, answers)
    ui.slowness = max(1.0, (time.monotonic() - began) / USUAL_START_SECONDS)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the process group that was started here, by force where asking does not help."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_SECONDS)
