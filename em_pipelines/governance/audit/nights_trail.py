"""The audit trail of nights, and why an experience is what it is.

What nights did is told from their book and from the tables that they come to, in the columns of `audit_trail`. It does
not stand in that table: that is made of what was said, day by day, and a rollback has to leave every table as it was.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from em_pipelines.errors import CorruptLogError
from em_pipelines.governance.audit.rows import Row, state_where
from em_pipelines.lifecycle.consolidation.consolidate import QUARANTINED
from em_pipelines.lifecycle.consolidation.consolidating_home import ConsolidatingHome
from em_pipelines.lifecycle.consolidation.nights import History, Line, Said
from em_pipelines.schema.audit_events import EventType
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.derived import CONSOLIDATED, EXPERIENCE_LINKS, EXPERIENCES, PROMOTIONS, RULES
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.storage.lake import Lake

COMPONENT = "consolidation"
Document = dict[str, Any]


def events(home: ConsolidatingHome) -> list[Row]:
    """What nights promoted and quarantined, as it stands, and what was taken back, ever: rows of `audit_trail`, in
    order. Of a night that was taken back nothing stays but that it was."""
    history = home.nights.history()
    found = [*_of_promotions(home, history), *_of_lines(history)]
    return sorted(found, key=lambda row: (row["timestamp"], row["id"]))


def _of_promotions(home: ConsolidatingHome, history: History) -> Iterator[Row]:
    checkpoint = history.checkpoint
    if checkpoint is None or not home.store.lake.has(PROMOTIONS, checkpoint.as_of):
        return
    nights = {night.target: night for night in history.standing}
    for row in rows_of(home.store.lake.read(PROMOTIONS, checkpoint.as_of)):
        figures = {name: row[name] for name in ("experience_id", "kind", "n_occurrences", "n_sources", "verdict")}
        if row["verdict"] == QUARANTINED:
            told = f"{row['gate']}: {row['reason']}"
            yield _event(EventType.RULE_QUARANTINED, checkpoint, checkpoint.end, told, figures, row["user_id"])
        elif night := nights.get(row["consolidation_id"]):
            yield _event(EventType.EXPERIENCE_PROMOTED, night, night.end, row["reason"], figures, row["user_id"])


def _of_lines(history: History) -> Iterator[Row]:
    for n, line in enumerate(history.lines):
        at = datetime.fromisoformat(line.at)
        if line.said is Said.ROLLBACK:
            standing = History(history.lines[:n]).standing
            place = next(place for place, night in enumerate(standing) if night.target == line.target)
            for night in standing[place:]:
                told = f"taken back with {line.target}" if night.target != line.target else "taken back"
                taken = replace(night, said=Said.ROLLBACK)
                yield _event(EventType.RULE_ROLLED_BACK, taken, at, f"the night was {told}", {"line": n + 1})
        elif line.said is Said.REJECT:
            figures = {"experience_id": line.target, "line": n + 1}
            yield _event(EventType.RULE_ROLLED_BACK, line, at, "somebody turned it away", figures)


def _event(  # noqa: PLR0913  (the columns of one row)
    kind: EventType, line: Line, at: datetime, reason: str, figures: dict[str, Any], user_id: str | None = None
) -> Row:
    told = orjson.dumps(figures, option=orjson.OPT_SORT_KEYS).decode()
    return {
        **dict.fromkeys(AUDIT_TRAIL.schema.names),
        "id": content_id("evt", kind, line.target, told),
        "timestamp": at,
        "correlation_id": line.target,
        "event_type": kind.value,
        "component": COMPONENT,
        "operation": line.said.value.upper(),
        "user_id": user_id,
        "decision_reasoning": reason,
        "metadata": told,
    }


def why_experience(lake: Lake, wanted: str) -> Document | None:
    """What the gates say of something that recurs, what it became, by which night and from which evidence, with its
    conversations. `wanted` is the id of an experience or of its rule; None where none has it.

    Of what is quarantined only gate and reason are told, and no words of tools that wait to be accepted.
    """
    rules = state_where(lake, RULES, "rule_id", [wanted]) or state_where(lake, RULES, "experience_id", [wanted])
    experience_id = rules[0]["experience_id"] if rules else wanted
    judged = state_where(lake, PROMOTIONS, "experience_id", [experience_id])
    if not judged:
        return None
    experiences = state_where(lake, EXPERIENCES, "experience_id", [experience_id])
    links = state_where(lake, EXPERIENCE_LINKS, "experience_id", [experience_id])
    return {
        "kind": "experience",
        "user_id": judged[0]["user_id"],
        "verdict": {name: value for name, value in judged[0].items() if name != "excerpt"},
        "experience": experiences[0] if experiences else None,
        "rule": rules[0]["text"] if rules else None,
        "night": judged[0]["consolidation_id"],
        "conversations": list(dict.fromkeys(link["session_id"] for link in links)),
        "evidence": [
            {name: link[name] for name in ("evidence_id", "session_id", "turn_number", "timestamp")} for link in links
        ],
    }


def nights_problem(home: ConsolidatingHome) -> str | None:
    """What is wrong with the book of nights, in a sentence with what to do; None where nothing shows."""
    try:
        has_nights = bool(home.nights.history().lines)
    except CorruptLogError as error:
        return str(error)
    is_made = any(home.store.lake.days(table) for table in CONSOLIDATED)
    if is_made and not has_nights:
        return (
            "reading HOME/record/consolidation.jsonl: it is gone, though tables were made of its nights; put it back "
            "from a backup, or begin anew with `em consolidate`: then nothing counts as rolled back or decided"
        )
    return None
