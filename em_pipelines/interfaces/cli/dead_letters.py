"""`em dead-letters`: what could not be landed or read, and how it is after all."""

import base64
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    fail,
    open_existing,
    out,
    print_document,
    print_json,
    print_table,
    tell,
)
from em_pipelines.language.counting import IS, counted

if TYPE_CHECKING:
    from em_pipelines.extraction.unread_segments import UnreadSegment
    from em_pipelines.landing.dead_letters import ReplayReport
    from em_pipelines.pipeline import Pipeline

app = typer.Typer(no_args_is_help=True, help="What could not be landed or read: list, show, replay, discard.")
SHOWN_CHARACTERS = 2_000
BEGINS = ("begins", "begin")

IdsArgument = Annotated[list[str] | None, typer.Argument(help="Ids of dead letters, or their beginnings.")]
AllOption = Annotated[bool, typer.Option("--all", help="All open ones.")]


@app.command(name="list")
def list_letters(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List the open dead letters.

    Example: em dead-letters list
    """
    from em_pipelines.landing.dead_letters import open_letters

    opened = open_existing(home)
    letters, segments = open_letters(opened.store.log), _segments(opened)
    if as_json:
        print_json([*(_document(letter) for letter in letters), *(_segment_document(s) for s in segments)])
        return
    print_table(
        counted(len(letters), "open dead letter"),
        ("id", "landed on", "file", "line", "reason", "detail"),
        [
            tuple(x[c] for c in ("dead_letter_id", "landed_on", "file", "line_number", "reason", "detail"))
            for x in letters
        ],
        right=("line",),
    )
    if segments:
        print_table(
            f"{counted(len(segments), 'conversation')} that the model gave no usable answer for",
            ("id", "day", "user", "session", "messages", "reason"),
            [(s.segment_id, s.day, s.user_id, s.session_id, s.n_messages, s.detail or s.reason) for s in segments],
            right=("messages",),
        )


@app.command()
def show(
    letter_id: Annotated[str, typer.Argument(help="Id of a dead letter, or its beginning.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one dead letter whole, secrets masked.

    Example: em dead-letters show dead_0a1b
    """
    from em_pipelines.landing.dead_letters import open_letters

    opened = open_existing(home)
    documents = [*(_document(x) for x in open_letters(opened.store.log)), *map(_segment_document, _segments(opened))]
    document = _matching(documents, [letter_id])[0]
    print_document(document, as_json=as_json)


@app.command()
def replay(
    ids: IdsArgument = None,
    is_all: AllOption = False,
    user_id: Annotated[
        str | None, typer.Option("--user-id", help="The user, where none was known.", show_default=False)
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Mend a field before landing.", show_default=False),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try again to land dead letters, after a fix or with fields mended; `em run` materializes what lands.

    Conversations that a model gave no usable answer for are given back: `em run` asks for them again.

    Example: em dead-letters replay dead_0a1b --set turn_number=3
    """
    from em_pipelines.landing.dead_letters import open_letters
    from em_pipelines.landing.dead_letters import replay as replay_letters

    opened = open_existing(home)
    with opened.lock("landing"):
        chosen = _chosen([*open_letters(opened.store.log), *map(_segment_document, _segments(opened))], ids, is_all)
        segments = {letter["dead_letter_id"] for letter in chosen if "segment_id" in letter}
        opened.give_back(segment for segment in _segments(opened) if segment.segment_id in segments)
        report = replay_letters(
            opened.store.log,
            [letter["dead_letter_id"] for letter in chosen if "segment_id" not in letter],
            now=datetime.now(UTC),
            settings=opened.settings.landing,
            user_id=user_id,
            changes=_parse_changes(changes or []),
        )
    if as_json:
        print_json(_report_document(report, segments))
    else:
        _show_report(report, segments)
    if report.refused:
        fail(
            f"{counted(len(report.refused), 'dead letter', IS)} still refused; see `em dead-letters show ID`",
            Exit.FINDING,
        )


def _report_document(report: "ReplayReport", given_back: set[str]) -> dict[str, Any]:
    return {
        "replayed": list(report.replayed),
        "refused": dict(report.refused),
        "n_landed": report.n_landed,
        "days": sorted(day.isoformat() for day in report.days),
        "given_back": sorted(given_back),
    }


def _show_report(report: "ReplayReport", given_back: set[str]) -> None:
    out().print(
        f"{len(report.replayed)} replayed, {counted(report.n_landed, 'record')} landed, {len(report.refused)} refused"
    )
    if given_back:
        tell(f"{counted(len(given_back), 'conversation')} given back: `em run` asks for them again")
    for letter_id, problem in report.refused.items():
        out().print(f"{letter_id}  {problem}", markup=False, soft_wrap=True)


@app.command()
def discard(ids: IdsArgument = None, is_all: AllOption = False, home: HomeOption = None) -> None:
    """Close dead letters that will never be landed; they stay in the log.

    Example: em dead-letters discard dead_0a1b
    """
    from em_pipelines.landing.dead_letters import discard as discard_letters
    from em_pipelines.landing.dead_letters import open_letters

    opened = open_existing(home)
    with opened.lock("landing"):
        if any(_segments_of(opened, prefix) for prefix in ids or ()):
            raise UsageError(
                "discarding a conversation that was not read: its messages stay in memory; replay it, or read it with "
                "`em run --extractor rules`"
            )
        letters = _chosen(open_letters(opened.store.log), ids, is_all)
        discard_letters(opened.store.log, [letter["dead_letter_id"] for letter in letters])
    out().print(f"{len(letters)} discarded")


def _segments(home: "Pipeline") -> "list[UnreadSegment]":
    from em_pipelines.extraction.unread_segments import unread_segments
    from em_pipelines.schema.readings import DEAD_LETTER

    return [segment for segment in unread_segments(home.store.lake) if segment.status == DEAD_LETTER]


def _segments_of(home: "Pipeline", prefix: str) -> "list[UnreadSegment]":
    return [segment for segment in _segments(home) if segment.segment_id.startswith(prefix)]


def _segment_document(segment: "UnreadSegment") -> dict[str, Any]:
    return {"dead_letter_id": segment.segment_id, **asdict(segment), "day": segment.day.isoformat()}


def _chosen(letters: list[dict[str, Any]], ids: list[str] | None, is_all: bool) -> list[dict[str, Any]]:
    if is_all == bool(ids):
        raise UsageError("choosing dead letters: give their ids, or --all, and not both")
    return letters if is_all else _matching(letters, ids or [])


def _matching(letters: list[dict[str, Any]], ids: list[str]) -> list[dict[str, Any]]:
    """The one letter that each beginning of an id names."""
    chosen = []
    for prefix in ids:
        matching = [letter for letter in letters if letter["dead_letter_id"].startswith(prefix)]
        if len(matching) != 1:
            raise UsageError(
                f"choosing a dead letter: {counted(len(matching), 'open one', BEGINS)} with {prefix!r}; "
                "see `em dead-letters list`"
            )
        chosen += matching
    return chosen


def _parse_changes(changes: list[str]) -> dict[str, str]:
    pairs = [change.partition("=") for change in changes]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise UsageError(f"reading --set: found {name!r}; give FIELD=VALUE, like turn_number=3")
    return {name: value for name, _, value in pairs}


def _document(letter: dict[str, Any]) -> dict[str, Any]:
    text = base64.b64decode(letter["raw"]).decode("utf-8", "replace")
    shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}… ({counted(len(text), 'character')})"
    return {**letter, "raw": shown}
