"""`em snapshot` and `em catalog`: the DuckDB file for analysts, and what stands in it."""

from datetime import date as DateType
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.interfaces.cli.console import HomeOption, JsonOption, open_existing, open_home, out, print_json, say
from em_pipelines.interfaces.cli.facts import parse_day

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline


def snapshot(
    date: Annotated[
        str | None,
        typer.Option(
            "--date",
            metavar="YYYY-MM-DD",
            help="The end of this day; the last with facts if left out.",
            show_default=False,
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish the memory of a day as one DuckDB file, and point latest.duckdb at the newest.

    Example: em snapshot --date 2026-10-31
    """
    from em_pipelines.serving.snapshot import publish_home

    opened = open_existing(home)
    day = parse_day(date, "--date")
    _make_state(opened, day)
    with opened.inferred_on(day):
        report = publish_home(opened, day)
    if day and day > report.as_of:
        say(f"nothing was learned after {report.as_of}: the snapshot of {day} is that of {report.as_of}")
    if as_json:
        print_json(
            {"path": str(report.path), "as_of": str(report.as_of), "is_new": report.is_new, "rows": report.n_rows}
        )
        return
    out().print(f"{'wrote' if report.is_new else 'already current:'} {report.path}", markup=False, soft_wrap=True)


def catalog(
    database: Annotated[
        str, typer.Option("--database", metavar="NAME", help="By what name the snapshot is attached where it is read.")
    ] = "latest",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a snapshot holds as sources of dbt: tables, views, columns, what they mean and what holds of them.

    Example: em catalog > models/em_sources.yml
    """
    import yaml

    from em_pipelines.serving.catalogue import catalogue

    told = catalogue(open_home(home).time_rules, source="em", database=database)
    if as_json:
        print_json(told)
        return
    text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=120)
    out().print(text, markup=False, highlight=False, soft_wrap=True, end="")


def _make_state(home: "Pipeline", day: DateType | None) -> None:
    """Lets facts fade to the end of a day before the last, though nobody spoke on it."""
    from em_pipelines.schema.tables.derived import CURRENT_EDGES

    newest = home.store.lake.latest(CURRENT_EDGES, DateType.max)
    if day and newest and day < newest:
        with home.lock("step-decay"):
            home.store.run_days(home.steps["decay"], [day])


def users(path: Path) -> list[tuple[object, ...]]:
    """Rows of the snapshot's view `users`: user, messages, conversations, entities, facts with denials, last seen.

    Raises CorruptTableError where the file cannot be read.
    """
    import duckdb

    from em_pipelines.errors import CorruptTableError
    from em_pipelines.storage.duckdb_engine import connect

    try:
        with connect(str(path), is_read_only=True) as connection:
            return connection.execute(
                "SELECT user_id, n_messages, n_sessions, n_entities, n_facts + n_denials, CAST(last_seen AS DATE) "
                "FROM users"
            ).fetchall()
    except duckdb.Error as error:
        raise CorruptTableError(
            f"reading the snapshot {path.resolve()}: it is damaged ({str(error).splitlines()[0]}); "
            "`em repair --apply` publishes it again"
        ) from error
