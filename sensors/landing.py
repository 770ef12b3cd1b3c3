"""Sensors of new logs: files in the inbox are landed, and days that landing touched are materialized."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial

import dagster as dg

from em_pipelines.errors import CorruptLogError
from em_pipelines.governance.audit.lost_log import lost
from em_pipelines.home import COLLECTED
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import digest
from em_pipelines.storage.landed_log import lost_error
from em_pipelines.storage.run_plan import Plan, plan
from em_pipelines.storage.step import Step
from resources.dagster_internals import SELF_REPORTING, AssetJob
from resources.home import HomeResource
from resources.models import n_open_batches
from resources.run_locks import is_locked_or_left, was_killed
from sensors.jobs import waiting_files

INTERVAL_SECONDS = 5
"""The shortest that the daemon knows: two ticks and two starts of a run have to fit into the minute in which a log
becomes a fact."""
SETTLED_SECONDS = 3
"""A file that has not changed for this long has been written to its end."""
PLAN_TAG = "em/plan"
FILES_TAG, ATTEMPT_TAG = "em/files", "em/attempt"
MAX_ATTEMPTS = 6
"""How often the same files are landed where each run fails."""
FIRST_RETRY_SECONDS = 60
"""The time from a failed landing to the next attempt; it doubles with each. All attempts take half an hour."""
AT_WORK = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]
START_SECONDS = 180
"""For so long a run may take from being asked for to the start of its process, which is what Dagster's own monitoring
allows, and from giving back its lock to its end."""


def landing_sensor(job: dg.JobDefinition) -> dg.SensorDefinition:
    """Asks for a landing run when files of the inbox have settled."""

    @dg.sensor(
        name="landing",
        job=job,
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="A file dropped into HOME/inbox is landed. Put files that name no user into a folder of that name.",
    )
    def watch_inbox(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        stats = {}
        for path in waiting_files(home.home.inbox):
            with suppress(FileNotFoundError):  # a landing run moves files while this one looks
                stats[str(path)] = path.lstat()
        if not stats:
            return dg.SkipReason(f"nothing in {home.home.inbox}")
        if max(s.st_mtime for s in stats.values()) > datetime.now(UTC).timestamp() - SETTLED_SECONDS:
            return dg.SkipReason("a file is still being written")
        files = digest(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in stats.items())[:32]
        runs = context.instance.get_run_records(dg.RunsFilter(job_name=job.name, tags={FILES_TAG: files}))
        if why := _why_no_attempt(context.instance, home.home, runs):
            return dg.SkipReason(why)
        # Dagster runs no key twice, whatever became of the run: each attempt has its own.
        attempt = len(runs) + 1
        return dg.RunRequest(
            run_key=f"{files}-{attempt}", tags={FILES_TAG: files, ATTEMPT_TAG: f"{attempt} of {MAX_ATTEMPTS}"}
        )

    return watch_inbox


def _why_no_attempt(instance: dg.DagsterInstance, home: Pipeline, runs: Sequence[dg.RunRecord]) -> str | None:
    """Why files of the inbox are not landed (again) now: the runs for them so far, the last first."""
    if not runs:
        return None
    last = runs[0]
    if last.dagster_run.status in AT_WORK and not is_buried(last.dagster_run, home, instance):
        return f"run {last.dagster_run.run_id} is landing these files"
    if len(runs) >= MAX_ATTEMPTS:
        return (
            f"{len(runs)} runs could not land these files, and no more are tried: read what run "
            f"{last.dagster_run.run_id} says and mend it, then touch a file in the inbox or call `em land`"
        )
    wait = timedelta(seconds=FIRST_RETRY_SECONDS * 2 ** (len(runs) - 1))
    due_at = as_utc(last.update_timestamp) + wait
    if last.dagster_run.status is dg.DagsterRunStatus.FAILURE and datetime.now(UTC) < due_at:
        return f"run {last.dagster_run.run_id} could not land these files; they are tried again in {wait.seconds} s"
    return None


def stale_days_sensor(job: AssetJob, since: date) -> dg.SensorDefinition:
    """Asks for a run over the days that are out of date, from the first to the last.

    `since` is the first partition of the code location: for earlier days no run can be asked.
    """

    @dg.sensor(
        name="stale_days",
        job=job,
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Days with newly landed logs, and all folds after them, are materialized.",
    )
    def watch_log(context: dg.SensorEvaluationContext, home: HomeResource) -> Iterator[dg.RunRequest | dg.SkipReason]:
        state = _log_state(home.home)
        if context.cursor == state:
            yield dg.SkipReason("nothing landed since everything was last found current")
            return
        if why := _why_not_now(context.instance, job, home.home):
            yield dg.SkipReason(why)
            return
        steps = list(home.home.steps.values())
        todo = plan(home.home.store, steps, is_due=partial(_is_due, home.home))
        if not todo.days and any(home.home.store.is_incomplete(s, d) for s in steps for d in home.home.store.days(s)):
            yield dg.SkipReason("some days wait for a model; they are tried again later")
            return
        if todo.span is None:
            context.update_cursor(state)
            yield dg.SkipReason("every day is current")
            return
        failed = _failed_before(context.instance, job, todo)
        if failed is not None:
            yield dg.SkipReason(f"run {failed.run_id} of the same days failed: mend what it says and run it again")
            return
        first, end = todo.span
        if first < since:
            yield dg.SkipReason(
                f"logs of {first} have landed, and the partitions of this code location begin on {since}: reload it"
            )
            return
        yield dg.RunRequest(
            tags={
                **SELF_REPORTING,
                "dagster/asset_partition_range_start": first.isoformat(),
                "dagster/asset_partition_range_end": end.isoformat(),
                PLAN_TAG: todo.digest[:32],
            }
        )

    return watch_log


def _why_not_now(instance: dg.DagsterInstance, job: AssetJob, home: Pipeline) -> str | None:
    """Why no run is asked for, whatever is out of date: the log has lost something, or a run is at work."""
    try:
        if missing := lost(home):
            return str(lost_error(missing))
    except CorruptLogError as error:
        return str(error)
    at_work = instance.get_runs(dg.RunsFilter(job_name=job.name, statuses=AT_WORK))
    return None if all(is_buried(run, home, instance) for run in at_work) else "a run is at work"


def _failed_before(instance: dg.DagsterInstance, job: AssetJob, todo: Plan) -> dg.DagsterRun | None:
    """The last run of the same plan, if it failed."""
    last = instance.get_runs(dg.RunsFilter(job_name=job.name, tags={PLAN_TAG: todo.digest[:32]}), limit=1)
    return last[0] if last and last[0].status is dg.DagsterRunStatus.FAILURE else None


def _is_due(home: Pipeline, step: Step, day: date) -> bool:
    """Whether a day that waits for a model is worth another try: some time has passed, or a batch has brought answers.
    Where a batch is out, nothing but its answers can help."""
    made_at = [home.store.lake.modified_at(table, day) for table in step.outputs]
    last_made_at = max((at for at in made_at if at is not None), default=datetime.min.replace(tzinfo=UTC))
    collected = home.path / COLLECTED
    if collected.exists() and datetime.fromtimestamp(collected.stat().st_mtime, UTC) > last_made_at:
        return True
    if home.settings.llm.mode == "batch" and n_open_batches(home):
        return False
    return datetime.now(UTC) - last_made_at > timedelta(minutes=home.settings.llm.retry_minutes)


def as_utc(instant: datetime) -> datetime:
    """An instant of Dagster's records, which may lack its offset: UTC."""
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def is_buried(run: dg.DagsterRun, home: Pipeline, instance: dg.DagsterInstance) -> bool:
    """Whether the run's process was killed; then nobody but us can say so, and its days are asked for again."""
    is_started = run.status is dg.DagsterRunStatus.STARTED
    if is_started and is_locked_or_left(home, run.run_id):
        is_dead = was_killed(home, run.run_id)
    else:
        is_dead = (is_started or run.status is dg.DagsterRunStatus.STARTING) and _fell_silent(run, instance)
    if is_dead:
        instance.report_run_canceled(run, "The process was killed before the run ended; finished days are kept.")
    return is_dead


def _fell_silent(run: dg.DagsterRun, instance: dg.DagsterInstance) -> bool:
    """Whether nothing has been heard of a run that holds no lock for so long that its process was killed before it took
    it, or after it gave it back. Should it come all the same, it finds its days made and does nothing."""
    record = instance.get_run_record_by_id(run.run_id)
    if record is None:
        return False
    said = instance.event_log_storage.get_records_for_run(run.run_id, limit=1, ascending=False).records
    last = max([as_utc(record.update_timestamp).timestamp(), *(one.timestamp for one in said)])
    return datetime.now(UTC).timestamp() - last > START_SECONDS


def _log_state(home: Pipeline) -> str:
    """Changes with every landing, every change of a step, every batch collected and every replay; read from names and
    one date alone."""
    kinds = {step.log_kind for step in home.steps.values() if step.log_kind}
    landed = {
        kind: [str(home.store.log.digest(kind, day)) for day in home.store.log.days(kind)] for kind in sorted(kinds)
    }
    versions = [step.code_version for step in home.steps.values()]
    collected = home.path / COLLECTED
    given_back = str(collected.stat().st_mtime_ns) if collected.exists() else ""
    return digest([json.dumps(landed), *versions, given_back])
