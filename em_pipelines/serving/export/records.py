"""The landed records of one user, as they leave a home: exact, in an order that is no matter of the route.

Dead letters alone are changed: where a file lay and how it was called up to its name is a matter of the machine.
"""

import base64
from collections.abc import Iterator
from datetime import date
from pathlib import Path, PurePath

from em_pipelines.landing.erasure_gate import named_users
from em_pipelines.landing.intake import ID_COLUMNS
from em_pipelines.landing.land import all_letters
from em_pipelines.landing.records import interaction_key
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog

HOME = "HOME"
"""Stands in the words of a dead letter for the path of the home."""


def records_of(log: LandedLog, user_id: str, home: Path) -> Iterator[tuple[str, Record]]:
    """Every record of the user with its kind: kind by kind, day by day, in the order of their keys. Of several with
    one key the first stands, as everywhere. The caller holds the home's landing lock."""
    for kind in ("interactions", *(kind for kind in ID_COLUMNS if kind != "world_events")):
        for day in log.days(kind):
            yield from ((kind, record) for record in _of_day(log, kind, day, user_id))
    letters = (letter for letter in all_letters(log).values() if is_letter_of(letter, user_id))
    for letter in sorted(letters, key=lambda letter: (letter["landed_on"], letter["dead_letter_id"])):
        yield "dead_letters", portable(letter, home)


def _of_day(log: LandedLog, kind: str, day: date, user_id: str) -> list[Record]:
    """The user's records of a kind and day, each key once, in the order of their keys."""
    first: dict[tuple[str | int, ...], Record] = {}
    for record in log.read(kind, day):
        if record["user_id"] == user_id:
            first.setdefault(_key(kind, record), record)
    return [first[key] for key in sorted(first)]


def is_letter_of(letter: Record, user_id: str) -> bool:
    """Whether a dead letter is the user's: it says so, or nobody said whose it is and its one line names them alone."""
    if letter["user_id"] is not None:
        return bool(letter["user_id"] == user_id)
    raw = base64.b64decode(letter["raw"]).strip()
    return b"\n" not in raw and named_users(raw) == {user_id}


def portable(letter: Record, home: Path) -> Record:
    """A dead letter without paths: the file by its name, and the same in its words."""
    name = PurePath(letter["file"]).name
    detail = letter["detail"].replace(letter["file"], name)
    for path in {str(home.absolute()), str(home.resolve())}:
        detail = detail.replace(path, HOME)
    return {**letter, "file": name, "detail": detail}


def _key(kind: str, record: Record) -> tuple[str | int, ...]:
    return interaction_key(record) if kind == "interactions" else (record[ID_COLUMNS[kind]],)
