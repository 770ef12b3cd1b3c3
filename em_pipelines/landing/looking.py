"""Landing without writing: what would come of it, and whether anybody is named.

The same code reads, converts and checks; only the log is another, that takes records in and keeps none. Of more than a
buffer of messages (`landing.max_buffer_records`) it does not know those of the buffers before, so that what comes twice
in one landing is counted twice there.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from em_pipelines.landing.land import KIND, all_letters, land
from em_pipelines.landing.reasons import OPEN
from em_pipelines.landing.registry import AUTO
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
            self.letters.extend(records[: MAX_LETTERS - len(self.letters)])
            self.letter_ids.update(record["dead_letter_id"] for record in records)

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


def nobodys(
    paths: Sequence[Path], settings: LandingSettings, format: str = AUTO, mapping: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The files of which the first messages are nobody's, and their formats, as far as a look at their beginnings
    shows. Raises what `land` does."""
    now = datetime.now(UTC)
    report = land(
        paths, DryLog(None), now=now, settings=settings, format=format, mapping=mapping, max_rows_a_file=ROWS_OF_A_LOOK
    )
    return {one.file: one.format for one in report.read if one.file in report.n_nobodys}
