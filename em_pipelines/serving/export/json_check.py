"""Looks through a JSON export before anything of it is believed: whole, of ours, of a version we read, of one user.

Records count alone. What else stands in the document is passed over, whatever it says.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from em_pipelines.errors import UsageError
from em_pipelines.landing.reasons import Reason
from em_pipelines.landing.records import Identifier
from em_pipelines.landing.registry import AUTO, FORMATS
from em_pipelines.landing.settings import FIRST_PARTITION
from em_pipelines.schema.table import Record
from em_pipelines.serving.export.document import FORMAT, KINDS, VERSION, Tally, line_of
from em_pipelines.serving.export.json_stream import JsonStream

Counts = dict[str, int]
_NAMES = {AUTO, *(known.name for known in FORMATS)}


class UnsoundError(ValueError):
    """A document is no export that can be taken in; the message says why."""


class _Letter(BaseModel):
    """A dead letter as it may come in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dead_letter_id: str = Field(pattern=r"^dead_[0-9a-f]{20}$")
    landed_on: date
    file: str
    line_number: int = Field(ge=0)
    reason: Reason
    detail: str
    raw: str
    format: str
    user_id: str | None
    status: Literal["open", "replayed", "discarded"]

    @field_validator("raw")
    @classmethod
    def _is_base64(cls, raw: str) -> str:
        base64.b64decode(raw, validate=True)
        return raw

    @field_validator("format")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in _NAMES:
            raise ValueError(f"no format is called {name!r:.40}")
        return name


@dataclass
class Head:
    """What a document says of itself."""

    user_id: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)


def check(path: Path, max_characters: int, today: date) -> Head:
    """Reads the document to its end and returns its head. Raises UsageError, naming the first thing that is wrong."""
    said: dict[str, Any] = {}
    tally = Tally()
    owners: set[str] = set()
    try:
        for name, item in _walk(path, max_characters):
            if name not in KINDS:
                said[name] = item
                _check_head(said)
                continue
            owners |= _check_record(name, item, tally.counts[name] + 1, today)
            tally.add(name, line_of(item))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"importing {path}: it cannot be read ({error}); nothing was imported") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"importing {path}: {error}; nothing was imported, take a whole export") from error
    try:
        _check_whole(said, tally, owners)
    except ValueError as error:
        raise UsageError(f"importing {path}: {error}; nothing was imported, take a whole export") from error
    return Head(said["user_id"], _texts(said.get("settings")), tally.counts)


def records(path: Path, max_characters: int) -> Iterator[tuple[str, Record]]:
    """The records of a document that was checked, with their kinds."""
    return ((name, item) for name, item in _walk(path, max_characters) if name in KINDS)


def _walk(path: Path, max_characters: int) -> Iterator[tuple[str, Any]]:
    """Members of the document by name, but its records one by one, by kind, and `memory` not at all."""
    with path.open(encoding="utf-8-sig", newline="") as handle:
        stream = JsonStream(handle, max_characters)
        if stream.peek() != "{":
            raise UnsoundError(f"it is no export ({FORMAT}): it does not begin as a JSON object")
        for name in stream.members():
            if name == "memory":
                stream.skip()
            elif name == "records" and stream.peek() == "{":
                yield from _walk_records(stream)
            else:
                yield name if name not in KINDS else f"member {name}", stream.value()
        stream.end()


def _walk_records(stream: JsonStream) -> Iterator[tuple[str, Any]]:
    """Each record with its kind, and last the kinds that there are as `records`."""
    seen: set[str] = set()
    for kind in stream.members():
        if kind not in KINDS or kind in seen or stream.peek() != "[":
            raise UnsoundError(f"its records hold {kind!r:.40}, which is no list of a kind that is known")
        seen.add(kind)
        for record in stream.elements():
            yield kind, record
    yield "records", sorted(seen)


def _check_head(said: dict[str, Any]) -> None:
    """As early as it is known: another format, or a version of after us."""
    if "format" in said and said["format"] != FORMAT:
        raise UnsoundError(f"its format is {said['format']!r:.60}, not {FORMAT}")
    version = said.get("version", VERSION)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnsoundError(f"its version is {version!r:.20}, which is none")
    if version > VERSION:
        raise UnsoundError(f"it is of version {version}, and this `em` reads up to {VERSION}: take a newer one")


def _check_record(kind: str, record: object, number: int, today: date) -> set[str]:
    """The users that a record names; raises UnsoundError for what cannot have been landed."""
    where = f"record {number} of {kind}"
    if not isinstance(record, dict):
        raise UnsoundError(f"{where} is no object")
    if kind == "dead_letters":
        return _check_letter(where, record, today)
    if kind == "feedback":
        _check_feedback(where, record)
    owner = record.get("user_id")
    if not isinstance(owner, str):
        raise UnsoundError(f"{where} says no user")
    return {owner}


def _check_letter(where: str, record: Record, today: date) -> set[str]:
    """The user of a dead letter, if one is known."""
    try:
        letter = _Letter.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnsoundError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if not FIRST_PARTITION <= letter.landed_on <= today + timedelta(days=1):
        raise UnsoundError(f"{where}: landed_on: {letter.landed_on} is no day on which it can have landed")
    return {letter.user_id} if letter.user_id is not None else set()


def _check_feedback(where: str, record: Record) -> None:
    payload = record.get("payload")
    if not isinstance(payload, str) or not isinstance(orjson.loads(payload), dict):
        raise UnsoundError(f"{where}: payload is no JSON object as text")
    if record.get("type") == "forget":
        raise UnsoundError(f"{where} asks for something to be forgotten, which is never exported")


def _check_whole(said: dict[str, Any], tally: Tally, owners: set[str]) -> None:
    if missing := {"format", "version", "user_id", "records", "counts", "digests"} - said.keys():
        raise UnsoundError(f"it is no whole export ({FORMAT}): {', '.join(sorted(missing))} is missing")
    try:
        user_id = TypeAdapter(Identifier).validate_python(said["user_id"], strict=True)
    except ValidationError as error:
        raise UnsoundError("its user_id is none") from error
    if others := owners - {user_id}:
        raise UnsoundError(f"it says that it is of one user, and {len(others)} others have records in it")
    for kind in KINDS:
        if kind not in said["records"]:
            raise UnsoundError(f"its records hold no list of {kind}")
        if not isinstance(said["counts"], dict) or said["counts"].get(kind) != tally.counts[kind]:
            raise UnsoundError(f"it holds {tally.counts[kind]} records of {kind}, which is not the number it counts")
        if not isinstance(said["digests"], dict) or said["digests"].get(kind) != tally.digests[kind]:
            raise UnsoundError(f"its {kind} are not what was exported: their digest is another one")


def _texts(found: object) -> dict[str, str]:
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}
