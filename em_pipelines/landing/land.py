"""Lands files: every line becomes a landed record, a duplicate or a dead letter, and nothing is lost or stops it.

Formats are told apart by content, and by the name where content leaves it open. Landing the same again changes
nothing; killed half way and repeated it ends where an unbroken run does, since all that was appended is known by its
key. The caller holds the lock of landing of the home.

A dead letter's id hashes the file's name (not its folder), its masked bytes and the reason, so that landing the same
bad file again, from wherever, adds no second row.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.landing.containers import members
from em_pipelines.landing.formats.base import Format, Item, Parsed, Rejected, Remark, Source, sample_of, trusted
from em_pipelines.landing.intake import Intake
from em_pipelines.landing.passed_over import PassedOver, export_of_side_file, is_prose, media_kind, user_of_folder
from em_pipelines.landing.reader import FoundFile, InputFile, find_files, shown
from em_pipelines.landing.reasons import OPEN, Origin, Reason, Refusal, RuleError, letter_of
from em_pipelines.landing.records import NO_CONVERSATION
from em_pipelines.landing.registry import AUTO, FORMATS, format_named, way_to_say_whose
from em_pipelines.landing.renamed_chats import as_landed
from em_pipelines.landing.report import FileReport, LandingReport, UserReport
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.tables import fold_letters
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog

NOTES = "markdown"
_BY_SUFFIX = {".jsonl": "native", ".ndjson": "native", ".csv": "csv", ".tsv": "csv"}


def detect(file: InputFile, container: str = "", inside: str = "") -> Format:
    """The format of a file, which may be a member of a container. Raises RuleError where it cannot be read or is of no
    known format."""
    sample = sample_of(file, container, inside)
    for candidate in FORMATS:
        if candidate.sniff(sample):
            return candidate
    suffixes = [s.lower() for s in file.path.suffixes if s.lower() != ".gz"]
    if suffixes and suffixes[-1] in _BY_SUFFIX:
        return format_named(_BY_SUFFIX[suffixes[-1]])
    raise RuleError(
        Reason.UNKNOWN_FORMAT,
        f"{file.path.name} is of no known format; give --format if it is one of {', '.join(f.name for f in FORMATS)}",
        raw=file.head[: file.settings.max_letter_bytes],
    )


KIND = "dead_letters"
REPLAYED = "replayed"


class LetterBox:
    """Appends refusals to the log as dead letters of one day, leaving out those that stand there already. `first` is of
    each reason the first letter, new or not. Letters that are closed from the start are kept and not counted."""

    def __init__(self, log: LandedLog, landed_on: date) -> None:
        self.by_reason: Counter[str] = Counter()
        self.n_new = 0
        self.n_erased = 0
        self.first: dict[str, Record] = {}
        self._log = log
        self._landed_on = landed_on
        self._known: set[str] | None = None

    def put(self, refusals: Iterable[Refusal]) -> None:
        """Counts those that are open and appends those that are new; of those that hold what was erased nothing is
        kept."""
        letters: dict[str, Record] = {}
        for refusal in refusals:
            letter = letter_of(refusal, self._landed_on)
            if not self._log.gate.admits_letter(letter):
                self.n_erased += 1
                continue
            self._count(refusal, letter)
            letters.setdefault(letter["dead_letter_id"], letter)
        if not letters:
            return
        if self._known is None:
            self._known = {r["dead_letter_id"] for day in self._log.days(KIND) for r in self._log.read(KIND, day)}
        new = [letter for letter_id, letter in letters.items() if letter_id not in self._known]
        self._log.append(KIND, self._landed_on, new)
        self._known.update(letters)
        self.n_new += sum(letter["status"] == OPEN for letter in new)

    def _count(self, refusal: Refusal, letter: Record) -> None:
        if not refusal.is_closed:
            self.by_reason[refusal.reason.value] += 1
            self.first.setdefault(refusal.reason.value, letter)


def all_letters(log: LandedLog) -> dict[str, Record]:
    """All letters of a log by id, each with its last status."""
    return fold_letters(record for day in log.days(KIND) for record in log.read(KIND, day))


_PROGRESS_ROWS = 1000
_HEADER_BYTES = 4096
_UNREAD = (Reason.UNKNOWN_FORMAT, Reason.EMPTY_FILE, Reason.BINARY_FILE)
"""Of no format: where a file beside messages is known by its name, nothing is amiss."""


def land(  # noqa: PLR0913  (what `em land` takes, each of it of its own)
    paths: Sequence[Path],
    log: LandedLog,
    *,
    now: datetime,
    settings: LandingSettings,
    format: str = AUTO,
    user_id: str | None = None,
    mapping: Mapping[str, str] | None = None,
    privacy: str | None = None,
    is_trusted: bool = False,
    on_progress: Callable[[int], None] | None = None,
    within: Path | None = None,
    max_rows_a_file: int | None = None,
) -> LandingReport:
    """Lands files, directories and ZIPs and says what came of them.

    `now` is aware; its UTC day is that of the dead letters. `format` is auto or a registered name. `user_id` is
    whose the logs are: it wins over what foreign formats say and fills in what native records leave open. `mapping`
    is field → column for CSV, `privacy` how private notes are. `is_trusted` is the caller's word that what tools
    brought into conversations may be trusted; what is untrusted in the role of user stays so. No link may lead out of
    the folder `within`. `on_progress` gets the number of rows read so far, every thousand and at the end.
    `max_rows_a_file` is for a look at the beginnings of files (`looking`). Raises UsageError, before anything lands.
    """
    _check_usable(now, user_id)
    files, notes = find_files(paths, within)
    chosen = None if format == AUTO else format_named(format)
    tally = Tally()
    intake = Intake(log, now=now, settings=settings, on_landed=tally.take)
    letters = LetterBox(log, now.astimezone(UTC).date())
    destination = _Destination(intake, letters, on_progress, is_trusted, len(files) > 1)
    landing = _Landing(destination, settings, chosen, user_id, mapping or {}, notes, now, max_rows_a_file, privacy)
    for file in files:
        landing.take(file)
    letters.put(intake.flush())
    counts = intake.counts
    if on_progress:
        on_progress(counts.n_rows)
    return LandingReport(
        files=tuple(landing.opened),
        n_rows=counts.n_rows,
        n_landed=counts.n_landed,
        n_duplicates=counts.n_duplicates,
        n_landed_by_kind=dict(counts.kinds),
        n_skipped=dict(sorted(counts.skipped.items())),
        n_dead_letters=dict(letters.by_reason),
        n_new_dead_letters=letters.n_new,
        first_letters=tuple(letters.first.values()),
        n_erased=counts.n_erased + letters.n_erased,
        n_requests=counts.n_requests,
        holds_erased=counts.holds_erased or letters.n_erased > 0,
        days=frozenset(counts.days),
        n_passed_over=landing.passed_over.counts() if landing.passed_over else {},
        users=tally.users(),
        n_untrusted=tally.untrusted(),
        n_read_otherwise=dict(counts.n_read_otherwise),
        read=tuple(landing.read),
        n_nobodys={shown(Path(file)): n for file, n in destination.n_nobodys.items()},
        speakers={shown(Path(file)): counts for file, counts in destination.speakers.items()},
        notes=(*notes, *counts.remarks, *(landing.passed_over.notes() if landing.passed_over else ())),
    )


def _check_usable(now: datetime, user_id: str | None) -> None:
    if now.tzinfo is None:
        raise UsageError("landing: `now` has no time zone; give an aware datetime")
    if user_id is not None and not user_id.strip():
        raise UsageError("landing: the user id is blank; give a name to --user-id or leave it out")


@dataclass(frozen=True, slots=True)
class _Destination:
    """Where the items of all files go: records into the log, what is refused to the dead letters."""

    intake: Intake
    letters: LetterBox
    on_progress: Callable[[int], None] | None
    is_trusted: bool = False
    is_of_several_files: bool = False
    n_nobodys: dict[str, int] = field(default_factory=dict)
    speakers: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def take(self, item: Item, origin: Origin) -> None:
        if is_nobodys(item):
            self.intake.counts.n_rows += 1
            self.n_nobodys[origin.file] = self.n_nobodys.get(origin.file, 0) + 1
            return
        if isinstance(item, Remark) and item.speakers:
            self.speakers[origin.file] = {**self.speakers.get(origin.file, {}), **item.speakers}
        item = trusted(item) if self.is_trusted else item
        if not self.intake.has_room_for(item):
            self.letters.put(self.intake.flush())
        self.intake.take(item, origin)
        n_rows = self.intake.counts.n_rows
        if self.on_progress and isinstance(item, Parsed | Rejected) and n_rows % _PROGRESS_ROWS == 0:
            self.on_progress(n_rows)

    def end_file(self, origin: Origin) -> None:
        """Refuses at once all messages of a file that are nobody's: one dead letter, which says where they lie."""
        if n := self.n_nobodys.get(origin.file):
            messages = "its message is" if n == 1 else f"its {n:,} messages are"
            option = way_to_say_whose(format_named(origin.format))
            detail = f"nothing says whose {messages}; land it again with {option}"
            item = Rejected(1, Reason.MISSING_USER, detail, origin.file.encode("utf-8", "backslashreplace"))
            self.intake.take(item, origin)
            self.intake.counts.n_rows -= 1
            self.letters.by_reason[Reason.MISSING_USER.value] += n - 1


