"""The four kinds of record: what a log may say, and what of it is landed.

A model here is the rule book of one kind; `land_record` turns fields as a converter found them into the landed
record, a dict of JSON values whose keys are the columns of the raw table. Strict: nothing is coerced, so that a wrong
log is seen as wrong. Where records come from is no matter here.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import orjson
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.language.fact_keys import key_of_named
from em_pipelines.language.masking import mask_text, mask_value, secret_kinds
from em_pipelines.language.values import iso_instant, offset_minutes, parse_instant
from em_pipelines.schema import ids
from em_pipelines.schema.feedback_payloads import check_payload
from em_pipelines.schema.table import Record
from em_pipelines.schema.vocabulary import USER

MAX_ID_CHARACTERS = 256
MAX_TAG_CHARACTERS = 64
MAX_TAGS = 32
MAX_INT = 2**63 - 1
MAX_OFFSET_MINUTES = 18 * 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _parse_day(value: object) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value)
    raise PydanticCustomError("day_type", "expected a date as text, YYYY-MM-DD")


def _check_id(value: str) -> str:
    if not value.strip():
        raise ValueError("it is blank")
    if _CONTROL.search(value):
        raise ValueError("it holds control characters")
    return value


def _check_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise PydanticCustomError("text_unicode", "it holds half a character (a lone surrogate)") from error
    return value


def _as_kept(tags: list[str]) -> list[str]:
    """Tags as they are compared: masked, in small letters, sorted, each once."""
    return sorted({mask_text(tag).strip().casefold() for tag in tags})


Text = Annotated[str, AfterValidator(_check_text)]
Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS), AfterValidator(_check_id)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS), AfterValidator(_check_id)]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARACTERS), AfterValidator(_check_id)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(_as_kept)]
Instant = Annotated[datetime, BeforeValidator(parse_instant)]
Day = Annotated[date, BeforeValidator(_parse_day)]
Offset = Annotated[int, Field(ge=-MAX_OFFSET_MINUTES, le=MAX_OFFSET_MINUTES)]
Count = Annotated[int, Field(ge=0, le=MAX_INT)]
Integer = Annotated[int, Field(ge=-MAX_INT, le=MAX_INT)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


FeedbackType = Literal[
    "correct", "confirm", "retract", "forget", "merge", "split", "recalled", "add_facts", "probe_delivered",
    "probe_accepted", "probe_ignored", "probe_deflected", "starter_delivered", "starter_engaged", "starter_dismissed",
    "revision", "archive", "seed", "accept", "reject", "answer", "skip", "import",
]  # fmt: skip

NOT_CONTENT = (
    "correlation_id", "source_format", "source_id", "entities_mentioned", "agent_id", "utc_offset_minutes", "zone",
)  # fmt: skip
"""Columns of an interaction in which two tellings of the same message may differ."""

NO_CONVERSATION = "custom-instructions/"
"""How ids of sessions begin that nobody would count as a conversation: texts that each of many files repeats."""
OTHER_ZONE = "time zone"
OTHER_NAME = "name"
_NAMES = ("speaker", "subject", "participants")
FORMATS_WITHOUT_ZONE = ("whatsapp", "telegram")
"""Their times may be those of a clock alone: in which zone, the landing says."""
MAX_ZONES_APART, ZONE_STEP = timedelta(hours=26), timedelta(minutes=15)  # from UTC-12 to UTC+14 (IANA)

SEED = "seed"
"""How ids of imported facts begin."""
IMPORT = "import"
"""The type of feedback that says that a note was imported."""
KNOWN_BY_FACT = ("seed", "answer")
"""Feedback that is known by its fact."""
KNOWN_ANY_DAY = (*KNOWN_BY_FACT, IMPORT)
"""Feedback that is landed once, on whatever day the same comes again."""

NOT_TEXT = frozenset(
    {"turn_number", "participants", "entities_mentioned", "tags", "exit_code", "duration_ms", "cost_usd", "topics"}
)
"""Fields whose value is a number or a list."""

Key = tuple[str, str, int]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Interaction(_Model):
    """One message. `subject`, `source_id` and `source_format` are what converters add."""

    user_id: Identifier
    session_id: Identifier
    turn_number: Count
    role: Literal["user", "assistant", "system", "tool"]
    content: Text
    timestamp: Instant
    utc_offset_minutes: Offset | None = None
    zone: Name | None = None
    speaker: Name | None = None
    subject: Name | None = None
    channel: Literal["text", "voice", "group", "email"] = "text"
    participants: list[Name] = Field(default_factory=list)
    agent_id: Name | None = None
    domain: Name | None = None
    trust: Literal["trusted", "untrusted"] = "trusted"
    entities_mentioned: list[Text] = Field(default_factory=list)
    tags: Tags = Field(default_factory=list)
    memory_type: Literal["observation", "decision", "learning", "event"] | None = None
    correlation_id: Identifier | None = None
    source_id: Identifier | None = None
    source_format: Name | None = None
    note_privacy: Literal["L0", "L2", "L3"] | None = None


class SkillInvocation(_Model):
    """One call of one skill, as agents report it."""

    timestamp: Instant
    user_id: Identifier
    session_id: Identifier
    skill_name: Name
    input_hash: Text | None = None
    output_summary: Text | None = None
    error_category: Text | None = None
    exit_code: Integer | None = None
    duration_ms: Amount | None = None
    cost_usd: Amount | None = None


class Feedback(BaseModel):
    """What is said about memory itself; all further fields belong to the payload."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    timestamp: Instant
    user_id: Identifier
    session_id: Identifier | None = None
    type: FeedbackType
    utc_offset_minutes: Offset | None = None


