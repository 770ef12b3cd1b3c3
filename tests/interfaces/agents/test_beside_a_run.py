"""Agents that write while `em run` is at work: nobody waits for the night, nothing is lost, nothing is there twice."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.interfaces.memory import Memory

ROOT = Path(__file__).parents[3]
DAYS = 6
MAX_TURNS = 25


@pytest.mark.slow
def test_what_is_stored_beside_a_run_is_kept_and_learned_from(
    nora: Memory, tmp_path: Path, rerun: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        {"user_id": "nora", "session_id": f"log{n}", "turn_number": 0, "role": "user", "content": f"I like fruit{n}.",
         "timestamp": f"2026-03-{10 + n}T10:00:00Z"}
        for n in range(DAYS)
    ]  # fmt: skip
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(map(orjson.dumps, said)))
    command = [
        sys.executable,
        "-c",
        "from em_pipelines.interfaces.cli.app import main; main()",
        "run",
        str(log),
        "--home",
    ]
    process = subprocess.Popen([*command, str(nora.home.path)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    failures: list[BaseException] = []

    def agent(number: int) -> None:
        memory, turn = Memory(nora.home.path, "nora"), 0
        try:
            while turn < MAX_TURNS and (process.poll() is None or turn == 0):
                at = datetime(2026, 3, 20 + number, 12, turn, tzinfo=UTC)
                memory.store_observation(f"Turn {turn}.", session_id=f"a{number}", turn_number=turn, timestamp=at)
                memory.list_observations(limit=3)
                memory.facts()
                turn += 1
        except BaseException as error:
            failures.append(error)

    agents = [threading.Thread(target=agent, args=(number,)) for number in range(2)]
    for one in agents:
        one.start()
    _, told = process.communicate(timeout=300)
    for one in agents:
        one.join()
    assert not failures
    assert process.returncode == 0, told.decode()
    rerun()
    for number in range(2):
        here = nora.list_observations(session_id=f"a{number}", limit=10_000)
        assert [one.turn_number for one in here] == list(range(len(here)))[::-1]
        assert not any(one.awaits_run for one in here)
    liked = {fact["object"] for fact in nora.facts() if fact["relation"] == "likes"}
    assert {f"fruit{n}" for n in range(DAYS)} <= liked
