"""The catalogue of a snapshot for other tools: every table, view and column with what it means and what holds of it.

In the form of a file of sources of dbt (`version: 2`), which other catalogues read as well. What it says is what a
snapshot of nothing says of itself, and what is expected of the declared tables; nothing is written here twice.
"""

from collections.abc import Iterator
from typing import Any

from em_pipelines.schema.expectations import Expectation, InSet, NotNull, Unique, expectations_of
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.serving.column_comments import origin
from em_pipelines.serving.snapshot import PUBLISHED
from em_pipelines.serving.snapshot_file import make_empty
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.storage.duckdb_engine import connect

RELATIONS = (
    "SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal "
    "UNION ALL SELECT table_name, comment FROM duckdb_tables() ORDER BY name"
)
COLUMNS = (
    "SELECT table_name, column_name, comment, data_type FROM duckdb_columns() WHERE NOT internal "
    "ORDER BY table_name, column_index"
)


def catalogue(rules: TimeRules, *, source: str, database: str) -> dict[str, Any]:
    """The catalogue as plain data. `source` is what dbt is to call it, `database` by what name the file is attached."""
    with connect(":memory:") as connection:
        make_empty(connection, PUBLISHED, rules)
        columns: dict[str, list[dict[str, Any]]] = {}
        for relation, column, comment, type_ in connection.execute(COLUMNS).fetchall():
            columns.setdefault(relation, []).append(_column(relation, column, comment, type_))
        relations = connection.execute(RELATIONS).fetchall()
    tables = [{"name": name, "description": comment, "columns": columns[name]} for name, comment in relations]
    about = "The memory of a day, as `em snapshot` publishes it."
    entry = {"name": source, "description": about, "database": database, "schema": "main", "tables": tables}
    return {"version": 2, "sources": [entry]}


def _column(relation: str, column: str, comment: str, type_: str) -> dict[str, Any]:
    told: dict[str, Any] = {"name": column, "description": comment, "data_type": type_}
    tests = [test for expectation in _expected(relation, column) if (test := _test(expectation)) is not None]
    return told | ({"data_tests": tests} if tests else {})


def _expected(relation: str, column: str) -> Iterator[Expectation]:
    """What is expected of a column: of a view only that values are of the closed set, for joins give nulls."""
    where = origin(relation, column)
    if where is None:
        return
    table, name = where
    for expectation in expectations_of(CATALOG[table]):
        if expectation.columns == (name,) and (relation in CATALOG or isinstance(expectation, InSet)):
            yield expectation


def _test(expectation: Expectation) -> str | dict[str, Any] | None:
    """An expectation as a test that dbt has by itself; None for others."""
    if isinstance(expectation, NotNull):
        return "not_null"
    if isinstance(expectation, Unique):
        return "unique"
    if isinstance(expectation, InSet):
        is_quoted = all(isinstance(value, str) for value in expectation.values)
        return {"accepted_values": {"arguments": {"values": list(expectation.values), "quote": is_quoted}}}
    return None
