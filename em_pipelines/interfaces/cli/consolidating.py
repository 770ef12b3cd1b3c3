"""`em consolidate` and `em rollback`: the night by hand, what came of it, its files, and taking it back."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    open_existing,
    out,
    print_json,
    print_table,
    say,
    tell,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.lifecycle.consolidation.night import NightReport
    from em_pipelines.pipeline import Pipeline

MOST_SHOWN = 20


def consolidate(
    is_forced: Annotated[bool, typer.Option("--force", help="Have a night for a single new entry, too.")] = False,
    disable: Annotated[
        bool, typer.Option("--disable", help="Switch consolidation off: no night comes until it is on again.")
    ] = False,
    enable: Annotated[bool, typer.Option("--enable", help="Switch it on again.")] = False,
    is_listed: Annotated[bool, typer.Option("--list", help="List the nights that there were, and have none.")] = False,
    reports: Annotated[
        bool, typer.Option("--reports", help="List what each night came to, in figures, and have none.")
    ] = False,
    are_files_listed: Annotated[
        bool, typer.Option("--files", help="List the files that tell of it, and whose they are, and have no night.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have a night now: what happened often, long and widely enough becomes experiences and rules.

    Example: em consolidate --json
    """
    from em_pipelines.lifecycle.consolidation.night import run_night, switch

    if sum((disable, enable, is_listed, reports, are_files_listed)) > 1:
        raise UsageError(
            "consolidating: --disable, --enable, --list, --reports and --files exclude each other; give one"
        )
    opened = open_existing(home)
    looks = {_list: is_listed, _reports: reports, _list_files: are_files_listed}
    for look in (look for look, is_wanted in looks.items() if is_wanted):
        opened.refresh_consolidation()  # of a night that was killed half way
        look(opened, as_json=as_json)
        return
    if disable or enable:
        switch(opened, datetime.now(UTC), is_enabled=enable)
        if as_json:
            print_json({"is_enabled": enable})
        else:
            tell(f"Consolidation is switched {'on' if enable else 'off'}.")
        return
    report = run_night(opened, datetime.now(UTC), is_forced=is_forced)
    serve_anew(opened)
    if as_json:
        print_json(report.figures())
        return
    _show(opened, report)


def rollback(
    consolidation_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a night, or its beginning.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a night back, and those after it: what stood before stands again, and the same evidence brings nothing back.

    Example: em rollback con_0a1b2c3d
    """
    from em_pipelines.lifecycle.consolidation.night import roll_back

    opened = open_existing(home)
    withdrawn = roll_back(opened, consolidation_id, datetime.now(UTC))
    serve_anew(opened)
    if as_json:
        print_json({"rolled_back": withdrawn})
        return
    tell(f"{counted(len(withdrawn), 'night')} rolled back: {', '.join(withdrawn)}")


def _list(home: "Pipeline", *, as_json: bool) -> None:
    history = home.nights.history()
    standing = {night.target for night in history.standing}
    nights = [
        {
            "consolidation_id": line.target, "until": line.until.isoformat() if line.until else None,
            "entries": line.n_entries, "stands": line.target in standing,
        }
        for line in history.lines if line.said == "night"
    ]  # fmt: skip
    if as_json:
        print_json({"is_enabled": history.is_enabled, "nights": nights})
        return
    rows: list[tuple[Any, ...]] = [tuple(night.values()) for night in nights]
    print_table(counted(len(nights), "night"), ("id", "until", "entries", "stands"), rows, right=("entries",))


def _reports(home: "Pipeline", *, as_json: bool) -> None:
    found = home.night_reports.reports()
    if as_json:
        print_json({"reports": found})
        return
    columns = ("as_of", "entries", "patterns", "promoted", "new", "in_review", "quarantined", "calls", "cost_usd",
               "cpu_seconds")  # fmt: skip
    rows: list[tuple[Any, ...]] = [tuple(report.get(name) for name in columns) for report in found]
    print_table(f"reports of {counted(len(found), 'night')}", columns, rows, right=columns[1:])
    for alert in found[-1].get("alerts", ()) if found else ():
        tell(f"The last night: {alert}.")


def _list_files(home: "Pipeline", *, as_json: bool) -> None:
    from em_pipelines.lifecycle.consolidation.documents.memory_files import files_of, outdated
    from em_pipelines.lifecycle.consolidation.night import known_users

    refused = {one.path: one.reason for one in outdated(home).refused}
    found = [
        {"user_id": user_id, "path": str(path), "refused": refused.get(path)}
        for user_id in known_users(home)
        for path in sorted({*files_of(home, user_id)})
    ]
    if as_json:
        print_json(found)
        return
    rows: list[tuple[Any, ...]] = [(one["user_id"], one["path"], one["refused"] or "current") for one in found]
    print_table(counted(len(found), "file"), ("user", "file", "state"), rows)


def serve_anew(home: "Pipeline") -> None:
    """Lets openings, searches, files and the snapshot, where there is one, hold what stands now."""
    from em_pipelines.retrieval import packs
    from em_pipelines.serving.snapshot import LATEST, publish_home

    home.refresh_proactive()
    packs.build(home)
    if (home.snapshots / LATEST).exists():
        with home.inferred_on(None):
            publish_home(home)
    tell_of_files(home)


def tell_of_files(home: "Pipeline") -> None:
    """Says which files that tell of the nights were left as they are, and why."""
    from em_pipelines.lifecycle.consolidation.documents.memory_files import outdated

    for refused in outdated(home).refused:
        say(refused.reason)


def _show(home: "Pipeline", report: "NightReport") -> None:
    from em_pipelines.lifecycle.consolidation.night import experiences

    if report.note:
        tell(f"No night: {report.note}.")
    if report.consolidation_id is None:
        return
    found = sorted(experiences(home), key=lambda row: (row["user_id"], -row["strength"], row["experience_id"]))
    rows = [(row["user_id"], row["kind"], row["status"], f"{row['confidence']:.2f}", row["text"]) for row in found]
    print_table(
        f"{report.consolidation_id}, up to {report.as_of}: {counted(len(found), 'experience')}",
        ("user", "kind", "status", "confidence", "what is known"),
        rows[:MOST_SHOWN],
        right=("confidence",),
    )
    if len(rows) > MOST_SHOWN:
        out().print(f"… and {len(rows) - MOST_SHOWN} more", markup=False)
    tell(
        f"{counted(report.n_patterns, 'pattern')}: {report.n_new} promoted now, {report.n_promoted - report.n_new} "
        f"before, {report.n_in_review} to review, {report.n_refused} refused, {report.n_quarantined} quarantined"
    )
    if report.asked.n_calls or report.asked.note:
        tell(
            f"Words of a model: {counted(report.asked.n_worded, 'rule')}, {report.asked.n_kept_out} kept out, "
            f"{report.asked.n_waiting} waiting; {counted(report.asked.n_calls, 'call')} and "
            f"{report.asked.cost_usd:.4f} USD this night"
        )
    for told in (*report.asked.alerts, *((report.asked.note,) if report.asked.note else ())):
        tell(f"Words of a model: {told}.")
