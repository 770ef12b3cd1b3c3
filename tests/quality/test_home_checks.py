"""The checks of a whole home, as the job `quality` runs them: on the examples nothing is found, and whatever is planted
is found by the check that is named for it, the first time that it is asked."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import orjson
import pytest

from em_pipelines.governance.audit.looks import FILE
from em_pipelines.landing.land import land
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest, Message
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS, ENTITY_OPS, GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.graph_store import GraphStore
from em_pipelines.serving.projection.sync import project
from em_pipelines.serving.snapshot import LATEST
from em_pipelines.settings import load_settings
from quality.home_checks import build_home_checks, home_checks
from quality.report import report_asset
from resources.home import HomeResource

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
DAY = date(2026, 10, 17)
KEY = "AKIA" + "QX7MZP2LW4TRBN6D"
Rows = list[dict[str, Any]]


class Checked:
    """A copy of the examples' home, a graph database beside it, and the checks over both."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graph = InMemoryGraph()
        self.graph.prepare()
        self.settings = load_settings(home=path)

    @property
    def home(self) -> Pipeline:
        return Pipeline(self.settings)

    def find(self, *names: str) -> dict[str, dg.AssetCheckEvaluation]:
        """What the checks of the home find, by name: all unless some are named."""

        @contextmanager
        def open_graph() -> Iterator[GraphStore]:
            yield self.graph

        wanted = names or tuple(check.name for check in home_checks(open_graph))
        keys = [dg.AssetCheckKey(dg.AssetKey("quality_report"), name) for name in wanted]
        definitions = dg.Definitions(
            assets=[report_asset([])],
            asset_checks=[build_home_checks(open_graph)],
            jobs=[dg.define_asset_job("some", dg.AssetSelection.checks(*keys))],
            resources={"home": HomeResource.of(self.settings)},
            executor=dg.in_process_executor,
        )
        result = definitions.resolve_job_def("some").execute_in_process(run_config=QUIET)
        return {found.check_name: found for found in result.get_asset_check_evaluations()}

    def failing(self, *names: str) -> dict[str, str]:
        """The checks that do not hold, with what they say."""
        return {name: str(one.description) for name, one in self.find(*names).items() if not one.passed}

    def change(self, table: Table, day: date, changed: Callable[[Rows], Rows]) -> None:
        lake = Pipeline(self.settings).store.lake
        lake.write(table, day, table.from_rows(changed(lake.read(table, day).to_pylist())))


@pytest.fixture
def checked(examples_home: Path, tmp_path: Path) -> Checked:
    copy = tmp_path / "home"
    shutil.copytree(examples_home, copy, symlinks=True)
    return Checked(copy)


@pytest.mark.slow
def test_the_examples_pass_every_check(checked: Checked) -> None:
    found = checked.find()
    assert {name: one.description for name, one in found.items() if not one.passed} == {}
    assert found["budget_left"].description == "no model was asked yet"
    assert "data_docs" not in found["no_secrets"].metadata, "no report was made yet"
    assert found["no_secrets"].metadata["left"].value == 0
    again = checked.find("no_secrets", "references_exist")
    assert [one.metadata["partitions"].value for one in again.values()] == [0, 0], "nothing was written since"


@pytest.mark.parametrize(
    ("table", "change", "where"),
    [
        (MESSAGES, lambda rows: [rows[0] | {"content": f"use {KEY} for it"}, *rows[1:]], "messages.content"),
        pytest.param(
            FEEDBACK,
            lambda rows: [rows[0] | {"payload": f'{{"a": "{KEY}"}}'}, *rows[1:]],
            "feedback.payload",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            AUDIT_TRAIL,
            lambda rows: [rows[0] | {"new_value": KEY}, *rows[1:]],
            "audit_trail.new_value",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            MESSAGES, lambda rows: [rows[0] | {"tags": [KEY]}, *rows[1:]], "messages.tags", marks=pytest.mark.slow
        ),
    ],
)
def test_a_secret_in_a_table_is_found_and_not_quoted(
    table: Table, change: Callable[[Rows], Rows], where: str, checked: Checked
) -> None:
    assert checked.failing("no_secrets") == {}
    day = next(day for day in checked.home.store.lake.days(table) if checked.home.store.lake.read(table, day).num_rows)
    kept = checked.home.store.lake.read(table, day).to_pylist()
    checked.change(table, day, change)
    said = checked.failing("no_secrets")["no_secrets"]
    assert f"{where} of {day}: 1" in said
    assert KEY not in said + (checked.path / FILE).read_text()
    assert checked.failing("no_secrets"), "it stays so until somebody has mended it"
    checked.change(table, day, lambda _: kept)
    assert checked.failing("no_secrets") == {}


