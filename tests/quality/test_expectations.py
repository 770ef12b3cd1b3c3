"""Every declared expectation of every table, broken by itself: both evaluators see that one, and say where but never
what.

The cross product is made from the declaration, so what is added to it is tried here. Great Expectations is slow: it
gets all breakages of a table in one frame, a row each, and is held against the counts and against the SQL.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.governance.audit.contracts import check_rows
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.expectations import (
    Between,
    ColumnsMatch,
    Expectation,
    InSet,
    NotNull,
    RowsPerDay,
    Unique,
    Verdict,
    expectations_of,
)
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES
from quality.suites import Suites

Rows = Callable[..., pa.Table]
Row = dict[str, Any]
OUTSIDE = "Ada-4711"
"""A value that no sentence may repeat."""

ALWAYS = (MESSAGES, CLAIMS, EDGES)
"""Tables of which `make test` asks, too."""


def marks_of(table: Table) -> tuple[pytest.MarkDecorator, ...]:
    return () if table in ALWAYS else (pytest.mark.slow,)


every_table = pytest.mark.parametrize(
    "table", [pytest.param(table, marks=marks_of(table)) for table in CATALOG.values()], ids=CATALOG
)
DECLARED = [(table, e) for table in CATALOG.values() for e in expectations_of(table)]
BREAKABLE = [(table, e) for table, e in DECLARED if e != RowsPerDay(0)]
every_expectation = pytest.mark.parametrize(
    ("table", "expectation"),
    [pytest.param(table, e, marks=marks_of(table), id=f"{table.name}-{e.rule}-{e.about}") for table, e in BREAKABLE],
)


def by_sql(table: Table, rows: pa.Table, n_days: int = 0) -> Verdict:
    return check_rows(table, rows, n_days=n_days)


def by_great_expectations(table: Table, rows: pa.Table, n_days: int = 0) -> Verdict:
    return Suites().validate(table, rows, n_days=n_days)


both = pytest.mark.parametrize("evaluate", [by_sql, pytest.param(by_great_expectations, marks=pytest.mark.slow)])


def breaking_rows(table: Table, expectation: Expectation) -> list[Row]:
    """What to change in as many rows as it takes to break one expectation of values."""
    match expectation:
        case NotNull(column):
            return [{column: None}]
        case InSet(column, _):
            return [{column: OUTSIDE if table.schema.field(column).type == pa.string() else 0}]
        case Between(column, low, _):
            return [{column: low - 1}]
        case Unique(columns):
            key = {name: OUTSIDE for name in columns if table.schema.field(name).type == pa.string()}
            return [key | dict.fromkeys(set(columns) & {"turn_number"}, 4711)] * 2
    return []


def broken_alone(table: Table, expectation: Expectation, rows_of: Rows) -> tuple[pa.Table, int]:
    """Rows, and the days they stand for, that break this one expectation and no other."""
    if isinstance(expectation, ColumnsMatch):
        return rows_of(table, {}).append_column("nickname", pa.array([OUTSIDE])), 1
    if isinstance(expectation, RowsPerDay):
        return table.empty(), 1
    return rows_of(table, {}, {}, *breaking_rows(table, expectation)), 1


@every_expectation
def test_a_breakage_of_one_expectation_breaks_that_one_alone(
    table: Table, expectation: Expectation, rows_of: Rows
) -> None:
    rows, n_days = broken_alone(table, expectation, rows_of)
    found = check_rows(table, rows, n_days=n_days)
    assert [broken.expectation for broken in found.broken] == [expectation]
    assert found.sentences[0].startswith(f"{expectation.rule} on {expectation.about}: ")
    assert "4711" not in found.sentences[0]


def broken(n_rows: int) -> str:
    return "1 row breaks it" if n_rows == 1 else f"{n_rows} rows break it"


@every_table
def test_both_evaluators_see_every_breakage_of_values_and_count_it_alike(table: Table, rows_of: Rows) -> None:
    of_values = [e for e in expectations_of(table) if breaking_rows(table, e)]
    rows = rows_of(table, {}, {}, *(row for e in of_values for row in breaking_rows(table, e)))
    wanted = [f"{e.rule} on {e.about}: {broken(len(breaking_rows(table, e)))}" for e in of_values]
    assert by_sql(table, rows).sentences == wanted
    assert by_great_expectations(table, rows).sentences == wanted


@every_table
def test_both_evaluators_see_a_column_too_many_and_rows_that_are_not_there(table: Table, rows_of: Rows) -> None:
    rows = table.empty().append_column("nickname", pa.array([], pa.string()))
    wanted = [e for e in expectations_of(table) if isinstance(e, ColumnsMatch) or e == RowsPerDay(1)]
    for evaluate in (by_sql, by_great_expectations):
        found = evaluate(table, rows, 1)
        assert [broken.expectation for broken in found.broken] == wanted
        assert "its columns differ from the declared schema: not declared: nickname" in found.sentences[0]


@every_table
def test_rows_that_fit_pass_by_sql(table: Table, rows_of: Rows) -> None:
    found = by_sql(table, rows_of(table, {}, {}), 2)
    assert found.is_success, found.sentences
    assert (found.n_rows, found.n_days, found.n_expectations) == (2, 2, len(expectations_of(table)))


@both
@pytest.mark.parametrize("table", [MESSAGES, CLAIMS, EDGES], ids=lambda table: table.name)
def test_rows_that_fit_pass(evaluate: Any, table: Table, rows_of: Rows) -> None:
    found = evaluate(table, rows_of(table, {}, {}), 2)
    assert found.is_success, found.sentences
    nullable = {column.name: None for column in table.columns if column.is_nullable}
    assert evaluate(table, rows_of(table, {}, nullable), 2).is_success


@both
def test_a_missing_column_is_named_and_whatever_reads_it_is_broken(evaluate: Any, rows_of: Rows) -> None:
    found = evaluate(CLAIMS, rows_of(CLAIMS, {}).drop_columns(["claim_id", "relation"]), 1)
    assert found.sentences[0].endswith("its columns differ from the declared schema: missing: claim_id, relation")
    unasked = {b.expectation.about for b in found.broken if b.found.startswith("could not be evaluated")}
    assert unasked == {"claim_id", "relation"}
    assert {type(b.expectation) for b in found.broken} == {ColumnsMatch, NotNull, Unique, InSet}


@both
def test_a_column_of_another_type_is_a_sentence_and_no_crash(evaluate: Any, rows_of: Rows) -> None:
    rows = rows_of(CLAIMS, {})
    place = CLAIMS.schema.get_field_index("confidence")
    found = evaluate(CLAIMS, rows.set_column(place, "confidence", pa.array([OUTSIDE])), 1)
    assert {b.expectation.about for b in found.broken} == {"the table", "confidence"}
    assert "of another type: confidence" in found.sentences[0]
    assert OUTSIDE not in str(found.sentences)


@both
def test_columns_in_another_order_are_seen(evaluate: Any, rows_of: Rows) -> None:
    rows = rows_of(CLAIMS, {}).select(CLAIMS.schema.names[::-1])
    (broken,) = evaluate(CLAIMS, rows, 1).broken
    assert isinstance(broken.expectation, ColumnsMatch)


@both
def test_nan_is_no_value_and_infinity_is_out_of_range(evaluate: Any, rows_of: Rows) -> None:
    wrong = [{"confidence": float("nan")}, {"confidence": float("inf")}]
    found = evaluate(CLAIMS, rows_of(CLAIMS, {}, *wrong), 1)
    assert found.sentences == [
        "expect_column_values_to_not_be_null on confidence: 1 row breaks it",
        "expect_column_values_to_be_between on confidence: 1 row breaks it",
    ]


@both
def test_both_ends_of_a_range_belong_to_it_and_nothing_beyond(evaluate: Any, rows_of: Rows) -> None:
    ends = [{"confidence": 0.0}, {"confidence": 1.0}, {"confidence": 1.0000001}, {"confidence": -0.0000001}]
    (broken,) = evaluate(CLAIMS, rows_of(CLAIMS, *ends), 1).broken
    assert broken.found == "2 rows break it"


@both
def test_lists_and_structs_are_no_obstacle(evaluate: Any, rows_of: Rows) -> None:
    assert evaluate(MESSAGES, rows_of(MESSAGES, {"tags": []}, {"tags": ["a", "b"]}), 2).is_success
    assert evaluate(EDGES, rows_of(EDGES, {"provenance": []}, {}), 1).is_success


@both
def test_a_table_that_may_be_empty_passes_without_rows(evaluate: Any) -> None:
    assert evaluate(CLAIMS, CLAIMS.empty(), 3).is_success


def test_every_table_that_a_step_makes_is_declared(settings: Any) -> None:
    home = Pipeline(settings)
    made = {table.name for step in (*home.steps.values(), home.inference) for table in step.outputs}
    assert made <= CATALOG.keys()


def test_of_every_kind_of_expectation_there_is_one() -> None:
    assert {type(e) for _, e in DECLARED} == {ColumnsMatch, RowsPerDay, NotNull, Unique, InSet, Between}
    assert {len(e.columns) > 1 for _, e in DECLARED if isinstance(e, Unique)} == {True, False}


def test_a_closed_set_is_of_a_column_that_the_table_has() -> None:
    for table, expectation in DECLARED:
        assert {*expectation.columns} <= {*table.schema.names}, (table.name, expectation)
