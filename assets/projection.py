"""The graph database as an asset. Unpartitioned: it holds the newest state alone.

It has a job of its own, so that a database that is down keeps nothing else from being made.
"""

from collections.abc import Iterator

import dagster as dg

from assets.daily import OWNERS
from em_pipelines.environment import environment
from em_pipelines.errors import EmError
from em_pipelines.serving.projection.graph_store import OpenGraph
from em_pipelines.serving.projection.sync import SyncReport
from em_pipelines.serving.projection.sync_home import sync_home
from resources.graph_address import URI, is_graph_set
from resources.home import HomeResource

NAME = "graph_projection"
UNSET = f"{URI} is not set: there is no graph database to sync"


def projection_asset(open_graph: OpenGraph) -> dg.AssetsDefinition:
    """Returns the asset `graph_projection`. Its events hold figures and never a name."""

    @dg.asset(
        name=NAME,
        group_name="serving",
        deps=["snapshot", "current_edges", "entities"],
        owners=OWNERS,
        kinds={"neo4j"},
        output_required=False,
        description="Entities and facts as a property graph in Neo4j, or what else speaks Bolt: what differs is "
        f"written, what is gone is removed. Without {URI} nothing is done.",
    )
    def graph_projection(context: dg.AssetExecutionContext, home: HomeResource) -> Iterator[dg.MaterializeResult]:
        if not is_graph_set(environment()):
            context.log.info(UNSET)
            context.log_event(dg.AssetObservation(asset_key=NAME, metadata={"skipped": UNSET}))
            return
        try:
            report = sync_home(home.home, open_graph)
        except EmError as error:
            raise dg.Failure(str(error)) from None
        if not report.is_equal:
            raise dg.Failure(report.finding, metadata=_figures(report))
        yield dg.MaterializeResult(metadata=_figures(report))

    return graph_projection


def _figures(report: SyncReport) -> dict[str, dg.MetadataValue]:
    rows = "\n".join(
        f"| {name} | {t.added} | {t.changed} | {t.removed} | {t.held} |"
        for name, t in (("nodes", report.nodes), ("relationships", report.edges))
    )
    return {
        "dagster/row_count": dg.IntMetadataValue(report.edges.held),
        "as_of": dg.TextMetadataValue(str(report.as_of)),
        "users": dg.IntMetadataValue(report.n_users),
        "users_changed": dg.IntMetadataValue(report.n_users_changed),
        "rows_written": dg.IntMetadataValue(report.n_written),
        "checksum": dg.TextMetadataValue(report.checksum_held),
        "already_current": dg.BoolMetadataValue(not report.n_written),
        "rows": dg.MarkdownMetadataValue(
            f"| | added | changed | removed | held |\n| --- | --: | --: | --: | --: |\n{rows}"
        ),
    }
