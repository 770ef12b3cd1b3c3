"""Reading what is known of a person, as readers see it.

It takes a tenth of a second, so a process keeps what it read of the persons it was asked about last, for as long as
nothing has changed that this hangs on: the tables, what people said since, and what is about to be erased.
"""

from datetime import date
from pathlib import Path
from typing import Any

from em_pipelines.context.known import Fact, Known
from em_pipelines.erasure.overlay import hidden, hiding
from em_pipelines.home import Home
from em_pipelines.serving.facts import FactQuery, standing
from em_pipelines.tables.graph import EDGES, ENTITIES
from em_pipelines.vocabulary import FUNCTIONAL, USER

KEPT_PERSONS = 16
LONGEST_NAME = 200
Row = dict[str, Any]

_kept: dict[tuple[Path, str], tuple[tuple[Any, ...], Known]] = {}


def known(home: Home, user_id: str, as_of: date) -> Known:
    """What is known of a person at the end of a day, with what they corrected since and without what is about to go."""
    veils = hidden(home, user_id)
    waiting = home.waiting(user_id, as_of)
    stamp = (_stamp(home, as_of), as_of, veils, waiting.feedback, home.settings.decay)
    key = (home.path.resolve(), user_id)
    kept = _kept.get(key)
    if kept and kept[0] == stamp:
        return kept[1]
    rows = standing(home.store, FactQuery(user_id, as_of), home.settings.decay, waiting, hiding(home, user_id))
    found = _known(rows, user_id)
    _kept.pop(key, None)
    while len(_kept) >= KEPT_PERSONS:
        _kept.pop(next(iter(_kept)), None)
    _kept[key] = (stamp, found)
    return found


def _stamp(home: Home, as_of: date) -> tuple[str | None, ...]:
    """What the tables hold that are read."""
    days = [(table, home.store.lake.latest(table, as_of)) for table in (EDGES, ENTITIES)]
    infos = [home.store.lake.info(table, day) if day else None for table, day in days]
    return tuple(info.content_digest if info else None for info in infos)


def _known(rows: list[Row], user_id: str) -> Known:
    """The person answers to their user id and to what they said their name is."""
    names: dict[str, set[str]] = {}
    for row in rows:
        names.setdefault(row["subject_id"], set()).update(row["subject_keys"])
        if row["object_id"]:
            names.setdefault(row["object_id"], set()).update(row["object_keys"])
    for row in rows:
        if USER in row["subject_keys"]:
            names[row["subject_id"]].add(user_id[:LONGEST_NAME])
            if row["relation"] == "has_name" and row["polarity"] > 0:
                names[row["subject_id"]].add(row["object"])
    return Known(tuple(map(_fact, rows)), {entity: frozenset(keys) for entity, keys in names.items()})


def _fact(row: Row) -> Fact:
    is_single = row["relation"] in FUNCTIONAL and row["polarity"] > 0
    return Fact(
        edge_id=row["edge_id"],
        subject=row["subject"],
        relation=row["relation"],
        object=row["object"],
        over=row["over"],
        polarity=row["polarity"],
        status=row["status"],
        confidence=row["effective_confidence"],
        temporal_type=row["temporal_type"],
        valid_from=row["valid_from"],
        precision=row["valid_precision"] or "day",
        learned_on=row["learned_at"].date(),
        last_said_on=row["last_reinforced"].date(),
        mechanism=row["source_mechanism"],
        flags=tuple(row["flags"]),
        privacy_level=row["privacy_level"],
        ends=(row["subject_id"], row["object_id"]) if row["object_id"] else (row["subject_id"],),
        slot=(row["subject_id"], row["relation"], row["attribute"] or "") if is_single else None,
        contradicts=row["contradicts"],
        turns=tuple((source["session_id"], source["turn_number"]) for source in row["provenance"]),
    )
