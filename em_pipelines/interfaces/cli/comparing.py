"""`em diff`: what memory learned, changed and forgot between two snapshots."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    end_if_unknown,
    open_home,
    out,
    print_json,
    print_table,
)
from em_pipelines.language.counting import WAS, counted

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.serving.diff import Difference

LATEST_WORD = "latest"
Row = dict[str, Any]


def diff(
    earlier: Annotated[str, typer.Argument(metavar="A", help="A day with a snapshot, latest, or a snapshot file.")],
    later: Annotated[str, typer.Argument(metavar="B", help="The same, of the same day or a later one.")],
    user: Annotated[
        str | None, typer.Option("--user", help="Whose memory; everybody's if left out.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what memory learned, changed and forgot between two snapshots. What was erased is counted, never told.

    Example: em diff 2026-10-05 latest --user mirela
    """
    from em_pipelines.redaction.veils import untellable
    from em_pipelines.serving.diff import diff as compare

    opened = open_home(home)
    paths = [snapshot_named(opened, name) for name in (earlier, later)]
    found = compare(paths[0], paths[1], user, untellable(opened))
    if as_json:
        print_json({"earlier_file": str(paths[0]), "later_file": str(paths[1]), "user": user, **found.document()})
    else:
        _show(found, has_user=user is None)
    is_nothing = not (found.learned or found.changed or found.forgotten or found.names)
    if user is not None and is_nothing and opened.path.exists():
        end_if_unknown(opened, user)


def snapshot_named(home: "Pipeline", name: str) -> Path:
    """The file that a day, `latest` or a path means; raises UsageError where there is none."""
    from em_pipelines.serving.snapshot import LATEST

    try:
        day = date.fromisoformat(name)
    except ValueError:
        path = home.snapshots / LATEST if name == LATEST_WORD else Path(name)
        if "\0" in name or not path.is_file():
            raise UsageError(
                f"finding a snapshot: {name!r} is no day (YYYY-MM-DD) and no file; {_there_are(home)}"
            ) from None
        return path
    path = home.snapshots / f"{day}.duckdb"
    if not path.is_file():
        raise UsageError(
            f"finding a snapshot: there is none of {day} in {home.snapshots}; {_there_are(home)}; "
            f"`em snapshot --date {day}` publishes it"
        )
    return path


def _there_are(home: "Pipeline") -> str:
    days = sorted(path.stem for path in home.snapshots.glob("????-??-??.duckdb"))
    if not days:
        return "none is published yet"
    return f"there {'is' if len(days) == 1 else 'are'} {', '.join(days[-5:])}{' and older ones' if days[5:] else ''}"


def _show(found: "Difference", *, has_user: bool) -> None:
    out().print(
        f"{found.earlier} to {found.later}: {len(found.learned)} learned, {len(found.changed)} changed, "
        f"{len(found.forgotten)} forgotten, {counted(len(found.names), 'name')} read otherwise"
    )
    first = ("user",) if has_user else ()
    tables = (
        ("Learned", ("subject", "relation", "object", "confidence", "status", "said"), found.learned, _learned),
        ("Changed", ("subject", "relation", "object", "what", "was", "is"), found.changed, _changed),
        ("Forgotten", ("subject", "relation", "object", "how", "was"), found.forgotten, _forgotten),
        ("Names", ("name", "how", "was read as", "is read as"), found.names, _renamed),
    )
    for title, columns, rows, cells in tables:
        if rows:
            shown = [((row["user_id"],) if has_user else ()) + cells(row) for row in rows]
            print_table(title, (*first, *columns), shown, right=("confidence",))
    if found.n_erased:
        out().print(f"{counted(found.n_erased, 'fact', WAS)} erased, of which nothing is told.")


def _said(row: Row) -> tuple[object, ...]:
    return row["subject"], row["relation"] if row["polarity"] > 0 else f"not {row['relation']}", row["object"]


def _learned(row: Row) -> tuple[object, ...]:
    said = f"{row['learned_at'][:10]}{' (late, or read anew)' if row['is_late'] else ''}"
    return (*_said(row), f"{row['confidence']:.2f}", row["status"], said)


def _changed(row: Row) -> tuple[object, ...]:
    changes, by = row["changes"], row["superseded_by"]
    was, now = ("\n".join("–" if pair[n] is None else str(pair[n]) for pair in changes.values()) for n in (0, 1))
    successor = f"\nby {'' if by['polarity'] > 0 else 'not '}{by['relation']} {by['object']}" if by else ""
    return (*_said(row), "\n".join(changes), was, now + successor)


def _forgotten(row: Row) -> tuple[object, ...]:
    return (*_said(row), row["how"], f"{row['status_was']}, {row['confidence_was']:.2f}")


def _renamed(row: Row) -> tuple[object, ...]:
    return row["name"], row["how"], row["was_read_as"], row["is_read_as"]
