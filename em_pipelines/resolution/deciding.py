"""What people decided about names: merges join whatever the wording says, splits hold against every heuristic."""

from em_pipelines.feedback.decisions import Decision
from em_pipelines.resolution.normalization import name_key
from em_pipelines.resolution.state import Cause, Registry, Row
from em_pipelines.vocabulary import EntityType


def decide(registry: Registry, decision: Decision) -> None:
    """Carries out a decision. A name that nobody has said yet gets a row; what is one already is noted all the same,
    so that the last name is the one it is read by. One name in two spellings is one row, and cannot be split."""
    cause = Cause(decision.feedback_id, decision.timestamp, decision.session_id, 0, decision.correlation_id)
    rows = _rows(registry, decision, cause)
    if decision.is_merge:
        into = rows[-1]
        for row in rows[:-1]:
            registry.reconcile(row, into)
            registry.join(row, into, "feedback", 1.0, "somebody said that they are one", cause)
    elif not _is_settled(registry, rows) and not (len(rows) > 1 and rows[0] is rows[1]):
        registry.split(rows[0], rows[1] if len(rows) > 1 else None, cause)


def _is_settled(registry: Registry, rows: list[Row]) -> bool:
    """Whether the alias file says that the two are one: it wins."""
    entries = [registry.aliases.get(row["name_key"]) for row in rows]
    return len(entries) > 1 and entries[0] is not None and entries[0] is entries[1]


def _rows(registry: Registry, decision: Decision, cause: Cause) -> list[Row]:
    """The rows of the names: of several bearers the one spoken of most, first of one type with the others."""
    found = [registry.named(name_key(name)) for name in decision.names]
    kinds = [row["entity_type"] for rows in found for row in rows[:1]]
    kind = kinds[-1] if kinds else EntityType.CONCEPT.value
    chosen = []
    for name, rows in zip(decision.names, found, strict=True):
        if rows:
            chosen.append(
                max(rows, key=lambda row: (row["entity_type"] == kind, row["mention_count"], row["entity_id"]))
            )
        else:
            chosen.append(registry.create(name, kind, "", cause, "feedback"))
    return chosen
