"""The catalogue: what every declared table must hold, so that equal content is equal bytes and keys are keys."""

import pyarrow as pa
import pytest

from em_pipelines.schema.table import PERSONAL_COLUMNS, Table
from em_pipelines.schema.tables import clean, derived, extraction, graph, outgoing, raw, record
from em_pipelines.schema.tables.catalog import CATALOG

GROUPS = {
    "landing", "episodes", "extraction", "resolution", "graph", "lifecycle", "consolidation", "serving", "quality",
}  # fmt: skip
SAID_OTHERWISE = {
    "sessions": ("user_id", "session_id"),  # of one day, as all rows of a partition are
    "messages": ("user_id", "session_id", "turn_number"),  # message_id is their hash
    "segments": ("user_id", "session_id", "first_turn"),  # a turn is in one segment of its session
}
"""Tables whose sort order ends unique by other columns than those of their key."""
every_table = pytest.mark.parametrize("table", CATALOG.values(), ids=CATALOG)


@every_table
def test_keys_and_sort_orders_are_columns_that_are_never_null(table: Table) -> None:
    never_null = {column.name for column in table.columns if not column.is_nullable}
    assert table.key
    assert set(table.key) <= never_null
    assert set(table.sort_by) <= never_null
    assert len(set(table.sort_by)) == len(table.sort_by)


@every_table
def test_the_sort_order_leaves_no_two_rows_equal(table: Table) -> None:
    assert set(table.sort_by) >= set(SAID_OTHERWISE.get(table.name, table.key))


@every_table
def test_rows_can_be_sorted_by_every_column_of_the_order(table: Table) -> None:
    assert not [name for name in table.sort_by if pa.types.is_nested(table.schema.field(name).type)]


@every_table
def test_a_table_says_what_it_and_each_of_its_columns_mean(table: Table) -> None:
    assert table.about.endswith(".")
    assert table.group in GROUPS
    assert all(column.about for column in table.columns)
    assert len({column.name for column in table.columns}) == len(table.columns)


@every_table
def test_the_schema_is_the_declaration(table: Table) -> None:
    assert table.schema.names == [column.name for column in table.columns]
    assert [field.nullable for field in table.schema] == [column.is_nullable for column in table.columns]
    assert table.empty().schema.equals(table.schema)
    assert table.from_rows([]).schema.equals(table.schema)


@every_table
def test_instants_have_a_zone_and_lists_no_holes(table: Table) -> None:
    for field in table.schema:
        assert not pa.types.is_timestamp(field.type) or field.type.tz == "UTC", field.name
        assert not pa.types.is_list(field.type) or not field.type.value_field.nullable, field.name


def test_every_table_of_every_module_is_in_the_catalogue_under_its_name() -> None:
    declared = [
        table for module in (raw, clean, extraction, graph, derived, outgoing, record) for table in module.TABLES
    ]
    assert len(declared) == len(CATALOG)
    assert all(CATALOG[table.name] is table for table in declared)


def test_personal_columns_are_columns() -> None:
    assert {column.name for table in CATALOG.values() for column in table.columns} >= PERSONAL_COLUMNS


@pytest.mark.parametrize("name", ["user_id", "content", "raw", "payload", "object", "canonical_name", "provenance"])
def test_columns_that_name_or_quote_somebody_are_personal(name: str) -> None:
    assert name in PERSONAL_COLUMNS


def test_a_column_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(pa.ArrowInvalid):
        raw.INTERACTIONS.from_rows([{"user_id": "ada", "turn_number": "first"}])
