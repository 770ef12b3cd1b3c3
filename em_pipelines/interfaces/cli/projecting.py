"""`em sync-graph`: the memory as a property graph in a database that speaks Bolt."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    err,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.serving.projection.graph_store import OpenGraph
    from em_pipelines.serving.projection.sync import SyncReport


def sync_graph(
    is_full: Annotated[bool, typer.Option("--full", help="Write everything again, equal or not.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a Neo4j database hold what memory holds: what is new is written, what is gone is removed, the rest is left.

    It is named by NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD and NEO4J_DATABASE. Safe to interrupt and to repeat.

    Example: NEO4J_URI=bolt://localhost:7687 NEO4J_PASSWORD=… em sync-graph
    """
    opened = open_existing(home)
    if Defaults.open_graph is None:
        raise UsageError("syncing the graph: this process has no client for a graph database; use `em`, or Dagster")
    report = _with_progress(opened, Defaults.open_graph, is_full=is_full)
    if as_json:
        print_json(as_document(report))
    else:
        _show(report)
    if not report.is_equal:
        fail(report.finding, Exit.FINDING)


def as_document(report: "SyncReport") -> dict[str, Any]:
    """What a sync did, as JSON-able dict."""
    return {
        "as_of": report.as_of,
        "users": report.n_users,
        "users_changed": report.n_users_changed,
        **{
            name: {"added": t.added, "changed": t.changed, "removed": t.removed, "held": t.held}
            for name, t in (("nodes", report.nodes), ("relationships", report.edges))
        },
        "checksum": report.checksum_wanted,
        "is_equal": report.is_equal,
    }


def _with_progress(home: "Pipeline", open_graph: "OpenGraph", *, is_full: bool) -> "SyncReport":
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    from em_pipelines.serving.projection.sync_home import sync_home

    columns = (TextColumn("{task.description}"), TextColumn("{task.completed:,} rows"), TimeElapsedColumn())
    console = err()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("graph", total=None)
        on_rows = partial(progress.advance, task)
        return sync_home(home, open_graph, is_full=is_full, on_rows=on_rows)


def _show(report: "SyncReport") -> None:
    columns = ("", "added", "changed", "removed", "held")
    tallies = (("nodes", report.nodes), ("relationships", report.edges))
    print_table(
        f"The graph of {report.as_of or 'nothing'}",
        columns,
        [(name, t.added, t.changed, t.removed, t.held) for name, t in tallies],
        right=columns[1:],
    )
    if report.is_equal:
        what = "wrote what differed" if report.n_written else "nothing differed"
        out().print(f"{what}; counts and checksum agree ({report.checksum_wanted[:16]})", markup=False)
