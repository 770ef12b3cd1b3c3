"""`em export` and `em import`: everything of one user out of a home, and into one."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli import landing_summary
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    UserOption,
    naming_the_nearest,
    open_existing,
    open_home,
    out,
    print_json,
    say,
    stdout_for_documents,
    tell,
    telling_of_a_new_home,
)
from em_pipelines.interfaces.cli.facts import AsOfOption, note_ahead, parse_day
from em_pipelines.language.counting import counted
from em_pipelines.serving.export.formats import ExportFormat

if TYPE_CHECKING:
    from em_pipelines.serving.export.json_import import Imported


def export(
    user: UserOption,
    format: Annotated[ExportFormat, typer.Option("--format", help="The form that it is to have.")] = ExportFormat.JSON,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="PATH", help="The file, or the vault's folder; else stdout.", show_default=False
        ),
    ] = None,
    as_of: AsOfOption = None,
    home: HomeOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say what was written as one JSON document; needs --output.")
    ] = False,
) -> None:
    """Write out what is held of a user: JSON that `em import` takes in again, GraphML, or a vault of Markdown notes.

    Names, confidence and status are those of the end of today, or of --as-of.

    Example: em export --user mirela --format json --output mirela.json
    """
    from em_pipelines.governance.erasure.rebuilding import stale_log_days
    from em_pipelines.serving.export.export import export as export_user

    if as_json and output is None:
        raise UsageError("exporting: --json says what was written to a file; give --output")
    opened = open_existing(home)
    day = parse_day(as_of, "--as-of") or datetime.now(UTC).date()
    note_ahead(opened, day)
    if stale := stale_log_days(opened):
        landed = counted(len(stale), "day", ("has landed and is", "have landed and are"))
        say(f"{landed} not materialized: facts are missing that `em run` makes")
    with naming_the_nearest(opened, user):
        done = export_user(opened, user, format, day, output or stdout_for_documents())
    if as_json:
        print_json(
            {
                "user_id": done.user_id, "as_of": done.as_of.isoformat(), "format": done.format.value,
                "path": str(done.path), "counts": done.counts,
            }
        )  # fmt: skip
    elif done.path is not None:
        counts = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in done.counts.items())
        out().print(f"wrote {done.path}: {counts}", markup=False, soft_wrap=True)


def import_(
    file: Annotated[Path, typer.Argument(help="A JSON export.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in a JSON export: its records land as any log would, and `em run` makes the memory again.

    What was forgotten in this home stays away; importing twice changes nothing.

    Example: em import mirela.json --home new
    """
    from em_pipelines.serving.export.json_import import import_json

    opened = open_home(home)
    with telling_of_a_new_home(opened, None if as_json else tell):
        done = import_json(opened, file, datetime.now(UTC))
    if as_json:
        print_json(_document(done))
    else:
        _show(done)
    landing_summary.end_with(opened, done.landing)


def _document(done: "Imported") -> dict[str, object]:
    return {
        "user_id": done.user_id,
        **landing_summary.as_document(done.landing),
        "n_imported_dead_letters": done.n_letters,
        "n_known_dead_letters": done.n_known_letters,
        "n_erased_dead_letters": done.n_erased_letters,
        "settings_that_differ": list(done.other_settings),
    }


def _show(done: "Imported") -> None:
    landing_summary.show(done.landing)
    if done.n_letters:
        out().print(f"{counted(done.n_letters, 'dead letter')} of before came with them")
    if done.n_erased_letters:
        out().print(f"{counted(done.n_erased_letters, 'dead letter', landing_summary.STAYS)} away")
    if done.other_settings:
        names = ", ".join(done.other_settings)
        out().print(f"Settings differ from those of the export: {names}. Memory will, too.", markup=False)
    tell("look      `em run`, then `em facts --user NAME`")
