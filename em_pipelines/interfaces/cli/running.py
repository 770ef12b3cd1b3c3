"""`em run`: from logs to memory, and what people see of it."""

import logging
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import EmError, UsageError
from em_pipelines.interfaces.cli import (
    alerting,
    consolidating,
    interrupts,
    landing,
    landing_summary,
    publishing,
    reviewing,
)
from em_pipelines.interfaces.cli.console import (
    Exit,
    ExtractorOption,
    HomeOption,
    open_existing,
    open_home,
    out,
    print_table,
    say,
    some_of,
    tell,
    telling_of_a_new_home,
)
from em_pipelines.interfaces.cli.facts import faded_line, parse_day
from em_pipelines.interfaces.cli.hints import with_home
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.interfaces.cli.dagster_runner import Summary
    from em_pipelines.pipeline import Pipeline

N_NAMED = 5
"""Feedback that fitted no fact, told by what it says."""
_LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).parents[3]
"""The repository, where this is one; else the folder that the package is installed in."""


def run(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files or folders to land first.")] = None,
    format: landing.FormatOption = landing.Format.AUTO,
    user_id: landing.UserIdOption = None,
    column: landing.ColumnOption = None,
    speaker: landing.SpeakerOption = None,
    time_zone: landing.TimeZoneOption = None,
    date_order: landing.DateOrderOption = None,
    privacy: landing.PrivacyOption = None,
    accept: landing.AcceptOption = False,
    trust: landing.TrustOption = False,
    from_day: Annotated[
        str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="Materialize from this day.")
    ] = None,
    to_day: Annotated[
        str | None, typer.Option("--to", metavar="YYYY-MM-DD", help="Materialize up to this day.")
    ] = None,
    extractor: ExtractorOption = None,
    is_full: Annotated[bool, typer.Option("--full", help="Make every day again, current or not.")] = False,
    home: HomeOption = None,
) -> None:
    """Land logs, materialize every day and asset that they touch, publish the snapshot.

    Safe to interrupt and to repeat: it goes on where it stopped, and does nothing where nothing is new.

    Example: em run examples/logs
    """
    from em_pipelines.interfaces.cli.dagster_storage import prepare_dagster_home
    from em_pipelines.observability.work import new_id, work

    first, last = _bounds(from_day, to_day)
    opened = (open_home if paths else open_existing)(home, **({"extractor": extractor} if extractor else {}))
    opened.salt.verify()
    settings = landing.with_chat_options(opened.settings.landing, speaker, time_zone, date_order)
    mapping = landing.columns_of(column)
    how = landing.Format(format)
    report, run_id = None, new_id("run")
    if paths:
        with telling_of_a_new_home(opened), work("em.land", correlation_id=run_id):
            report = landing.land_into(opened, paths, how, user_id, settings, mapping, privacy, is_trusted=trust)
            _LOGGER.info("landed %s", counted(report.n_landed, "record"))
            landing_summary.show(report)
        reviewing.settle(opened, [Path(name).name for name in report.files] if accept else [], user_id)
    prepare_dagster_home(opened)
    try:
        with work("em.run", correlation_id=run_id):
            summary = _made(opened, first, last, is_full=is_full)
    except EmError:
        if not interrupts.came():  # who is told to stop has seconds
            alerting.after_a_run(opened, has_failed=True)
        raise
    if (first or last) and not any(_is_within(day, first, last) for day in opened.store.log.days("interactions")):
        tell("Nothing has landed on these days: `em status` tells from when to when there is something.")
    _show(opened, summary)
    alerting.after_a_run(opened, has_failed=False)
    _judge(summary)
    if report:
        landing_summary.end_with(opened, report)


def _made(home: "Pipeline", first: date | None, last: date | None, *, is_full: bool) -> "Summary":
    """Makes what is out of date and publishes it, under the lock of runs; raises what `materialize` raises."""
    from em_pipelines.governance.audit.lost_log import check
    from em_pipelines.interfaces.cli.dagster_runner import materialize

    with home.at_work("run"):
        home.sweep()
        check(home)
        summary = materialize(home, first, last, is_full=is_full)
        if reviewing.settle(home, [], None).n_accepted:  # what was read only now, in notes that need no look
            summary = materialize(home, first, last, is_full=False)
        if _sleeps_on(home):
            summary.n_runs += materialize(home, first, last, is_full=False).n_runs
    return summary


def _sleeps_on(home: "Pipeline") -> bool:
    """Makes what stands of the nights what the days come to now, and the files that tell of it; whether any table has
    changed. A night that was killed half way is completed by it."""
    is_changed = bool(home.refresh_consolidation().made) if home.nights.is_there else False
    consolidating.tell_of_files(home)
    return is_changed


def _bounds(from_day: str | None, to_day: str | None) -> tuple[date | None, date | None]:
    first, last = parse_day(from_day, "--from"), parse_day(to_day, "--to")
    if first and last and first > last:
        raise UsageError(f"reading --from and --to: {first} is after {last}; give the earlier day first")
    return first, last


def _is_within(day: date, first: date | None, last: date | None) -> bool:
    return (first or day) <= day <= (last or day)


def _judge(summary: "Summary") -> None:
    """Ends with a finding, or asks for another run, where not everything was made and read as it should be. Each is
    told in a sentence; a finding decides the exit code, for another run does not mend it."""
    findings, waiting = list(_findings(summary)), _waiting(summary)
    for sentence in filter(None, [*findings, waiting]):
        say(sentence)
    if findings or waiting:
        raise typer.Exit(Exit.FINDING if findings else Exit.RETRY)


