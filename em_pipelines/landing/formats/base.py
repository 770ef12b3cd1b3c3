"""What every converter is made of: what it is given, what it yields, and the reading of JSON lines and documents.

A converter knows the shape of its format and nothing else: rules of records, masking, duplicates and dates are
checked for all formats alike where records are landed.
"""

import re
import reprlib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from em_pipelines.landing.reader import HEAD_BYTES, InputFile, Line
from em_pipelines.landing.reasons import Reason, RuleError, Skip
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.language.values import iso_local, parse_instant

Fields = dict[str, Any]
_SAMPLE_LINES = 20
_SECONDS_BELOW = 10**11  # as seconds: the year 5138; as milliseconds: 1973


@dataclass(frozen=True, slots=True)
class Parsed:
    """One record as found. `raw` is its own input where that alone can be read again; else it is kept as fields."""

    line_number: int
    kind: str
    fields: Fields
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Input that is no record. With `fields`, what is kept are those, in this project's own format."""

    line_number: int
    reason: Reason
    detail: str
    raw: bytes = b""
    fields: Fields | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """Input that is well-formed and means nothing here, such as a summary line, and why. `kept` are the fields of a
    message that nothing is learned of, and that is kept so that it can be found."""

    line_number: int
    why: Skip = Skip.EMPTY
    kept: Fields | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence for people on how a file was read; it is no input. `speakers` counts the messages of those in a chat,
    where one of them has to be named as the user."""

    text: str
    speakers: Mapping[str, int] = field(default_factory=dict)


Item = Parsed | Rejected | Ignored | Remark


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of a file beside its content.

    `user_id` is what the caller said, `folder_user` the sub-folder it lies in, `mapping` field → column of a CSV.
    `name` is the file's own, the same unpacked and in a ZIP; `container` is the name of the ZIP that it is a member of,
    and `inside` its path below the ZIP or folder that was given, with /: both empty where they do not apply.
    `landed_at` is the time of the landing, with an offset. `privacy` is how private the caller says that notes are:
    personal, private or public. `keeps_tool_calls`: what coding agents call becomes skill invocations, too.
    """

    name: str
    user_id: str | None = None
    folder_user: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    container: str = ""
    inside: str = ""
    landed_at: datetime | None = None
    privacy: str | None = None
    keeps_tool_calls: bool = False

    def user(self, said: object = None) -> object:
        """Whose a foreign record is: the caller's word, else the record's, else the folder's; None: nobody's."""
        return self.user_id or said or self.folder_user


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, for telling formats apart: its text and the JSON objects in its first lines.

    `name`, `container` and `inside` are those of `Source`.
    """

    name: str
    text: str
    objects: tuple[Fields, ...]
    container: str = ""
    inside: str = ""

    def has(self, *names: str) -> bool:
        """Whether all of these stand in it as JSON keys."""
        return all(f'"{name}"' in self.text for name in names)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name for people, how it is known, and how it is read.

    Prose (*.md, *.txt) that was not named itself is read where `sniff` says so; of a format that is asked for by name
    only where it `reads_prose`. `has_folders_of_users`: a folder inside of a ZIP is the user's, not the exporter's.
    `has_speakers`: who of those who speak is the user has to be said by name. `is_named_after_file`: sessions have no
    id but the file's name, which may change.
    """

    name: str
    sniff: Callable[[Sample], bool]
    convert: Callable[[InputFile, Source], Iterator[Item]]
    reads_prose: bool = False
    has_folders_of_users: bool = False
    has_speakers: bool = False
    is_named_after_file: bool = False


def sample_of(file: InputFile, container: str = "", inside: str = "") -> Sample:
    """The beginning of a file as far as it can be read, and where it lies. Raises RuleError where nothing can."""
    head = file.head
    lines = head.splitlines()
    if len(head) == HEAD_BYTES:
        lines = lines[:-1]  # most likely cut
    objects = []
    for line in lines[:_SAMPLE_LINES]:
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(found, dict):
            objects.append(found)
    return Sample(file.path.name, head.decode("utf-8", "replace"), tuple(objects), container, inside)


def trusted(item: Item) -> Item:
    """A message as its landing says it may be trusted, where a converter takes it for untrusted and nobody says it in
    the role of user. What a native line says of itself is its own word."""
    if not isinstance(item, Parsed) or item.raw is not None:
        return item
    is_marked = item.fields.get("trust") == "untrusted" and item.fields.get("role") != "user"
    return replace(item, fields={**item.fields, "trust": None}) if is_marked else item


def json_lines(file: InputFile) -> Iterator[tuple[Line, Fields] | Rejected]:
    """The objects of a JSON Lines file with their lines; what is no object comes rejected."""
    for line in file.lines():
        if line.reason is not None:
            yield Rejected(line.number, line.reason, line.detail, line.raw)
            continue
        try:
            found = orjson.loads(line.raw)
        except orjson.JSONDecodeError as error:
            yield _not_json(line, error)
            continue
        if isinstance(found, dict):
            yield line, found
        else:
            detail = f"expected one JSON object a line, found a JSON {type(found).__name__}"
            yield Rejected(line.number, Reason.NOT_AN_OBJECT, detail, line.raw)


def json_document(file: InputFile) -> Any:
    """Parses a whole file as one JSON document. Raises RuleError with the line at which it breaks."""
    data = file.document()
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise RuleError(
            *not_json(data, error), raw=data[: file.settings.max_letter_bytes], line_number=max(1, error.lineno)
        ) from error


