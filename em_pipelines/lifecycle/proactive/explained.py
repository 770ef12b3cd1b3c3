"""Why something waits to be asked or said: its row, the facts that it rests on, and all that was decided about it."""

from datetime import date, datetime
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.lifecycle.proactive.offering import history
from em_pipelines.lifecycle.proactive.offering_home import OfferingHome
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS

FEWEST_CHARACTERS = 6
"""Of the beginning of an id."""
Document = dict[str, Any]


def explained(home: OfferingHome, wanted: str, now: datetime) -> Document | None:
    """The probe or starter whose id begins so; None where there is none. Raises UsageError where several have one."""
    for table in (PROBES, STARTERS):
        found = _rows(home, table, wanted)
        if len(found) > 1:
            raise UsageError(f"explaining {wanted:.80}: {len(found)} {table.name} have ids that begin so; give more")
        if found:
            return _document(home, table, found[0], now)
    return None


def _rows(home: OfferingHome, table: Table, wanted: str) -> list[dict[str, Any]]:
    (key,), day = table.key, home.store.lake.latest(table, date.max)
    if day is None:
        return []
    whole = list(rows_of(home.store.lake.find(table, day, key, [wanted])))
    if whole or len(wanted) < FEWEST_CHARACTERS:
        return whole
    rows = home.store.lake.read(table, day)
    ids = [one for one in rows[key].to_pylist() if one.startswith(wanted)]
    return list(rows_of(home.store.lake.find(table, day, key, ids))) if ids else []


def _document(home: OfferingHome, table: Table, row: dict[str, Any], now: datetime) -> Document:
    target, user_id = row[table.key[0]], row["user_id"]
    edge_ids = [row[name] for name in ("edge_id", "other_edge_id") if row.get(name)]
    day = home.store.lake.latest(CURRENT_EDGES, date.max)
    known = rows_of(home.store.lake.find(CURRENT_EDGES, day, "edge_id", edge_ids)) if day and edge_ids else ()
    facts = [
        {
            "edge_id": edge["edge_id"],
            "fact": edge["statement"] or edge["relation"],
            "status": edge["status"],
            "effective_confidence": edge["effective_confidence"],
        }
        for edge in known
    ]
    decided = [one for one in home.offers.of(user_id) if one.target == target]
    outcomes = [one for one in history(home, user_id, now) if one.target == target and one.said != "offered"]
    return {
        "id": target,
        "kind": table.name.removesuffix("s"),
        "user_id": user_id,
        "row": row,
        "facts": facts,
        "decisions": [{"at": one.at, "said": one.said, "session": one.session} for one in decided],
        "outcomes": [{"at": one.at, "said": one.said, "session_id": one.session_id} for one in outcomes],
    }
