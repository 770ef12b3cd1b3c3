"""`em alerts`: what stands and somebody should look at, whether messages arrive, and what is kept quiet for a while."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    copyable,
    fail,
    open_existing,
    open_home,
    print_json,
    print_table,
    say,
    tell,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.governance.alerts.book import Book, Standing
    from em_pipelines.governance.alerts.looking import Depth
    from em_pipelines.pipeline import Pipeline

app = typer.Typer(help="What stands and somebody should look at: list it, try the sinks, keep some of it quiet.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A rule, or the name of one alert of `em alerts`.")]


@app.callback(invoke_without_command=True)
def alerts(
    context: typer.Context,
    is_asked_now: Annotated[
        bool, typer.Option("--now", help="Look first, at every byte of the home, and send what is to be told.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the alerts that stand, since when, and where they were told. With --now the home is looked at first, and the
    exit code is 1 where an alert stands that is not silenced.

    Example: em alerts --now
    """
    if context.invoked_subcommand:
        return
    from em_pipelines.governance.alerts.book import AlertBook
    from em_pipelines.governance.alerts.looking import Depth

    opened = open_existing(home)
    now = datetime.now(UTC)
    if is_asked_now:
        for problem in _look_and_tell(opened, now, Depth.FULL):
            say(f"telling of alerts: {problem}")
    book = AlertBook(opened.path).read()
    standing = _standing(book)
    if as_json:
        print_json([_document(one, book, now) for one in standing])
    else:
        print_table(
            counted(len(standing), "alert", ("stands", "stand")),
            ("", "name", "since", "what was found", "what to do", "told", "silenced until"),
            [_row(one, book, now) for one in standing],
        )
    if book.problem:
        fail(f"{book.problem}; the next look begins it anew, without its silences", Exit.FINDING)
    loud = [one for one in standing if not book.silence_of(one.alert, now)]
    if is_asked_now and loud:
        fail(f"{counted(len(loud), 'alert', ('stands', 'stand'))}, first {loud[0].alert.title}", Exit.FINDING)


