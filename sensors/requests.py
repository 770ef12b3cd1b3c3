"""The sensor of requests to forget, and the job that it asks for: what somebody asked for in a log is carried out."""

from datetime import UTC, datetime

import dagster as dg

from em_pipelines.governance.erasure.forget import carry_out
from em_pipelines.schema.ids import digest
from em_pipelines.storage.run_plan import plan
from resources.home import HomeResource
from sensors.landing import AT_WORK

INTERVAL_SECONDS = 30
RETRY_MINUTES = 10
"""A request that could not be ended, for a file that is locked or still being written, is tried again as often."""


def requests_sensor(job: dg.JobDefinition) -> dg.SensorDefinition:
    """Asks for a run of the job when requests wait and every day is current: then it is known what they cover."""

    @dg.sensor(
        name="requests",
        job=job,
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="What a log asks to be forgotten is erased, once the days that it may stand on are materialized.",
    )
    def watch_requests(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        waiting = home.home.book.pending()
        if not waiting:
            return dg.SkipReason("nothing is to be forgotten")
        if context.instance.get_runs(dg.RunsFilter(statuses=AT_WORK), limit=1):
            return dg.SkipReason("a run is at work")
        todo = plan(
            home.home.store,
            home.home.steps.values(),
            is_due=lambda _, __: False,
        )
        if todo.days:
            return dg.SkipReason("days are out of date; they are materialized first")
        turn = int(datetime.now(UTC).timestamp()) // (60 * RETRY_MINUTES)
        return dg.RunRequest(run_key=digest([str(turn), *(request.request_id for request in waiting)]))

    return watch_requests


@dg.op(description="Erases what is asked to be forgotten from the log, the tables, snapshots and caches.")
def carry_out_requests(context: dg.OpExecutionContext, home: HomeResource) -> None:
    with home.home.lock("run"):
        certificates = carry_out(home.home)
    for certificate in certificates:
        context.log.info(f"{certificate.certificate_id}: {certificate.result}")


@dg.job(description="Carries out requests to forget, each with a certificate in HOME/record/certificates.")
def forget_requests() -> None:
    carry_out_requests()
