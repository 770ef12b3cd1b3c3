"""What is expected of the rows of each table, as plain data: columns, rows, nulls, keys, closed sets, ranges.

Declared once for whoever asks: `em_pipelines.governance.audit.contracts` with one SQL statement a table in every run,
`quality.suites` with Great Expectations every night. Most of it follows from the declared table; what names of columns
say beside that stands here. Steps do not import this, so a changed expectation makes no day out of date. A new kind of
expectation is a class here and a branch in both evaluators; tests/quality/test_expectations.py breaks each one.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from em_pipelines.schema.audit_events import EventType
from em_pipelines.schema.table import Table
from em_pipelines.schema.vocabulary import (
    RELATIONS,
    EntityType,
    HedgeLevel,
    Mechanism,
    PrivacyLevel,
    Status,
    TemporalType,
)

ENTITY_TYPES = tuple(t.value for t in EntityType)
ROLES = ("user", "assistant", "system", "tool")
CLOSED_SETS: dict[str, tuple[Any, ...]] = {
    "channel": ("text", "voice", "group", "email"),
    "trust": ("trusted", "untrusted"),
    "relation": tuple(sorted(RELATIONS)),
    "polarity": (1, -1),
    "entity_type": ENTITY_TYPES,
    "subject_type": ENTITY_TYPES,
    "object_type": ENTITY_TYPES,
    "temporal_type": tuple(t.value for t in TemporalType),
    "valid_precision": ("day", "month", "year"),
    "hedge_level": tuple(h.value for h in HedgeLevel),
    "source_mechanism": tuple(m.value for m in Mechanism),
    "privacy_level": tuple(p.value for p in PrivacyLevel),
}
SETS_BY_TABLE: dict[str, dict[str, tuple[Any, ...]]] = {
    "interactions": {"role": ROLES},
    "messages": {"role": ROLES},
    "sessions": {"session_type": ("debugging", "design", "learning", "exploration", "chat")},
    "dead_letters": {"status": ("open", "replayed", "discarded")},
    "entities": {"status": ("active", "merged")},
    "edges": {"status": tuple(s.value for s in Status if s not in (Status.EXPIRED, Status.ARCHIVED))},
    "claims": {"act": ("assert", "retract", "retract_all", "end", "propose")},
    "entity_ops": {"operation": ("CREATE", "MERGE", "SPLIT")},
    "graph_ops": {"operation": ("INSERT", "REINFORCE", "CONTRADICT", "REVISE", "RETRACT", "CONFIRM", "DELETE")},
    "contradictions": {"status": ("open", "settled")},
    "current_edges": {"status": tuple(s.value for s in Status)},
    "probes": {
        "kind": ("discovery", "verification", "refinement", "clarification"),
        "status": ("queued", "delivered", "accepted", "ignored", "deflected", "expired"),
    },
    "starters": {
        "kind": ("date", "plan", "experience", "world_event"),
        "status": ("queued", "delivered", "engaged", "dismissed", "expired"),
    },
    "audit_trail": {"event_type": tuple(e.value for e in EventType)},
}
"""Sets of columns whose name means something else in other tables."""
SHARES = (
    "confidence", "effective_confidence", "importance", "certainty", "score", "confidence_before", "confidence_after",
)  # fmt: skip
COUNTS = (
    "turn_number", "n_tokens", "span_start", "span_end", "first_turn", "last_turn", "n_turns", "n_observations",
    "n_entities", "n_facts", "reinforcement_count", "mention_count", "duration_ms", "cost_usd",
)  # fmt: skip
FROM_ONE = ("line_number", "spell")
NEVER_EMPTY = frozenset({"interactions", "messages", "segments"})
"""Tables that have rows wherever they have a partition."""


@dataclass(frozen=True, slots=True)
class ColumnsMatch:
    """The table has these columns, of these types, in this order, and no others."""

    schema: pa.Schema
    columns: ClassVar[tuple[str, ...]] = ()
    rule: ClassVar[str] = "expect_table_columns_to_match_ordered_list"
    about: ClassVar[str] = "the table"


@dataclass(frozen=True, slots=True)
class RowsPerDay:
    """There are at least so many rows for each day that is looked at."""

    minimum: int
    columns: ClassVar[tuple[str, ...]] = ()
    rule: ClassVar[str] = "expect_table_row_count_to_be_between"
    about: ClassVar[str] = "the table"


@dataclass(frozen=True, slots=True)
class _OfColumn:
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return (self.column,)

    @property
    def about(self) -> str:
        """What it is said of."""
        return self.column


@dataclass(frozen=True, slots=True)
class NotNull(_OfColumn):
    """The column always has a value. In a column of figures NaN is none."""

    rule: ClassVar[str] = "expect_column_values_to_not_be_null"


@dataclass(frozen=True, slots=True)
class Unique:
    """No two rows, of all days that are looked at, have the same values in these columns. Rows without any are left
    out."""

    columns: tuple[str, ...]

    @property
    def rule(self) -> str:
        """What Great Expectations calls it."""
        return "expect_column_values_to_be_unique" if len(self.columns) == 1 else "expect_compound_columns_to_be_unique"

    @property
    def about(self) -> str:
        """What it is said of."""
        return self.columns[0] if len(self.columns) == 1 else str(list(self.columns))


@dataclass(frozen=True, slots=True)
class InSet(_OfColumn):
    """Every value of the column is one of a closed set; null is left to `NotNull`."""

    values: tuple[Any, ...]
    rule: ClassVar[str] = "expect_column_values_to_be_in_set"


@dataclass(frozen=True, slots=True)
class Between(_OfColumn):
    """Every value of the column is in the range, ends included; None: open. Null and NaN are left to `NotNull`."""

    low: float
    high: float | None
    rule: ClassVar[str] = "expect_column_values_to_be_between"


Expectation = ColumnsMatch | RowsPerDay | NotNull | Unique | InSet | Between


@dataclass(frozen=True, slots=True)
class Broken:
    """An expectation that does not hold, and what was found: counts and names of columns, never values."""

    expectation: Expectation
    found: str

    @property
    def sentence(self) -> str:
        """Both as people read it."""
        return f"{self.expectation.rule} on {self.expectation.about}: {self.found}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a table's expectations: the rows and days looked at, how many were asked, and those broken, in the
    order of their declaration."""

    n_rows: int
    n_days: int
    n_expectations: int
    broken: tuple[Broken, ...]

    @property
    def is_success(self) -> bool:
        """Whether all hold."""
        return not self.broken

    @property
    def sentences(self) -> list[str]:
        """The broken ones, as people read them."""
        return [broken.sentence for broken in self.broken]


