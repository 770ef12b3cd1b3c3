"""The sensor of backfills: what they have made is looked at by Great Expectations, too."""

import dagster as dg

from resources.dagster_internals import AssetJob

BACKFILL_TAG = "dagster/backfill"


def backfills_sensor(quality: AssetJob) -> dg.SensorDefinition:
    """Starts the job `quality` once for each run of a backfill that has succeeded."""

    @dg.run_status_sensor(
        name="backfills",
        run_status=dg.DagsterRunStatus.SUCCESS,
        request_job=quality,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="When a run of a backfill has succeeded, Great Expectations looks at every table.",
    )
    def after_backfill(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason:
        backfill = context.dagster_run.tags.get(BACKFILL_TAG)
        if backfill is None:
            return dg.SkipReason("the run is of no backfill")
        return dg.RunRequest(run_key=context.dagster_run.run_id)

    return after_backfill
