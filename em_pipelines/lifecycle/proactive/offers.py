"""What was offered to a user, and what was kept back and why: `HOME/record/offers/`, a file a user, append-only.

A line holds ids, instants and reasons, and nothing of what anybody said; users and conversations stand in it as hashes
that only this home can make. What was handed out to an agent counts as asked, for nobody knows what became of it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import orjson

from em_pipelines.storage.files import make_folder, write_atomically
from em_pipelines.storage.salt import Salt

FOLDER = "offers"
LOCK = "offers"
"""Held from the decision until its line is written, so that two processes cannot both offer what only one may."""
KEPT_DAYS = 400
"""Longer than any answer tells of its user, and than anything is kept from being asked again."""
OFFERED = "offered"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `said` is offered, or the reason for which it was not; `session` is the hash of the conversation, and
    `about` the entity or fact that it is about."""

    at: datetime
    target: str
    kind: str
    said: str
    session: str | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class KeptBack:
    """A probe or starter that was not said to a user, when, and why."""

    user_id: str
    target: str
    kind: str
    reason: str
    timestamp: datetime


class OfferBook:
    """The files of one home. Whoever writes holds the home's lock LOCK."""

    def __init__(self, record: Path, salt: Salt) -> None:
        self._folder = record / FOLDER
        self._salt = salt

    def session(self, session_id: str | None) -> str | None:
        """What a conversation is called here."""
        return None if session_id is None else self._salt.hash("session", session_id)[:16]

    def of(self, user_id: str) -> list[Entry]:
        """What stands there of a user, in order. A line that nobody can read is left out: it costs one offer."""
        return [entry for line in self._lines(user_id) if (entry := _read(line)) is not None]

    def kept_back(self, user_ids: Iterable[str]) -> Iterator[KeptBack]:
        """What was not said to these users, in order of user and time."""
        if self._folder.exists():
            for user_id in user_ids:
                for one in self.of(user_id):
                    if one.said != OFFERED:
                        yield KeptBack(user_id, one.target, one.kind, one.said, one.at)

    def of_all(self) -> Iterator[Entry]:
        """What stands there of everybody, by nobody's name."""
        for path in sorted(self._folder.glob("*.jsonl")):
            yield from filter(None, map(_read, path.read_bytes().splitlines()))

    def damaged(self) -> list[str]:
        """Names of the files with lines that nobody can read."""
        paths = sorted(self._folder.glob("*.jsonl"))
        return [path.name for path in paths if any(_read(line) is None for line in path.read_bytes().splitlines())]

    def note(self, user_id: str, entries: Iterable[Entry], now: datetime) -> None:
        """Adds what was decided, but for what stands there for the same target: in the same conversation, or, of a
        reason where nobody says in which, on the same day. What is older than KEPT_DAYS goes."""
        kept = [one for one in self.of(user_id) if one.at > now - timedelta(days=KEPT_DAYS)]
        known = {_said_once(one) for one in kept}
        new = [one for one in entries if (is_said := _said_once(one)) is None or is_said not in known]
        if new:
            self._write(user_id, [*kept, *new])

    def forget_user(self, user_id: str) -> int:
        """Removes what stands there of a user; returns how many lines that were."""
        n_lines = len(self._lines(user_id))
        self._path(user_id).unlink(missing_ok=True)
        return n_lines

    def forget(self, user_id: str, is_gone: Callable[[Entry], bool]) -> int:
        """Removes the user's lines of which nothing is left; returns how many."""
        entries = self.of(user_id)
        kept = [one for one in entries if not is_gone(one)]
        if len(kept) < len(entries):
            self._write(user_id, kept)
        return len(entries) - len(kept)

    def forget_session(self, user_id: str, session_id: str) -> None:
        """Lets the user's lines forget in which conversation they were written; they count as before."""
        gone, entries = self.session(session_id), self.of(user_id)
        if any(one.session == gone for one in entries):
            self._write(user_id, (replace(one, session=None) if one.session == gone else one for one in entries))

    def _lines(self, user_id: str) -> list[bytes]:
        path = self._path(user_id)
        return path.read_bytes().splitlines() if path.exists() else []

    def _path(self, user_id: str) -> Path:
        return self._folder / f"{self._salt.hash('user', user_id)[:32]}.jsonl"

    def _write(self, user_id: str, entries: Iterable[Entry]) -> None:
        """Lines that nobody can read stay, so that `em doctor` can tell of them."""
        make_folder(self._folder)
        unread = [line for line in self._lines(user_id) if _read(line) is None]
        lines = [*unread, *(orjson.dumps(asdict(one)) for one in entries)]
        write_atomically(self._path(user_id), b"".join(line + b"\n" for line in lines))


def _said_once(entry: Entry) -> tuple[str, str, str] | None:
    """What makes another line of the same superfluous; None where each counts."""
    if entry.session is not None:
        return entry.target, entry.said, entry.session
    return None if entry.said == OFFERED else (entry.target, entry.said, str(entry.at.date()))


def _read(line: bytes) -> Entry | None:
    try:
        found = orjson.loads(line)
        at = datetime.fromisoformat(found["at"])
        return Entry(at, str(found["target"]), str(found["kind"]), str(found["said"]), found["session"], found["about"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
