"""Schedules: what happens every night, whether or not anything was said by day."""

from datetime import timedelta

import dagster as dg

from assets.projection import UNSET
from assets.revision import RevisionConfig
from em_pipelines.environment import environment
from em_pipelines.lifecycle.revision.model import NullVerifier
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from resources.dagster_internals import AssetJob
from resources.graph_address import is_graph_set
from resources.home import HomeResource

DECAY_CRON = "0 2 * * *"
REVISION_CRON = "15 2 * * *"
INFER_CRON = "0 3 * * *"
PUBLISH_CRON = "30 3 * * *"
PROJECT_CRON = "0 4 * * *"
QUALITY_CRON = "30 4 * * *"

_OF_NEWEST = (
    (
        "infer", "nightly_inference", INFER_CRON, "What follows from the newest facts, after the night's decay.",
        "no facts yet: nothing follows",
    ),
    (
        "publish", "nightly_snapshot", PUBLISH_CRON, "The snapshot for analysts, after the night's decay.",
        "no facts yet: nothing to publish",
    ),
    (
        "quality", "nightly_quality", QUALITY_CRON, "Great Expectations over every table, after the night's work.",
        "no facts yet: nothing to check",
    ),
)  # fmt: skip


def build_schedules(jobs: dict[str, AssetJob]) -> list[dg.ScheduleDefinition]:
    """Returns the nightly schedules (UTC): decay at 02:00 for the day that ended, revision at 02:15, inference at
    03:00, the snapshot at 03:30, the graph database at 04:00, Great Expectations at 04:30."""

    @dg.schedule(
        name="nightly_decay",
        job=jobs["lifecycle"],
        cron_schedule=DECAY_CRON,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Yesterday's current_edges, on quiet days too: facts fade whether or not anybody speaks.",
    )
    def nightly_decay(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        yesterday = (context.scheduled_execution_time - timedelta(days=1)).date().isoformat()
        return dg.RunRequest(run_key=yesterday, partition_key=yesterday)

    @dg.schedule(
        name="nightly_revision",
        job=jobs["revise"],
        cron_schedule=REVISION_CRON,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Stale public facts are looked up, after the night's decay; nobody is asked unless it is set.",
    )
    def nightly_revision(context: dg.ScheduleEvaluationContext, home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        if not home.home.settings.revision.is_enabled:
            return dg.SkipReason(NullVerifier.note)
        yesterday = (context.scheduled_execution_time - timedelta(days=1)).date().isoformat()
        config = dg.RunConfig(ops={"revision": RevisionConfig(night=yesterday)})
        return dg.RunRequest(run_key=yesterday, run_config=config)

    @dg.schedule(
        name="nightly_graph",
        job=jobs["project"],
        cron_schedule=PROJECT_CRON,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="The graph database, after the snapshot; nothing is done unless NEO4J_URI is set.",
    )
    def nightly_graph(home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        if not is_graph_set(environment()):
            return dg.SkipReason(UNSET)
        if not home.home.store.lake.days(CURRENT_EDGES):
            return dg.SkipReason("no facts yet: nothing to project")
        return dg.RunRequest()

    newest = [_of_newest(jobs[job], name, cron, what, none) for job, name, cron, what, none in _OF_NEWEST]
    return [nightly_decay, nightly_revision, *newest, nightly_graph]


def _of_newest(job: AssetJob, name: str, cron: str, description: str, without_facts: str) -> dg.ScheduleDefinition:
    """A schedule of what is made from the newest facts alone."""

    @dg.schedule(
        name=name,
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=description,
    )
    def nightly(home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        if not home.home.store.lake.days(CURRENT_EDGES):
            return dg.SkipReason(without_facts)
        return dg.RunRequest()

    return nightly
