"""Reading what is known of a person, as readers see it.

It takes a tenth of a second, so a process keeps what it read of the persons it was asked about last, for as long as
nothing has changed that this hangs on: the tables, what people said since, and what is about to be erased.
"""

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.context.known import COLUMNS, Known
from em_pipelines.erasure.overlay import hidden, hiding
from em_pipelines.home import Home
from em_pipelines.serving.facts import SHOWN, FactQuery, standing
from em_pipelines.tables.graph import EDGES, ENTITIES
from em_pipelines.vocabulary import USER

KEPT_PERSONS = 16
LONGEST_NAME = 200

_kept: dict[tuple[Path, str], tuple[tuple[Any, ...], Known]] = {}


def known(home: Home, user_id: str, as_of: date) -> Known:
    """What is known of a person at the end of a day, with what they corrected since and without what is about to go."""
    stamp = (_tables(home, as_of), _feedback(home, as_of), as_of, hidden(home, user_id), home.settings.decay)
    key = (home.path.resolve(), user_id)
    kept = _kept.get(key)
    if kept and kept[0] == stamp:
        return kept[1]
    waiting = home.waiting(user_id, as_of)
    columns = ("*",) if hidden(home, user_id) else COLUMNS  # what is to be hidden is known by the others
    rows = standing(home.store, FactQuery(user_id, as_of), home.settings.decay, waiting, columns)
    found = _known(home, user_id, rows)
    _kept.pop(key, None)
    while len(_kept) >= KEPT_PERSONS:
        _kept.pop(next(iter(_kept)), None)
    _kept[key] = (stamp, found)
    return found


def is_id(user_id: str) -> bool:
    """Whether anybody may have such an id: nobody has one that is no UTF-8, as a shell may hand over."""
    try:
        user_id.encode()
    except UnicodeEncodeError:
        return False
    return True


def forget() -> None:
    """Lets go of what was read, so that the next question reads it anew."""
    _kept.clear()


def _tables(home: Home, as_of: date) -> tuple[tuple[date, str] | None, ...]:
    """What the tables hold that are read."""
    days = [(table, home.store.lake.latest(table, as_of)) for table in (EDGES, ENTITIES)]
    infos = [(day, home.store.lake.info(table, day)) for table, day in days if day]
    return tuple((day, info.content_digest) if info else None for day, info in infos)


def _feedback(home: Home, as_of: date) -> tuple[str | None, ...]:
    """What people have said about memory. What of it waits to be folded shows in the tables."""
    return tuple(home.store.log.digest("feedback", day) for day in home.store.log.days("feedback") if day <= as_of)


def _known(home: Home, user_id: str, rows: pa.Table) -> Known:
    """The person answers to their user id and to what they said their name is."""
    shown = rows.filter(pc.is_in(rows["status"], value_set=pa.array(SHOWN)))
    if hidden(home, user_id):
        is_hidden = hiding(home, user_id)
        shown = shown.filter(pa.array([not is_hidden(row) for row in shown.to_pylist()], pa.bool_()))
    is_name = pc.and_(pc.equal(shown["relation"], "has_name"), pc.equal(shown["subject"], USER))
    said = shown.filter(pc.and_(is_name, pc.greater(shown["polarity"], 0)))["object"].to_pylist()
    return Known(shown.select(COLUMNS), frozenset([*said, user_id[:LONGEST_NAME]]))