def json_conversations(file: InputFile) -> Iterator[tuple[int, Fields] | Rejected]:
    """The objects of a document that is a list of conversations, numbered from 1; a lone object is a list of one.

    A list is read one conversation at a time, whatever its size, and one that is broken costs itself alone. Raises
    RuleError where the file cannot be read, or not to its end, or is a broken lone object.
    """
    if not file.head.lstrip().startswith(b"["):
        found = json_document(file)
        yield (1, found) if isinstance(found, dict) else _no_object(1, found)
        return
    for item in json_elements(file.chunks(), file.settings, "conversation"):
        if isinstance(item, Rejected) or isinstance(item[1], dict):
            yield item
        else:
            yield _no_object(*item)


def json_elements(
    chunks: Iterator[bytes], settings: LandingSettings, name: str, *, limit: int | None = None, is_part: bool = False
) -> Iterator[tuple[int, Any] | Rejected]:
    """The elements of a JSON list, with which the chunks begin, one at a time and numbered from 1; what cannot be read
    of it comes rejected under `name`. `limit` is of bytes an element; a list that `is_part` of a document may have more
    behind it, which is not looked at."""
    # Of all that is landed only documents need it.
    from em_pipelines.landing.formats.json_stream import JsonList  # noqa: PLC0415

    for element in JsonList(chunks, limit or settings.max_conversation_bytes, is_part=is_part):
        if element.value is not None or not element.problem:
            yield element.number, element.value
        if element.problem:
            reason = Reason.DOCUMENT_TOO_LARGE if element.is_too_large else Reason.INVALID_JSON
            reason = Reason.NOT_UTF8 if element.is_not_utf8 else reason
            detail = f"{name} {element.number}: {element.problem}"
            yield Rejected(element.line, reason, detail, element.raw[: settings.max_letter_bytes])


def _no_object(number: int, value: object) -> Rejected:
    detail = f"conversation {number}: expected a JSON object, found a JSON {type(value).__name__}"
    return Rejected(number, Reason.NOT_AN_OBJECT, detail, dumps(value))


def not_json(data: bytes, error: orjson.JSONDecodeError) -> tuple[Reason, str]:
    """Why data is no JSON: not UTF-8 at all, or what the parser found."""
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return Reason.NOT_UTF8, f"byte {wrong.start} is not UTF-8; convert the file to UTF-8"
    return Reason.INVALID_JSON, f"no valid JSON at column {error.colno}: {error.msg.partition(':')[0]}"


def _not_json(line: Line, error: orjson.JSONDecodeError) -> Rejected:
    return Rejected(line.number, *not_json(line.raw, error), line.raw)


def instant_of(value: object) -> datetime | None:
    """A timestamp as exports write it, with its offset: ISO 8601 (without offset: UTC) or Unix seconds,
    milliseconds, microseconds or nanoseconds; else None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        if isinstance(value, int | float):
            while _SECONDS_BELOW <= abs(value) < _SECONDS_BELOW * 10**9:
                value /= 1000
            return datetime.fromtimestamp(value, UTC)
        text = value.strip()
        if re.fullmatch(r"-?\d{9,19}(\.\d{1,9})?", text):
            return instant_of(float(text))
        found = datetime.fromisoformat(text)
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        return found if parse_instant(found) else None
    except (ValueError, OverflowError, OSError):
        return None


def iso_or_none(moment: datetime | None) -> str | None:
    """As it is to be landed, with its offset, or None."""
    return iso_local(moment) if moment else None


def dated(number: int, fields: Fields, detail: str) -> Parsed | Rejected:
    """The message, or, where its timestamp is None, what rejects it for this reason."""
    if fields["timestamp"] is None:
        return Rejected(number, Reason.MISSING_TIMESTAMP, detail, fields=fields)
    return Parsed(number, "interactions", fields)


def of_other_branch(number: int, item: Item | None) -> Ignored:
    """A message of a branch that was not continued, or None for what is no message: what the user wrote is kept."""
    if not isinstance(item, Parsed) or item.fields["role"] != "user" or item.fields["user_id"] is None:
        return Ignored(number, Skip.OTHER_BRANCH)
    return Ignored(number, Skip.OTHER_BRANCH, {**item.fields, "turn_number": None})  # its turn is another message's


def objects_of(value: object) -> list[Fields]:
    """The JSON objects in a list; none where it is no list."""
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


def id_of(value: object) -> str | None:
    """An id as text, whether it was written as text or number; None for anything else."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


_MAX_QUOTED_CHARACTERS = 2000
"""Of one quoted line: what reads quotations looks no further than 4,000 characters into a line."""


def quoted(text: str) -> str:
    """Somebody else's words as a quotation, line by line: kept and found again, and no word of who quotes them."""
    lines = [line[i : i + _MAX_QUOTED_CHARACTERS] for line in text.splitlines() for i in _starts(line)]
    return "\n".join(f"> {line}" for line in lines)


def _starts(line: str) -> range:
    return range(0, max(len(line), 1), _MAX_QUOTED_CHARACTERS)


def dumps(value: object) -> bytes:
    """JSON with sorted keys; for what nests too deep to be written, as much as Python shows of it."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, RecursionError):
        return reprlib.repr(value).encode("utf-8", "backslashreplace")


def slug(name: str) -> str:
    """A name as an id: lower case, ASCII where it has an ASCII form, words joined by hyphens."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return re.sub(r"[^\w]+", "-", plain).strip("-") or "unnamed"
