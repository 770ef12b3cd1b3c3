"""`em report`: how the home is, or what a week brought, as a page that stands alone."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import HomeOption, JsonOption, open_existing, print_json, write


def report(
    is_weekly: Annotated[bool, typer.Option("--weekly", help="What the last whole week brought instead.")] = False,
    week: Annotated[
        str | None, typer.Option("--week", metavar="YYYY-MM-DD", help="The week of this day.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the health report, or that of a week, as one HTML file, and print its path. They hold figures alone.

    Example: em report --week 2026-10-28
    """
    from em_pipelines.governance.alerts.figures import budget_uses
    from em_pipelines.governance.reports.pages import write_health, write_weekly
    from em_pipelines.interfaces.cli.facts import parse_day

    day, now = parse_day(week, "--week"), datetime.now(UTC)
    if day and day > now.date():
        raise UsageError(f"writing the report of a week: {day} is still to come")
    opened = open_existing(home)
    if is_weekly or day:
        path = write_weekly(opened, now, week=day, keep_weeks=opened.settings.reports.keep_weeks)
    else:
        path = write_health(opened, now, tuple(budget_uses(opened, opened.settings.llm, now)))
    print_json({"path": str(path)}) if as_json else write(f"{path}\n")
