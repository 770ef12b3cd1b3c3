"""The step that makes the starters of the newest day: dates ahead, plans gone quiet, lessons, and what happens in the
world.

Every row is a function of the tables of the day. Starters are made for some days ahead (`starter_days_ahead`), each
with the instant at which it comes due and the one at which it is aged out: what comes due tomorrow is there tomorrow,
though nothing ran in between, and a table that is made later has the same rows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.proactive.gaps import gap_tables
from em_pipelines.lifecycle.proactive.ground import lay_out
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.lifecycle.proactive.starter_wordings import load_occasions
from em_pipelines.lifecycle.proactive.validator import starter_objections
from em_pipelines.lifecycle.proactive.wording import shaped
from em_pipelines.lifecycle.proactive.world_events import Concern, Match, matches
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import DATE, INSTANT, INT, REAL, TEXT, TEXTS, Records, Tables
from em_pipelines.schema.tables.derived import CURRENT_EDGES, EXPERIENCES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.tables.outgoing import STARTERS
from em_pipelines.schema.tables.raw import FEEDBACK, WORLD_EVENTS
from em_pipelines.storage.duckdb_engine import connect, fetch, registered, statement

HERE = Path(__file__).parent
FLOOR = 0.7
"""Share of its worth that a starter about something of no importance keeps."""
WORDED = pa.schema(
    [
        *((name, TEXT) for name in ("starter_id", "user_id", "kind", "template", "text")),
        ("value", REAL), ("said_tags", TEXTS),
        *((name, TEXT) for name in ("edge_id", "experience_id", "world_event_id")),
        ("occasion_on", DATE), ("due_on", DATE), ("learned_at", INSTANT), ("session_id", TEXT), ("turn_number", INT),
    ]
)  # fmt: skip
"""Starters with their words, before what became of them is known."""
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SKILL = re.compile(r"[\w.:/-]{1,40}")
"""A skill that may be named: its name is written by whoever wrote it."""


@dataclass(frozen=True)
class StartersRun:
    """Makes the starters of a day and of those ahead."""

    settings: ProactiveSettings
    decay: DecaySettings

    def run(self, day: date, tables: Tables, _: Records) -> Tables:
        """Returns the table of starters of the day."""
        edges = tables[f"state_{CURRENT_EDGES.name}"]
        if not (self.settings.is_enabled and edges.num_rows):
            return {STARTERS.name: STARTERS.empty()}
        known = {
            "known_edges": edges,
            "known_entities": tables[f"state_{ENTITIES.name}"],
            "feedback": tables[FEEDBACK.name],
            "other_ways": gap_tables()["other_ways"],
        }
        with connect() as connection, registered(connection, known):
            lay_out(connection, day, self.settings, self.decay)
            connection.execute(statement(HERE, "starter_occasions"))
            found = [
                *self._dates_and_plans(connection),
                *self._lessons(tables[f"state_{EXPERIENCES.name}"].to_pylist(), day),
                *self._of_the_world(connection, tables[WORLD_EVENTS.name].to_pylist(), day),
            ]
            worded = pa.Table.from_pylist([row for row in found if not starter_objections(row["text"])], schema=WORDED)
            with registered(connection, {"starter_worded": worded}):
                made = fetch(connection, statement(HERE, "starter_made"))
        return {STARTERS.name: made.select(STARTERS.schema.names).cast(STARTERS.schema)}

    def _dates_and_plans(self, connection: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
        rows = fetch(connection, "FROM starter_occasions ORDER BY user_id, cause").to_pylist()
        names = _names(rows)
        for row in rows:
            shapes = names.get((row["name"], row["entity_type"]), {})
            thing = next((shapes[one] for one in load_occasions()[row["template"]].shapes if one in shapes), None)
            if thing is not None:
                on = row["occasion_on"]
                dated = {"day": _day(on), "month": MONTHS[on.month - 1]} if on else {}
                yield _worded(row, row["importance"], object=thing, whose=f"{thing}'s", **dated)

    def _lessons(self, experiences: Iterable[Mapping[str, Any]], day: date) -> Iterator[dict[str, Any]]:
        """What a night has learned of failures, and what helped: told once, on the day after that night has seen it."""
        first = day - timedelta(days=self.settings.starter_days_kept)
        for row in experiences:
            is_lesson = row["kind"] == "failure" and row["status"] == "active" and row["mitigation"]
            if not (is_lesson and row["promoted_at"] and _SKILL.fullmatch(row["component"])):
                continue
            if row["promoted_at"].date() >= first:
                found = {
                    "template": "lesson", "user_id": row["user_id"], "cause": f"lesson {row['experience_id']}",
                    "experience_id": row["experience_id"], "said_tags": [*row["context_tags"], row["component"]],
                    "due_on": row["promoted_at"].date(), "learned_at": row["promoted_at"],
                }  # fmt: skip
                yield _worded(found, row["strength"], skill=row["component"])

    def _of_the_world(
        self, connection: duckdb.DuckDBPyConnection, events: Iterable[Mapping[str, Any]], day: date
    ) -> Iterator[dict[str, Any]]:
        first = day - timedelta(days=self.settings.starter_days_kept)
        due = [row for row in events if row["timestamp"].date() >= first and _is_ahead(row)]
        if not due:
            return
        rows = fetch(connection, statement(HERE, "starter_concerns")).to_pylist()
        by_edge = {row["edge_id"]: row for row in rows}
        slack = timedelta(days=self.settings.plan_slack_days)
        for match in matches(due, _concerns(rows), slack):
            yield _of_event(match, by_edge[match.concern.edge_id])


def _names(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, str]]:
    """The shapes of each name with its type, worked out once a name."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in shaped(sorted({(row["name"], row["entity_type"]) for row in rows})):
        found.setdefault((one["name"], one["entity_type"]), {})[one["shape"]] = one["text"]
    return found


