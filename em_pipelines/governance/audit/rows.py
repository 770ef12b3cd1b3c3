"""Reading memory in order to explain it: rows by id from whatever day, facts and entities by name, sentences.

Partition by partition, and of a partition only what is wanted. Nothing here decides or changes anything.
"""

from collections.abc import Collection, Iterable
from datetime import date
from typing import Any, cast

from em_pipelines.errors import UsageError
from em_pipelines.language.sentences import sentences_around
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.schema.rows import EdgeRow
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.storage.duckdb_engine import bind, scratch
from em_pipelines.storage.lake import Lake

Row = dict[str, Any]
FEWEST_CHARACTERS = len("edge_") + 6


def rows_where(
    lake: Lake, table: Table, column: str, values: Collection[str], days: Iterable[date] | None = None
) -> list[Row]:
    """The rows of a table whose column holds one of the values, of some days or of all, in order of day."""
    if not values:
        return []
    known = lake.days(table)
    wanted = known if days is None else sorted(set(known).intersection(days))
    return [row for day in wanted for row in rows_of(lake.find(table, day, column, values))]


def state_where(lake: Lake, table: Table, column: str, values: Collection[str], until: date = date.max) -> list[Row]:
    """The same of a state table as it last stood."""
    latest = lake.latest(table, until)
    return rows_where(lake, table, column, values, [latest]) if latest else []


def edge_id_of(lake: Lake, beginning: str) -> str:
    """The id of the one fact whose id begins so, as context blocks give it; what begins no id, or an id as it is, comes
    back unchanged. Raises UsageError where several do."""
    latest = lake.latest(EDGES, date.max)
    if latest is None or len(beginning) < FEWEST_CHARACTERS or not beginning.startswith("edge_"):
        return beginning
    with scratch() as connection:
        bind(connection, "edges", lake.scan(EDGES, latest))
        query = "SELECT edge_id FROM edges WHERE starts_with(edge_id, ?) ORDER BY edge_id LIMIT 2"
        found = [edge_id for (edge_id,) in connection.execute(query, [beginning]).fetchall()]
    if len(found) > 1 and found[0] != beginning:
        raise UsageError(f"looking for {beginning}: more than one fact has an id that begins so; give more of it")
    return found[0] if found else beginning


class World:
    """The entities and facts of one user, as they last stood; with a `view` those that it tells, by the names that it
    tells."""

    def __init__(self, lake: Lake, user_id: str, view: DomainView | None = None) -> None:
        self.user_id = user_id
        self.entities = {row["entity_id"]: row for row in state_where(lake, ENTITIES, "user_id", [user_id])}
        self.edges = {row["edge_id"]: row for row in state_where(lake, EDGES, "user_id", [user_id])}
        if view is not None:
            self.edges = {edge_id: row for edge_id, row in self.edges.items() if view.shows(cast("EdgeRow", row))}
            named = ((row, view.name(entity_id, row["canonical_name"])) for entity_id, row in self.entities.items())
            self.entities = {
                row["entity_id"]: {**row, "canonical_name": name, "aliases": [*filter(view.says, row["aliases"])]}
                for row, name in named
                if name is not None
            }

    def thing(self, entity_id: str) -> str:
        """The entity by which a name is read."""
        found = self.entities.get(entity_id)
        return (found["merged_into"] or entity_id) if found else entity_id

    def name(self, entity_id: str) -> str:
        """How an entity is shown; its id where it is not known."""
        found = self.entities.get(self.thing(entity_id))
        return str(found["canonical_name"]) if found else entity_id

    def names(self, entity_id: str) -> list[str]:
        """Every name of the thing that an entity is, aliases included, sorted."""
        of_it = [row for key, row in self.entities.items() if self.thing(key) == self.thing(entity_id)]
        return sorted({name for row in of_it for name in (row["canonical_name"], *row["aliases"])})

    def said(self, edge: Row) -> Row:
        """A fact in short: what it says, and how it stands."""
        literal = f"{edge['attribute']}: {edge['value']}" if edge["relation"] == "has_attribute" else edge["value"]
        return {
            "edge_id": edge["edge_id"],
            "subject": self.name(edge["subject_id"]),
            "relation": edge["relation"],
            "object": self.name(edge["object_id"]) if edge["object_id"] else literal,
            "polarity": edge["polarity"],
            "statement": edge["statement"],
            "status": edge["status"],
            "valid_from": edge["valid_from"],
            "valid_to": edge["valid_to"],
            "learned_at": edge["learned_at"],
            "unlearned_at": edge["unlearned_at"],
        }


def sentence_at(text: str, start: int, end: int) -> str:
    """The sentence or sentences of a text that hold the characters from `start` up to `end`."""
    return text[slice(*sentences_around(text, start, end))].strip()
