"""What follows from the newest facts. Unpartitioned: only the latest day is looked at, and a backfill pays once."""

import dagster as dg
import pyarrow.compute as pc

from assets.daily import DailyConfig, data_version, op_name, table_spec
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.storage.step import Step
from resources.home import HomeResource


def inference_asset(step: Step) -> dg.AssetsDefinition:
    """Returns the asset of the step that infers; its table has one day, that of the newest current edges."""

    @dg.multi_asset(name=op_name(step), specs=[table_spec(step, INFERRED_EDGES)])
    def materialize_inference(config: DailyConfig, home: HomeResource) -> dg.MaterializeResult:
        report = home.home.infer(is_forced=config.is_full)
        days = (*report.made, *report.current)
        found = home.home.store.lake.read(INFERRED_EDGES, days[0]) if days else INFERRED_EDGES.empty()
        counts = [(row["values"], row["counts"]) for row in pc.value_counts(found["rule_id"]).to_pylist()]
        by_rule = "\n".join(f"| {rule} | {n} |" for rule, n in sorted(counts))
        return dg.MaterializeResult(
            data_version=data_version(home.home.store, INFERRED_EDGES, days[:1]),
            metadata={
                "dagster/row_count": dg.IntMetadataValue(found.num_rows),
                "as_of": dg.TextMetadataValue(str(days[0]) if days else "no facts yet"),
                "already_current": dg.BoolMetadataValue(not report.made),
                "waits_for_model": dg.BoolMetadataValue(any(home.home.store.is_incomplete(step, day) for day in days)),
                "by_rule": dg.MarkdownMetadataValue(f"| rule | edges |\n| --- | --: |\n{by_rule}"),
            },
        )

    return materialize_inference
