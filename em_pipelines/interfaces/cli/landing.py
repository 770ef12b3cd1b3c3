"""`em land` and what people see of a landing."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    fail,
    open_home,
    out,
    print_json,
    print_table,
    say,
)

if TYPE_CHECKING:
    from em_pipelines.landing.report import LandingReport
    from em_pipelines.landing.settings import LandingSettings
    from em_pipelines.pipeline import Pipeline

KEY_CONFLICT = "key_conflict"


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


PathsArgument = Annotated[list[Path], typer.Argument(help="Files or folders; a sub-folder's name is the user's.")]
FormatOption = Annotated[Format, typer.Option("--format", help="The files' format; auto looks into them.")]
UserIdOption = Annotated[
    str | None, typer.Option("--user-id", help="The user, where the files do not say.", show_default=False)
]


def land(
    paths: PathsArgument,
    format: FormatOption = Format.AUTO,
    user_id: UserIdOption = None,
    speaker: SpeakerOption = None,
    time_zone: TimeZoneOption = None,
    date_order: DateOrderOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Land logs: append what is new to the log. Nothing is materialized.

    Example: em land chats/ export/conversations.json --user-id ada
    """
    opened = open_home(home)
    settings = with_chat_options(opened.settings.landing, speaker, time_zone, date_order)
    report = land_into(opened, paths, format, user_id, settings)
    if as_json:
        print_json(as_document(report))
    else:
        show(report)
    end_with(opened, report)


def land_into(
    home: "Pipeline",
    paths: list[Path],
    format_: Format,
    user_id: str | None,
    settings: "LandingSettings",
) -> "LandingReport":
    """Lands files under the home's landing lock."""
    from em_pipelines.landing.land import land as land_paths

    with home.lock("landing"):
        return land_paths(
            paths,
            home.store.log,
            now=datetime.now(UTC),
            settings=settings,
            format=format_.value,
            user_id=user_id,
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
        "notes": list(report.notes),
    }


def show(report: "LandingReport") -> None:
    """Prints the report for people."""
    print_table(
        "Landed",
        ("files", "rows read", "new", "duplicates", "dead letters", "days"),
        [
            (
                len(report.files), report.n_rows, report.n_landed, report.n_duplicates,
                sum(report.n_dead_letters.values()),
                len(report.days),
            )
        ],
        right=("files", "rows read", "new", "duplicates", "dead letters", "days"),
    )  # fmt: skip
    if report.n_erased:
        out().print(f"{report.n_erased} rows were forgotten before and stay away")
    if report.n_requests:
        out().print(f"{report.n_requests} requests to forget: `em run` carries them out")
    if report.n_skipped:
        named = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in report.n_skipped.items())
        out().print(f"passed over: {named}", markup=False)
    for note in report.notes:
        out().print(note, markup=False)


def end_with(home: "Pipeline", report: "LandingReport") -> None:
    """Ends with a finding where lines were refused that no other record stands for and nobody has decided upon.

    A key that came again with other content is a dead letter, too, but memory lacks nothing: the first stands.
    """
    from em_pipelines.landing.dead_letters import open_letters

    total = sum(report.n_dead_letters.values())
    if not total or not open_letters(home.store.log):
        return
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(report.n_dead_letters.items()))
    sentence = f"{total} lines are dead letters ({reasons}); see `em dead-letters list`"
    if set(report.n_dead_letters) <= {KEY_CONFLICT}:
        say(f"{sentence}; what was landed first stands")
        return
    fail(sentence, Exit.FINDING)
