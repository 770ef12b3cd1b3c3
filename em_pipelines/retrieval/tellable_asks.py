"""Which probes and starters may be told where somebody asks: those of a domain, beside what waits to be erased and what
was taken back since the last run."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from em_pipelines.redaction.veils import hidden
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.vocabulary import Status
from em_pipelines.serving.facts import FactQuery, facts

STANDING = frozenset({Status.ACTIVE, Status.CONTRADICTED})


def may_be_told(
    home: SearchableHome, user_id: str, table: Table, view: DomainView | None
) -> Callable[[Mapping[str, Any]], bool]:
    """What says of a row of `table` (probes or starters) whether it may be told to its user.

    Nobody knows out of which domain something was worded, so a `view` tells what is about facts that it tells whole.
    """
    veils = hidden(home, user_id)
    gone = _taken_back(home, user_id)
    whole = None if view is None else _told_whole(home, user_id, table, view)

    def is_told(row: Mapping[str, Any]) -> bool:
        about = {row["edge_id"], row.get("other_edge_id")} - {None}
        if whole is not None and not (row["edge_id"] and about <= whole):
            return False
        text = f"{row['text']}\n{row.get('gap', '')}"
        return about.isdisjoint(gone) and not any(
            veil.hides_document(session_id=None, edge_id=edge_id, text=text, said_on=date.min)
            for veil in veils
            for edge_id in (about or {None})
        )

    return is_told


def _told_whole(home: SearchableHome, user_id: str, table: Table, view: DomainView) -> set[str]:
    lake = home.store.lake
    day = lake.latest(table, date.max)
    rows = rows_of(lake.find(table, day, "user_id", [user_id])) if day else ()
    ends = ("edge_id", "other_edge_id")
    edge_ids = sorted({row[name] for row in rows for name in ends if row.get(name)})
    stood = lake.latest(EDGES, date.max)
    known = rows_of(lake.find(EDGES, stood, "edge_id", edge_ids)) if stood else ()
    return {row["edge_id"] for row in known if view.tells_whole(row)}


def _taken_back(home: SearchableHome, user_id: str) -> frozenset[str]:
    """Facts that feedback which no run has read yet took back or put right."""
    waiting = home.waiting(user_id, date.max)
    if waiting is None:
        return frozenset()
    found = facts(home.store, FactQuery(user_id, datetime.now(UTC).date(), is_all=True), home.settings.decay, waiting)
    return frozenset(row["edge_id"] for row in found if row["status"] not in STANDING)
