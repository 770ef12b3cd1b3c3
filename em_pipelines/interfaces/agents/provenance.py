"""Why memory holds something, told to the one user whose memory it is: another's ids are as unknown as made-up ones."""

from datetime import date
from typing import Any

from em_pipelines.governance.audit.rows import rows_where, state_where
from em_pipelines.governance.audit.why import Document, why
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import Veil, hidden
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.graph import EDGES, ENTITIES, GRAPH_OPS


def provenance(home: Pipeline, user_id: str, wanted: str, as_of: date) -> Document | None:
    """What `why` tells of a fact, an inferred fact or an entity of this user; None where the user has none of that id.

    What a pending request to forget covers is left out, and so is a fact that it covers whole.
    """
    lake = home.store.lake
    rows = [
        row for table in (EDGES, INFERRED_EDGES, ENTITIES) for row in state_where(lake, table, table.key[0], [wanted])
    ]
    if {row["user_id"] for row in rows or rows_where(lake, GRAPH_OPS, "edge_id", [wanted])} != {user_id}:
        return None
    found = why(lake, wanted, as_of, home.settings.decay)
    veils = hidden(home, user_id)
    return _veiled(found, veils) if found and veils else found


def _veiled(found: Document, veils: tuple[Veil, ...]) -> Document | None:
    """The document without what the veils cover; None where they cover what it is about.

    Nobody asks here when something was said: until the request is carried out, too much is hidden rather than too
    little.
    """

    def is_covered(entry: Any) -> bool:
        said = entry if isinstance(entry, dict) else {"text": entry}
        text = "\n".join(str(part) for part in said.values() if isinstance(part, str))
        session_id, edge_id = said.get("session_id"), said.get("edge_id")
        return any(
            veil.hides_document(session_id=session_id, edge_id=edge_id, text=text, said_on=date.min) for veil in veils
        )

    left = {
        name: [entry for entry in value if not is_covered(entry)] if isinstance(value, list) else value
        for name, value in found.items()
    }
    about = found.get("fact") or found.get("entity") or {"edge_id": found.get("edge_id")}
    is_groundless = bool(found.get("sources")) and not left["sources"]
    return None if is_covered(about) or is_groundless else left
