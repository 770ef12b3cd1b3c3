"""`em land` and what people see of a landing."""

import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli import reviewing
from em_pipelines.interfaces.cli.chat_options import (
    DateOrderOption,
    SpeakerOption,
    TimeZoneOption,
    with_chat_options,
)
from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    ask,
    fail,
    open_home,
    out,
    print_json,
    print_table,
    say,
)
from em_pipelines.text.counting import counted

if TYPE_CHECKING:
    from em_pipelines.landing.looking import Preview
    from em_pipelines.landing.report import LandingReport
    from em_pipelines.landing.settings import LandingSettings
    from em_pipelines.pipeline import Pipeline

KEY_CONFLICT = "key_conflict"
MISSING_USER = "missing_user"
IN_ZIP = "!/"
SAMPLE_CHARACTERS = 160
MAX_FILES_SHOWN = 20
STAYS = ("was forgotten before and stays", "were forgotten before and stay")


class Format(StrEnum):
    """Formats that `em land` reads."""

    AUTO = "auto"
    NATIVE = "native"
    OPENAI = "openai"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    CLAUDE_CODE = "claude-code"
    LOCOMO = "locomo"
    GEMINI = "gemini"
    AI_STUDIO = "ai-studio"
    TELEGRAM = "telegram"
    WHATSAPP = "whatsapp"
    CSV = "csv"
    CONTACTS_CSV = "contacts-csv"
    VCARD = "vcard"
    ICAL = "ical"
    MARKDOWN = "markdown"
    QUESTIONNAIRE = "questionnaire"


class Privacy(StrEnum):
    """How private notes are."""

    PERSONAL = "personal"
    PRIVATE = "private"
    PUBLIC = "public"


PathsArgument = Annotated[list[Path], typer.Argument(help="Files, ZIPs or folders; a sub-folder's name is the user's.")]
FormatOption = Annotated[Format, typer.Option("--format", help="The files' format; auto looks into them.")]
UserIdOption = Annotated[
    str | None, typer.Option("--user-id", help="The user, where the files do not say.", show_default=False)
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="FIELD=COLUMN",
        help="Which column of a CSV holds what: content, timestamp, user_id, …; more than once.",
        show_default=False,
    ),
]

PrivacyOption = Annotated[
    Privacy | None, typer.Option("--privacy", help="How private notes are that do not say so.", show_default=False)
]
AcceptOption = Annotated[
    bool, typer.Option("--accept", help="Let what these files hold of contacts, dates and notes count without a look.")
]


