"""CSV and TSV with a header, one message a row.

    user,session,turn,role,text,date
    ada,s1,0,user,"Hello, you",2026-01-05T17:40:00Z

Columns are known by their names or usual synonyms, in any case, or by a mapping field → column, which wins. Without
a turn number rows are numbered in their session as they come; without a session there is one a user and day; without
a role all are the user's. A first line `sep=;`, as spreadsheets write it, says the delimiter. Times: `csv_dates`.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.landing.formats import csv_dates
from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Item,
    Parsed,
    Rejected,
    Remark,
    Sample,
    Source,
    iso_or_none,
)
from em_pipelines.landing.reader import InputFile, Line
from em_pipelines.landing.reasons import Reason, RuleError

SYNONYMS: dict[str, tuple[str, ...]] = {
    "user_id": ("user_id", "user"),
    "session_id": ("session_id", "session", "conversation_id", "conversation", "thread", "thread_id"),
    "turn_number": ("turn_number", "turn", "index"),
    "role": ("role", "sender", "author"),
    "content": ("content", "text", "message", "body"),
    "timestamp": ("timestamp", "time", "date", "datetime", "date_time", "created_at", "sent_at", "sent at"),
    "speaker": ("speaker", "speaker_name"),
    "channel": ("channel",),
    "participants": ("participants",),
    "agent_id": ("agent_id",),
    "domain": ("domain",),
    "trust": ("trust",),
    "source_id": ("source_id", "message_id", "id"),
}
_ROLES = {
    "human": "user",
    "me": "user",
    "customer": "user",
    "ai": "assistant",
    "bot": "assistant",
    "agent": "assistant",
}
_DELIMITERS = ",;\t|"
_MAX_COLUMNS_NAMED = 12
_CLOCK = re.compile(r"\s*\d{1,2}[:.]\d\d(?!\d)")
_SEPARATOR = re.compile(r"sep=(.)\s*")


def sniff(sample: Sample) -> bool:
    """Whether the first line is a header that names content and one more known column."""
    text = sample.text.lstrip()
    if not text or text[0] in "{[":
        return False
    said, *rest = text.splitlines()
    is_said = _SEPARATOR.fullmatch(said) and rest
    header = rest[0] if is_said else said
    columns = _columns(next(csv.reader([header], delimiter=_delimiter(header)), []), {})
    return "content" in columns and len(columns) >= 2


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields a row each. Raises UsageError for a mapping that does not fit, RuleError for a header that does not."""
    lines = _Lines(file)
    header = next(lines, "")
    if _SEPARATOR.fullmatch(header):
        lines.begin_row()
        header = next(lines, "")
    # Strict: an open quote would else swallow the rows after it into one message.
    reader = csv.reader(chain([header], lines), delimiter=_delimiter(header), strict=True)
    try:
        names = next(reader)
    except csv.Error as error:
        raise RuleError(Reason.INVALID_CSV, f"the header cannot be read: {error}", raw=lines.row()) from error
    columns = _columns(names, source.mapping)
    _check_header(names, columns, lines)
    clock = None if "timestamp" in source.mapping else _beside_a_date(names, columns)
    read = {*columns.values(), clock}
    if unread := [name.strip() for place, name in enumerate(names) if place not in read and name.strip()]:
        yield Remark(_not_read(source.name, unread))
    times = _Times(file, columns["timestamp"], header)
    turns: Counter[tuple[str, str]] = Counter()
    while True:
        started = lines.begin_row()
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield Rejected(started, Reason.INVALID_CSV, f"the row cannot be read: {error}", lines.row())
            continue
        if any(cell.strip() for cell in row):
            cells = {f: row[i] for f, i in columns.items() if i < len(row)}
            if clock is not None and clock < len(row):
                cells["timestamp"] = _with_clock(cells.get("timestamp", ""), row[clock])
            yield _row(started, cells, turns, source, times)
        yield from lines.take_unread()
    yield from lines.take_unread()


class _Lines:
    """The lines as text for the csv module, counted; those that cannot be read are kept aside."""

    def __init__(self, file: InputFile) -> None:
        self.number = 0
        self._row: list[str] = []
        self._lines = file.lines(keep_blank=True)
        self._unread: list[Rejected] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            self.number = line.number
            if (text := self._text(line)) is not None:
                self._row.append(text + "\n")
                return text + "\n"
        raise StopIteration

    def begin_row(self) -> int:
        """Says that a row begins, and gives the number of its first line."""
        self._row.clear()
        return self.number + 1

    def row(self) -> bytes:
        """The lines of the row so far; no more than the csv module allows a cell to be, and a line."""
        return "".join(self._row).encode()

    def take_unread(self) -> list[Rejected]:
        unread, self._unread = self._unread, []
        return unread

    def _text(self, line: Line) -> str | None:
        reason, detail = line.reason, line.detail
        if reason is None:
            try:
                return line.raw.decode()
            except UnicodeDecodeError as error:
                reason = Reason.NOT_UTF8
                detail = f"byte {error.start} is not UTF-8; convert the file to UTF-8"
        self._unread.append(Rejected(line.number, reason, detail, line.raw))
        return None


