"""What a night makes of what recurs, as assets of a group of their own. Unpartitioned: they have one day, that of the
last night that stands."""

from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg

from assets.daily import DailyConfig, data_version, op_name, table_spec
from em_pipelines.errors import EmError
from em_pipelines.lifecycle.consolidation.night import NightReport, run_night
from em_pipelines.schema.table import Table
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store
from resources.home import HomeResource


def consolidation_asset(step: Step) -> dg.AssetsDefinition:
    """Returns the assets of the step that consolidates, all made together by one night. Their events hold figures and
    nothing of what anybody did."""

    # All tables are made together, whichever are selected: see `assets.daily.daily_assets`.
    @dg.multi_asset(name=op_name(step), specs=[table_spec(step, table) for table in step.outputs], can_subset=True)
    def materialize_consolidation(
        context: dg.AssetExecutionContext, config: DailyConfig, home: HomeResource
    ) -> Iterator[dg.MaterializeResult]:
        try:
            report = run_night(home.home, datetime.now(UTC))
            if config.is_full:
                home.home.refresh_consolidation(is_forced=True)
        except EmError as error:
            raise dg.Failure(str(error)) from None
        if report.note:
            context.log.info(f"no night: {report.note}")
        for alert in report.asked.alerts:
            context.log.warning(alert)
        if report.asked.note:
            context.log.warning(f"no words of a model: {report.asked.note}")
        for table in (t for t in step.outputs if dg.AssetKey(t.name) in context.selected_asset_keys):
            yield _result(home.home.store, table, report)

    return materialize_consolidation


def _result(store: Store, table: Table, report: NightReport) -> dg.MaterializeResult:
    days = store.lake.days(table)[-1:]
    infos = [info for day in days if (info := store.lake.info(table, day))]
    figures = {name: value for name, value in report.figures().items() if value is not None}
    return dg.MaterializeResult(
        asset_key=table.name,
        data_version=data_version(store, table, days),
        metadata={
            "dagster/row_count": dg.IntMetadataValue(sum(info.n_rows for info in infos)),
            "night": dg.JsonMetadataValue(figures),
        },
    )