def is_nobodys(item: Item) -> bool:
    """Whether a message of a foreign format has no user. A native line that names none is refused by itself."""
    return (
        isinstance(item, Parsed)
        and item.raw is None
        and item.kind != "world_events"
        and item.fields.get("user_id") is None
    )


class Tally:
    """Counts interactions that have landed, by user."""

    def __init__(self) -> None:
        self._messages: Counter[str] = Counter()
        self._sessions: dict[str, set[int]] = defaultdict(set)
        self._untrusted: dict[str, set[int]] = defaultdict(set)
        self._first: dict[str, str] = {}
        self._last: dict[str, str] = {}

    def take(self, records: Iterable[Record]) -> None:
        """Takes landed interactions."""
        for record in records:
            user, at = record["user_id"], record["timestamp"]
            self._messages[user] += 1
            if not record["session_id"].startswith(NO_CONVERSATION):
                self._sessions[user].add(hash(record["session_id"]))
            if record["trust"] == "untrusted":
                self._untrusted[record["source_format"]].add(hash((user, record["session_id"])))
            self._first[user] = min(self._first.get(user, at), at)
            self._last[user] = max(self._last.get(user, at), at)

    def users(self) -> dict[str, UserReport]:
        """What has landed of each user, in order of their names."""
        return {
            user: UserReport(n, len(self._sessions[user]), self._first[user], self._last[user])
            for user, n in sorted(self._messages.items())
        }

    def untrusted(self) -> dict[str, int]:
        """How many conversations are untrusted for what has landed, by format."""
        return {name: len(sessions) for name, sessions in sorted(self._untrusted.items())}