@pytest.mark.slow
def test_what_a_look_has_no_time_for_is_looked_at_next(checked: Checked) -> None:
    checked.settings = load_settings(home=checked.path, quality={"max_secret_megabytes": 1})
    checked.change(
        MESSAGES, DAY, lambda rows: [row | {"content": f"{row['message_id']} said " * 9_000} for row in rows]
    )
    checked.change(AUDIT_TRAIL, DAY, lambda rows: rows)
    first = checked.find("no_secrets")["no_secrets"]
    assert first.passed
    assert first.metadata["left"].value == 1
    assert str(first.description) == "1 partition left for the next look"
    assert checked.find("no_secrets")["no_secrets"].metadata["left"].value == 0


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (MENTIONS, "message_id"),
        pytest.param(CLAIMS, "segment_id", marks=pytest.mark.slow),
        pytest.param(ENTITY_OPS, "entity_id", marks=pytest.mark.slow),
        pytest.param(GRAPH_OPS, "edge_id", marks=pytest.mark.slow),
    ],
)
def test_a_row_that_points_at_nothing_is_found(table: Table, column: str, checked: Checked) -> None:
    checked.change(table, DAY, lambda rows: [rows[0] | {column: "gone"}, *rows[1:]])
    found = checked.failing("references_exist", "users_cross_nowhere")
    assert list(found) == ["references_exist"]
    assert f"{table.name}.{column} of {DAY}: 1" in found["references_exist"]


def test_a_dangling_conflict_is_found(checked: Checked, rows_of: Callable[..., Any]) -> None:
    day = checked.home.store.lake.days(CONTRADICTIONS)[-1]
    checked.change(CONTRADICTIONS, day, lambda _: rows_of(CONTRADICTIONS, {"user_id": "ada"}).to_pylist())
    assert "contradictions.edge_id" in checked.failing("references_exist")["references_exist"]


@pytest.mark.parametrize(
    "table",
    [MENTIONS, *(pytest.param(one, marks=pytest.mark.slow) for one in [CLAIMS, ENTITY_OPS, GRAPH_OPS, AUDIT_TRAIL])],
    ids=lambda table: table.name,
)
def test_a_row_of_another_user_is_found(table: Table, checked: Checked) -> None:
    def crossed(rows: Rows) -> Rows:
        place = next(n for n, row in enumerate(rows) if row.get("edge_id", True) and row["user_id"])
        other = "ada" if rows[place]["user_id"] != "ada" else "mirela"
        return [row | {"user_id": other} if n == place else row for n, row in enumerate(rows)]

    checked.change(table, DAY, crossed)
    found = checked.failing("references_exist", "users_cross_nowhere")
    assert list(found) == ["users_cross_nowhere"]
    assert re.search(rf"{table.name}\.\w+ of {DAY}: 1", found["users_cross_nowhere"])
    assert checked.failing("users_cross_nowhere"), "it stays so until somebody has mended it"


def test_what_the_snapshot_has_lost_or_somebody_has_edited_is_found(checked: Checked) -> None:
    path = (checked.path / "snapshots" / LATEST).resolve()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE current_edges SET confidence = 0.11, effective_confidence = 0.11 WHERE true")
    said = checked.failing("served_is_memory")["served_is_memory"]
    assert said.startswith("the snapshot holds as much as memory and not the same: ")
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM messages WHERE turn_number = 1")
    assert "lost or gained rows of messages" in checked.failing("served_is_memory")["served_is_memory"]