def expectations_of(table: Table) -> tuple[Expectation, ...]:
    """Everything that is expected of a declared table."""
    names = table.schema.names
    sets = {name: values for name, values in CLOSED_SETS.items() if name in names} | SETS_BY_TABLE.get(table.name, {})
    ranges = ((SHARES, 0, 1), (COUNTS, 0, None), (FROM_ONE, 1, None))
    return (
        ColumnsMatch(table.schema),
        RowsPerDay(1 if table.name in NEVER_EMPTY else 0),
        *(NotNull(column.name) for column in table.columns if not column.is_nullable),
        Unique(table.key),
        *(InSet(name, values) for name, values in sets.items()),
        *(Between(name, low, high) for columns, low, high in ranges for name in columns if name in names),
    )


def misfit(declared: pa.Schema, found: pa.Schema) -> str | None:
    """How found columns differ from declared ones, by name; None where they do not. Whether a type may be null, and
    what the items of a list are called, is no difference: who writes Parquet says it or not."""
    missing = [name for name in declared.names if name not in found.names]
    strange = [name for name in found.names if name not in declared.names]
    wrong = [name for name in mistyped(declared, found) if name not in missing]
    parts = [("missing", missing), ("not declared", strange), ("of another type", wrong)]
    said = [f"{what}: {', '.join(names)}" for what, names in parts if names]
    if not said and declared.names != found.names:
        said = ["they are in another order"]
    return "; ".join(said) or None


def mistyped(declared: pa.Schema, found: pa.Schema) -> frozenset[str]:
    """The declared columns that are not there in their type: nothing can be asked of their values."""
    return frozenset(
        field.name
        for field in declared
        if found.get_field_index(field.name) < 0 or not _is_same(field.type, found.field(field.name).type)
    )


def _is_same(declared: pa.DataType, found: pa.DataType) -> bool:
    if pa.types.is_list(declared):
        return bool(pa.types.is_list(found)) and _is_same(declared.value_type, found.value_type)
    if pa.types.is_struct(declared):
        return (
            bool(pa.types.is_struct(found))
            and [field.name for field in declared] == [field.name for field in found]
            and all(_is_same(one.type, other.type) for one, other in zip(declared, found, strict=True))
        )
    return bool(declared.equals(found))
