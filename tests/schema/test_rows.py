"""Rows in Python say what their declared tables say: the same columns, null where those may be, of the same kind."""

from datetime import date, datetime
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa
import pytest

from em_pipelines.schema import rows
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import SENTENCES, WITHHELD
from em_pipelines.schema.tables.graph import LINKS, PROVENANCE

TABLE_OF = {
    rows.InteractionRow: "interactions",
    rows.FeedbackRow: "feedback",
    rows.MessageRow: "messages",
    rows.SessionRow: "sessions",
    rows.SegmentRow: "segments",
    rows.MentionRow: "mentions",
    rows.ClaimRow: "claims",
    rows.IssueRow: "extraction_issues",
    rows.CallRow: "llm_calls",
    rows.EntityRow: "entities",
    rows.EntityMentionRow: "entity_mentions",
    rows.EntityOpRow: "entity_ops",
    rows.EdgeRow: "edges",
    rows.CurrentEdgeRow: "current_edges",
    rows.ContradictionRow: "contradictions",
}
ITEMS = {
    rows.LinkItem: LINKS.value_type,
    rows.ProvenanceItem: PROVENANCE.value_type,
    rows.WithheldItem: WITHHELD.value_type,
    rows.SentenceItem: SENTENCES.value_type,
}
SCALARS = {
    str: pa.types.is_string,
    int: pa.types.is_int64,
    float: pa.types.is_float64,
    bool: pa.types.is_boolean,
    datetime: pa.types.is_timestamp,
    date: pa.types.is_date32,
}


def declared(fields: pa.Schema | pa.StructType) -> dict[str, tuple[pa.DataType, bool]]:
    return {field.name: (field.type, field.nullable) for field in fields}


def without_none(hint: Any) -> tuple[Any, bool]:
    """A hint without `| None`, and whether it had that."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return (kinds[0], True) if type(None) in get_args(hint) else (hint, False)


def fits(hint: Any, type_: pa.DataType) -> bool:
    if get_origin(hint) is list:
        return pa.types.is_list(type_) and fits(get_args(hint)[0], type_.value_type)
    return ITEMS[hint] == type_ if is_typeddict(hint) else SCALARS[hint](type_)


def assert_alike(row: Any, columns: dict[str, tuple[pa.DataType, bool]]) -> None:
    hints = {name: without_none(hint) for name, hint in get_type_hints(row).items()}
    assert row.__required_keys__ == set(hints)
    assert list(hints) == list(columns)
    assert {name: is_optional for name, (_, is_optional) in hints.items()} == {
        n: null for n, (_, null) in columns.items()
    }
    assert [name for name, (hint, _) in hints.items() if not fits(hint, columns[name][0])] == []


@pytest.mark.parametrize("row", TABLE_OF, ids=lambda row: row.__name__)
def test_a_row_has_the_columns_of_its_table(row: Any) -> None:
    table: Table = CATALOG[TABLE_OF[row]]
    assert_alike(row, declared(table.schema))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.__name__)
def test_an_item_has_the_fields_of_its_struct(item: Any) -> None:
    assert_alike(item, declared(ITEMS[item]))


def test_the_columns_of_an_origin_are_those_that_its_tables_share() -> None:
    sharing = [declared(CATALOG[name].schema) for name in ("mentions", "claims", "extraction_issues")]
    shared = {
        name: column for name, column in sharing[0].items() if all(other.get(name) == column for other in sharing)
    }
    assert_alike(rows.OriginColumns, {name: shared[name] for name in get_type_hints(rows.OriginColumns)})
    assert set(shared) == set(get_type_hints(rows.OriginColumns))


def test_every_typed_row_is_compared() -> None:
    assert {kind for kind in vars(rows).values() if is_typeddict(kind)} == {rows.OriginColumns, *TABLE_OF, *ITEMS}
