"""Views over the examples, against the engine's own answers; two files side by side."""

from datetime import date
from pathlib import Path

import pytest

from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import CONTRADICTIONS, GRAPH_OPS
from em_pipelines.storage.duckdb_engine import connect
from quality.meaning import relates_to_share

DAY = date(2026, 10, 9)
VIEWS = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = 'earlier' ORDER BY view_name"


def test_quality_of_a_day_is_what_the_checks_find(snapshot, examples) -> None:
    lake = examples.store.lake
    for day in lake.days(CLAIMS):
        claims = lake.read(CLAIMS, day)
        found = snapshot.execute(
            "SELECT n_claims, relates_to_share FROM quality_by_day WHERE day = ?", [day]
        ).fetchall()
        n_last_resort = sum(c["relation"] == "relates_to" and c["act"] == "assert" for c in claims.to_pylist())
        assert found == [(claims.num_rows, relates_to_share(QualitySettings(), claims.num_rows, n_last_resort).figure)]


def test_the_history_of_a_fact_is_its_operations_in_order(snapshot, examples) -> None:
    lake = examples.store.lake
    ops = sorted(rows_of(lake.read_days(GRAPH_OPS, lake.days(GRAPH_OPS))), key=lambda op: op["timestamp"])
    for edge_id in {op["edge_id"] for op in ops if op["operation"] == "REVISE"}:
        found = snapshot.execute("SELECT operation, status_before FROM history(?)", [edge_id]).fetchall()
        assert sorted(name for name, _ in found) == sorted(op["operation"] for op in ops if op["edge_id"] == edge_id)
        assert [status is None for _, status in found] == [True] + [False] * (len(found) - 1)


def test_conflicts_are_as_many_as_contradictions(snapshot, examples) -> None:
    lake = examples.store.lake
    latest = lake.latest(CONTRADICTIONS, date.max)
    assert snapshot.execute("SELECT count(*) FROM conflicts").fetchall() == [
        (lake.read(CONTRADICTIONS, latest).num_rows,)
    ]


@pytest.mark.slow
def test_views_of_an_attached_file_speak_of_that_file(examples_snapshot: Path) -> None:
    def answers(connection, prefix: str = "") -> dict[str, list[tuple[object, ...]]]:
        connection.execute("SET threads = 1")  # sums of fractions hang on the order in which threads bring them
        return {
            name: connection.execute(f"SELECT count(*), sum(hash(t)) FROM {prefix}{name} AS t").fetchall()
            for name in names
        }

    with connect() as other:
        other.execute(f"ATTACH '{examples_snapshot}' AS earlier (READ_ONLY)")
        names = [name for (name,) in other.execute(VIEWS).fetchall()]
        assert {"facts", "cold_start", "quality_by_day", "self_improvement"} <= set(names)
        attached = answers(other, "earlier.")
        other.execute("USE earlier")
        assert other.execute("SELECT count(*) > 0 FROM facts_as_of('mirela', '2026-10-01')").fetchall() == [(True,)]
    with connect(str(examples_snapshot), is_read_only=True) as own:
        assert answers(own) == attached


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati"])
def test_days_are_those_of_utc_wherever_somebody_looks(snapshot, by_engine, by_macro, examples, zone) -> None:
    snapshot.execute(f"SET TimeZone = '{zone}'")
    found = snapshot.execute("FROM facts_as_of('mirela', ?) SELECT edge_id", [DAY]).fetchall()
    assert {edge_id for (edge_id,) in found} == set(by_engine(examples, "mirela", DAY))