class _Times:
    """Reads the times of one file. The order of dates is looked for in all of it, once, where one leaves it open."""

    def __init__(self, file: InputFile, column: int, header: str) -> None:
        self._file = file
        self._column = column
        self._delimiter = _delimiter(header)
        self._zone = ZoneInfo(file.settings.time_zone)
        self._order = file.settings.date_order
        self._is_looked_for = self._order is not None

    def instant(self, text: str) -> datetime | None:
        """The time in a cell, with its offset; None where it is none, or nothing says which."""
        found = csv_dates.instant(text, self._zone, self._order)
        if found is None and not self._is_looked_for and csv_dates.is_open(text):
            self._is_looked_for = True
            self._order = csv_dates.date_order(self._cells())
            found = csv_dates.instant(text, self._zone, self._order)
        return found

    def problem(self, text: str) -> str:
        """Why a cell holds no time."""
        if csv_dates.is_open(text) and self._order is None:
            return f"timestamp: {text!r:.80} may be of two days; set landing.date_order to dmy or mdy"
        return f"timestamp: expected ISO 8601, Unix time or a date with its time, found {text!r:.80}"

    def _cells(self) -> Iterator[str]:
        reader = csv.reader(iter(_Lines(self._file)), delimiter=self._delimiter)
        while True:
            try:
                row = next(reader, None)
            except csv.Error:
                continue
            if row is None:
                return
            if len(row) > self._column:
                yield row[self._column]


def _row(number: int, cells: dict[str, str], turns: Counter[tuple[str, str]], source: Source, times: _Times) -> Item:
    fields: Fields = {name: cell for name, cell in cells.items() if cell.strip() or name == "content"}
    at = times.instant(cells.get("timestamp", ""))
    role = str(fields.get("role", "user")).strip().casefold()
    fields |= {
        "user_id": source.user(fields.get("user_id")),
        "role": _ROLES.get(role, role),
        "timestamp": iso_or_none(at),
        "source_format": "csv",
    }
    if "participants" in fields:
        fields["participants"] = _names(str(fields["participants"]))
    if at is None:
        return Rejected(number, Reason.MISSING_TIMESTAMP, times.problem(cells.get("timestamp", "")), fields=fields)
    fields.setdefault("session_id", f"{source.name}/{at.astimezone(UTC).date().isoformat()}")
    session = (str(fields["user_id"]), str(fields["session_id"]))
    if "turn_number" in fields:
        fields["turn_number"] = _integer(str(fields["turn_number"]))
    else:
        fields["turn_number"] = turns[session]
        turns[session] += 1
    return Parsed(number, "interactions", fields)


def _columns(names: list[str], mapping: Mapping[str, str]) -> dict[str, int]:
    """Field → place of its column: as mapped, else by the first synonym that is there."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        places.setdefault(name.strip().casefold(), place)
    found = {
        field: places[same] for field, synonyms in SYNONYMS.items() for same in reversed(synonyms) if same in places
    }
    for field, name in mapping.items():
        if field not in SYNONYMS:
            raise UsageError(f"reading --column: {field!r} is no field; use one of {', '.join(SYNONYMS)}")
        if name.strip().casefold() not in places:
            raise UsageError(f"reading --column: {name!r} is no column; there are {', '.join(names)[:200]}")
        found[field] = places[name.strip().casefold()]
    return found


def _beside_a_date(names: list[str], columns: dict[str, int]) -> int | None:
    """The place of the column with the clock, where the day stands in a column of its own: that is the timestamp's
    then."""
    places = {name.strip().casefold(): place for place, name in reversed([*enumerate(names)])}
    if not {"date", "time"} <= places.keys() or "timestamp" in places:
        return None
    columns["timestamp"] = places["date"]
    return places["time"]


def _with_clock(day: str, clock: str) -> str:
    """A time in two cells as one; where the second says the day as well, that alone."""
    return f"{day.strip()} {clock.strip()}" if _CLOCK.match(clock) else clock or day


def _check_header(names: list[str], columns: Mapping[str, int], lines: _Lines) -> None:
    """Raises RuleError where what every message needs has no column."""
    missing = [needed for needed in ("content", "timestamp") if needed not in columns]
    if missing:
        detail = f"no column for {' and '.join(missing)} among {', '.join(names)[:200]}"
        how = f"say which with `--column {missing[0]}=COLUMN`"
        raise RuleError(Reason.MISSING_FIELD, f"{detail}; {how}", raw=lines.row())


def _not_read(file: str, names: list[str]) -> str:
    """What is said of columns that stand for no field."""
    listed = ", ".join(names[:_MAX_COLUMNS_NAMED])
    more = f" and {len(names) - _MAX_COLUMNS_NAMED} more" if len(names) > _MAX_COLUMNS_NAMED else ""
    return f"{file}: no field is read from {listed}{more}; where one is, say so with --column FIELD=COLUMN"


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _integer(text: str) -> Any:
    """A turn number as written; what is none is left for the rules to refuse."""
    try:
        return int(text.strip())
    except ValueError:
        return text


def _names(text: str) -> list[str]:
    if text.lstrip().startswith("["):
        try:
            found = orjson.loads(text)
        except orjson.JSONDecodeError:
            return [text]
        return found if isinstance(found, list) else [text]
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


FORMAT = Format("csv", sniff, convert, has_folders_of_users=True)
