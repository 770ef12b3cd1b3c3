"""Options of `em land` and `em run` for chats among people, and files that leave times open.

Each stands for a field of the settings of landing and wins over it.
"""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from em_pipelines.landing.settings import LandingSettings

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


def with_chat_options(
    settings: "LandingSettings", speakers: list[str] | None, time_zone: str | None, date_order: str | None
) -> "LandingSettings":
    """The settings of landing with what was said at the command line. Raises UsageError naming the option at fault."""
    from pydantic import ValidationError

    from em_pipelines.errors import UsageError

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
