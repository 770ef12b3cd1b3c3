"""Storing what an agent saw or heard, and listing it: messages of one user, landed in the log like any other.

Nothing is written but the log, by the rules, the masks and the gate of every landing. Listing reads days that a run
has made from their table and all others from the log, so that what has just been stored is there at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.extraction.messages import messages
from em_pipelines.guard.screening import quotable
from em_pipelines.interfaces.agents.withholding import WithheldOf, reasons_of
from em_pipelines.landing.formats.base import Parsed
from em_pipelines.landing.intake import Intake, KnownRecords, SessionIndex
from em_pipelines.landing.reasons import Origin, RuleError
from em_pipelines.landing.records import Key, interaction_key, is_same_content, land_record
from em_pipelines.landing.report import Counts
from em_pipelines.landing.tables import interactions_table
from em_pipelines.language.masking import mask_text
from em_pipelines.language.name_matching import marked
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import Archived, Veil, hidden
from em_pipelines.retrieval.user_search import quotable_texts
from em_pipelines.schema.readings import Withheld
from em_pipelines.schema.table import Record, rows_of
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.storage.landed_log import Gate, LandedLog

Fields = Mapping[str, Any]
MADE_BY = ("interactions", "messages")
"""Steps that make the table of messages."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A message as it may be quoted: cleaned, secrets masked, without what the guard takes out. `timestamp` is UTC;
    `awaits_run` says that no run has read it yet, so that nothing was learned from it so far."""

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
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of messages that were to be stored, by count: new ones, those that stood already, and those that were
    forgotten before and stay away. `turns` are their turn numbers, in the order given; `said_at` is the latest time.
    `withheld` are those of which the guard withholds something, with how many sentences and why."""

    session_id: str
    turns: tuple[int, ...]
    n_new: int
    n_known: int
    n_erased: int
    said_at: str
    withheld: tuple[WithheldOf, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Which observations: of a session, with a tag, of days (UTC, both included); `limit` newest ones below `before`,
    which is (timestamp, session, turn) of the last one seen; of a `domain`, and of none."""

    session_id: str | None = None
    tag: str | None = None
    since: date | None = None
    until: date | None = None
    limit: int = 50
    before: tuple[datetime, str, int] | None = None
    is_archived: bool | None = False
    domain: str | None = None

    def holds(self, one: Observation) -> bool:
        """Whether an observation of these days is asked for."""
        return (
            self.session_id in (None, one.session_id)
            and (self.tag is None or self.tag.strip().casefold() in one.tags)
            and self.is_archived in (None, one.is_archived)
            and (self.domain is None or one.domain in (None, self.domain))
            and (self.before is None or _place(one) < self.before)
        )


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose memory takes something in, what stands for the format of what lands, and when it was sent."""

    user_id: str
    origin: str
    sent_at: datetime


def store(home: Pipeline, sender: Sender, session_id: str, said: Sequence[Fields]) -> Stored:
    """Lands messages of one session; safe to repeat. `said` are fields of native records without user and session.

    Without `turn_number` a message gets the next free one of its session, unless the session holds the same words by
    the same role already: then it is that one. Without `timestamp` it was said when it was sent, or first stored.
    Raises UsageError, before anything lands, where a message breaks a rule or its turn stands with other content.
    """
    user_id, now = sender.user_id, sender.sent_at
    with home.lock("landing"):
        wanted = _numbered(home, user_id, session_id, said)
        keys: set[Key] = {(user_id, session_id, one["turn_number"]) for one in wanted}
        standing = KnownRecords(home.store.log).interactions(keys)
        records = []
        for number, fields in enumerate(wanted):
            stands = standing.get((user_id, session_id, fields["turn_number"]))
            said_at = stands["timestamp"] if stands else now.isoformat()
            whole = {"timestamp": said_at, **fields, "user_id": user_id, "session_id": session_id}
            records.append(_checked(home.store.log.gate, whole, stands, number, sender.origin))
        counts = _take(home, [("interactions", record) for record in records], sender)
    turns = tuple(record["turn_number"] for record in records)
    last = max((record["timestamp"] for record in records), default=now.isoformat())
    reasons = ((n, reasons_of(record["content"], home.settings.safety)) for n, record in enumerate(records))
    withheld = tuple(WithheldOf(n, why) for n, why in reasons if why)
    return Stored(session_id, turns, counts.n_landed, counts.n_duplicates, counts.n_erased, last, withheld)


def tell(home: Pipeline, sender: Sender, said: Sequence[Fields]) -> tuple[str, ...]:
    """Lands feedback of one user and returns its ids; `said` are fields of native records without the user.

    Raises UsageError, before anything lands, where one breaks a rule.
    """
    records = []
    for number, fields in enumerate(said):
        given = {"timestamp": sender.sent_at.isoformat(), **fields, "user_id": sender.user_id}
        try:
            records.append(("feedback", given, land_record("feedback", given, sender.origin)["feedback_id"]))
        except RuleError as error:
            raise UsageError(f"giving feedback: number {number + 1}: {error.detail}") from error
    with home.lock("landing"):
        _take(home, [(kind, fields) for kind, fields, _ in records], sender)
    return tuple(feedback_id for _, _, feedback_id in records)


def listed(home: Pipeline, user_id: str, wanted: Listing, archived: Archived) -> list[Observation]:
    """The user's observations, newest first. What pending requests to forget cover is left out."""
    gone, veils = archived.of(user_id), hidden(home, user_id)
    newest: list[Observation] = []
    for day, rows, awaits_run in _days(home, user_id, wanted):
        said = (_observation(row, awaits_run=awaits_run, gone=gone) for row in rows)
        here = [one for one in said if wanted.holds(one) and not _is_covered(one, day, veils)]
        newest += sorted(here, key=_place, reverse=True)
        if len(newest) >= wanted.limit:
            break
    return _as_quoted(home, user_id, newest[: wanted.limit])


def _as_quoted(home: Pipeline, user_id: str, found: list[Observation]) -> list[Observation]:
    """Observations without sentences that state what was taken back, which the pack of the user knows."""
    texts = quotable_texts(home, user_id, [(one.session_id, one.turn_number) for one in found])
    told = ((one, texts.get((one.session_id, one.turn_number))) for one in found)
    return [one if text is None else replace(one, content=marked(text)) for one, text in told]


def _is_covered(one: Observation, day: date, veils: Iterable[Veil]) -> bool:
    return any(
        veil.hides_document(session_id=one.session_id, edge_id=None, text=one.content, said_on=day) for veil in veils
    )


def _days(home: Pipeline, user_id: str, wanted: Listing) -> Iterator[tuple[date, list[dict[str, Any]], bool]]:
    """Rows of messages of the user by day, the newest day first, and whether a run has still to read them."""
    first, last = wanted.since or date.min, wanted.until or date.max
    if wanted.before:
        last = min(last, wanted.before[0].date())
    days = [day for day in home.store.log.days("interactions") if first <= day <= last]
    unread = _unread(home, days)
    for day in reversed(days):
        is_unread = day in unread
        yield day, _rows_of_log(home, user_id, day) if is_unread else _rows_of_table(home, user_id, day), is_unread


def _unread(home: Pipeline, days: list[date]) -> set[date]:
    """Days that no run has made into messages as they are now."""
    look = home.store.look()
    return set().union(*(home.store.outdated(home.steps[name], days, look) for name in MADE_BY)) if days else set()


def unextracted(home: Pipeline, user_id: str) -> list[dict[str, Any]]:
    """The user's messages that have landed and that no run has extracted yet, as rows of `messages`, in order of time.
    What pending requests to forget cover is left out."""
    veils, found = hidden(home, user_id), []
    for day in sorted(_unread(home, home.store.log.days("interactions"))):
        known = {row["message_id"] for row in _rows_of_table(home, user_id, day)}
        new = (row for row in _rows_of_log(home, user_id, day) if row["message_id"] not in known)
        found += [
            row for row in new if not _is_covered(_observation(row, awaits_run=True, gone=frozenset()), day, veils)
        ]
    return found


def _rows_of_log(home: Pipeline, user_id: str, day: date) -> list[dict[str, Any]]:
    own = [record for record in home.store.log.read("interactions", day) if record["user_id"] == user_id]
    return list(rows_of(messages(interactions_table(own), home.settings.safety))) if own else []


def _rows_of_table(home: Pipeline, user_id: str, day: date) -> list[dict[str, Any]]:
    return list(rows_of(home.store.lake.find(MESSAGES, day, "user_id", [user_id])))


def _observation(row: dict[str, Any], *, awaits_run: bool, gone: frozenset[tuple[str, int]]) -> Observation:
    carried = ("session_id", "turn_number", "role", "timestamp", "memory_type", "speaker", "trust", "domain")
    return Observation(
        observation_id=row["message_id"],
        content=marked(quotable(row["content"], [Withheld(**found) for found in row["withheld"]])),
        **{name: row[name] for name in carried},
        tags=tuple(row["tags"]),
        is_archived=(row["session_id"], row["turn_number"]) in gone,
        awaits_run=awaits_run,
    )


def _place(one: Observation) -> tuple[datetime, str, int]:
    return one.timestamp, one.session_id, one.turn_number


def _numbered(home: Pipeline, user_id: str, session_id: str, said: Sequence[Fields]) -> list[dict[str, Any]]:
    """The messages with a turn number each."""
    if all(fields.get("turn_number") is not None for fields in said):
        return [dict(fields) for fields in said]
    here = of_session(home.store.log, user_id, session_id)
    by_words = {(str(record["role"]), record["content"]): record["turn_number"] for record in reversed(here)}
    last = max((record["turn_number"] for record in here), default=-1)
    numbered = []
    for fields in said:
        turn = fields.get("turn_number")
        if turn is None:
            words = (str(fields.get("role")), _as_landed(fields))
            turn = by_words.setdefault(words, last + 1)
        last = max(last, turn) if isinstance(turn, int) else last
        numbered.append({**fields, "turn_number": turn})
    return numbered


def of_session(log: LandedLog, user_id: str, session_id: str) -> list[Record]:
    """The messages of a session that have landed, in the order of the log."""
    return [
        record
        for day in SessionIndex(log).days({(user_id, session_id)})
        for record in log.read("interactions", day)
        if interaction_key(record)[:2] == (user_id, session_id)
    ]


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


def _take(home: Pipeline, items: Sequence[tuple[str, Fields]], sender: Sender) -> Counts:
    """Lands what was checked already; the caller holds the landing lock. Raises UsageError for times out of range."""
    intake = Intake(home.store.log, now=sender.sent_at, settings=home.settings.landing)
    where = Origin(sender.origin, sender.origin)
    for number, (kind, fields) in enumerate(items, start=1):
        intake.take(Parsed(number, kind, dict(fields)), where)
    if refused := intake.flush():
        raise UsageError(f"storing number {refused[0].line_number}: {refused[0].detail}")
    return intake.counts
