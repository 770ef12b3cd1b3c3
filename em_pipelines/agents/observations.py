"""Storing what an agent saw or heard, and listing it: messages of one user, landed in the log like any other.

Nothing is written but the log, by the rules, the masks and the gate of every landing. Listing reads days that a run
has made from their table and all others from the log, so that what has just been stored is there at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from em_pipelines.episodes.messages import messages
from em_pipelines.erasure.overlay import hidden
from em_pipelines.errors import UsageError
from em_pipelines.feedback.archived import Archived
from em_pipelines.home import Home
from em_pipelines.lake import rows_of
from em_pipelines.landing.formats.base import Parsed
from em_pipelines.landing.gate import Gate
from em_pipelines.landing.intake import Counts, Intake, Origin
from em_pipelines.landing.known import KnownRecords
from em_pipelines.landing.log import Record
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import Key, interaction_key, is_same_content, land_record
from em_pipelines.landing.session_index import SessionIndex
from em_pipelines.landing.tables import interactions_table
from em_pipelines.safety.masking import mask_text
from em_pipelines.tables.clean import MESSAGES

Fields = Mapping[str, Any]
MADE_BY = ("interactions", "messages")
"""Steps that make the table of messages."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A message as memory keeps it: cleaned, secrets masked. `timestamp` is UTC; `awaits_run` says that no run has
    read it yet, so that nothing was learned from it so far."""

    observation_id: str
    session_id: str
    turn_number: int
    role: str
    content: str
    timestamp: datetime
    tags: tuple[str, ...]
    memory_type: str
    speaker: str | None
    trust: str
    is_archived: bool
    awaits_run: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of messages that were to be stored, by count: new ones, those that stood already, and those that were
    forgotten before and stay away. `turns` are their turn numbers, in the order given; `said_at` is the latest time."""

    session_id: str
    turns: tuple[int, ...]
    n_new: int
    n_known: int
    n_erased: int
    said_at: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Which observations: of a session, with a tag, of days (UTC, both included); `limit` newest ones below `before`,
    which is (timestamp, session, turn) of the last one seen."""

    session_id: str | None = None
    tag: str | None = None
    since: date | None = None
    until: date | None = None
    limit: int = 50
    before: tuple[datetime, str, int] | None = None
    is_archived: bool | None = False


def store(home: Home, user_id: str, session_id: str, said: Sequence[Fields], origin: str, now: datetime) -> Stored:
    """Lands messages of one session; safe to repeat. `said` are fields of native records without user and session.

    Without `turn_number` a message gets the next free one of its session, unless the session holds the same words by
    the same role already: then it is that one. Without `timestamp` it was said `now`, or when it was first stored.
    Raises UsageError, before anything lands, where a message breaks a rule or its turn stands with other content.
    """
    with home.lock("landing"):
        wanted = _numbered(home, user_id, session_id, said)
        keys: set[Key] = {(user_id, session_id, one["turn_number"]) for one in wanted}
        standing = KnownRecords(home.store.log).interactions(keys)
        records = []
        for number, fields in enumerate(wanted):
            stands = standing.get((user_id, session_id, fields["turn_number"]))
            said_at = stands["timestamp"] if stands else now.isoformat()
            whole = {"timestamp": said_at, **fields, "user_id": user_id, "session_id": session_id}
            records.append(_checked(home.store.log.gate, whole, stands, number, origin))
        counts = _take(home, [("interactions", record) for record in records], origin, now)
    turns = tuple(record["turn_number"] for record in records)
    last = max((record["timestamp"] for record in records), default=now.isoformat())
    return Stored(session_id, turns, counts.n_landed, counts.n_duplicates, counts.n_erased, last)


def tell(home: Home, user_id: str, said: Sequence[Fields], origin: str, now: datetime) -> tuple[str, ...]:
    """Lands feedback of one user and returns its ids; `said` are fields of native records without the user.

    Raises UsageError, before anything lands, where one breaks a rule.
    """
    records = []
    for number, fields in enumerate(said):
        given = {"timestamp": now.isoformat(), **fields, "user_id": user_id}
        try:
            records.append(("feedback", given, land_record("feedback", given, origin)["feedback_id"]))
        except RuleError as error:
            raise UsageError(f"giving feedback: number {number + 1}: {error.detail}") from error
    with home.lock("landing"):
        _take(home, [(kind, fields) for kind, fields, _ in records], origin, now)
    return tuple(feedback_id for _, _, feedback_id in records)


def listed(home: Home, user_id: str, wanted: Listing, archived: Archived) -> list[Observation]:
    """The user's observations, newest first. What pending requests to forget cover is left out."""
    gone, veils = archived.of(user_id), hidden(home, user_id)
    tag = wanted.tag.strip().casefold() if wanted.tag is not None else None
    found: list[Observation] = []
    for day, rows, awaits_run in _days(home, user_id, wanted):
        here = []
        for row in rows:
            one = _observation(row, awaits_run=awaits_run, gone=gone)
            is_wanted = (
                wanted.session_id in (None, one.session_id)
                and (tag is None or tag in one.tags)
                and wanted.is_archived in (None, one.is_archived)
                and (wanted.before is None or _place(one) < wanted.before)
            )
            is_covered = any(
                v.hides_document(session_id=one.session_id, edge_id=None, text=one.content, said_on=day) for v in veils
            )
            if is_wanted and not is_covered:
                here.append(one)
        found += sorted(here, key=_place, reverse=True)
        if len(found) >= wanted.limit:
            break
    return found[: wanted.limit]


