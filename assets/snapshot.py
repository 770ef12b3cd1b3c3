"""The published snapshot: one self-contained DuckDB file for analysts. Unpartitioned: only the latest matters."""

import logging
from collections.abc import Iterator

import dagster as dg

from assets.daily import OWNERS
from em_pipelines.lifecycle.state_retention import thin
from em_pipelines.observability.work import work
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.metrics.daily import measure
from em_pipelines.serving.snapshot import newest_day, publish_home
from resources.home import HomeResource

_LOGGER = logging.getLogger(__name__)


@dg.asset(
    name="snapshot",
    group_name="serving",
    deps=[
        "current_edges",
        "inferred_edges",
        "probes",
        "starters",
        "graph_ops",
        "entities",
        "messages",
        "sessions",
        "claims",
        "extraction_issues",
    ],
    owners=OWNERS,
    kinds={"duckdb"},
    output_required=False,
    description="The memory as one DuckDB file, named by date, with documented views; latest.duckdb beside it.",
)
def snapshot(context: dg.AssetExecutionContext, home: HomeResource) -> Iterator[dg.MaterializeResult]:
    if newest_day(home.home.store) is None:
        context.log.info("nothing was read yet, nothing to publish: land logs with `em run PATH` first")
        return
    # Not by a dependency: the group of figures reads this one, and groups in a circle cannot be drawn.
    measure(home.home)
    # Under the lock, so that an erasure that removes snapshots is not overtaken by one of before it.
    with work("em.step", step="snapshot"), home.home.lock("snapshot"):
        report = publish_home(home.home)
        _LOGGER.info("the snapshot of %s is %s", report.as_of, "written" if report.is_new else "current")
    n_thinned = thin(home.home.store, home.home.steps, home.home.settings.states, home.home.lock)
    home.home.store.lake.keep_footers()  # each of them was asked for, and the next publication asks again
    yield dg.MaterializeResult(
        metadata={
            "path": dg.PathMetadataValue(str(report.path)),
            "as_of": dg.TextMetadataValue(str(report.as_of)),
            "dagster/row_count": dg.IntMetadataValue(report.n_rows.get(EDGES.name, 0)),
            "rows": dg.JsonMetadataValue(report.n_rows),
            "states_given_up": dg.IntMetadataValue(n_thinned),
            "already_current": dg.BoolMetadataValue(not report.is_new),
        }
    )