class WorldEvent(_Model):
    """A dated public event."""

    timestamp: Instant
    title: Text = Field(min_length=1)
    place: Text | None = None
    topics: list[Text] = Field(default_factory=list)
    happens_on: Day | None = None
    source: Text | None = None


def land_record(kind: str, fields: Mapping[str, Any], source_format: str) -> Record:
    """Checks the fields against the rules of the kind and returns the landed record, secrets masked.

    Fields that are null count as absent. Raises RuleError with the first rule that is broken.
    """
    if kind not in _LANDERS:
        raise RuleError(Reason.UNKNOWN_KIND, f"kind: expected one of {', '.join(_LANDERS)}, found {kind!r:.80}")
    given = {name: value for name, value in fields.items() if value is not None}
    if kind != "world_events" and "user_id" not in given:
        raise RuleError(Reason.MISSING_USER, "user_id: nothing says whose memory this is; give --user-id")
    try:
        return _LANDERS[kind](given, source_format)
    except ValidationError as error:
        raise _rule_error(error) from error
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise RuleError(Reason.INVALID_FIELD, f"the record cannot be stored as JSON: {error}") from error


def interaction_key(record: Record) -> Key:
    """The idempotency key of a landed interaction."""
    return record["user_id"], record["session_id"], record["turn_number"]


def is_same_content(one: Record, other: Record) -> bool:
    """Whether two landed interactions say the same; both are masked as of now, however they were when they landed."""
    first, second = _content(one), _content(other)
    if first.get("domain") is None or second.get("domain") is None:  # a telling that names none is of no other
        first["domain"] = second["domain"] = None
    return first == second or mask_value(first) == mask_value(second)


def read_otherwise(standing: Record, record: Record) -> str | None:
    """What tells a message that comes again from the one that stands, where it is a matter of how an export is read and
    not of what it says: the trust that the standing one has, the zone of its times, or the name that a contact was
    saved under; else None."""
    if is_same_content({**standing, "trust": record["trust"]}, record):
        return str(standing["trust"])
    named = {**standing, **{column: record[column] for column in _NAMES}} if _may_be_renamed(standing, record) else None
    if named and is_same_content(named, record):
        return OTHER_NAME
    is_same = is_same_content({**(named or standing), "timestamp": record["timestamp"]}, record)
    return OTHER_ZONE if is_same and _is_of_other_zone(standing, record) else None


