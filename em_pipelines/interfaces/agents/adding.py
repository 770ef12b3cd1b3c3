"""Taking a batch of messages and facts into one user's memory, each for itself: what is wrong costs only itself.

Nothing is written but the log, by the rules, the masks and the gate of every landing. Adding the same batch again adds
nothing: a message is known by its conversation and turn, and one without a turn number by who said what how many times.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Literal, Protocol, TypeAlias

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.observations import Sender, of_session
from em_pipelines.interfaces.agents.withholding import WithheldOf, reasons_of
from em_pipelines.landing.formats.base import Parsed, instant_of, iso_or_none
from em_pipelines.landing.formats.openai import spoken
from em_pipelines.landing.intake import Intake, Session, SessionIndex
from em_pipelines.landing.reasons import Origin, Reason, RuleError
from em_pipelines.landing.records import Interaction, land_record
from em_pipelines.landing.report import Counts
from em_pipelines.language.values import iso_instant, iso_local, parse_instant
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.table import Record

Fields = dict[str, Any]


class Dumpable(Protocol):
    """An object of a library that says what it holds: pydantic's way, and so that of OpenAI's and LangChain's."""

    def model_dump(self, *, exclude_none: bool = ...) -> dict[str, Any]: ...


Message: TypeAlias = str | Mapping[str, Any] | Dumpable
Messages: TypeAlias = Message | Iterable[Message]
Facts: TypeAlias = Mapping[str, Any] | Iterable[Mapping[str, Any]]
What = Literal["message", "fact"]
OF_A_MESSAGE = frozenset(Interaction.model_fields) - {"user_id", "subject", "source_format"}
"""Fields of a native record that a message may bring along; of its others nothing is kept."""
_TIMES = ("created_at", "created", "create_time")
"""Where OpenAI's objects say when they were made, in seconds; `timestamp` is read as strictly as any landed one."""
_ROLE_OF_TYPE = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
"""Messages of LangChain have a type in the place of a role."""