@dataclass(slots=True)
class _Landing:
    """Takes files one after the other; those in a ZIP like those in a folder. `opened` names all that was opened."""

    destination: _Destination
    settings: LandingSettings
    chosen: Format | None
    user_id: str | None
    mapping: Mapping[str, str]
    notes: list[str]
    landed_at: datetime
    max_rows_a_file: int | None = None
    privacy: str | None = None
    opened: list[str] = field(default_factory=list)
    read: list[FileReport] = field(default_factory=list)
    passed_over: PassedOver | None = None

    def take(self, found: FoundFile) -> None:
        """Lands a file, or the members of a ZIP; passes over what holds no messages."""
        try:
            self._take(found)
        except RuleError as error:
            if found.container and error.reason not in _UNREAD:
                self.notes.append(f"{shown(found.path)} was left out: {error.detail}")
            self.opened.append(shown(found.path))
            origin = Origin(str(found.path), self.chosen.name if self.chosen else AUTO, self._user(found))
            self._refuse(error, origin)

    def _take(self, found: FoundFile) -> None:
        if found.wrong:
            raise RuleError(*found.wrong)
        if found.root and self._pass_over(found):
            return
        file = found.file or InputFile(found.path, self.settings)
        if not file.is_zip or media_kind(found.path.name):
            self._land(file, found)
        elif found.container:
            raise RuleError(Reason.NESTED_ZIP, "it is a ZIP in a ZIP; unpack the outer one and land that folder")
        else:
            self._take_members(found)

    def _take_members(self, found: FoundFile) -> None:
        n_before = len(self.opened)
        for member in members(found, self.settings):
            self.take(member)
        if len(self.opened) == n_before and not self._is_side_archive(found):
            raise RuleError(Reason.UNKNOWN_FORMAT, f"{found.path.name} holds no file that could be landed")

    def _is_side_archive(self, found: FoundFile) -> bool:
        """Whether a ZIP of which every member was skipped is part of an export of several. One that is all that was
        given is a finding: whoever gave it expects messages."""
        return self.destination.is_of_several_files and bool(self.passed_over and self.passed_over.take_archive(found))

    def _land(self, file: InputFile, found: FoundFile) -> None:
        known = self._format_of(file, found)
        if known is None:
            return
        if found.root and not self.chosen and known.name == NOTES and self._pass_over(found, b""):
            return  # beside logs a note is mostly about the logs
        if found.root and self.chosen and not known.reads_prose and is_prose(found) and self._pass_over(found, b""):
            return
        self.opened.append(shown(found.path))
        user = self._user(found, known)
        folder = user if user != self.user_id else None
        source = Source(
            found.path.name,
            self.user_id,
            folder,
            self.mapping,
            found.container,
            found.inside,
            self.landed_at,
            self.privacy,
            self.settings.keeps_tool_calls,
        )
        origin = Origin(str(found.path), known.name, user)
        n_before = self.destination.intake.counts.n_rows
        try:
            for item in islice(self._items(known, file, source), self.max_rows_a_file):
                self.destination.take(item, origin)
        except RuleError as error:
            self._refuse(error, origin)
        except UsageError as error:  # columns that others of the files may have
            if not found.root:
                raise
            self._refuse(RuleError(Reason.MISSING_FIELD, f"{error}", raw=file.head[:_HEADER_BYTES]), origin)
        self.destination.end_file(origin)
        n_rows = self.destination.intake.counts.n_rows - n_before
        self.read.append(FileReport(shown(found.path), known.name, n_rows, folder))

    def _items(self, known: Format, file: InputFile, source: Source) -> Iterator[Item]:
        items = known.convert(file, source)
        if not known.is_named_after_file or self.max_rows_a_file is not None:
            return items
        intake = self.destination.intake
        self.destination.letters.put(intake.flush())
        return as_landed(items, known.convert(file, source), intake.log, source.name)

    def _format_of(self, file: InputFile, found: FoundFile) -> Format | None:
        """How a file is read; None where it is passed over. Raises RuleError where it cannot be read."""
        try:
            file.check()
            return self.chosen or detect(file, found.container, found.inside)
        except RuleError as error:
            if found.root and error.reason in _UNREAD and self._pass_over(found, error.raw):
                return None
            if export := error.reason is Reason.UNKNOWN_FORMAT and export_of_side_file(found, is_unknown=True):
                detail = f"{found.path.name} is what {export} brings beside the messages, and holds none of them"
                raise RuleError(error.reason, detail, raw=error.raw) from error
            raise

    def _user(self, found: FoundFile, known: Format | None = None) -> str | None:
        """Whose a file is where it does not say: the caller's word, else that of the folder it lies in."""
        if self.user_id:
            return self.user_id
        if not found.folder_user and not found.inner_user:
            return None
        return user_of_folder(found, has_folders_of_users=bool(known and known.has_folders_of_users))

    def _pass_over(self, found: FoundFile, unread: bytes | None = None) -> bool:
        self.passed_over = self.passed_over or PassedOver()
        return self.passed_over.take(found, unread)

    def _refuse(self, error: RuleError, origin: Origin) -> None:
        item = Rejected(error.line_number, error.reason, error.detail, error.raw)
        self.destination.intake.take(item, origin)