def _findings(summary: "Summary") -> Iterator[str]:
    """What somebody has to look at, a sentence each."""
    from em_pipelines.schema.readings import DEAD_LETTER

    if summary.failed_checks:
        yield f"checks failed: {'; '.join(summary.failed_checks)}; see them in the UI"
    if summary.newly_aside:
        yield _set_aside(summary)
    if n_dead := summary.n_unread(DEAD_LETTER):
        lot = ("is a dead letter", "are dead letters")[n_dead != 1]
        unread = f"{counted(n_dead, 'message')} could not be read and {lot}"
        yield f"{unread} ({_why(summary, DEAD_LETTER)}); see `em dead-letters list`"


def _waiting(summary: "Summary") -> str:
    """What the next run reads, in a sentence; empty where nothing waits."""
    from em_pipelines.schema.readings import PENDING

    n_pending = summary.n_unread(PENDING)
    if not n_pending:
        return ""
    waits = counted(n_pending, "message", ("waits", "wait"))
    return f"{waits} to be read by the model ({_why(summary, PENDING)}); `em run` goes on from there"


def _why(summary: "Summary", status: str) -> str:
    """Why messages were not read: the reason of most of them, and how many others there are."""
    from em_pipelines.extraction.unread_segments import causes

    first, *others = causes(segment for segment in summary.unread if segment.status == status)
    return f"{first}, and {counted(len(others), 'other reason')}" if others else first


def _set_aside(summary: "Summary") -> str:
    """What is in quarantine, in a line."""
    claims = [entry for entry in summary.aside if entry.claim_id is not None]
    days = [entry for entry in summary.aside if entry.claim_id is None]
    parts = [
        f"{counted(len(entries), what)} of {counted(len(users), 'user')}"
        for entries, what in ((claims, "claim"), (days, "day"))
        if entries and (users := {entry.user_id for entry in entries})
    ]
    return f"{' and '.join(parts)} set aside, everything else is served; see `em quarantine list`"


def _other_languages(waiting: dict[str, dict[str, int]]) -> str:
    """What rules have not read for its language, in a line."""
    of_all: Counter[str] = Counter()
    for counts in waiting.values():
        of_all.update(counts)
    listed = ", ".join(f"{language} {n}" for language, n in of_all.most_common())
    said = f"{counted(of_all.total(), 'message')} of {counted(len(waiting), 'user')}"
    return f"Languages: {said} not read, for the rules read English ({listed}); a model reads them: --extractor llm"


def _remarks(home: "Pipeline", summary: "Summary") -> Iterator[str]:
    """What was left out of memory, or waits, a sentence each."""
    if summary.aside and not summary.newly_aside:
        yield f"Quarantine: {_set_aside(summary)}"
    if summary.languages:
        yield _other_languages(summary.languages)
    if summary.untrusted:
        told = counted(len(summary.untrusted), "conversation", ("holds", "hold"))
        yield f"Untrusted: {told} what came from outside, and nothing is learned there"
    if summary.too_long:
        told = counted(len(summary.too_long), "conversation", ("holds", "hold"))
        yield f"Too long: {told} a message of which the end was not read; see `em why-not`"
    if summary.unmatched:
        named = "; ".join(summary.unmatched[:N_NAMED])
        yield f"Feedback: {len(summary.unmatched)} fitted no fact that was known: {named}"
    for waiting in filter(None, (reviewing.waiting_line(home), reviewing.waiting_experiences_line(home))):
        yield f"Review: {waiting}"


def _show(home: "Pipeline", summary: "Summary") -> None:
    from em_pipelines.serving.snapshot import LATEST

    if not summary.n_runs:
        out().print("Nothing is new: every day and the snapshot are current.")
    elif summary.n_days:
        out().print(f"Materialized {counted(summary.n_days, 'day')}.")
    else:
        out().print("Every day is current; what was not checked or published yet is now.")
    for remark in _remarks(home, summary):
        tell(remark)
    latest = home.snapshots / LATEST
    if not latest.exists():
        tell("Nothing learned yet: no snapshot. `em run PATH` takes in logs.")
        return
    print_table(
        "Memory",
        ("user", "messages", "conversations", "entities", "facts", "last seen"),
        some_of(publishing.users(latest), "`em users`"),
    )
    if line := faded_line(home):
        out().print(line, markup=False, soft_wrap=True)
    out().print(f"snapshot  {latest}", markup=False, soft_wrap=True)
    out().print(f"look      {with_home('em facts --user NAME', home.path)}", markup=False, soft_wrap=True)
    out().print(f"UI        {way_to_ui(home)}, then open the address that it prints", markup=False, soft_wrap=True)


def way_to_ui(home: "Pipeline", root: Path = ROOT) -> str:
    """What opens the UI on this home: in a checkout its make target, else Dagster itself."""
    path = home.path.absolute()
    if not (root / "Makefile").exists():
        at = f"EM_HOME={quote(str(path))} DAGSTER_HOME={quote(str(home.dagster_home.absolute()))}"
        return f"{at} dagster dev -m em_pipelines.definitions"
    return "make dev" if path == root / ".em" else f"make dev EM_HOME={quote(str(path))}"