def _concerns(rows: Iterable[Mapping[str, Any]]) -> Iterator[Concern]:
    for row in sorted(rows, key=lambda row: (-row["importance"], row["edge_id"])):
        place = name_key(row["place"]) if row["place"] else None
        yield Concern(
            row["user_id"], row["edge_id"], row["role"], row["name"], place, row["valid_from"], row["importance"]
        )


def _is_ahead(event: Mapping[str, Any]) -> bool:
    """Whether it was told of before it was over."""
    return event["happens_on"] is None or event["happens_on"] >= event["timestamp"].date()


def _of_event(match: Match, about: Mapping[str, Any]) -> dict[str, Any]:
    event = match.event
    told_at: datetime = max(event["timestamp"], about["learned_at"])
    on = event["happens_on"]
    where = ", ".join(filter(None, (event["place"], _day(on) if on else None))) or "just out"
    found = {
        "template": match.template, "user_id": match.concern.user_id, "cause": f"event {event['world_event_id']}",
        "edge_id": about["edge_id"], "world_event_id": event["world_event_id"], "occasion_on": on,
        "said_tags": [*about["context_tags"], match.concern.name.casefold()],
        "due_on": told_at.astimezone(UTC).date(), "learned_at": told_at,
    }  # fmt: skip
    return _worded(found, match.concern.importance, title=event["title"], where=where)


def _worded(row: Mapping[str, Any], importance: float, **slots: str) -> dict[str, Any]:
    """A row of WORDED."""
    occasion = load_occasions()[row["template"]]
    starter_id = content_id("starter", row["user_id"], row["cause"])
    text = occasion.wording(starter_id).format(**slots)
    return {
        **{name: row.get(name) for name in WORDED.names},
        "starter_id": starter_id, "kind": occasion.kind, "text": text[:1].upper() + text[1:],
        "value": occasion.worth * (FLOOR + (1 - FLOOR) * importance), "said_tags": list(row["said_tags"]),
    }  # fmt: skip


def _day(on: date) -> str:
    return f"{on.day} {MONTHS[on.month - 1]}"
