"""Lands files: every line becomes a landed record, a duplicate or a dead letter, and nothing is lost or stops it.

Landing the same again changes nothing; killed half way and repeated it ends where an unbroken run does, since all
that was appended is known by its key. The caller holds the home's landing lock.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.landing.detect import detect
from em_pipelines.landing.formats.base import Format, Ignored, Rejected, Source
from em_pipelines.landing.intake import Intake, Origin
from em_pipelines.landing.letters import LetterBox
from em_pipelines.landing.log import LandedLog
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.registry import AUTO, format_named
from em_pipelines.landing.report import LandingReport
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.walk import FoundFile, find_files

_PROGRESS_ROWS = 1000


def land(
    paths: Sequence[Path],
    log: LandedLog,
    *,
    now: datetime,
    settings: LandingSettings,
    format: str = AUTO,
    user_id: str | None = None,
    mapping: Mapping[str, str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> LandingReport:
    """Lands files and directories and says what came of them.

    `now` is aware; its UTC day is that of the dead letters. `format` is auto or a registered name. `user_id` is
    whose the logs are: it wins over what foreign formats say and fills in what native records leave open. `mapping`
    is field → column for CSV. `on_progress` gets the number of rows read so far, every thousand and at the end.
    Raises UsageError for a path, format or user that cannot be used, before anything lands.
    """
    if now.tzinfo is None:
        raise UsageError("landing: `now` has no time zone; give an aware datetime")
    if user_id is not None and not user_id.strip():
        raise UsageError("landing: the user id is blank; give a name to --user-id or leave it out")
    found, notes = find_files(paths)
    chosen = None if format == AUTO else format_named(format)
    intake = Intake(log, now=now, settings=settings)
    letters = LetterBox(log, now.astimezone(UTC).date())
    for file in found:
        source = Source(file.path.name, user_id, file.folder_user, mapping or {})
        _land_file(file, source, chosen, settings, intake, letters, on_progress)
    letters.put(intake.flush())
    counts = intake.counts
    if on_progress:
        on_progress(counts.n_rows)
    return LandingReport(
        files=tuple(str(file.path) for file in found),
        n_rows=counts.n_rows,
        n_landed=counts.n_landed,
        n_duplicates=counts.n_duplicates,
        n_ignored=counts.n_ignored,
        n_dead_letters=dict(letters.by_reason),
        n_new_dead_letters=letters.n_new,
        n_erased=counts.n_erased + letters.n_erased,
        n_requests=counts.n_requests,
        holds_erased=counts.holds_erased or letters.n_erased > 0,
        days=frozenset(counts.days),
        notes=tuple(notes),
    )


def _land_file(
    found: FoundFile,
    source: Source,
    chosen: Format | None,
    settings: LandingSettings,
    intake: Intake,
    letters: LetterBox,
    on_progress: Callable[[int], None] | None,
) -> None:
    file = InputFile(found.path, settings)
    name, user = str(found.path), source.user_id or source.folder_user
    origin = Origin(name, chosen.name if chosen else AUTO, user)
    try:
        file.check()
        known = chosen or detect(file)
        origin = Origin(name, known.name, user)
        for item in known.convert(file, source):
            intake.take(item, origin)
            if intake.is_full:
                letters.put(intake.flush())
            if on_progress and not isinstance(item, Ignored) and intake.counts.n_rows % _PROGRESS_ROWS == 0:
                on_progress(intake.counts.n_rows)
    except RuleError as error:
        intake.take(Rejected(error.line_number, error.reason, error.detail, error.raw), origin)
