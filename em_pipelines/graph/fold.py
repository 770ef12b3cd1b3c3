"""The diff and the fold: yesterday's edges and what is said today give today's edges and the operations between them.

The only writer of facts. Statements that can meet each other (those of one slot) are folded in the order in which they
were made, one a round; all slots go at once, as set-based SQL. A day has as many rounds as its busiest slot has
statements, mostly one to three. Whatever the fold reads is in its arguments, so any day can be replayed.

Days that are small, of memories that are, are folded row by row (`graph.row_fold`): the same tables, without the time
that it takes to plan SQL.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.extraction.feedback_claims import Origin
from em_pipelines.extraction.feedback_statements import Targeted, spoken
from em_pipelines.graph.confidence_decay import DecaySettings, install_macros
from em_pipelines.graph.endings import ended_by
from em_pipelines.graph.regroup import regroup
from em_pipelines.graph.relations import break_circles, install_edge_macros, relation_kinds
from em_pipelines.graph.restatements import as_known, confirmed
from em_pipelines.graph.rounds import INSERTING, FoldSettings
from em_pipelines.graph.row_fold import Day, fold_rows
from em_pipelines.graph.services import HOME, reread
from em_pipelines.graph.targets import aim
from em_pipelines.graph.topics import NameKey
from em_pipelines.graph.wordings import SAYS_WHY
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.name_keys import name_key
from em_pipelines.schema.endings import ENDED_BY, ENDED_TOGETHER, FAVOURITE, SAME_STATUS
from em_pipelines.schema.rows import ClaimRow, FeedbackRow
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.vocabulary import TOPIC, Act
from em_pipelines.storage.duckdb_engine import Query, Rows, bind, fetch, scalar, statement

HERE = Path(__file__).parent
_STATUSES = pa.array(sorted({*ENDED_BY, *SAME_STATUS}))
_RETRACTING = pa.array([Act.RETRACT.value, Act.RETRACT_ALL.value])
_COUPLES = pa.array(sorted(ENDED_TOGETHER))
SMALL_DAY_ROWS = 5_000
"""Statements of a day up to which they are folded row by row."""


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The state after the day, in the columns of `edges`, the day's operations, in those of `graph_ops`, and conflicts,
    in those of `contradictions`. A state that is a query is to be taken before the connection is used again."""

    edges: Query | pa.Table
    graph_ops: pa.Table
    contradictions: pa.Table


def fold(  # noqa: PLR0913  (the state, the day, and what the fold is steered by: nothing else reaches it)
    previous: Rows,
    conflicts: pa.Table,
    today: Day,
    *,
    settings: FoldSettings,
    decay: DecaySettings,
    connection: duckdb.DuckDBPyConnection,
    name_key: NameKey,
) -> FoldResult:
    """Folds one day into the state of the day before.

    `previous` has the columns of `edges`, `conflicts` those of `contradictions`; `name_key` makes names comparable as
    the registry does. States that are files are folded by `connection`, and so are days with much to fold.
    """
    if isinstance(previous, pa.Table) and isinstance(today.entities, pa.Table) and _n_said(today) <= SMALL_DAY_ROWS:
        acts = [*today.spoken.targeted, *_acts_of(today.claims)]
        made = fold_rows(previous, conflicts, today, settings=settings, decay=decay, acts=acts, name_key=name_key)
        return FoldResult(made.edges, made.graph_ops, made.contradictions)
    return fold_in_sql(
        previous, conflicts, today, settings=settings, decay=decay, connection=connection, name_key=name_key
    )


def _n_said(today: Day) -> int:
    return int(today.claims.num_rows + len(today.spoken.claims) + len(today.spoken.targeted))


def fold_in_sql(  # noqa: PLR0913  (as above)
    previous: Rows,
    conflicts: pa.Table,
    today: Day,
    *,
    settings: FoldSettings,
    decay: DecaySettings,
    connection: duckdb.DuckDBPyConnection,
    name_key: NameKey,
) -> FoldResult:
    """What `fold` does, of any size. Uses temporary tables of `connection`, which the next fold replaces."""
    install_macros(connection, decay, today.day)
    _bind(connection, previous, conflicts, today)
    for name, value in settings.model_dump().items():
        connection.execute(f"SET VARIABLE {name} = {value}")
    connection.execute("SET VARIABLE says_why = ?", [SAYS_WHY.pattern])
    install_edge_macros(connection)
    for name in ("changes", "merged", "regrouped", "resolved"):
        connection.execute(statement(HERE, name))
    aim([*today.spoken.targeted, *_acts_of(today.claims)], connection, name_key)
    for name in ("incoming", "live"):
        connection.execute(statement(HERE, name))
    regroup(connection)
    n_rounds = int(str(scalar(connection, "SELECT coalesce(max(place), 0) FROM incoming")))
    for number in range(1, n_rounds + 1):
        connection.execute(f"SET VARIABLE round = {number}")
        _run_round(connection)
    if scalar(connection, "SELECT count(*) FROM changes WHERE kind IN ('REPLACE', 'DOUBT')"):
        connection.execute(statement(HERE, "link"))
    break_circles(connection)
    ops = fetch(connection, statement(HERE, "operations"))
    contradictions = fetch(connection, statement(HERE, "contradictions"))
    return FoldResult(Query(connection, statement(HERE, "result")), ops, contradictions)


