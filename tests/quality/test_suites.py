"""Every table's suite passes on rows that fit and fails on rows that do not, and says where but never what."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES
from quality.suites import validate

Rows = Callable[..., pa.Table]

TABLES = (
    "interactions", "skill_invocations", "feedback", "world_events", "dead_letters", "messages", "segments", "mentions",
    "claims", "extraction_issues", "llm_calls", "sessions", "entities", "entity_mentions", "entity_ops",
    "edges", "graph_ops", "contradictions", "current_edges",
    "audit_trail",
)  # fmt: skip
every_table = pytest.mark.parametrize("table", [CATALOG[name] for name in TABLES], ids=TABLES)

CLOSED = frozenset(
    {
        "role", "channel", "trust", "relation", "polarity", "entity_type", "subject_type", "object_type",
        "temporal_type", "valid_precision", "hedge_level", "source_mechanism", "privacy_level", "session_type",
        "operation", "status", "act", "event_type",
    }
)  # fmt: skip
SHARES = frozenset(
    {
        "confidence", "effective_confidence", "importance", "certainty", "score", "confidence_before",
        "confidence_after",
    }
)  # fmt: skip
COUNTS = frozenset(
    {
        "turn_number", "n_tokens", "span_start", "span_end", "first_turn", "last_turn", "n_turns", "n_observations",
        "n_entities", "n_facts", "reinforcement_count", "duration_ms", "cost_usd", "line_number", "spell",
        "mention_count",
    }
)  # fmt: skip
OPEN = {"mentions": {"role"}, "audit_trail": {"operation"}}
"""Columns that are free here and closed elsewhere: the role of a mention is not that of a speaker."""
OUTSIDE = "Ada-4711"
"""A value that no sentence may repeat."""


def named(broken: list[str]) -> set[str]:
    """The columns that the sentences are about."""
    return {sentence.split(" on ", 1)[1].split(":", 1)[0] for sentence in broken}


def columns(table: Table, wanted: frozenset[str]) -> set[str]:
    """Those of the columns that the table has."""
    return set(table.schema.names) & wanted - OPEN.get(table.name, set())


@every_table
def test_rows_that_fit_pass(table: Table, rows_of: Rows) -> None:
    found = validate(table, rows_of(table, {}, {}), min_rows=2)
    assert found.is_success, found.broken
    assert found.n_expectations > len([c for c in table.columns if not c.is_nullable])


@every_table
def test_a_null_breaks_every_column_that_has_none(table: Table, rows_of: Rows) -> None:
    never_null = [c.name for c in table.columns if not c.is_nullable]
    found = validate(table, rows_of(table, {}, {}, dict.fromkeys(never_null)))
    assert not found.is_success
    assert set(never_null) <= named(found.broken)
    assert all("1 rows break it" in sentence for sentence in found.broken)


@every_table
def test_two_rows_with_one_key_fail(table: Table, rows_of: Rows) -> None:
    key = {name: OUTSIDE for name in table.key if table.schema.field(name).type == pa.string()}
    assert key
    same = rows_of(table, key).to_pylist()
    found = validate(table, table.from_rows(same * 2))
    assert named(found.broken) == {table.key[0] if len(table.key) == 1 else str(list(table.key))}
    assert OUTSIDE not in str(found.broken)


@pytest.mark.parametrize("name", [n for n in TABLES if columns(CATALOG[n], CLOSED)])
def test_a_value_outside_its_closed_set_fails(name: str, rows_of: Rows) -> None:
    table = CATALOG[name]
    closed = columns(table, CLOSED)
    wrong = {column: 0 if column == "polarity" else OUTSIDE for column in closed}
    found = validate(table, rows_of(table, {}, wrong))
    assert named(found.broken) == closed
    assert OUTSIDE not in str(found.broken)


@pytest.mark.parametrize("name", [n for n in TABLES if columns(CATALOG[n], SHARES | COUNTS)])
def test_a_figure_outside_its_range_fails(name: str, rows_of: Rows) -> None:
    table = CATALOG[name]
    shares, counts = columns(table, SHARES), columns(table, COUNTS)
    below = dict.fromkeys(shares, -0.4711) | dict.fromkeys(counts, -4711)
    above = dict.fromkeys(shares, 1.4711)
    found = validate(table, rows_of(table, {}, below, above))
    assert named(found.broken) == shares | counts
    assert {s for s in found.broken if "2 rows break it" in s} == {s for s in found.broken if named([s]) <= shares}
    assert "4711" not in str(found.broken)


@every_table
def test_a_missing_column_fails_by_name(table: Table, rows_of: Rows) -> None:
    gone = table.key[-1]
    found = validate(table, rows_of(table, {}).drop_columns([gone]))
    assert gone in named(found.broken)
    assert any(sentence.startswith("expect_table_columns_to_match_ordered_list") for sentence in found.broken)


@every_table
def test_a_column_too_many_fails(table: Table, rows_of: Rows) -> None:
    rows = rows_of(table, {})
    found = validate(table, rows.append_column("nickname", pa.array([OUTSIDE])))
    assert len(found.broken) == 1
    assert "nickname" in found.broken[0]
    assert OUTSIDE not in found.broken[0]


@every_table
def test_fewer_rows_than_there_must_be_fail(table: Table, rows_of: Rows) -> None:
    found = validate(table, table.empty(), min_rows=1)
    assert found.broken == ["expect_table_row_count_to_be_between on the table: found 0"]


def test_a_table_that_may_be_empty_passes_without_rows() -> None:
    assert validate(CLAIMS, CLAIMS.empty()).is_success


def test_a_column_of_another_type_is_a_sentence_and_no_crash(rows_of: Rows) -> None:
    rows = rows_of(CLAIMS, {})
    place = CLAIMS.schema.get_field_index("confidence")
    found = validate(CLAIMS, rows.set_column(place, "confidence", pa.array([OUTSIDE])))
    assert named(found.broken) == {"confidence"}
    assert "could not be evaluated" in found.broken[0]
    assert OUTSIDE not in found.broken[0]


def test_a_null_where_null_is_allowed_passes(rows_of: Rows) -> None:
    nullable: dict[str, Any] = {c.name: None for c in EDGES.columns if c.is_nullable}
    assert nullable
    assert validate(EDGES, rows_of(EDGES, {}, nullable)).is_success


def test_every_table_that_a_step_makes_is_among_those_tried_here(settings: Any) -> None:
    made = {table.name for step in Pipeline(settings).steps.values() for table in step.outputs}
    assert made == set(TABLES)


def test_lists_and_structs_are_compared_as_text(rows_of: Rows) -> None:
    assert validate(MESSAGES, rows_of(MESSAGES, {"tags": []}, {"tags": ["a", "b"]})).is_success
