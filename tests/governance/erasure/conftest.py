"""A small home of two people who speak of the same things, with everything that a home can hold; and a search through
all of it that knows nothing of the one under test."""

import base64
import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from em_pipelines.governance.erasure.forget import carry_out, catch_up
from em_pipelines.governance.erasure.forget import forget as forget_scope
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.landing.report import LandingReport
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest, Message
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import build
from em_pipelines.schema.tables.extraction import SEGMENTS
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.snapshot import publish
from em_pipelines.settings import load_settings

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

NORA = (
    ("s1", "2026-03-02T08:00:00Z", "user", "I live in Bergen. My flatmate Torvald works at the aquarium."),
    ("s1", "2026-03-02T08:01:00Z", "assistant", "Say hello to Torvald from me. Bergen is lovely in March."),
    ("s1", "2026-03-02T08:02:00Z", "user", "Torvald plays the zither. I own a Fender Rhodes."),
    ("s2", "2026-03-05T09:00:00Z", "user", "My wife Ylva likes cloudberries. She works at Nordlys."),
    ("s2", "2026-03-05T09:01:00Z", "assistant", "Cloudberries are in season for Ylva in August."),
    ("s2", "2026-03-05T09:02:00Z", "user", "my wife is forty. I moved to Tromsø and Torvald helped me."),
    ("s3", "2026-03-20T09:00:00Z", "user", "I own a Fender Rhodes. I like knitting."),
)
IVO = (
    ("s1", "2026-03-02T10:00:00Z", "user", "My friend Torvald works at the aquarium. I own a Fender Rhodes."),
    ("s2", "2026-03-06T10:00:00Z", "user", "My wife Ylva likes cloudberries."),
)


def lines(user: str, said: tuple[tuple[str, str, str, str], ...]) -> list[dict[str, Any]]:
    """Messages as native records; turn numbers count within the session."""
    turns: dict[str, int] = {}
    found = []
    for session, at, role, content in said:
        turn = turns[session] = turns.get(session, -1) + 1
        found.append(
            {
                "user_id": user, "session_id": session, "turn_number": turn, "role": role, "content": content,
                "timestamp": at,
            }
        )  # fmt: skip
    return found


@dataclass
class World:
    """A home and what tests do to it."""

    home: Pipeline
    folder: Path

    def write(self, *records: dict[str, Any] | bytes, name: str = "log.jsonl") -> Path:
        path = self.folder / name
        path.write_bytes(b"\n".join(r if isinstance(r, bytes) else orjson.dumps(r) for r in records) + b"\n")
        return path

    def land(self, *records: dict[str, Any] | bytes, name: str = "log.jsonl") -> LandingReport:
        settings = self.home.settings.landing
        return land([self.write(*records, name=name)], self.home.store.log, now=NOW, settings=settings)

    def make(self) -> None:
        """Makes every day that is out of date."""
        catch_up(self.home)

    def run_full(self) -> None:
        """Makes every day of every step again, as `em run --full` does."""
        for step in self.home.steps.values():
            self.home.store.run_days(step, self.home.store.days(step), is_forced=True)

    def forget(self, who: str, **scope: str) -> Any:
        ((kind, target),) = scope.items()
        return forget_scope(self.home, Scope(ScopeKind(kind), who, target), now=NOW)

    def carry_out(self) -> list[Any]:
        with self.home.lock("run"):
            return carry_out(self.home)

    def facts(self, user: str, day: str = "2026-04-30") -> set[tuple[str, str, str]]:
        query = FactQuery(user, date.fromisoformat(day))
        return {
            (f["subject"], f["relation"], f["object"]) for f in facts(self.home.store, query, self.home.settings.decay)
        }

    def edge_id(self, user: str, *fact: str) -> str:
        query = FactQuery(user, date(2026, 4, 30), is_all=True)
        found = facts(self.home.store, query, self.home.settings.decay)
        return str(next(f["edge_id"] for f in found if (f["subject"], f["relation"], f["object"]) == fact))

    def messages(self, user: str, session: str | None = None) -> list[str]:
        log = self.home.store.log
        return [
            r["content"] for day in log.days("interactions") for r in log.read("interactions", day)
            if r["user_id"] == user and session in (None, r["session_id"])
        ]  # fmt: skip

    def answers(self, user: str) -> list[str]:
        with AnswerStore(self.home.answers) as store:
            return [r["text"] for r in store.database.rows("SELECT text FROM answers WHERE user_id = ?", user)]

    def places(self, word: str, *, of: str | None = None) -> list[str]:
        """Where a word stands in the home: files, and what rows of `of` alone hold where a user is named."""
        needle = word.casefold()
        return sorted({where for where, text in texts_of(self.home.path, of) if needle in text.casefold()})


def texts_of(root: Path, user: str | None) -> Iterator[tuple[str, str]]:
    """Every text in a home with the file that it stands in; of rows that say whose they are only those of the user."""
    for path in sorted(root.rglob("*")):
        where = str(path.relative_to(root))
        if path.is_symlink() or not path.is_file():
            continue
        yield f"{where} (name)", where
        if user is not None and (path.parent / "documents.arrow").exists() and user not in owners_of_pack(path.parent):
            continue
        data = path.read_bytes()
        if data.startswith(b"PAR1"):
            yield from ((where, t) for t in rows_texts(pq.read_table(path, partitioning=None).to_pylist(), user))
            yield where, repr(pq.read_metadata(path).metadata)
        elif data.startswith(b"ARROW1"):
            with pa.memory_map(str(path)) as source:
                yield from ((where, t) for t in rows_texts(pa.ipc.open_file(source).read_all().to_pylist(), user))
        elif data[8:12] == b"DUCK":
            with duckdb.connect(str(path), read_only=True) as connection:
                for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                    rows = connection.sql(f'FROM "{table}"').to_arrow_table().to_pylist()
                    yield from ((where, text) for text in rows_texts(rows, user))
        elif data.startswith(b"SQLite format 3\x00"):
            yield from ((where, text) for text in sqlite_texts(path, user))
        elif path.suffix == ".jsonl":
            yield from ((where, t) for t in rows_texts([json.loads(x) for x in data.splitlines()], user))
        elif data.startswith(b"\x1f\x8b"):
            yield where, gzip.decompress(data).decode("utf-8", "replace")
        else:
            yield where, data.decode("utf-8", "replace")