@pytest.mark.slow
def test_a_graph_database_that_holds_something_else_is_found(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://localhost:1")
    assert "where memory holds" in checked.failing("served_is_memory")["served_is_memory"], "nothing was synced"
    project(checked.home.store, checked.graph)
    assert checked.failing("served_is_memory") == {}
    next(held for held in checked.graph.edges.values() if held).popitem()
    assert "relationships where memory holds" in checked.failing("served_is_memory")["served_is_memory"]


@pytest.mark.slow
def test_a_landed_day_that_nobody_makes_and_an_old_snapshot_are_found(checked: Checked, tmp_path: Path) -> None:
    log = tmp_path / "late.jsonl"
    said = {"user_id": "ada", "session_id": "late", "turn_number": 0, "role": "user", "content": "I like figs."}
    log.write_bytes(orjson.dumps(said | {"timestamp": "2026-11-02T10:00:00Z"}))
    home = checked.home
    land([log], home.store.log, now=datetime.now(UTC), settings=home.settings.landing)
    assert checked.failing("memory_fresh") == {}, "it landed just now"
    (segment,) = (checked.path / "log" / "interactions" / "2026-11-02").glob("*.jsonl")
    long_ago = time.time() - timedelta(days=2).total_seconds()
    os.utime(segment, (long_ago, long_ago))
    assert checked.failing("memory_fresh")["memory_fresh"].startswith("1 day landed long ago and not made (2026-11-02)")
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    assert checked.failing("memory_fresh") == {}, "the snapshot is not old yet"
    os.utime((checked.path / "snapshots" / LATEST).resolve(), (long_ago, long_ago))
    assert "snapshot is not what memory holds" in checked.failing("memory_fresh")["memory_fresh"]


def test_a_landing_that_was_mostly_refused_is_found(checked: Checked, tmp_path: Path) -> None:
    log = tmp_path / "broken.jsonl"
    log.write_text('{"user_id": "ada", "broken\n' * 40, encoding="utf-8")
    home = checked.home
    now = datetime.now(UTC)
    report = land([log], home.store.log, now=now, settings=home.settings.landing)
    home.store.run_days(home.steps["dead_letters"], home.store.days(home.steps["dead_letters"]))
    n_letters = report.n_new_dead_letters
    checked.settings = load_settings(home=checked.path, quality={"max_dead_letter_share": 0.0})
    said = checked.failing("dead_letter_rate")["dead_letter_rate"]
    assert f"({now.date()}: {n_letters} of " in said
    assert "em dead-letters list" in said


def test_a_budget_warns_before_it_is_spent_and_fails_when_it_is(checked: Checked) -> None:
    def asked(number: int) -> None:
        request = ChatRequest(
            user_id="ada", task="extraction", model="gpt-4.1-mini", prompt_version="1",
            messages=(Message("user", f"{number}"),), schema_name="s", schema={}, max_output_tokens=9, temperature=0.0,
            reference=f"{number}", correlation_id="cor", at=datetime.now(UTC),
        )  # fmt: skip
        with AnswerStore(checked.home.answers) as store:
            store.save(request, ChatAnswer(request.key, "{}", "stop", 1, 1, 1.0, 0.0), datetime.now(UTC))

    checked.settings = load_settings(home=checked.path, llm={"budget": {"max_calls_a_night": 10}})
    for number in range(8):
        asked(number)
    assert checked.failing("budget_left") == {}
    asked(8)
    warned = checked.find("budget_left")["budget_left"]
    assert (warned.passed, warned.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "is nearly spent (9)" in str(warned.description)
    asked(9)
    spent = checked.find("budget_left")["budget_left"]
    assert (spent.passed, spent.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "raise llm.budget" in str(spent.description)
