"""The diff and the fold: yesterday's edges and today's claims give today's edges and the operations between them.

The only writer of facts. Claims that can meet each other (those of one slot) are folded in the order in which they
were said, one a round; all slots go at once, as set-based SQL. A day has as many rounds as its busiest slot has
claims, mostly one to three. Whatever the fold reads is in its arguments, so any day can be replayed.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.lifecycle.decay import DecaySettings, install_macros
from em_pipelines.sql import fetch, scalar, statement
from em_pipelines.tables.graph import EDGES, GRAPH_OPS
from em_pipelines.vocabulary import FUNCTIONAL

HERE = Path(__file__).parent
CHANGES = {"REINFORCE": "reinforce", "SUPERSEDE": "supersede", "REVISE": "insert", "INSERT": "insert"}
"""The statement that makes each kind of change. Older sides of revisions end before newer ones begin."""


class FoldSettings(BaseModel):
    """What it takes to store a fact, and what repetition adds. Confidences are 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_storage_confidence: float = Field(default=0.15, description="claims below this confidence are not stored")
    reinforcement_step: float = Field(default=0.10, description="added when another session says the same")


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The state after the day, in the columns of `edges`, and the day's operations, in those of `graph_ops`."""

    edges: pa.Table
    graph_ops: pa.Table


def fold(
    previous: pa.Table,
    claims: pa.Table,
    mentions: pa.Table,
    entity_mentions: pa.Table,
    *,
    settings: FoldSettings,
    decay: DecaySettings,
    connection: duckdb.DuckDBPyConnection,
) -> FoldResult:
    """Folds one day's claims into the state of the day before.

    `previous` has the columns of `edges`; `claims`, `mentions` and `entity_mentions` those of their tables, of the
    same day. Both ends of a claim are mentions of the same message (`extraction.assemble` sees to that), which is how
    a name finds its entity. Uses temporary tables of `connection` and leaves none behind that the next day reads.
    """
    install_macros(connection, decay)
    connection.execute(statement(HERE, "macros"))
    inputs = {
        "edges": previous,
        "claims": claims,
        "mentions": mentions,
        "entity_mentions": entity_mentions,
        "functional_relations": pa.table({"relation": sorted(FUNCTIONAL)}),
    }
    for name, rows in inputs.items():
        connection.register(name, rows)
    try:
        for name, value in settings.model_dump().items():
            connection.execute(f"SET VARIABLE {name} = {value}")
        for name in ("changes", "incoming", "live"):
            connection.execute(statement(HERE, name))
        n_rounds = int(str(scalar(connection, "SELECT coalesce(max(place), 0) FROM incoming")))
        for number in range(1, n_rounds + 1):
            connection.execute(f"SET VARIABLE round = {number}")
            _run_round(connection)
        edges = fetch(connection, statement(HERE, "result"))
        ops = fetch(connection, statement(HERE, "operations"))
    finally:
        for name in inputs:
            connection.unregister(name)
    return FoldResult(edges.select(EDGES.schema.names), ops.select(GRAPH_OPS.schema.names))


def _run_round(connection: duckdb.DuckDBPyConnection) -> None:
    """Folds one claim of every slot. Kinds of change that no claim of the round makes are not planned for nothing:
    planning a statement costs more than running it on a day's rows."""
    for name in ("meeting", "changes_of_round"):
        connection.execute(statement(HERE, name))
    kinds = connection.execute("SELECT DISTINCT operation FROM changing").fetchall()
    for name in dict.fromkeys(name for operation, name in CHANGES.items() if (operation,) in kinds):
        connection.execute(statement(HERE, name))
    connection.execute(statement(HERE, "settle"))