def _days(home: Home, user_id: str, wanted: Listing) -> Iterator[tuple[date, list[dict[str, Any]], bool]]:
    """Rows of messages of the user by day, the newest day first, and whether a run has still to read them."""
    log, lake = home.store.log, home.store.lake
    first, last = wanted.since or date.min, wanted.until or date.max
    if wanted.before:
        last = min(last, wanted.before[0].date())
    days = [day for day in log.days("interactions") if first <= day <= last]
    look = home.store.look()
    waiting = set().union(*(home.store.outdated(home.steps[name], days, look) for name in MADE_BY)) if days else set()
    for day in reversed(days):
        if day in waiting:
            own = [record for record in log.read("interactions", day) if record["user_id"] == user_id]
            yield day, list(rows_of(messages(interactions_table(own)))) if own else [], True
        else:
            yield day, list(rows_of(lake.find(MESSAGES, day, "user_id", [user_id]))), False


def _observation(row: dict[str, Any], *, awaits_run: bool, gone: frozenset[tuple[str, int]]) -> Observation:
    carried = ("session_id", "turn_number", "role", "content", "timestamp", "memory_type", "speaker", "trust")
    return Observation(
        observation_id=row["message_id"],
        **{name: row[name] for name in carried},
        tags=tuple(row["tags"]),
        is_archived=(row["session_id"], row["turn_number"]) in gone,
        awaits_run=awaits_run,
    )


def _place(one: Observation) -> tuple[datetime, str, int]:
    return one.timestamp, one.session_id, one.turn_number


def _numbered(home: Home, user_id: str, session_id: str, said: Sequence[Fields]) -> list[dict[str, Any]]:
    """The messages with a turn number each."""
    if all(fields.get("turn_number") is not None for fields in said):
        return [dict(fields) for fields in said]
    log = home.store.log
    here = [
        record
        for day in SessionIndex(log).days({(user_id, session_id)})
        for record in log.read("interactions", day)
        if interaction_key(record)[:2] == (user_id, session_id)
    ]
    by_words = {(str(record["role"]), record["content"]): record["turn_number"] for record in reversed(here)}
    last = max((record["turn_number"] for record in here), default=-1)
    found = []
    for fields in said:
        turn = fields.get("turn_number")
        if turn is None:
            words = (str(fields.get("role")), _as_landed(fields))
            turn = by_words.setdefault(words, last + 1)
        last = max(last, turn) if isinstance(turn, int) else last
        found.append({**fields, "turn_number": turn})
    return found


def _as_landed(fields: Fields) -> str:
    """The content as the log has it, for comparison with what stands there."""
    return mask_text(str(fields.get("content")))


def _checked(gate: Gate, fields: dict[str, Any], stands: Record | None, number: int, origin: str) -> dict[str, Any]:
    """The fields, once they are known to make a record that can land, or that the gate knows what to do with."""
    try:
        record = land_record("interactions", fields, origin)
    except RuleError as error:
        raise UsageError(f"storing message {number + 1}: {error.detail}") from error
    admitted = gate.judge("interactions", record).record
    if stands is not None and admitted is not None and not is_same_content(stands, admitted):
        raise UsageError(
            f"storing message {number + 1}: turn {fields['turn_number']} of this session has landed with other "
            "content; what landed first stands, so give it another turn_number"
        )
    return fields


def _take(home: Home, items: Sequence[tuple[str, Fields]], origin: str, now: datetime) -> Counts:
    """Lands what was checked already; the caller holds the landing lock. Raises UsageError for times out of range."""
    intake = Intake(home.store.log, now=now, settings=home.settings.landing)
    where = Origin(origin, origin)
    for number, (kind, fields) in enumerate(items, start=1):
        intake.take(Parsed(number, kind, dict(fields)), where)
    if refused := intake.flush():
        raise UsageError(f"storing number {refused[0].line_number}: {refused[0].detail}")
    return intake.counts