def land(
    paths: PathsArgument,
    format: FormatOption = Format.AUTO,
    user_id: UserIdOption = None,
    column: ColumnOption = None,
    speaker: SpeakerOption = None,
    time_zone: TimeZoneOption = None,
    date_order: DateOrderOption = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Show what would land, and write nothing.")] = False,
    privacy: PrivacyOption = None,
    accept: AcceptOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Land logs: append what is new to the log. Nothing is materialized.

    Example: em land chats/ export.zip --user-id ada
    """
    opened = open_home(home)
    settings = with_chat_options(opened.settings.landing, speaker, time_zone, date_order)
    mapping = columns_of(column)
    if is_dry:
        _show_preview(_preview(opened, paths, format, user_id, settings, mapping), as_json=as_json)
        return
    report = land_into(opened, paths, format, user_id, settings, mapping, privacy, may_ask=not as_json)
    settled = reviewing.settle(opened, [Path(name).name for name in report.files] if accept else [], user_id)
    if as_json:
        print_json({**as_document(report), **settled.as_document()})
    else:
        show(report)
        settled.show()
    end_with(opened, report)


def columns_of(said: list[str] | None) -> dict[str, str]:
    """Field → column, out of FIELD=COLUMN. Raises UsageError."""
    pairs = [one.partition("=") for one in said or ()]
    for field, mark, name in pairs:
        if not mark or not field.strip() or not name.strip():
            raise UsageError(f"reading --column: {field + mark + name!r} is not FIELD=COLUMN; give content=Body or so")
    return {field.strip(): name.strip() for field, _, name in pairs}


def land_into(
    home: "Pipeline",
    paths: list[Path],
    format_: Format,
    user_id: str | None,
    settings: "LandingSettings",
    mapping: dict[str, str] | None = None,
    privacy: Privacy | None = None,
    *,
    may_ask: bool = True,
) -> "LandingReport":
    """Lands files under the home's landing lock. At a terminal it asks first whose they are, where nothing says it."""
    from em_pipelines.landing.dead_letters import settle_nobodys
    from em_pipelines.landing.land import land as land_paths

    if user_id is None and may_ask and sys.stdin.isatty() and sys.stdout.isatty():
        user_id = _ask_whose(settings, paths, format_, mapping)
    with home.lock("landing"):
        report = land_paths(
            paths,
            home.store.log,
            now=datetime.now(UTC),
            settings=settings,
            format=format_.value,
            user_id=user_id,
            mapping=mapping,
            privacy=privacy.value if privacy else None,
        )
        if user_id is not None or settings.speakers:
            settle_nobodys(home.store.log, report)
    return report


def _ask_whose(
    settings: "LandingSettings", paths: list[Path], format_: Format, mapping: dict[str, str] | None
) -> str | None:
    """Asks for a user where files name none; None where all do, or nobody answers."""
    from em_pipelines.landing.looking import nobodys

    files = nobodys(paths, settings, format_.value, mapping)
    if not files:
        return None
    return ask(f"{_named(files)} {_are(len(files))} nobody's by what is in there. Whose messages are these? (a name)")


def _preview(
    home: "Pipeline",
    paths: list[Path],
    format_: Format,
    user_id: str | None,
    settings: "LandingSettings",
    mapping: dict[str, str],
) -> "Preview":
    from em_pipelines.landing.looking import preview

    return preview(
        paths,
        home.store.log,
        now=datetime.now(UTC),
        settings=settings,
        format=format_.value,
        user_id=user_id,
        mapping=mapping,
    )


def as_document(report: "LandingReport") -> dict[str, object]:
    """The report as JSON-able dict."""
    return {
        "files": list(report.files),
        "n_rows": report.n_rows,
        "n_landed": report.n_landed,
        "n_duplicates": report.n_duplicates,
        "n_ignored": report.n_ignored,
        "skipped": dict(report.n_skipped),
        "n_erased": report.n_erased,
        "n_requests": report.n_requests,
        "n_dead_letters": sum(report.n_dead_letters.values()),
        "dead_letters": dict(report.n_dead_letters),
        "days": sorted(day.isoformat() for day in report.days),
        "users": [
            {
                "user_id": user,
                "n_messages": one.n_messages,
                "n_conversations": one.n_conversations,
                "first": one.first,
                "last": one.last,
            }
            for user, one in report.users.items()
        ],
        "read": [
            {"file": one.file, "format": one.format, "n_rows": one.n_rows, "user_of_folder": one.user_id}
            for one in report.read
        ],
        "nobodys": dict(report.n_nobodys),
        "passed_over": dict(report.n_passed_over),
        "notes": list(report.notes),
    }


def show(report: "LandingReport", *, is_dry: bool = False) -> None:
    """Prints the report for people."""
    if not report.files:
        _print("No file was found there to land.")
    figures = ("files", "rows read", "new", "duplicates", "dead letters", "days")
    print_table(
        "Would land" if is_dry else "Landed",
        figures,
        [
            (
                len(report.files), report.n_rows, report.n_landed, report.n_duplicates,
                sum(report.n_dead_letters.values()),
                len(report.days),
            )
        ],
        right=figures,
    )  # fmt: skip
    if report.users:
        print_table(
            "Whose messages",
            ("user", "messages", "conversations", "from", "to"),
            [
                (user, one.n_messages, one.n_conversations, _minute(one.first), _minute(one.last))
                for user, one in report.users.items()
            ],
            right=("messages", "conversations"),
        )
    for user, n in sorted(Counter(one.user_id for one in report.read if one.user_id and one.n_rows).items()):
        _print(f"{counted(n, 'file')} taken to be {user}'s, after the folder; `--user-id NAME` says otherwise")
    if report.n_erased:
        _print(f"{counted(report.n_erased, 'row', STAYS)} away")
    if report.n_requests:
        them = "it" if report.n_requests == 1 else "them"
        _print(f"{counted(report.n_requests, 'request')} to forget: `em run` carries {them} out")
    if report.n_skipped:
        named = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in report.n_skipped.items())
        _print(f"passed over: {named}")
    for note in report.notes:
        _print(note)