@dataclass(frozen=True, slots=True)
class NotAdded:
    """One of a batch that was refused: its place in the list that it came in, from 0, and why, in a sentence."""

    index: int
    what: What
    reason: str


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a batch.

    `added` counts what is new, `skipped` what stood already, was forgotten before and stays away, or holds no words (a
    call of a tool); `errors` is what was refused, in order. `turns` has a place for each message: its conversation and
    turn number, or None where it was not taken. `is_learned` says whether facts were learned from it; where that was
    asked for and did not come to pass, `waits_for` says what for, and the next run does it. `withheld` are the messages
    of which the guard withholds something, with how many sentences and why.
    """

    added: int = 0
    skipped: int = 0
    errors: tuple[NotAdded, ...] = ()
    turns: tuple[tuple[str, int] | None, ...] = ()
    is_learned: bool = False
    waits_for: str | None = None
    withheld: tuple[WithheldOf, ...] = ()


@dataclass(frozen=True, slots=True)
class Shared:
    """What holds for all of a batch that do not say otherwise: their conversation, when they were said, the domain."""

    session_id: str | None = None
    timestamp: datetime | None = None
    domain: str | None = None

    @classmethod
    def of(cls, session_id: str | None, timestamp: datetime | str | None, domain: str | None) -> "Shared":
        """With a time as it may be given; raises UsageError for one that is none, or could be any of a day."""
        try:
            if timestamp is None:
                return cls(session_id, None, domain)
            at = parse_instant(timestamp)
            local = timestamp if isinstance(timestamp, datetime) else datetime.fromisoformat(timestamp.strip())
            return cls(session_id, local if local.tzinfo else at, domain)
        except ValueError as error:
            raise UsageError(
                f"adding: the timestamp {timestamp!r:.60} cannot be read ({error}); give one with an offset, such as "
                "datetime.now(UTC)"
            ) from error


@dataclass(slots=True)
class Taken:
    """A batch while it is taken in. `days` and `sessions` are those of all that stands now, new or not."""

    n_new: int = 0
    n_known: int = 0
    errors: list[NotAdded] = field(default_factory=list)
    turns: list[tuple[str, int] | None] = field(default_factory=list)
    days: set[date] = field(default_factory=set)
    sessions: set[Session] = field(default_factory=set)
    withheld: list[WithheldOf] = field(default_factory=list)

    def refuse(self, index: int, what: What, reason: str) -> None:
        """Notes why one was not taken."""
        self.errors.append(NotAdded(index, what, reason))

    def result(self) -> Added:
        """What is told of it."""
        found = sorted(self.errors, key=lambda error: (error.what != "message", error.index))
        return Added(self.n_new, self.n_known, tuple(found), tuple(self.turns), withheld=tuple(self.withheld))

    def days_to_learn(self, home: Pipeline) -> list[date]:
        """Its days, and all others of its conversations: what one day says of a conversation counts on each."""
        return sorted({*self.days, *SessionIndex(home.store.log).days(self.sessions)})


def add(home: Pipeline, sender: Sender, messages: Messages, facts: Facts, shared: Shared) -> Taken:
    """Lands what can be landed of messages and facts, and says what became of each.

    Raises UsageError for what is no list of anything, LockedError where another process keeps landing for too
    long; then nothing has landed.
    """
    taken = Taken()
    said = _readable(_listed(messages), sender, shared, taken)
    told = _facts(_listed(facts), sender, shared, taken)
    if not (said or told):
        return taken
    with home.lock("landing"):
        _take(home, sender, _numbered(home, sender, said, taken), taken)
        _take(home, sender, _unsaid(home, told, taken), taken)
    return taken


def _listed(given: object) -> list[Any]:
    """One, or many, as a list."""
    if given is None:
        return []
    if isinstance(given, Mapping) and "role" not in given and isinstance(given.get("messages"), list):
        return list(given["messages"])  # a conversation, as a line of a log has it
    if hasattr(given, "to_dict"):  # whose iteration would give the names of its columns
        raise UsageError("adding: a data frame is no list of messages; give its rows: frame.to_dict('records')")
    is_one = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable) or hasattr(given, "model_dump")
    return [given] if is_one else list(given)  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class _Item:
    """A message or fact that may land: its place in its list, its kind of record, its fields, and the record that they
    make, with any turn number. `is_dated` says that its time was given."""

    index: int
    kind: str
    fields: Fields
    record: Record
    is_dated: bool

    @property
    def what(self) -> What:
        return "message" if self.kind == "interactions" else "fact"


def _readable(messages: Sequence[Any], sender: Sender, shared: Shared, taken: Taken) -> list[_Item]:
    """Those of the messages that break no rule."""
    taken.turns = [None] * len(messages)
    items = []
    for index, message in enumerate(messages):
        try:
            fields = _fields_of(message, sender.user_id)
            if fields is None:
                taken.n_known += 1
            else:
                items.append(_message(index, fields, sender, shared))
        except RuleError as error:
            taken.refuse(index, "message", error.detail)
    return items


def _fields_of(message: Any, user_id: str) -> Fields | None:
    """The fields of a native record that a message gives; None where it says nothing. Raises RuleError."""
    if isinstance(message, str):
        return {"role": "user", "content": message}
    given = message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message
    if not isinstance(given, Mapping):
        found = type(message).__name__
        raise RuleError(Reason.NOT_AN_OBJECT, f"expected a text, or a message with role and content, found {found}")
    if given.get("user_id") not in (None, user_id):
        raise RuleError(Reason.INVALID_FIELD, "user_id: it is somebody else's; this memory is of one user alone")
    role = given.get("role") or _ROLE_OF_TYPE.get(str(given.get("type")))
    said = spoken({**given, "role": role})
    if said is None:
        return None
    own = {name: value for name, value in given.items() if name in OF_A_MESSAGE and value is not None}
    return own | said | _time_of(given)


def _time_of(message: Mapping[str, Any]) -> Fields:
    """When a message was said, where it tells, as ISO 8601."""
    at = message.get("timestamp")
    if at is None:
        at = next((instant_of(message[name]) for name in _TIMES if message.get(name) is not None), None)
    if isinstance(at, datetime):
        return {"timestamp": at.isoformat()}
    if isinstance(at, int | float):
        return {"timestamp": iso_or_none(instant_of(at)) or at}
    return {} if at is None else {"timestamp": at}


def _message(index: int, fields: Fields, sender: Sender, shared: Shared) -> _Item:
    """A message with all that it needs to land but its number. Raises RuleError."""
    if shared.domain and fields.setdefault("domain", shared.domain) != shared.domain:
        raise RuleError(Reason.INVALID_FIELD, f"domain: this memory is of the domain {shared.domain!r:.80} alone")
    is_dated = "timestamp" in fields
    whole = {"timestamp": iso_local(shared.timestamp or sender.sent_at), **fields, "user_id": sender.user_id}
    whole["session_id"] = _session(whole, sender, shared)
    turn = whole.get("turn_number")
    record = land_record("interactions", {**whole, "turn_number": 0 if turn is None else turn}, sender.origin)
    return _Item(index, "interactions", whole, record, is_dated or shared.timestamp is not None)


def _session(fields: Fields, sender: Sender, shared: Shared) -> Any:
    """The conversation that is named, or else that of the day: so one told again on the day is known, and what is said
    on two days was said twice."""
    named = fields.get("session_id")
    if named is None:
        named = shared.session_id
    if named is not None:
        return named
    try:
        day = parse_instant(fields["timestamp"]).date()
    except ValueError:  # which is refused where the record is checked
        day = sender.sent_at.date()
    return f"{sender.origin}-{day}"


def _numbered(home: Pipeline, sender: Sender, items: Sequence[_Item], taken: Taken) -> list[_Item]:
    """Messages with a turn number each: that of the same words by the same role where the conversation holds them as
    many times already, else the next free one. What has a time is the same only where it stands with that time."""
    by_session: dict[str, list[_Item]] = defaultdict(list)
    for item in items:
        by_session[item.record["session_id"]].append(item)
    numbered: list[_Item] = []
    for session_id, said in by_session.items():
        place = _Place(of_session(home.store.log, sender.user_id, session_id))
        for item in said:
            fields = place.numbered(item)
            taken.turns[item.index] = (session_id, fields["turn_number"])
            numbered.append(replace(item, fields=fields))
    return numbered


class _Place:
    """What stands in one conversation, and what is about to."""

    def __init__(self, standing: Sequence[Record]) -> None:
        self._by_turn = {record["turn_number"]: record for record in reversed(standing)}
        self._same: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._seen: Counter[tuple[str, ...]] = Counter()
        for record in standing:
            words = (record["role"], record["content"])
            self._same[words].append(record["turn_number"])
            self._same[*words, record["timestamp"]].append(record["turn_number"])
        self._last = max(self._by_turn, default=-1)

    def numbered(self, item: _Item) -> Fields:
        """The fields of a message with its number, and the time that stands where none was given."""
        record = item.record
        turn = item.fields.get("turn_number")
        if turn is None:
            words = (record["role"], record["content"], *([record["timestamp"]] if item.is_dated else ()))
            same = self._same[words]
            turn = same[self._seen[words]] if self._seen[words] < len(same) else self._last + 1
            self._seen[words] += 1
        self._last = max(self._last, turn)
        stands = self._by_turn.get(turn)
        at = stands["timestamp"] if stands is not None and not item.is_dated else item.fields["timestamp"]
        return {**item.fields, "turn_number": turn, "timestamp": at}


def _facts(facts: Sequence[Any], sender: Sender, shared: Shared, taken: Taken) -> list[_Item]:
    """Those of the facts that break no rule, each as feedback of its own."""
    at = iso_local(shared.timestamp or sender.sent_at)
    items = []
    for index, fact in enumerate(facts):
        if not isinstance(fact, Mapping):
            taken.refuse(index, "fact", f"expected a fact with relation and object, found {type(fact).__name__}")
            continue
        said: Fields = {"type": "add_facts", "facts": [dict(fact)], "timestamp": at, "user_id": sender.user_id}
        said |= {"domain": shared.domain} if shared.domain else {}
        said["session_id"] = _session(said, sender, shared)
        try:
            record = land_record("feedback", said, sender.origin)
        except RuleError as error:
            taken.refuse(index, "fact", error.detail)
        else:
            items.append(_Item(index, "feedback", said, record, shared.timestamp is not None))
    return items


def _unsaid(home: Pipeline, items: Sequence[_Item], taken: Taken) -> list[_Item]:
    """Facts that were not added on that day of that conversation yet; with a time given, that is for its own time to
    say."""
    days = {date.fromisoformat(item.record["timestamp"][:10]) for item in items if not item.is_dated}
    known = {_said(record) for day in days for record in home.store.log.read("feedback", day)}
    new = []
    for item in items:
        if not item.is_dated and _said(item.record) in known:
            taken.n_known += 1
            taken.days.add(date.fromisoformat(item.record["timestamp"][:10]))
        else:
            known.add(_said(item.record))
            new.append(item)
    return new


def _said(feedback: Record) -> tuple[Any, ...]:
    return feedback["user_id"], feedback["session_id"], feedback["type"], feedback["payload"]


def _take(home: Pipeline, sender: Sender, items: Sequence[_Item], taken: Taken) -> None:
    """Lands the items; the caller holds the landing lock."""
    intake = Intake(home.store.log, now=sender.sent_at, settings=home.settings.landing)
    where = Origin(sender.origin, sender.origin)
    for number, item in enumerate(items):
        intake.take(Parsed(number, item.kind, item.fields), where)
    refused = {refusal.line_number: refusal.detail for refusal in intake.flush()}
    for number, item in enumerate(items):
        if number in refused:
            taken.refuse(item.index, item.what, refused[number])
            if item.what == "message":
                taken.turns[item.index] = None
            continue
        taken.days.add(date.fromisoformat(iso_instant(parse_instant(item.fields["timestamp"]))[:10]))
        if item.what == "message":
            taken.sessions.add((sender.user_id, item.fields["session_id"]))
            if reasons := reasons_of(item.record["content"], home.settings.safety):
                taken.withheld.append(WithheldOf(item.index, reasons))
    _count(intake.counts, taken)


def _count(counts: Counts, taken: Taken) -> None:
    taken.n_new += counts.n_landed
    taken.n_known += counts.n_duplicates + counts.n_erased
