"""What is known of one user on a day, as every export tells it: entities by the name that they are read by, facts with
names, status, effective confidence and where they were said.

What waits to be verified and claims of rank are left out, as everywhere that memory is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from em_pipelines.schema.rows import EntityRow
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.vocabulary import USER
from em_pipelines.serving.facts import SHOWN, FactRow, Known, shown
from em_pipelines.storage.landed_log import LandedLog

Row = dict[str, Any]
Said = Mapping[str | tuple[str, int], str]
"""(Session, turn) of a message, or id of a feedback → the day on which it was said, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Entities by name, then id; facts of every status, best first. All values are JSON."""

    user_id: str
    as_of: date
    entities: tuple[Row, ...]
    facts: tuple[Row, ...]

    @property
    def current(self) -> tuple[Row, ...]:
        """The facts that stand: active, or contradicted and not settled."""
        return tuple(fact for fact in self.facts if fact["status"] in SHOWN)

    @property
    def person(self) -> str | None:
        """The id of the entity that is the remembered person."""
        return next((entity["entity_id"] for entity in self.entities if entity["is_person_remembered"]), None)


def memory_of(user_id: str, as_of: date, known: Known, said: Said) -> Memory:
    """Tells what is known; `said` has the days on which messages were said."""
    facts = tuple(_fact(row, said) for row in known.rows)
    ends = {fact[end] for fact in facts for end in ("subject_id", "object_id")}
    entities = _entities(cast("Iterator[EntityRow]", rows_of(known.entities)), ends)
    return Memory(user_id, as_of, entities, facts)


def days_said(log: LandedLog, user_id: str) -> Said:
    """The day of every message and feedback of a user."""
    said: dict[str | tuple[str, int], str] = {}
    for kind in ("interactions", "feedback"):
        for day in log.days(kind):
            for record in log.read(kind, day):
                if record["user_id"] == user_id:
                    key = record["feedback_id"] if kind == "feedback" else (record["session_id"], record["turn_number"])
                    said.setdefault(key, record["timestamp"][:10])
    return said


def _fact(row: FactRow, said: Said) -> Row:
    told = shown(row)
    sources = []
    for source in row["provenance"]:
        place = (source["session_id"], source["turn_number"])
        day = said.get(source["extraction_id"]) or said.get(place)
        sources.append({"session_id": place[0], "turn_number": place[1], "said_on": day})
    return {
        **told,
        "provenance": sources,
        "subject_id": row["subject_id"],
        "object_id": row["object_id"],
        "supersedes": row["supersedes"],
        "superseded_by": row["superseded_by"],
        "hedge_level": row["hedge_level"],
        "source_mechanism": row["source_mechanism"],
        "privacy_level": row["privacy_level"],
    }


def _entities(rows: Iterable[EntityRow], ends: set[str | None]) -> tuple[Row, ...]:
    """One row for each thing: counts and times of all of its names together."""
    groups: dict[str, list[EntityRow]] = {}
    for row in rows:
        groups.setdefault(row["merged_into"] or row["entity_id"], []).append(row)
    entities = []
    for entity_id, names in groups.items():
        own = next((row for row in names if row["entity_id"] == entity_id), None)
        if own is not None and (entity_id in ends or not _is_withheld(own)):
            entities.append(_entity(own, names))
    return tuple(sorted(entities, key=lambda entity: (entity["name"], entity["entity_id"])))


def _is_withheld(entity: EntityRow) -> bool:
    return bool(entity["requires_verification"] or entity["privacy_level"] == "L4")


def _entity(own: EntityRow, names: list[EntityRow]) -> Row:
    """A thing by its `own` row, that of the name by which it is read, and those of all its names."""
    return {
        "entity_id": own["entity_id"],
        "name": own["canonical_name"],
        "entity_type": own["entity_type"],
        "aliases": own["aliases"],
        "qualifiers": own["qualifiers"],
        "first_seen": min(row["first_seen"] for row in names).isoformat(),
        "last_referenced": max(row["last_referenced"] for row in names).isoformat(),
        "mention_count": sum(row["mention_count"] for row in names),
        "importance": own["importance"],
        "certainty": own["certainty"],
        "privacy_level": own["privacy_level"],
        "is_person_remembered": any(row["name_key"] == USER and not row["discriminator"] for row in names),
    }
