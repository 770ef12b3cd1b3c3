"""The figures of each day. Unpartitioned, though its table has days: it is counted after everything else, what follows
from the newest facts among it, and a run counts all days that are out of date at once."""

import dagster as dg
import pyarrow.compute as pc

from assets.daily import DailyConfig, data_version, op_name, table_spec
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.record import METRICS
from em_pipelines.serving.metrics.daily import measure
from em_pipelines.storage.step import Step
from resources.home import HomeResource


def metrics_asset(step: Step) -> dg.AssetsDefinition:
    """Returns the asset `metrics`, which `step` makes. The trail of the newest day tells what came to be inferred, so
    that is made before."""
    spec = table_spec(step, METRICS)
    spec = spec.replace_attributes(deps=[*spec.deps, dg.AssetDep(INFERRED_EDGES.name)])

    @dg.multi_asset(name=op_name(step), specs=[spec])
    def materialize_metrics(config: DailyConfig, home: HomeResource) -> dg.MaterializeResult:
        report = measure(home.home, is_forced=config.is_full)
        lake = home.home.store.lake
        days = lake.days(METRICS)
        newest = lake.read(METRICS, days[-1]) if days else METRICS.empty()
        counts = sorted((row["values"], row["counts"]) for row in pc.value_counts(newest["name"]).to_pylist())
        by_name = "\n".join(f"| {name} | {n} |" for name, n in counts)
        return dg.MaterializeResult(
            data_version=data_version(home.home.store, METRICS, days),
            metadata={
                "dagster/row_count": dg.IntMetadataValue(newest.num_rows),
                "as_of": dg.TextMetadataValue(str(days[-1]) if days else "nothing to count yet"),
                "days": dg.IntMetadataValue(len(days)),
                "days_made": dg.IntMetadataValue(len(report.made)),
                "by_name": dg.MarkdownMetadataValue(f"| name | rows |\n| --- | --: |\n{by_name}"),
            },
        )

    return materialize_metrics
