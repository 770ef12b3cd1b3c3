"""Questions that wait to be asked of a user, as the table of probes holds them: nothing is made or decided here."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from em_pipelines.governance.audit.rows import state_where
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import Veil, hidden
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.text.guard.passages import folded

QUEUED = "queued"


def waiting_probes(  # noqa: PLR0913  (what is asked, and who asks)
    home: Pipeline, user_id: str, now: datetime, context: str | None, limit: int, view: DomainView | None = None
) -> list[dict[str, Any]]:
    """The user's queued probes that have not expired by `now`, worth most first; of a context those whose tags have a
    word of it. None where the table holds none. Nobody knows out of which domain a question was worded, so a `view`
    tells those about a fact that it tells whole."""
    lake = home.store.lake
    day = lake.latest(PROBES, date.max)
    if day is None:
        return []
    veils = hidden(home, user_id)
    words = set(folded(context).split()) if context is not None else None
    queued = (
        row
        for row in rows_of(lake.find(PROBES, day, "user_id", [user_id]))
        if row["status"] == QUEUED and row["expires_at"] > now
    )
    fitting = [row for row in queued if _is_of_context(row, words) and not _is_hidden(row, veils)]
    if view is not None:
        edge_ids = [row["edge_id"] for row in fitting if row["edge_id"]]
        whole = {row["edge_id"] for row in state_where(lake, EDGES, "edge_id", edge_ids) if view.tells_whole(row)}
        fitting = [row for row in fitting if row["edge_id"] in whole]
    return sorted(fitting, key=lambda row: (-row["value"], row["probe_id"]))[:limit]


def _is_of_context(probe: dict[str, Any], words: set[str] | None) -> bool:
    """Whether one of its tags has one of the words; without words any context will do."""
    return words is None or not words.isdisjoint(word for tag in probe["context_tags"] for word in folded(tag).split())


def _is_hidden(probe: dict[str, Any], veils: Iterable[Veil]) -> bool:
    text = f"{probe['text']}\n{probe['gap']}"
    return any(
        veil.hides_document(session_id=None, edge_id=probe["edge_id"], text=text, said_on=date.min) for veil in veils
    )
