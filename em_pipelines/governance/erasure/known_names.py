"""What a log knows of people, whether or not anything was made of it yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from em_pipelines.landing.dead_letters import letters_of, words_of
from em_pipelines.landing.records import SEED
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.redaction.planning import KINDS
from em_pipelines.storage.landed_log import LandedLog


@dataclass(slots=True)
class Known:
    """What a log has of one user: the sessions, and the time of what was said last, as landed."""

    sessions: set[str] = field(default_factory=set)
    last_said_at: str = ""


def users_in(log: LandedLog) -> dict[str, Known]:
    """Everybody the log speaks of."""
    found: dict[str, Known] = {}
    for kind in KINDS:
        for day in log.days(kind):
            for record in log.read(kind, day):
                if user := record.get("user_id"):
                    known = found.setdefault(user, Known())
                    known.sessions.update(filter(None, [record.get("session_id")]))
                    known.last_said_at = max(known.last_said_at, record.get("timestamp", ""))
    return found


def is_written(log: LandedLog, user_id: str, name: str) -> bool:
    """Whether a message or dead letter of the user holds the name, written with a capital as names are, or an imported
    fact is about it, looked at or not."""
    names = NameIndex.of([name])
    return _is_imported(log, user_id, names) or any(
        text[span.start].isupper() for text in _written(log, user_id) for span in names.spans(text)
    )


def _written(log: LandedLog, user_id: str) -> Iterator[str]:
    for day in log.days("interactions"):
        yield from (record["content"] for record in log.read("interactions", day) if record["user_id"] == user_id)
    yield from (words_of(letter["raw"]) for letter in letters_of(log, user_id))


def _is_imported(log: LandedLog, user_id: str, names: NameIndex) -> bool:
    return any(
        names.is_in(fact[end])
        for day in log.days("feedback")
        for record in log.read("feedback", day)
        if record["user_id"] == user_id and record["type"] == SEED
        for fact in [orjson.loads(record["payload"])]
        for end in ("subject", "object")
        if end in fact
    )