def _bind(connection: duckdb.DuckDBPyConnection, previous: Rows, conflicts: pa.Table, today: Day) -> None:
    inputs: Mapping[str, Rows] = {
        "edges": previous,
        "conflicts_before": conflicts,
        "claims": pa.concat_tables([today.claims, today.spoken.claims_table()]),
        "mentions": pa.concat_tables([today.mentions, today.spoken.mentions_table()]),
        "entity_mentions": today.entity_mentions,
        "entity_ops": today.entity_ops,
        "entities": today.entities,
        "relation_kinds": relation_kinds(),
    }
    for name, rows in inputs.items():
        bind(connection, name, rows)


def _acts_of(claims: pa.Table) -> list[Targeted]:
    """What messages do to known facts: take them back, and end them."""
    may_end = pc.or_(
        pc.equal(claims["act"], Act.END.value),
        pc.or_(
            pc.or_(
                pc.is_in(pc.utf8_lower(claims["value"]), value_set=_STATUSES),
                pc.match_substring_regex(pc.fill_null(claims["attribute"], ""), f"^{FAVOURITE.pattern}"),
            ),
            pc.and_(pc.is_in(claims["relation"], value_set=_COUPLES), pc.less(claims["polarity"], 0)),
        ),
    )
    ending = cast("Iterator[ClaimRow]", rows_of(claims.filter(may_end)))
    return [*_taken_back(claims), *(act for row in ending for act in ended_by(row))]


def _taken_back(claims: pa.Table) -> list[Targeted]:
    """Retractions in messages."""
    retractions = claims.filter(pc.is_in(claims["act"], value_set=_RETRACTING))
    return [
        Targeted(
            Act(row["act"]), cast(Origin, {**row}), None, row["subject"], row["relation"],
            row["object"] or row["value"], row["attribute"], row["polarity"],
            is_topic=row["relation"] == TOPIC and row["object"] is None,
        )
        for row in rows_of(retractions)
    ]  # fmt: skip


def _run_round(connection: duckdb.DuckDBPyConnection) -> None:
    """Folds one statement of every slot. What no statement of the round does is not planned for nothing: planning
    costs more than running it on a day's rows."""
    for name in ("meeting", "changes_of_round"):
        connection.execute(statement(HERE, name))
    kinds = {kind for (kind,) in connection.execute("SELECT DISTINCT kind FROM changing").fetchall()}
    if kinds - set(INSERTING):  # older sides end before newer ones begin
        connection.execute(statement(HERE, "update_edges"))
    if kinds & set(INSERTING):
        connection.execute(statement(HERE, "insert"))
    connection.execute(statement(HERE, "settle"))


def _counting(claims: pa.Table) -> pa.Table:
    """The claims but those that wait for a review."""
    waits = pc.equal(claims["act"], Act.PROPOSE.value)
    return claims.filter(pc.invert(waits)) if pc.any(waits).as_py() else claims


def _is_empty(rows: Rows) -> bool:
    return isinstance(rows, pa.Table) and not rows.num_rows


SAID_TODAY = ("claims", "mentions", "entity_mentions", "entity_ops", "entities")


def fold_run(
    settings: FoldSettings, decay: DecaySettings, safety: SafetySettings, connection: duckdb.DuckDBPyConnection
) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `fold`."""

    def run(day: date, tables: Tables, _: Records) -> Tables:
        said = spoken(cast("Iterator[FeedbackRow]", rows_of(tables["feedback"])), safety)
        today = {name: tables[name] for name in SAID_TODAY}
        claims = today["claims"] = _counting(today["claims"])
        moves = claims.filter(pc.and_(pc.equal(claims["relation"], HOME), pc.less(claims["polarity"], 0)))
        if moves.num_rows:
            today = reread(today, moves, (tables["state_edges"], tables["entities"]), connection, name_key)
        today = confirmed(today, tables["state_edges"], connection)
        if not _is_empty(tables["state_edges"]):
            today = as_known(today, tables["state_edges"], connection)
        made = fold(
            tables["state_edges"],
            tables["state_contradictions"],
            Day(day=day, spoken=said, **today),
            settings=settings,
            decay=decay,
            connection=connection,
            name_key=name_key,
        )
        return {"edges": made.edges, "graph_ops": made.graph_ops, "contradictions": made.contradictions}

    return run
