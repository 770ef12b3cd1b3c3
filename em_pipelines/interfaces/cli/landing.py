"""`em land` and what people see of a landing."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli import reviewing
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    open_home,
    print_json,
    tell,
    telling_of_a_new_home,
)
from em_pipelines.interfaces.cli.interrupts import saying
from em_pipelines.interfaces.cli.landing_owner import Given, with_owner
from em_pipelines.interfaces.cli.landing_summary import (
    as_document,
    end_preview,
    end_with,
    show,
    show_preview,
)

if TYPE_CHECKING:
    from em_pipelines.landing.looking import Preview
    from em_pipelines.landing.report import LandingReport
    from em_pipelines.landing.settings import LandingSettings
    from em_pipelines.pipeline import Pipeline

LANDED_IN_PART = "interrupted while landing: what has landed is kept; give the same files again to land the others"


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

SpeakerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--speaker",
        help="In chats among people, the name under which the user writes; more than once for several names.",
        show_default=False,
    ),
]
TimeZoneOption = Annotated[
    str | None,
    typer.Option("--time-zone", help="Of chats and CSV that name none, such as Europe/Oslo.", show_default=False),
]
DateOrderOption = Annotated[
    str | None,
    typer.Option(
        "--date-order", metavar="dmy|mdy|ymd", help="Of chats and CSV whose dates leave it open.", show_default=False
    ),
]
PrivacyOption = Annotated[
    Privacy | None, typer.Option("--privacy", help="How private notes are that do not say so.", show_default=False)
]
AcceptOption = Annotated[
    bool, typer.Option("--accept", help="Let what these files hold of contacts, dates and notes count without a look.")
]

TrustOption = Annotated[
    bool, typer.Option("--trust", help="Learn from conversations, too, into which tools brought text of others.")
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
    trust: TrustOption = False,
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
        settings, _ = with_owner(Given(paths, format, user_id, mapping), settings, may_ask=False)
        found = _preview(opened, paths, format, user_id, settings, mapping, is_trusted=trust)
        show_preview(found, as_json=as_json)
        end_preview(found)
        return
    with telling_of_a_new_home(opened, None if as_json else tell) as is_new:
        report = land_into(
            opened, paths, format, user_id, settings, mapping, privacy, may_ask=not as_json, is_trusted=trust
        )
        settled = reviewing.settle(opened, [Path(name).name for name in report.files] if accept else [], user_id)
        if as_json:
            print_json({**as_document(report), **settled.as_document(), "is_new_home": is_new()})
        else:
            show(report)
            settled.show()
            if report.n_landed:
                tell("next      `em run` reads it; then `em status` says what waits, and in which language")
    end_with(opened, report)


def with_chat_options(
    settings: "LandingSettings", speakers: list[str] | None, time_zone: str | None, date_order: str | None
) -> "LandingSettings":
    """The settings of landing with what was said at the command line. Raises UsageError naming the option at fault."""
    from pydantic import ValidationError

    said = {"speakers": speakers and tuple(speakers), "time_zone": time_zone, "date_order": date_order}
    given = {name: value for name, value in said.items() if value is not None}
    if not given:
        return settings
    try:
        return type(settings).model_validate({**settings.model_dump(exclude_unset=True), **given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = "--" + str(first["loc"][0]).replace("_", "-").removesuffix("s")
        raise UsageError(f"reading {option}: {first['msg'].removeprefix('Value error, ')}") from error


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
    is_trusted: bool = False,
) -> "LandingReport":
    """Lands files under the home's landing lock. At a terminal it asks first whose they are, where nothing says it."""
    from em_pipelines.landing.dead_letters import settle_nobodys
    from em_pipelines.landing.land import land as land_paths

    settings, user_id = with_owner(Given(paths, format_, user_id, mapping), settings, may_ask=may_ask)
    with saying(LANDED_IN_PART), home.at_work("landing"):
        report = land_paths(
            paths,
            home.store.log,
            now=datetime.now(UTC),
            settings=settings,
            format=format_.value,
            user_id=user_id,
            mapping=mapping,
            privacy=privacy.value if privacy else None,
            is_trusted=is_trusted,
        )
        if user_id is not None or settings.speakers:
            settle_nobodys(home.store.log, report)
    return report


def _preview(
    home: "Pipeline",
    paths: list[Path],
    format_: Format,
    user_id: str | None,
    settings: "LandingSettings",
    mapping: dict[str, str],
    *,
    is_trusted: bool,
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
        is_trusted=is_trusted,
    )
