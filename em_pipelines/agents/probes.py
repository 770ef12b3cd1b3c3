"""Questions that wait to be asked of a user, as the table of probes holds them: nothing is made or decided here."""

from datetime import date, datetime
from typing import Any

from em_pipelines.erasure.overlay import hidden
from em_pipelines.home import Home
from em_pipelines.lake import rows_of
from em_pipelines.safety.passages import folded
from em_pipelines.tables.outgoing import PROBES

QUEUED = "queued"


def waiting_probes(home: Home, user_id: str, now: datetime, context: str | None, limit: int) -> list[dict[str, Any]]:
    """The user's queued probes that have not expired by `now`, worth most first; of a context those whose tags have a
    word of it. None where the table holds none."""
    lake = home.store.lake
    day = lake.latest(PROBES, date.max)
    if day is None:
        return []
    veils = hidden(home, user_id)
    words = set(folded(context).split()) if context is not None else None
    found = [
        row
        for row in rows_of(lake.find(PROBES, day, "user_id", [user_id]))
        if row["status"] == QUEUED
        and row["expires_at"] > now
        and (words is None or not words.isdisjoint(word for tag in row["context_tags"] for word in folded(tag).split()))
        and not any(
            veil.hides_document(
                session_id=None, edge_id=row["edge_id"], text=f"{row['text']}\n{row['gap']}", said_on=date.min
            )
            for veil in veils
        )
    ]
    return sorted(found, key=lambda row: (-row["value"], row["probe_id"]))[:limit]