def _may_be_renamed(one: Record, other: Record) -> bool:
    """Whether a message of a chat may differ in names: who of the speakers is the user is no matter of a name."""
    return other["source_format"] in FORMATS_WITHOUT_ZONE and (one["subject"] == USER) == (other["subject"] == USER)


def _is_of_other_zone(one: Record, other: Record) -> bool:
    """Whether the times of two tellings of a message of a chat are a difference of zones apart."""
    apart = abs(datetime.fromisoformat(one["timestamp"]) - datetime.fromisoformat(other["timestamp"]))
    return other["source_format"] in FORMATS_WITHOUT_ZONE and apart <= MAX_ZONES_APART and not apart % ZONE_STEP


def _content(record: Record) -> Record:
    # A file's own time changes when it is copied; of a text that each file repeats, the first of any is as good.
    is_undated = record.get("note_privacy") or record["session_id"].startswith(NO_CONVERSATION)
    undated = ("timestamp",) if is_undated else ()
    return {k: v for k, v in record.items() if k not in (*NOT_CONTENT, *undated)}


def _land_interaction(fields: dict[str, Any], source_format: str) -> Record:
    said = Interaction.model_validate(fields)
    local = _local_time(fields["timestamp"], said.timestamp, said.utc_offset_minutes, said.zone)
    for name in (said.user_id, said.session_id, said.correlation_id, said.source_id):
        _refuse_secret(name)
    return {
        "user_id": said.user_id,
        "session_id": said.session_id,
        "turn_number": said.turn_number,
        "role": said.role,
        "content": mask_text(said.content),
        "timestamp": iso_instant(said.timestamp),
        "speaker": _masked(said.speaker),
        "subject": _masked(_subject(said)),
        "channel": said.channel,
        "participants": [mask_text(p) for p in said.participants],
        "agent_id": _masked(said.agent_id),
        "domain": _masked(said.domain),
        "trust": said.trust,
        "entities_mentioned": [mask_text(e) for e in said.entities_mentioned],
        "correlation_id": said.correlation_id or ids.correlation_id(said.user_id, said.session_id, said.turn_number),
        "source_id": said.source_id,
        "source_format": _masked(said.source_format) or source_format,
        **{
            k: v
            for k, v in (
                ("tags", said.tags),
                ("memory_type", said.memory_type),
                ("note_privacy", said.note_privacy),
                *local.items(),
            )
            if v
        },  # absent as they were
    }


def _local_time(written: object, at: datetime, offset: int | None, zone: str | None) -> dict[str, int | str | None]:
    """The clock of whoever wrote: how many minutes it is ahead of UTC, by the time as written, the zone, or what is
    said of it; nothing where it shows UTC, or nobody knows. Raises RuleError for a zone that is none."""
    shown = written if isinstance(written, datetime) else datetime.fromisoformat(str(written).strip())
    minutes = offset_minutes(shown)
    if zone is not None:
        try:
            minutes = minutes or offset_minutes(at.astimezone(ZoneInfo(zone)))
        except (KeyError, ValueError, OSError, OverflowError) as error:
            detail = f"zone: {zone!r:.80} is no time zone; give one as the IANA names them, such as Europe/Oslo"
            raise RuleError(Reason.INVALID_FIELD, detail) from error
    return {"utc_offset_minutes": minutes or offset, "zone": zone}


def _subject(said: Interaction) -> str | None:
    """Whose facts a message states: only humans state facts, and in a group each of them their own."""
    if said.role != "user":
        return None
    if said.subject is not None:
        return said.subject
    is_group = said.channel == "group" or len(said.participants) > 1
    if is_group and said.speaker is not None and said.speaker.casefold() != said.user_id.casefold():
        return said.speaker
    return USER


