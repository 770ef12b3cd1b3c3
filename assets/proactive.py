"""What memory would like to say by itself. Unpartitioned: of the newest facts, and nothing of earlier days stays."""

import dagster as dg
import pyarrow.compute as pc

from assets.daily import DailyConfig, data_version, op_name, table_spec
from em_pipelines.errors import EmError
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.storage.step import Step
from resources.home import HomeResource


def proactive_asset(step: Step) -> dg.AssetsDefinition:
    """Returns the asset of a step that makes probes or starters. Its events hold figures, and no question."""
    (table,) = step.outputs

    @dg.multi_asset(name=op_name(step), specs=[table_spec(step, table)])
    def materialize_proactive(config: DailyConfig, home: HomeResource) -> dg.MaterializeResult:
        try:
            (report,) = home.home.refresh_proactive((step.name,), is_forced=config.is_full)
            if table is PROBES:
                home.home.polish_probes()
        except EmError as error:
            raise dg.Failure(str(error)) from None
        days = (*report.made, *report.current)
        found = home.home.store.lake.read(table, days[0]) if days else table.empty()
        counts = [(row["values"], row["counts"]) for row in pc.value_counts(found["kind"]).to_pylist()]
        by_kind = "\n".join(f"| {kind} | {n} |" for kind, n in sorted(counts))
        return dg.MaterializeResult(
            data_version=data_version(home.home.store, table, days[:1]),
            metadata={
                "dagster/row_count": dg.IntMetadataValue(found.num_rows),
                "as_of": dg.TextMetadataValue(str(days[0]) if days else "no facts yet"),
                "already_current": dg.BoolMetadataValue(not report.made),
                "by_kind": dg.MarkdownMetadataValue(f"| kind | rows |\n| --- | --: |\n{by_kind}"),
            },
        )

    return materialize_proactive
