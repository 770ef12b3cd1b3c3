"""Homes and days with telemetry of skills, and nobody who said anything."""

from pathlib import Path
from typing import Any

import orjson

CALL = {
    "kind": "skill_invocation", "user_id": "nora", "session_id": "s1", "skill_name": "search", "exit_code": 1,
    "duration_ms": 840, "timestamp": "2026-03-02T08:15:02Z",
}  # fmt: skip
MESSAGE = {
    "user_id": "nora", "session_id": "s1", "turn_number": 0, "role": "user", "content": "I live in Utne.",
    "timestamp": "2026-03-01T08:00:00Z",
}  # fmt: skip


def test_a_home_of_skill_invocations_alone_is_published_and_goes_on(em: Any, tmp_path: Path) -> None:
    home, calls, said = tmp_path / "home", tmp_path / "calls.jsonl", tmp_path / "said.jsonl"
    calls.write_bytes(orjson.dumps(CALL) + b"\n" + orjson.dumps({**CALL, "skill_name": "fetch", "exit_code": 0}))
    done = em("run", calls, "--home", home)
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / "snapshots" / "2026-03-02.duckdb").exists()
    said.write_bytes(orjson.dumps(MESSAGE))  # a day with a message before one without
    done = em("run", said, "--home", home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Utne" in em("facts", "--user", "nora", "--home", home).stdout