def _land_skill_invocation(fields: dict[str, Any], _: str) -> Record:
    said = SkillInvocation.model_validate(fields)
    _refuse_secret(said.user_id)
    _refuse_secret(said.session_id)
    content = mask_value(said.model_dump(exclude={"timestamp"})) | {"timestamp": iso_instant(said.timestamp)}
    return {"invocation_id": ids.content_id("skill", canonical_json(content)), **content}


def _land_feedback(fields: dict[str, Any], _: str) -> Record:
    said = Feedback.model_validate(fields)
    _refuse_secret(said.user_id)
    _refuse_secret(said.session_id)
    try:
        check_payload(said.type, {"session_id": said.session_id, **(said.model_extra or {})})
    except ValueError as error:
        raise RuleError(Reason.INVALID_FIELD, mask_text(f"{error}")) from error
    content = {
        "timestamp": iso_instant(said.timestamp),
        "user_id": said.user_id,
        "session_id": said.session_id,
        "type": said.type,
        "payload": canonical_json(mask_value(said.model_extra or {})),
    }
    local = _local_time(fields["timestamp"], said.timestamp, said.utc_offset_minutes, None)
    return {"feedback_id": _feedback_id(said, content), **content, **{k: v for k, v in local.items() if v}}


def _feedback_id(said: Feedback, content: Record) -> str:
    """What feedback is known by: all that it says, at which instant; not by which clock."""
    if said.type == IMPORT:  # whatever day its file is of by then: the messages of the first landing stand
        how = str((said.model_extra or {}).get("is_accepted", False))
        return ids.content_id("imp", said.user_id, str(said.session_id), how)
    if said.type in KNOWN_BY_FACT:
        return _seed_id(said)
    return ids.content_id("fbk", canonical_json(content))


def _seed_id(said: Feedback) -> str:
    """What an imported fact is known by: what it says, wherever and whenever it was imported. An answer with a date of
    its own is known by that, too, so that people can go back to what they said before."""
    payload = said.model_extra or {}
    key = key_of_named(payload)
    assert key is not None  # the form has subject, relation and object
    own_date = payload.get("dated", "") if said.type == "answer" else ""
    return ids.content_id(SEED, said.type, said.user_id, *key, str(own_date))


def _land_world_event(fields: dict[str, Any], _: str) -> Record:
    said = WorldEvent.model_validate(fields)
    content = mask_value(said.model_dump(exclude={"timestamp", "happens_on"})) | {
        "timestamp": iso_instant(said.timestamp),
        "happens_on": said.happens_on.isoformat() if said.happens_on else None,
    }
    return {"world_event_id": ids.content_id("wev", canonical_json(content)), **content}


_LANDERS: dict[str, Callable[[dict[str, Any], str], Record]] = {
    "interactions": _land_interaction,
    "skill_invocations": _land_skill_invocation,
    "feedback": _land_feedback,
    "world_events": _land_world_event,
}


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. Raises orjson.JSONEncodeError."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _masked(text: str | None) -> str | None:
    return None if text is None else mask_text(text)


def _refuse_secret(identifier: str | None) -> None:
    # Masking an id could make two users one, so a secret there is refused. Bare digits are left alone: many an
    # honest numeric id has the form of a card number.
    kinds = secret_kinds(identifier) if identifier else ()
    if kinds:
        raise RuleError(Reason.SECRET_IN_ID, f"an id looks like a secret ({', '.join(kinds)}); name it otherwise")


def _rule_error(error: ValidationError) -> RuleError:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "record"
    if first["type"] == "missing":
        return RuleError(Reason.MISSING_FIELD, f"{where}: the field is required")
    is_type = first["type"].endswith(("_type", "_unicode")) or first["type"] == "int_from_float"
    reason = Reason.WRONG_TYPE if is_type else Reason.INVALID_FIELD
    return RuleError(reason, mask_text(f"{where}: {first['msg']}; found {_shown(first['input'])}"))


def _shown(value: object) -> str:
    try:
        return f"{value!r:.120}" if not isinstance(value, str | list | dict) else f"{value!r}"[:120]
    except RecursionError:
        return type(value).__name__
