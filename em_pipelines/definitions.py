"""The composition root: everything Dagster shows, built from settings. Dagster loads `defs` from here.

Nothing is read or opened before Dagster asks for `defs`, and nothing is wired anywhere else; tests and the CLI call
`build_definitions` with settings of their own.
"""

from functools import partial

import dagster as dg

from assets.consolidation import consolidation_asset
from assets.daily import daily_assets
from assets.evaluation import evaluation_asset
from assets.inference import inference_asset
from assets.metrics import metrics_asset
from assets.partitions import daily_partitions, first_partition
from assets.proactive import proactive_asset
from assets.projection import projection_asset
from assets.retrieval import index_packs
from assets.revision import revision_asset
from assets.shown import shown
from assets.snapshot import snapshot
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.metrics.daily import metrics_step
from em_pipelines.settings import Settings, load_settings
from quality.checks import build_checks
from quality.home_checks import build_home_checks
from quality.packs import packs_whole
from quality.pages import health_report, weekly_report
from quality.report import report_asset
from resources.alerts import AlertsResource
from resources.dagster_internals import AssetJob
from resources.embedders import open_embedder
from resources.graph_address import open_graph
from resources.home import HomeResource, Progress
from resources.model_access import asking_of
from resources.verifier import open_verifier
from sensors.alerts import alerts_sensor, failed_runs_sensor, standing_alerts_sensor
from sensors.backfills import backfills_sensor
from sensors.batches import batches_sensor, collect_batches
from sensors.graph import erasures_sensor
from sensors.jobs import build_jobs, forget_answers, land_inbox
from sensors.landing import landing_sensor, stale_days_sensor
from sensors.proactive import proactive_sensors
from sensors.requests import forget_requests, requests_sensor
from sensors.schedules import build_schedules

OP_JOBS = (land_inbox, collect_batches, forget_requests, forget_answers)
"""Jobs that make no asset."""


def build_definitions(settings: Settings | None = None, *, on_days: Progress | None = None) -> dg.Definitions:
    """Builds the definitions for the settings given, or for those of em.yaml and the environment.

    `on_days(step, n_days)` hears of every day that a step has done.
    """
    settings = settings or load_settings()
    home = Pipeline(settings, asking_of, open_embedder)
    by_name = home.steps
    steps = by_name.values()
    first_day = first_partition(home)
    days = daily_partitions(first_day)
    jobs = build_jobs()
    all_jobs: list[AssetJob | dg.JobDefinition] = [*jobs.values(), *OP_JOBS]
    metrics = metrics_step()
    undated = (home.inference, home.consolidation, *home.proactive, metrics)
    checks = [*build_checks([*steps, *undated]), packs_whole, build_home_checks(open_graph)]
    evaluation = evaluation_asset(by_name["extraction"])
    report = report_asset([table for step in (*steps, *undated) for table in step.outputs])
    watched = [key for found in (*checks, evaluation, report) for key in found.check_keys]
    made = [
        *(daily_assets(step, days) for step in steps),
        inference_asset(home.inference),
        consolidation_asset(home.consolidation),
        *(proactive_asset(step) for step in home.proactive),
        metrics_asset(metrics),
        snapshot,
        index_packs,
        evaluation,
        report,
        health_report,
        weekly_report,
        projection_asset(open_graph),
        revision_asset(open_verifier),
    ]
    assets = dg.map_asset_specs(partial(shown, ui_address=settings.reports.ui_address), made)
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=all_jobs,
        schedules=build_schedules(jobs),
        sensors=[
            landing_sensor(land_inbox),
            stale_days_sensor(jobs["main"], first_day),
            batches_sensor(collect_batches),
            requests_sensor(forget_requests),
            erasures_sensor(jobs["project"]),
            backfills_sensor(jobs["quality"]),
            *proactive_sensors(jobs["proactive"]),
            alerts_sensor(watched),
            failed_runs_sensor(job.name for job in all_jobs),
            standing_alerts_sensor(),
        ],
        resources={"home": HomeResource.of(settings, on_days), "alerts": AlertsResource()},
        # One process a run: the work is batched inside the steps, and another process would cost more than most.
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """What `dagster dev` and `dg dev` load."""
    return build_definitions()
