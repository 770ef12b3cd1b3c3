"""`em backup` and `em restore`: what cannot be made again, to a folder and back."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    fail,
    open_existing,
    open_home,
    out,
    print_json,
)
from em_pipelines.interfaces.cli.hints import with_home
from em_pipelines.language.counting import IS, WAS, counted

if TYPE_CHECKING:
    from em_pipelines.governance.backup.archive import Archive
    from em_pipelines.governance.backup.restore import Restored
    from em_pipelines.pipeline import Pipeline

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the backups, outside of the home.")]
KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="A key that authenticates the list of each backup (also EM_BACKUP__KEY_FILE); keep it elsewhere.",
        show_default=False,
    ),
]


def backup(
    folder: FolderArgument,
    is_pruned: Annotated[
        bool, typer.Option("--prune", help="Then delete all older backups there: they hold what was forgotten since.")
    ] = False,
    is_verified: Annotated[
        bool, typer.Option("--verify", help="First read all that is there, and copy again what is damaged.")
    ] = False,
    key_file: KeyOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy what cannot be made again to a folder: the log, the record, answers of models, the inbox. Only what is new.

    A run may be at work meanwhile. Interrupted, the same again goes on.

    Example: em backup /media/disk/memory
    """
    from dataclasses import asdict

    from em_pipelines.governance.backup.backup import back_up

    opened = open_existing(home)
    report = back_up(
        opened, _archive(opened, folder, key_file), datetime.now(UTC), is_pruned=is_pruned, is_verified=is_verified
    )
    if as_json:
        print_json(asdict(report))
    else:
        copied = f"{report.n_copied} of {counted(report.n_files, 'file')} copied, {report.n_bytes:,} bytes"
        out().print(f"backup {report.name}: {copied}", markup=False, soft_wrap=True)
        if report.n_mended:
            out().print(f"{counted(report.n_mended, 'damaged file', WAS)} copied again")
        if report.n_pruned:
            out().print(f"{counted(report.n_pruned, 'older backup', WAS)} deleted")
        if report.n_outdated:
            holds = counted(report.n_outdated, "older backup", ("holds", "hold"))
            them = "it" if report.n_outdated == 1 else "them"
            out().print(f"{holds} what was forgotten since; --prune deletes {them}", soft_wrap=True)
    if report.missing:
        fail(
            f"backing up: {counted(len(report.missing), 'file')} of older backups {IS[len(report.missing) != 1]} "
            f"damaged, first {report.missing[0]}, and the home has them no more; --prune deletes these backups",
            Exit.FINDING,
        )


def restore(
    folder: FolderArgument,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="NAME", help="This backup; the newest if left out.", show_default=False),
    ] = None,
    is_lost_only: Annotated[
        bool, typer.Option("--lost", help="Into the home that stands: what its landed log has lost, and nothing else.")
    ] = False,
    is_forced: Annotated[
        bool, typer.Option("--force", help="Replace files of the record that are there and differ from the backup's.")
    ] = False,
    key_file: KeyOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a home of a backup: into an empty home, or one that has its record alone. Then `em run` makes the rest.

    What was forgotten after the backup is taken out again, where the record of the home or a later backup knows of it.

    Example: em restore /media/disk/memory --home restored
    """
    from dataclasses import asdict

    from em_pipelines.governance.backup.restore import restore as restore_home
    from em_pipelines.governance.backup.restore import restore_lost

    opened = open_home(home)
    archive = _archive(opened, folder, key_file)
    if not is_lost_only:
        done = restore_home(opened, archive, at, is_forced=is_forced)
        if as_json:
            print_json(asdict(done))
        else:
            _show(done, opened.path)
        return
    if at:
        raise UsageError("restoring: --lost looks through all backups; leave out --at")
    n_back, n_left = restore_lost(opened, archive)
    if as_json:
        print_json({"n_restored": n_back, "n_lost": n_left})
    else:
        out().print(f"{counted(n_back, 'segment')} of the landed log {IS[n_back != 1]} back")
    if n_left:
        fail(
            f"restoring: {counted(n_left, 'segment')} of the landed log {IS[n_left != 1]} in no backup of {folder}; "
            "see `em doctor`",
            Exit.FINDING,
        )


def _archive(home: "Pipeline", folder: Path, key_file: Path | None) -> "Archive":
    """The backups in a folder, with the key that an option or a setting gives. Raises UsageError."""
    from em_pipelines.governance.backup.archive import Archive
    from em_pipelines.governance.backup.key import read_key

    path = key_file or home.settings.backup.key_file
    return Archive(folder, read_key(path, folder, home.path) if path else None)


def _show(done: "Restored", home: Path) -> None:
    lines = [f"restored {counted(done.n_files, 'file')} of backup {done.name}"]
    if done.n_removed or done.n_cut:
        removed = counted(done.n_removed, "record", WAS)
        lines.append(f"forgotten since: {removed} taken out again, {done.n_cut} {WAS[done.n_cut != 1]} cut")
    if done.is_reduced:
        lines.append("answers of models and the inbox were left out, for they may hold what was forgotten since")
    if done.n_later:
        later = counted(done.n_later, "change")
        lines.append(f"{later} of the log came after this backup: land again what landed since")
    lines += [
        "what was forgotten after this backup and is known neither here nor to a later backup is back: forget it again",
        f"next      {with_home('em run', home)}",
    ]
    for line in lines:
        out().print(line, markup=False, soft_wrap=True)
