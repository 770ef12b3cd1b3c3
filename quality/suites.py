"""Great Expectations suites, one a table, made from its declaration: schema, nulls, keys, closed sets, ranges.

Great Expectations takes seconds to import, so it is imported by the first check of a process, never with this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa

from em_pipelines.environment import silence_libraries
from em_pipelines.governance.audit.events import EventType
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

ENTITY_TYPES = [t.value for t in EntityType]
ROLES = ["user", "assistant", "system", "tool"]
CLOSED_SETS: dict[str, list[Any]] = {
    "channel": ["text", "voice", "group", "email"],
    "trust": ["trusted", "untrusted"],
    "relation": sorted(RELATIONS),
    "polarity": [1, -1],
    "entity_type": ENTITY_TYPES,
    "subject_type": ENTITY_TYPES,
    "object_type": ENTITY_TYPES,
    "temporal_type": [t.value for t in TemporalType],
    "valid_precision": ["day", "month", "year"],
    "hedge_level": [h.value for h in HedgeLevel],
    "source_mechanism": [m.value for m in Mechanism],
    "privacy_level": [p.value for p in PrivacyLevel],
}
SETS_BY_TABLE: dict[str, dict[str, list[Any]]] = {
    "interactions": {"role": ROLES},
    "messages": {"role": ROLES},
    "sessions": {"session_type": ["debugging", "design", "learning", "exploration", "chat"]},
    "dead_letters": {"status": ["open", "replayed", "discarded"]},
    "entities": {"status": ["active", "merged"]},
    "edges": {"status": [s.value for s in Status if s not in (Status.EXPIRED, Status.ARCHIVED)]},
    "claims": {"act": ["assert", "retract"]},
    "entity_ops": {"operation": ["CREATE", "MERGE", "SPLIT"]},
    "graph_ops": {"operation": ["INSERT", "REINFORCE", "CONTRADICT", "REVISE", "RETRACT", "CONFIRM", "DELETE"]},
    "contradictions": {"status": ["open", "settled"]},
    "current_edges": {"status": [s.value for s in Status]},
    "audit_trail": {"event_type": [e.value for e in EventType]},
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
COUNTS_ALONE = {"result_format": "BASIC", "partial_unexpected_count": 0}
"""How many rows break an expectation, and none of their values."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite found: each broken expectation as a sentence, and how many there were."""

    is_success: bool
    n_expectations: int
    broken: list[str] = field(default_factory=list)


def validate(table: Table, rows: pa.Table, *, min_rows: int = 0) -> SuiteResult:
    """Runs the table's suite over rows, which need not fit its schema. `min_rows` guards against a table gone empty:
    most expectations hold for a frame without rows."""
    silence_libraries()
    import great_expectations as gx  # noqa: PLC0415  (seconds of import: paid by the first check alone)
    from great_expectations.data_context.types.base import ProgressBarsConfig  # noqa: PLC0415

    frame = _frame(rows)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas(name=table.name)
    batch = (
        source.add_dataframe_asset(name=table.name)
        .add_batch_definition_whole_dataframe(table.name)
        .get_batch(batch_parameters={"dataframe": frame})
    )
    expectations = list(_expectations(table, gx, min_rows))
    suite = gx.ExpectationSuite(name=table.name, expectations=expectations)
    result = batch.validate(suite, result_format=COUNTS_ALONE)
    broken = [_sentence(found) for found in result.results if not found.success]
    return SuiteResult(not broken, len(expectations), broken)


def _frame(rows: pa.Table) -> pd.DataFrame:
    """Lists and structs become text: pandas cannot compare them, and no expectation here looks inside."""
    frame = rows.to_pandas()
    for name, column in zip(rows.schema.names, rows.schema.types, strict=True):
        if pa.types.is_nested(column):
            frame[name] = frame[name].map(lambda value: None if value is None else str(list(value)))
    return frame


def _expectations(table: Table, gx: Any, min_rows: int) -> list[Any]:
    rules = gx.expectations
    names = table.schema.names
    found = [
        rules.ExpectTableColumnsToMatchOrderedList(column_list=names),
        rules.ExpectTableRowCountToBeBetween(min_value=min_rows),
    ]
    found += [rules.ExpectColumnValuesToNotBeNull(column=c.name) for c in table.columns if not c.is_nullable]
    if len(table.key) == 1:
        found.append(rules.ExpectColumnValuesToBeUnique(column=table.key[0]))
    else:
        found.append(rules.ExpectCompoundColumnsToBeUnique(column_list=list(table.key)))
    sets = {name: values for name, values in CLOSED_SETS.items() if name in names}
    sets |= SETS_BY_TABLE.get(table.name, {})
    found += [rules.ExpectColumnValuesToBeInSet(column=name, value_set=values) for name, values in sets.items()]
    for columns, low, high in ((SHARES, 0, 1), (COUNTS, 0, None), (FROM_ONE, 1, None)):
        found += [
            rules.ExpectColumnValuesToBeBetween(column=name, min_value=low, max_value=high)
            for name in columns
            if name in names
        ]
    return found


def _sentence(found: Any) -> str:
    """A broken expectation in words, with counts and never with values: those may be personal."""
    config = found.expectation_config
    what = config.kwargs.get("column") or config.kwargs.get("column_list") or "the table"
    errors = [e["exception_message"] for e in _exceptions(found.exception_info) if e.get("exception_message")]
    if errors:
        return f"{config.type} on {what}: could not be evaluated: {errors[0].splitlines()[0]}"
    count = (found.result or {}).get("unexpected_count")
    seen = (found.result or {}).get("observed_value")
    detail = f"{count} rows break it" if count is not None else f"found {seen}"
    return f"{config.type} on {what}: {detail}"


def _exceptions(info: Any) -> list[dict[str, Any]]:
    if not info:
        return []
    if "raised_exception" in info:
        return [info]
    return [entry for entry in info.values() if isinstance(entry, dict)]