def owners_of_pack(folder: Path) -> set[str]:
    """Who stands in the documents of an index pack: all of its files are theirs."""
    with pa.memory_map(str(folder / "documents.arrow")) as source:
        return set(pa.ipc.open_file(source).read_all()["user_id"].to_pylist())


def sqlite_texts(path: Path, user: str | None) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            yield from rows_texts([dict(row) for row in connection.execute(f'SELECT * FROM "{table}"')], user)
    if user is None:
        yield path.read_bytes().decode("utf-8", "replace")


def rows_texts(rows: list[dict[str, Any]], user: str | None) -> Iterator[str]:
    for row in rows:
        raw = row.get("raw")
        decoded = (base64.b64decode(raw) if isinstance(raw, str) else raw or b"").decode("utf-8", "replace")
        owner = row.get("user_id") or next((u for u in ("nora", "ivo") if f'"user_id": "{u}"' in decoded), None)
        if user is None or owner in (user, None):
            yield f"{row!r} {decoded}"


def feedback(user: str, type_: str, at: str, **payload: Any) -> dict[str, Any]:
    """A feedback record."""
    return {"kind": "feedback", "type": type_, "user_id": user, "timestamp": at, **payload}


@pytest.fixture
def empty(home_path: Path, tmp_path: Path) -> World:
    return World(Pipeline(load_settings(home=home_path)), tmp_path)


@pytest.fixture
def world(made_world: Path, empty: World) -> World:
    """A copy of what was made once."""
    shutil.copytree(made_world, empty.folder, symlinks=True, dirs_exist_ok=True)
    return empty


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both people's logs, other kinds of record, dead letters, two snapshots, index packs, answers of a model, files in
    the inbox, and a trace in Dagster's storage. Returns the folder that holds it; only copies of it are changed."""
    folder = tmp_path_factory.mktemp("world")
    empty = World(Pipeline(load_settings(home=folder / "home")), folder)
    home = empty.home
    for user, said in (("nora", NORA), ("ivo", IVO)):
        empty.land(
            *lines(user, said),
            feedback(user, "recalled", "2026-03-21T08:00:00Z", subject="Torvald", relation="works_at",
                     object="aquarium"),
            feedback(user, "add_facts", "2026-03-21T09:00:00Z", facts=[
                {"subject": "Torvald", "relation": "likes", "object": "herring"},
                {"relation": "likes", "object": "rye bread"},
            ]),
            {"kind": "skill_invocation", "user_id": user, "session_id": "s1", "timestamp": "2026-03-02T08:03:00Z",
             "skill_name": "search", "output_summary": "Torvald at the aquarium"},
            {"user_id": user, "session_id": "s9", "turn_number": "9", "role": "user", "content": "Torvald is here.",
             "timestamp": "2026-03-22T08:00:00Z"},
            b'{"user_id": "%s", "content": "Ylva and Torv' % user.encode(),
            name=f"{user}.jsonl",
        )  # fmt: skip
    empty.make()
    publish(home.store, home.snapshots, home.time_rules, date(2026, 3, 6))
    publish(home.store, home.snapshots, home.time_rules)
    build(home)
    keep_answers(empty)
    for user in ("nora", "ivo"):
        for name in (f".landed/20260401T000000/{user}/old.jsonl", f".landed/20260401T000000/{user}.jsonl"):
            path = home.inbox / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n".join(map(orjson.dumps, lines(user, NORA))))
    trace_in_dagster(home)
    return folder


def keep_answers(world: World) -> None:
    """An answer for every segment, and a question of each user that waits for a batch."""
    with AnswerStore(world.home.answers) as store:
        for day in world.home.store.lake.days(SEGMENTS):
            for row in world.home.store.lake.read(SEGMENTS, day).to_pylist():
                prompt = f"{row['session_id']} of {row['user_id']}"
                request = ChatRequest(
                    user_id=row["user_id"], reference=row["segment_id"], correlation_id="c", task="extraction",
                    model="small", prompt_version="1", at=NOW, messages=(Message("user", prompt),),
                    schema_name="none", schema={}, max_output_tokens=10, temperature=0.0,
                )  # fmt: skip
                said = " / ".join(world.messages(row["user_id"], row["session_id"]))
                store.save(request, ChatAnswer(request.key, said, "stop", 1, 1, 1.0, 0.1), NOW)


def trace_in_dagster(home: Pipeline) -> None:
    """An error message in an event, as Dagster keeps it."""
    home.dagster_home.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(home.dagster_home / "runs.db")) as connection:
        connection.execute("CREATE TABLE event_logs (id INTEGER PRIMARY KEY, event TEXT)")
        event = {"__class__": "DagsterEvent", "error": {"message": "Could not convert 'Torvald' of nora to INT32"}}
        connection.execute("INSERT INTO event_logs (event) VALUES (?)", (json.dumps(event),))
        connection.commit()


@pytest.fixture
def seen(world: World) -> Callable[[str], list[str]]:
    """Where a word of Nora's stands."""
    return lambda word: world.places(word, of="nora")
