"""Sensors of what memory would like to say: it is made when what it hangs on has changed, and not by a clock.

What a table is made of has a digest, that of its footer. While the table that stands has another, a run is asked for,
by a key made of the digest; once it stands, the digest becomes the cursor. So whoever is killed between asking and
noting asks again by the same key, which Dagster answers with the run that there is, or finds the table made; and a run
that was killed is asked for once more, by a key that counts how often that was.
"""

from datetime import date

import dagster as dg

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import digest
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from resources.dagster_internals import AssetJob
from resources.home import HomeResource
from sensors.landing import AT_WORK, is_buried

INTERVAL_SECONDS = 10
CAUSE_TAG = "em/cause"
DIGITS = 32
ABOUT = {
    "probes": "Questions are made anew when facts, contradictions or what was answered have changed.",
    "starters": "Openings are made anew when facts, experiences, events of the world or what was said of them changed.",
}
"""The steps, and what their sensors are for."""


def proactive_sensors(job: AssetJob) -> list[dg.SensorDefinition]:
    """Returns a sensor for each of the steps that make probes and starters; each asks for runs of the job."""
    return [_sensor(job, name, about) for name, about in ABOUT.items()]


def _sensor(job: AssetJob, name: str, about: str) -> dg.SensorDefinition:
    @dg.sensor(
        name=name,
        job=job,
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=about,
    )
    def watch_causes(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        cause, is_made = _cause(home.home, name)
        if cause is None:
            return dg.SkipReason("no facts yet: there is nothing to ask or to say")
        if is_made:
            is_known = context.cursor == cause
            context.update_cursor(cause)
            return dg.SkipReason("nothing has changed since" if is_known else "they are made of what has changed")
        at_work = context.instance.get_runs(dg.RunsFilter(statuses=AT_WORK))
        if not all(is_buried(run, home.home, context.instance) for run in at_work):
            return dg.SkipReason("a run is at work")
        tags = {CAUSE_TAG: cause}
        before = context.instance.get_runs(dg.RunsFilter(job_name=job.name, tags=tags))
        if before and before[0].status is dg.DagsterRunStatus.FAILURE:
            return dg.SkipReason(f"run {before[0].run_id} of the same cause failed: mend what it says and run it again")
        return dg.RunRequest(run_key=f"{cause}-{len(before)}", tags=tags)

    return watch_causes


def _cause(home: Pipeline, name: str) -> tuple[str | None, bool]:
    """The digest of what a step hangs on, None without facts, and whether its table is that of it; reads footers."""
    (step,) = (step for step in home.proactive if step.name == name)
    day = home.store.lake.latest(CURRENT_EDGES, date.max)
    if day is None:
        return None, True
    return digest([str(day), home.store.inputs_digest(step, day)])[:DIGITS], home.store.is_current(step, day)
