"""The sensor that carries erasures over to the graph database: nobody waits for the night to be forgotten."""

from datetime import UTC, datetime

import dagster as dg

from assets.projection import UNSET
from em_pipelines.environment import environment
from em_pipelines.schema.ids import digest
from em_pipelines.serving.projection.sync_home import n_erased_since_sync
from resources.dagster_internals import AssetJob
from resources.graph_address import is_graph_set
from resources.home import HomeResource
from sensors.landing import AT_WORK
from sensors.requests import RETRY_MINUTES

INTERVAL_SECONDS = 60


def erasures_sensor(job: AssetJob) -> dg.SensorDefinition:
    """Asks for a run of the job when something was erased since the graph database was last synced."""

    @dg.sensor(
        name="graph_erasures",
        job=job,
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="What was erased goes from the graph database, too, if one is set and was ever synced.",
    )
    def watch_erasures(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        if not is_graph_set(environment()):
            return dg.SkipReason(UNSET)
        n_erased = n_erased_since_sync(home.home)
        if not n_erased:
            return dg.SkipReason("nothing was erased since the last sync")
        if context.instance.get_runs(dg.RunsFilter(statuses=AT_WORK), limit=1):
            return dg.SkipReason("a run is at work")
        turn = int(datetime.now(UTC).timestamp()) // (60 * RETRY_MINUTES)
        return dg.RunRequest(run_key=digest([str(turn), str(n_erased)]))

    return watch_erasures
