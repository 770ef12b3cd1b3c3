"""Schedules: what happens every night, whether or not anything was said by day."""

from datetime import timedelta

import dagster as dg

from assets.projection import UNSET
from assets.revision import RevisionConfig
from em_pipelines.environment import environment
from em_pipelines.lifecycle.consolidation.night import why_no_night
from em_pipelines.lifecycle.revision.model import NullVerifier
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.serving.snapshot import newest_day
from resources.dagster_internals import AssetJob
from resources.graph_address import is_graph_set
from resources.home import HomeResource

NIGHT = {
    "decay": "0 2 * * *",
    "revision": "15 2 * * *",
    "inference": "45 2 * * *",
    "consolidation": "0 3 * * *",
    "snapshot": "30 3 * * *",
    "graph": "0 4 * * *",
    "quality": "30 4 * * *",
}
"""The night, in order (cron, UTC): each reads what those before it have made."""
WEEK = "0 5 * * 1"
"""After the night in which a week has ended."""

_OF_NEWEST = (
    (
        "infer", "nightly_inference", NIGHT["inference"],
        "What follows from the newest facts, after the night's decay.",
        "no facts yet: nothing follows",
    ),
    (
        "publish", "nightly_snapshot", NIGHT["snapshot"], "The snapshot for analysts, after the night's decay.",
        "no facts yet: nothing to publish",
    ),
    (
        "quality", "nightly_quality", NIGHT["quality"], "Great Expectations over every table, after the night's work.",
        "no facts yet: nothing to check",
    ),
    (
        "weekly", "weekly_page", WEEK, "What the week that ended brought, as a page.",
        "no facts yet: nothing to tell",
    ),
)  # fmt: skip


def build_schedules(jobs: dict[str, AssetJob]) -> list[dg.ScheduleDefinition]:
    """Returns the schedules of NIGHT; decay is of the day that ended."""

    @dg.schedule(
        name="nightly_decay",
        job=jobs["lifecycle"],
        cron_schedule=NIGHT["decay"],
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
        cron_schedule=NIGHT["revision"],
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
        cron_schedule=NIGHT["graph"],
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

    @dg.schedule(
        name="nightly_consolidation",
        job=jobs["consolidate"],
        cron_schedule=NIGHT["consolidation"],
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="What happened often enough becomes experiences and rules, where three new entries have come.",
    )
    def nightly_consolidation(home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        reason = why_no_night(home.home)
        return dg.SkipReason(reason) if reason else dg.RunRequest()

    newest = [_of_newest(jobs[job], name, cron, what, none) for job, name, cron, what, none in _OF_NEWEST]
    return [nightly_decay, nightly_revision, nightly_consolidation, *newest, nightly_graph]


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
        if newest_day(home.home.store) is None:
            return dg.SkipReason(without_facts)
        return dg.RunRequest()

    return nightly
