"""What becomes of dead letters: listed, replayed after a fix, or discarded. Letters themselves are never changed.

A change of status is a record of its own beside the letter, on the same day; the table takes the last one.
"""

import base64
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.landing.containers import SEPARATOR, members
from em_pipelines.landing.formats.base import Item, Parsed, Source
from em_pipelines.landing.intake import Intake
from em_pipelines.landing.land import KIND, REPLAYED, LetterBox, all_letters, detect
from em_pipelines.landing.reader import FoundFile, InputFile
from em_pipelines.landing.reasons import DISCARDED, OPEN, Origin, Reason, Refusal, RuleError
from em_pipelines.landing.records import NOT_TEXT
from em_pipelines.landing.registry import AUTO, format_named
from em_pipelines.landing.report import LandingReport
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.tables import dead_letters_table
from em_pipelines.schema.table import Record, rows_of
from em_pipelines.storage.landed_log import LandedLog


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """One replay: the ids that have landed now, those still refused with the reason, and the days with news."""

    replayed: tuple[str, ...]
    refused: Mapping[str, str]
    n_landed: int
    days: frozenset[date]


def open_letters(log: LandedLog) -> list[Record]:
    """The dead letters that wait for a decision, as landed (`raw` in base64), in order of day and landing."""
    return [letter for letter in all_letters(log).values() if letter["status"] == OPEN]


def replay(  # noqa: PLR0913  (what `em dead-letters replay` takes, each of it of its own)
    log: LandedLog,
    ids: Collection[str] | None = None,
    *,
    now: datetime,
    settings: LandingSettings,
    user_id: str | None = None,
    changes: Mapping[str, str] | None = None,
) -> ReplayReport:
    """Tries open letters again, all or those named, and lands what passes now.

    `user_id` names the user where that was missing; `changes` is field → new value (JSON for fields that are no
    text). A letter of which anything is refused stays open, however much of it has landed: trying again does no
    harm. Raises UsageError for ids that are not of open letters and for changes that are no JSON.
    """
    chosen = _chosen(log, ids)
    overrides = {field: _value(field, text) for field, text in (changes or {}).items()}
    intake = Intake(log, now=now, settings=settings)
    replayed: list[Record] = []
    refused: dict[str, str] = {}
    closed = LetterBox(log, now.astimezone(UTC).date())
    for letter in chosen:
        problem = _replay_letter(letter, intake, closed, user_id, overrides)
        if problem is None:
            replayed.append(letter)
        else:
            refused[letter["dead_letter_id"]] = problem
    _set_status(log, replayed, REPLAYED)
    counts = intake.counts
    ids_replayed = tuple(letter["dead_letter_id"] for letter in replayed)
    return ReplayReport(ids_replayed, refused, counts.n_landed, frozenset(counts.days))


def discard(log: LandedLog, ids: Collection[str]) -> int:
    """Sets open letters aside for good and returns how many. Raises UsageError for ids that are not of open letters."""
    chosen = _chosen(log, ids)
    _set_status(log, chosen, DISCARDED)
    return len(chosen)


def letters_of(log: LandedLog, user_id: str) -> list[dict[str, Any]]:
    """All dead letters of a user, whatever became of them, as rows of the table."""
    landed = (record for day in log.days(KIND) for record in log.read(KIND, day))
    return [row for row in rows_of(dead_letters_table(landed)) if row["user_id"] == user_id]


def words_of(raw: bytes) -> str:
    """What a dead letter says: the content of a message, of anything else all that was kept."""
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        found = None
    content = found.get("content") if isinstance(found, dict) else None
    return content if isinstance(content, str) else raw.decode("utf-8", "replace")


def _chosen(log: LandedLog, ids: Collection[str] | None) -> list[Record]:
    letters = open_letters(log)
    if ids is None:
        return letters
    if missing := set(ids) - {letter["dead_letter_id"] for letter in letters}:
        raise UsageError(f"dead letters: none open of id {', '.join(sorted(missing))}; see `em dead-letters list`")
    return [letter for letter in letters if letter["dead_letter_id"] in ids]


