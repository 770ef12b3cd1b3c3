"""A conversation as an append-only list: what stands in it, as it was said, and putting something behind it.

For libraries that keep what they say in memory and want it back word for word. Secrets are masked, what is archived or
about to be forgotten is left out; the guard, which is for what is quoted elsewhere, is not asked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.observations import Fields, Sender, of_session, store
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import ARCHIVE, Veil, hidden
from em_pipelines.schema.table import Record

TRIES = 20
"""Others may put something behind the same conversation meanwhile; each time somebody gets through."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as it landed."""

    turn_number: int
    role: str
    content: str
    timestamp: str


def turns_of(home: Pipeline, user: str, session_id: str) -> list[Turn]:
    """The turns of a conversation, in their order, as they may be told to whoever holds it."""
    gone, veils = home.archived.of(user), hidden(home, user)
    standing = {record["turn_number"]: record for record in reversed(of_session(home.store.log, user, session_id))}
    return [
        Turn(number, record["role"], record["content"], record["timestamp"])
        for number, record in sorted(standing.items())
        if (session_id, number) not in gone and not is_covered(record, veils)
    ]


def is_covered(record: Record, veils: Iterable[Veil]) -> bool:
    """Whether a message is about to be forgotten."""
    said_on, session = date.fromisoformat(record["timestamp"][:10]), record["session_id"]
    text = record["content"]
    return any(veil.hides_document(session_id=session, edge_id=None, text=text, said_on=said_on) for veil in veils)


def append(home: Pipeline, sender: Sender, session_id: str, said: Sequence[Fields]) -> list[int]:
    """Puts messages behind a conversation, all or none, and returns their turn numbers, which follow on each other.

    Doing it twice puts them there twice. Raises UsageError where one breaks a rule of landing.
    """
    for _ in range(TRIES):
        first = _next(home, sender.user_id, session_id)
        numbered = [{**fields, "turn_number": first + place} for place, fields in enumerate(said)]
        try:
            return list(store(home, sender, session_id, numbered).turns)
        except UsageError:
            if _next(home, sender.user_id, session_id) == first:
                raise
    raise UsageError(f"storing messages: others write to session {session_id!r:.80} all the time; try again")


def archiving(session_id: str, turns: Iterable[int]) -> list[Fields]:
    """The feedback by which turns are kept and not told any more."""
    return [
        {"type": ARCHIVE, "session_id": session_id, "turn_number": turn, "is_archived": True} for turn in sorted(turns)
    ]


def _next(home: Pipeline, user: str, session_id: str) -> int:
    return 1 + max((record["turn_number"] for record in of_session(home.store.log, user, session_id)), default=-1)