@app.command()
def test(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Send a test message to every sink: log, webhook, mail server. Ends with 1 where one does not take it.

    Example: em alerts test
    """
    from em_pipelines.governance.alerts.telling import try_out

    answers = try_out(Defaults.open_sinks(open_home(home).settings.alerts), datetime.now(UTC))
    if as_json:
        print_json([{"sink": name, "taken": why is None, "why": why} for name, why in answers.items()])
    else:
        print_table(
            "Sinks", ("sink", "took it", "why not"), [(n, "yes" if w is None else "no", w) for n, w in answers.items()]
        )
    if refused := {name: why for name, why in answers.items() if why is not None}:
        name, why = next(iter(refused.items()))
        fail(f"{counted(len(refused), 'sink')} did not take it, first {name}: {why}", Exit.FINDING)


@app.command()
def silence(
    name: NameArgument,
    hours: Annotated[float, typer.Option("--hours", min=0.01, help="For how long.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Why, for who wonders.", show_default=False)],
    home: HomeOption = None,
) -> None:
    """Send nothing of a rule, or of one alert, for some hours. It is still listed.

    Example: em alerts silence disk_full --hours 12 --reason "the new disk comes tomorrow"
    """
    from em_pipelines.errors import UsageError
    from em_pipelines.governance.alerts.book import LOCK, AlertBook, Silence
    from em_pipelines.governance.alerts.rules import NAMES
    from em_pipelines.schema.near_names import hint

    opened, now = open_existing(home), datetime.now(UTC)
    with opened.lock(LOCK):
        store = AlertBook(opened.path)
        book = store.read()
        known = [*NAMES, *book.standing]
        if name not in known:
            raise UsageError(f"silencing {name!r:.80}: no alert is called so; {hint(name, known) or 'see `em alerts`'}")
        until = now + timedelta(hours=hours)
        book.silences[name] = Silence(name, now, until, reason)
        store.write(book)
    tell(f"Nothing is sent of {name} until {_at(until)}; `em alerts unsilence '{name}'` ends that.")


@app.command()
def silences(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List what is silenced, until when and why.

    Example: em alerts silences
    """
    from em_pipelines.governance.alerts.book import AlertBook

    found = AlertBook(open_existing(home).path).read().silenced(datetime.now(UTC))
    if as_json:
        print_json([{"name": s.name, "since": s.since, "until": s.until, "reason": s.reason} for s in found])
        return
    rows = [(one.name, _at(one.since), _at(one.until), one.reason) for one in found]
    print_table(f"{len(found)} silenced", ("name", "since", "until", "why"), rows)


@app.command()
def unsilence(name: NameArgument, home: HomeOption = None) -> None:
    """End a silence: what stands of it is told at the next look.

    Example: em alerts unsilence disk_full
    """
    from em_pipelines.governance.alerts.book import LOCK, AlertBook
    from em_pipelines.schema.near_names import hint

    opened = open_existing(home)
    with opened.lock(LOCK):
        store = AlertBook(opened.path)
        book = store.read()
        if (ended := book.silences.pop(name, None)) is not None:
            store.write(book)
    if ended is None:
        fail(f"{name!r:.80} is not silenced; {hint(name, book.silences) or 'nothing is'}", Exit.FINDING)
    tell(f"{name} is told again.")


def after_a_run(home: "Pipeline", *, has_failed: bool) -> None:
    """Looks and tells, for people without Dagster's daemon; says in a line what stands, and nothing where all is well.
    A run is not the worse for it: what goes wrong here is a sentence, and none after a run that has failed and says
    why: it would be the same again."""
    from em_pipelines.errors import EmError
    from em_pipelines.governance.alerts.book import AlertBook
    from em_pipelines.governance.alerts.looking import Depth
    from em_pipelines.storage.files import storage_error

    now = datetime.now(UTC)
    try:
        problems = _look_and_tell(home, now, Depth.LIGHT)
    except (EmError, OSError) as error:
        if not has_failed:
            say(f"telling of alerts: {storage_error(error) or error}")
        return
    for problem in () if has_failed else problems:
        say(f"telling of alerts: {problem}")
    book = AlertBook(home.path).read()
    if standing := [one for one in _standing(book) if not book.silence_of(one.alert, now)]:
        stand = counted(len(standing), "alert", ("stands", "stand"))
        tell(f"Alerts: {stand}, first {standing[0].alert.title}; see `em alerts`")


def _look_and_tell(home: "Pipeline", now: datetime, depth: "Depth") -> list[str]:
    """Returns what went wrong, in sentences."""
    from em_pipelines.governance.alerts import telling
    from em_pipelines.governance.alerts.looking import Situation, look_at

    settings = home.settings
    look = look_at(Situation(home, now, settings.alerts, settings.llm, Defaults.is_graph_set()), depth)
    sent = telling.tell(home, look, Defaults.open_sinks(settings.alerts), now, settings.alerts.repeat_hours)
    return [*look.problems, *(f"{name}: {why}" for name, why in sent.refused.items())]


def _standing(book: "Book") -> "list[Standing]":
    """What has not ended, the worst first."""
    found = (one for one in book.standing.values() if one.ended_at is None)
    return sorted(found, key=lambda one: (-one.alert.severity.rank, one.since))


def _row(one: "Standing", book: "Book", now: datetime) -> tuple[object, ...]:
    alert, silence = one.alert, book.silence_of(one.alert, now)
    told, until = ", ".join(sorted(one.told)), _at(silence.until) if silence else ""
    return alert.severity, alert.key, _at(one.since), alert.text, copyable(alert.todo), told, until


def _document(one: "Standing", book: "Book", now: datetime) -> dict[str, Any]:
    alert, silence = one.alert, book.silence_of(one.alert, now)
    return {
        "name": alert.key,
        "rule": alert.rule,
        "severity": alert.severity,
        "title": alert.title,
        "found": alert.text,
        "advice": copyable(alert.todo),
        "since": one.since,
        "told": sorted(one.told),
        "silenced_until": silence.until if silence else None,
        "reason": silence.reason if silence else None,
    }


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