def _show_preview(preview: "Preview", *, as_json: bool) -> None:
    """Prints what would land, and a few messages and dead letters of it."""
    report = preview.report
    letters = [{c: x[c] for c in ("file", "line_number", "reason", "detail")} for x in preview.letters]
    sample = [
        {c: x[c] for c in ("user_id", "session_id", "turn_number", "role", "speaker", "timestamp")}
        | {"content": x["content"][:SAMPLE_CHARACTERS]}
        for x in preview.sample
    ]
    if as_json:
        print_json({"dry_run": True, **as_document(report), "letters": letters, "sample": sample})
        return
    rows = [(one.file, one.format, one.n_rows) for one in report.read]
    print_table("Files", ("file", "format", "rows"), rows[:MAX_FILES_SHOWN], right=("rows",))
    if len(rows) > MAX_FILES_SHOWN:
        _print(f"and {counted(len(rows) - MAX_FILES_SHOWN, 'file')} more")
    show(report, is_dry=True)
    if letters:
        print_table("Would be dead letters", tuple(letters[0]), [tuple(x.values()) for x in letters])
    if sample:
        columns = ("timestamp", "user_id", "role", "content")
        print_table("The first messages", columns, [tuple(x[c] for c in columns) for x in sample])
    if whose := _whose(report):
        _print(whose)
    _print("Nothing was written: leave out --dry-run to land it.")


def end_with(home: "Pipeline", report: "LandingReport") -> None:
    """Ends with a finding where lines were refused that no other record stands for and nobody has decided upon.

    A key that came again with other content is a dead letter, too, but memory lacks nothing: the first stands.
    """
    from em_pipelines.landing.dead_letters import open_letters

    if not report.n_dead_letters or not open_letters(home.store.log):
        return
    n_nobodys = sum(report.n_nobodys.values())
    others = {reason: n - n_nobodys * (reason == MISSING_USER) for reason, n in sorted(report.n_dead_letters.items())}
    n_others = sum(others.values())
    reasons = ", ".join(f"{n} {reason}" for reason, n in others.items() if n)
    refused = counted(n_others, "line", ("is a dead letter", "are dead letters"))
    letters = f"{refused} ({reasons}); see `em dead-letters list`"
    sentence = "; ".join([*filter(None, [_whose(report)]), *([letters] if n_others else [])])
    if set(report.n_dead_letters) <= {KEY_CONFLICT}:
        say(f"{sentence}; what was landed first stands")
        return
    fail(sentence, Exit.FINDING)


def _whose(report: "LandingReport") -> str:
    """What is said of messages that are nobody's; nothing where all are somebody's."""
    n = sum(report.n_nobodys.values())
    if not n:
        return ""
    where = f"the {counted(n, 'message')} in {_named(report.n_nobodys)}"
    return f"nothing says whose {where} {_are(n)}: land again with --user-id NAME"


def _named(files: Iterable[str]) -> str:
    """The first file by its name, and how many more there are."""
    first, *rest = (Path(file.partition(IN_ZIP)[0]).name for file in files)
    more = [file for file in dict.fromkeys(rest) if file != first]
    return f"{first} and {counted(len(more), 'other file')}" if more else first


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _minute(instant: str) -> str:
    """A landed instant to the minute, in UTC."""
    return instant[:16].replace("T", " ")


def _print(sentence: str) -> None:
    out().print(sentence, markup=False, soft_wrap=True)
