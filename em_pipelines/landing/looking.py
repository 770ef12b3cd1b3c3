"""Landing without writing: what would come of it, and whether anybody is named.

The same code reads, converts and checks; only the log is another, that takes records in and keeps none. Of more than a
buffer of messages (`landing.max_buffer_records`) it does not know those of the buffers before, so that what comes twice
in one landing is counted twice there.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from em_pipelines.landing.containers import members
from em_pipelines.landing.land import KIND, all_letters, detect, land
from em_pipelines.landing.passed_over import media_kind
from em_pipelines.landing.reader import InputFile, find_files
from em_pipelines.landing.reasons import OPEN, RuleError
from em_pipelines.landing.registry import AUTO, format_named
from em_pipelines.landing.report import LandingReport
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import Gate, LandedLog, OpenGate, Passage, Verdict

MAX_SAMPLE = 5
MAX_LETTERS = 20
ROWS_OF_A_LOOK = 50


@dataclass(frozen=True, slots=True)
class Preview:
    """What a landing would do: its report, the first messages by time and the first dead letters, both as they would be
    stored, secrets masked; and whether dead letters would be open, which is what a landing ends with."""

    report: LandingReport
    sample: tuple[Record, ...]
    letters: tuple[Record, ...]
    has_open_letters: bool


class _DryGate:
    """The gate of a log, which is asked and told nothing."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def verify(self) -> None:
        """Nothing is appended."""

    def judge(self, kind: str, record: Record) -> Passage:
        """The verdict; a request to forget is one, and is not kept."""
        if kind == "feedback" and record["type"] == "forget":
            return Passage(Verdict.ASKED, None)
        return self._gate.judge(kind, record)

    def admits_letter(self, letter: Record) -> bool:
        """Whether a dead letter would be kept."""
        return self._gate.admits_letter(letter)


class DryLog(LandedLog):
    """Reads like the log beneath, if there is one, and keeps of what is appended the first of each kind."""

    def __init__(self, beneath: LandedLog | None) -> None:
        super().__init__("memory://dry", _DryGate(beneath.gate if beneath else OpenGate()))
        self._beneath = beneath
        self.sample: list[Record] = []
        self.letters: list[Record] = []
        self.letter_ids: set[str] = set()

    def days(self, kind: str) -> list[date]:
        """The days of the log beneath; none of dead letters, so that those are told of that stand there, too."""
        return self._beneath.days(kind) if self._beneath and kind != KIND else []

    def read(self, kind: str, day: date) -> Iterator[Record]:
        """The records of the log beneath."""
        return self._beneath.read(kind, day) if self._beneath else iter(())

    def append(self, kind: str, day: date, records: Sequence[Record]) -> None:  # noqa: ARG002
        """Writes nothing."""
        if kind == "interactions" and len(self.sample) < MAX_SAMPLE:
            self.sample.extend(records[: MAX_SAMPLE - len(self.sample)])
        elif kind == KIND:
            letters = [record for record in records if record["status"] == OPEN]
            self.letters.extend(letters[: MAX_LETTERS - len(self.letters)])
            self.letter_ids.update(letter["dead_letter_id"] for letter in letters)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Nothing is entered anywhere."""
        yield


def preview(  # noqa: PLR0913  (what `land` takes)
    paths: Sequence[Path],
    log: LandedLog,
    *,
    now: datetime,
    settings: LandingSettings,
    format: str = AUTO,
    user_id: str | None = None,
    mapping: Mapping[str, str] | None = None,
    is_trusted: bool = False,
) -> Preview:
    """What landing into a log would do. Takes and raises what `land` does, and writes nothing."""
    dry = DryLog(log)
    report = land(
        paths,
        dry,
        now=now,
        settings=settings,
        format=format,
        user_id=user_id,
        mapping=mapping,
        is_trusted=is_trusted,
    )
    standing = all_letters(log)
    is_open = bool(dry.letter_ids - standing.keys()) or any(x["status"] == OPEN for x in standing.values())
    return Preview(report, tuple(dry.sample), tuple(dry.letters), is_open)


def looked_at(
    paths: Sequence[Path],
    settings: LandingSettings,
    format: str = AUTO,
    user_id: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> LandingReport:
    """The report of a landing of the first messages of each file, which writes nothing. Raises what `land` does."""
    now = datetime.now(UTC)
    return land(
        paths,
        DryLog(None),
        now=now,
        settings=settings,
        format=format,
        user_id=user_id,
        mapping=mapping,
        max_rows_a_file=ROWS_OF_A_LOOK,
    )


def may_hold_chats(paths: Sequence[Path], settings: LandingSettings, format: str = AUTO) -> bool:
    """Whether any of the files is a chat among people, so that who the user is may have to be said."""
    if format != AUTO:
        return format_named(format).has_speakers
    return any(_is_chat(file) for file in _files(paths, settings))


def _files(paths: Sequence[Path], settings: LandingSettings) -> Iterator[InputFile]:
    for found in find_files(paths)[0]:
        file = InputFile(found.path, settings)
        if found.wrong or media_kind(found.path.name):
            continue
        if not file.is_zip:
            yield file
            continue
        with suppress(RuleError):
            yield from (member.file for member in members(found, settings) if member.file and not member.wrong)


def _is_chat(file: InputFile) -> bool:
    try:
        return detect(file).has_speakers
    except RuleError:  # the landing says what is wrong with it
        return False
