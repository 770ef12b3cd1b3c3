"""Integrity: what holds of every sound state of memory. Each rule is one SQL statement over the state of one day.

A rule names the rows that break it by id and quotes nothing. Add a rule as a file in sql/integrity/ that gives
`row_id`, and its line in RULES; a rule stops every user's run, so what settings decide is none.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.graph.relations import install_edge_macros
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import SESSIONS
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import FUNCTIONAL, INVERSES
from em_pipelines.storage.day_rows import ask_days
from em_pipelines.storage.duckdb_engine import Rows, fetch, registered, scratch, statement
from em_pipelines.storage.lake import Lake

HERE = Path(__file__).parent
HIERARCHIES = ("part_of", "parent_of", "reports_to", "located_in")
"""Relations in which nothing is, by whatever chain, above itself."""
PAIRS = "SELECT DISTINCT user_id, session_id FROM {} WHERE session_id IS NOT NULL ORDER BY ALL"
PAIRS_SCHEMA = pa.schema([("user_id", pa.string()), ("session_id", pa.string())])
AGAIN = "`em repair --apply` makes {} again from the log, from the first day that fails"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the table whose rows it is about, what it says, and what to do where it is broken."""

    name: str
    table: Table
    about: str
    advice: str


RULES = (
    Rule(
        "names_lead_home",
        ENTITIES,
        "A merged name points at an entity that is there and not itself merged; importance and certainty are 0 to 1.",
        AGAIN.format("entities"),
    ),
    Rule(
        "entity_ids_match_content",
        ENTITIES,
        "The id of an entity is the hash of its user and name.",
        "somebody edited entities: " + AGAIN.format("them"),
    ),
    Rule("confidence_in_bounds", EDGES, "Every confidence is 0 to 1.", AGAIN.format("facts")),
    Rule("provenance_present", EDGES, "Every fact says where it was said.", AGAIN.format("facts")),
    Rule(
        "ends_exist",
        EDGES,
        "Both ends of a fact are entities that are there, and so are the facts that it revises.",
        AGAIN.format("facts and entities"),
    ),
    Rule(
        "users_apart",
        EDGES,
        "Ends and sources of a fact are of its own user.",
        "one user's memory has reached another's: publish nothing; " + AGAIN.format("both"),
    ),
    Rule(
        "ids_match_content",
        EDGES,
        "The id of a fact is the hash of what it says.",
        "somebody edited facts: " + AGAIN.format("them"),
    ),
    Rule(
        "one_functional_value",
        EDGES,
        "A functional relation has one active value a subject.",
        AGAIN.format("facts") + "; if it fails again, retract the value that is wrong",
    ),
    Rule(
        "no_cycles",
        EDGES,
        "Nothing is part of, parent of, below or in itself, by whatever chain.",
        AGAIN.format("facts") + "; if it fails again, retract the fact that closes the circle",
    ),
)


def violations(edges: Rows, entities: Rows, sessions: pa.Table, rules: Iterable[Rule]) -> dict[str, list[str]]:
    """Returns the ids of the rows that break each rule, sorted, by name of rule.

    `edges` and `entities` are the state of one day, `sessions` (user_id, session_id) all that anybody had until then.
    """
    with scratch() as connection, _inputs(connection, edges, entities, sessions):
        return {rule.name: sorted(_broken(connection, rule)) for rule in rules}


def violations_on(lake: Lake, day: date, rules: Iterable[Rule] = RULES) -> dict[str, list[str]]:
    """The same of the state as it stands at the end of a day. Raises CorruptTableError where it cannot be read."""
    rules = list(rules)
    read = {day, *(lake.latest(table, day) or day for table in (EDGES, ENTITIES))}
    read |= {said for table in (SESSIONS, FEEDBACK) for said in lake.days(table) if said <= day}
    tables = (EDGES, ENTITIES, SESSIONS, FEEDBACK)
    return lake.once(("rules", day, *rules), tables, read, lambda: _violations_on(lake, day, rules))


def _violations_on(lake: Lake, day: date, rules: list[Rule]) -> dict[str, list[str]]:
    days = {table: lake.latest(table, day) for table in (EDGES, ENTITIES)}
    edges, entities = (lake.scan(table, found) if found else table.empty() for table, found in days.items())
    is_asked = any(rule.name == "users_apart" for rule in rules)
    sessions = known_sessions(lake, day) if is_asked else PAIRS_SCHEMA.empty_table()
    try:
        return violations(edges, entities, sessions, rules)
    except duckdb.Error:
        for table, found in days.items():
            if found:
                lake.read(table, found)  # which says what is wrong with it
        raise


def known_sessions(lake: Lake, until: date) -> pa.Table:
    """Every conversation of every user up to a day, feedback included: user_id, session_id. Pairs may stand twice."""
    parts = []
    for table in (SESSIONS, FEEDBACK):
        days = [day for day in lake.days(table) if day <= until]
        parts.append(ask_days(lake, days, [table], partial(fetch, sql=PAIRS.format(table.name))))
    return pa.concat_tables(parts)


@contextmanager
def _inputs(connection: duckdb.DuckDBPyConnection, edges: Rows, entities: Rows, sessions: pa.Table) -> Iterator[None]:
    directions = [(name, name, False) for name in HIERARCHIES]
    directions += [(inverse, name, True) for name, inverse in _both_ways(INVERSES) if name in HIERARCHIES]
    columns = zip(("relation", "hierarchy", "is_inverse"), zip(*directions, strict=True), strict=True)
    tables = {
        "edges": edges,
        "entities": entities,
        "sessions": sessions,
        "functional_relations": pa.table({"relation": sorted(FUNCTIONAL)}),
        "hierarchies": pa.table({name: list(values) for name, values in columns}),
    }
    with registered(connection, tables):
        install_edge_macros(connection)
        connection.execute(statement(HERE, "integrity/facts"))
        yield


def _both_ways(pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    for one, other in pairs.items():
        yield one, other
        yield other, one


def _broken(connection: duckdb.DuckDBPyConnection, rule: Rule) -> list[str]:
    if rule.name == "no_cycles":
        return _on_cycles(fetch(connection, statement(HERE, "integrity/arcs")))
    return [str(row) for (row,) in connection.execute(statement(HERE, f"integrity/{rule.name}")).fetchall()]


def _on_cycles(arcs: pa.Table) -> list[str]:
    """The facts that are left when whatever has nothing above or nothing below it is taken away, again and again."""
    while arcs.num_rows:
        is_inside = pc.and_(
            pc.is_in(arcs["lower"], value_set=pc.unique(arcs["upper"])),
            pc.is_in(arcs["upper"], value_set=pc.unique(arcs["lower"])),
        )
        kept = arcs.filter(is_inside)
        if kept.num_rows == arcs.num_rows:
            return [str(edge) for edge in arcs["edge_id"].to_pylist()]
        arcs = kept
    return []