def settle_nobodys(log: LandedLog, report: LandingReport) -> None:
    """Closes the letters of files that named nobody, where the files have landed as somebody's since. The caller holds
    the landing lock."""
    landed = {read.file for read in report.read} - set(report.n_nobodys)
    _set_status(log, [x for x in open_letters(log) if x["file"] in landed and _is_of_file(x)], REPLAYED)


def _is_of_file(letter: Record) -> bool:
    """Whether a letter stands for a whole file that names nobody, and holds nothing but where it lies."""
    place: str = letter["file"]
    return letter["reason"] == Reason.MISSING_USER.value and base64.b64decode(letter["raw"]) == place.encode()


def _replay_letter(
    letter: Record, intake: Intake, closed: LetterBox, user_id: str | None, overrides: Mapping[str, object]
) -> str | None:
    """Lands what a letter holds; returns None, or why it is refused still. What is closed from the start is kept."""
    if _is_of_file(letter) and user_id is None:
        return f"{letter['reason']}: {letter['detail']}, or replay it with that"
    n_before = intake.counts.n_rows
    try:
        found = _take_letter(letter, intake, user_id, overrides)
    except RuleError as error:
        intake.flush()
        return f"{error.reason}: {error.detail}"
    found += intake.flush()
    closed.put(one for one in found if one.is_closed)
    if refused := [one for one in found if not one.is_closed]:
        return f"{refused[0].reason}: {refused[0].detail}"
    return None if intake.counts.n_rows > n_before else "it holds no record that can be read"


def _take_letter(letter: Record, intake: Intake, user_id: str | None, overrides: Mapping[str, object]) -> list[Refusal]:
    """Takes what a letter holds and returns what has been refused so far. Raises RuleError where it cannot be read."""
    refused: list[Refusal] = []
    for found, file in _files(letter, intake.settings):
        said, else_said = (None, user_id) if _is_of_file(letter) else (user_id, letter["user_id"])
        source = Source(found.path.name, said, else_said, {}, found.container, found.inside, intake.now)
        is_named = letter["format"] != AUTO
        known = format_named(letter["format"]) if is_named else detect(file, source.container, source.inside)
        for item in known.convert(file, source):
            if not intake.has_room_for(item):
                refused += intake.flush()
            intake.take(_changed(item, overrides), Origin(letter["file"], known.name, user_id or letter["user_id"]))
    return refused


def _files(letter: Record, settings: LandingSettings) -> Iterator[tuple[FoundFile, InputFile]]:
    """What a letter holds as a file; for one that stands for a whole file, that, where it still lies there."""
    path = Path(letter["file"])
    zip_path, _, inside = letter["file"].rpartition(SEPARATOR)
    found = FoundFile(path, inside=inside, container=Path(zip_path).name)
    if not _is_of_file(letter):
        file = InputFile(path, settings, base64.b64decode(letter["raw"]))
        file.check()
        yield found, file
    elif not Path(zip_path or path).is_file():
        raise RuleError(Reason.UNREADABLE_FILE, "the file is not there any more; land it again with --user-id NAME")
    elif zip_path:
        zip_members = members(FoundFile(Path(zip_path)), settings)
        yield from ((one, one.file) for one in zip_members if one.file and one.inside == inside)
    else:
        yield found, InputFile(path, settings)


def _changed(item: Item, overrides: Mapping[str, object]) -> Item:
    if not overrides or not isinstance(item, Parsed):
        return item
    return Parsed(item.line_number, item.kind, {**item.fields, **overrides}, item.raw)


def _value(field: str, text: str) -> object:
    if field not in NOT_TEXT:
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"changing {field}: {text!r:.80} is no JSON; give a number or a list") from error


def _set_status(log: LandedLog, letters: list[Record], status: str) -> None:
    by_day: dict[str, list[Record]] = defaultdict(list)
    for letter in letters:
        by_day[letter["landed_on"]].append({"dead_letter_id": letter["dead_letter_id"], "status": status})
    for day, changes in sorted(by_day.items()):
        log.append(KIND, date.fromisoformat(day), changes)
