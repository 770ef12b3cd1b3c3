"""Scrubbing Dagster's storage: what a killed process left beside a database is gone before its turn comes."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from em_pipelines.governance.erasure.terms import Terms
from em_pipelines.governance.erasure.traces import scrub_dagster
from em_pipelines.landing.erasure_requests import Plan, Request, RequestBook, Scope, ScopeKind
from em_pipelines.storage.salt import Salt


def test_a_database_of_a_process_that_was_killed_is_scrubbed_with_what_lies_beside_it(tmp_path: Path) -> None:
    alive, left = tmp_path / "alive", tmp_path / "left"
    alive.mkdir()
    with closing(sqlite3.connect(alive / "run.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE event_logs (event TEXT)")
        connection.execute("INSERT INTO event_logs VALUES (?)", ('{"message": "not found: nora"}',))
        connection.commit()
        shutil.copytree(alive, left)
    assert {path.name for path in left.iterdir()} == {"run.db", "run.db-shm", "run.db-wal"}
    request = Request("erase_1", Scope(ScopeKind.USER, "nora", ""), datetime(2026, 5, 1, tzinfo=UTC), "user")
    assert scrub_dagster(left, Terms.of(request, Plan(), RequestBook(tmp_path, Salt(tmp_path / "salt")))) == 1
    with closing(sqlite3.connect(left / "run.db")) as connection:
        assert connection.execute("SELECT event FROM event_logs").fetchall() == [('{"message":"not found: […]"}',)]
