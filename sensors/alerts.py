"""Sensors of alerts: checks that fail, runs that fail, and what stands in the home.

Each hands what it has found to the book (`em_pipelines.governance.alerts`), which knows who was told; so nothing is
told twice, whoever finds it, and what a sink did not take is tried again by whichever sensor comes next.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import dagster as dg

from em_pipelines.environment import environment
from em_pipelines.governance.alerts.alert import Alert, Look, Severity
from em_pipelines.governance.alerts.looking import Situation, look_at
from em_pipelines.governance.alerts.rules import FAILED_CHECK, FAILED_RUN
from em_pipelines.governance.alerts.telling import tell
from em_pipelines.language.counting import counted
from resources.alerts import LEFT_OVER, AlertsResource
from resources.dagster_internals import PastCheck, past_checks
from resources.graph_address import is_graph_set
from resources.home import HomeResource
from sensors.landing import ATTEMPT_TAG

INTERVAL_SECONDS, STANDING_INTERVAL_SECONDS = 30, 60
SEEN_AT_ONCE = (50, 5_000)
"""Evaluations of a check that are looked at in a tick, and where so many are new; a run reports its days one by one."""
TOLD_BY_RULES = "hallucination_spike"
"""A check whose figure a rule of the same name looks at as well: it is told once."""
ASSET_JOB = "__ASSET_JOB"
"""What Dagster calls runs of assets that somebody chose in the UI."""
NO_HOME = "there is no home yet"
Failing = dict[str, list[str]]
"""Severity and description by day; the day is empty where an evaluation is of no single one."""


def alerts_sensor(checks: Iterable[dg.AssetCheckKey]) -> dg.SensorDefinition:
    """Watches checks. The cursor holds the last evaluation seen of each, and of which days it fails: an alert of a
    check stands as long as there is one."""
    watched = [key for key in checks if key.name != TOLD_BY_RULES]

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="A check that fails is told to the log, the webhook and the mail server that are set.",
    )
    def watch_checks(context: dg.SensorEvaluationContext, alerts: AlertsResource, home: HomeResource) -> dg.SkipReason:
        if not home.home.path.exists():
            return dg.SkipReason(NO_HOME)
        known = json.loads(context.cursor or "{}")
        seen: dict[str, tuple[int, Failing]] = {}
        for key in watched:
            name = f"{key.name} on {key.asset_key.to_user_string()}"
            before = known.get(name, 0)
            last, failing = (before, {}) if isinstance(before, int) else before
            seen[name] = _judged(_new(context.instance, key, last), last, failing)
        found = tuple(_of_check(name, failing) for name, (_, failing) in seen.items() if failing)
        said = _told(home, alerts, Look(found, frozenset({FAILED_CHECK})))
        context.update_cursor(json.dumps(seen))  # later: who is killed in between finds the same again
        return dg.SkipReason(said)

    return watch_checks


def failed_runs_sensor(jobs: Iterable[str]) -> dg.SensorDefinition:
    """Watches runs: an alert of a job stands while the last of its runs that came to an end has failed.

    No `run_failure_sensor`: that one passes over what failed while no daemon was there, and never hears of an end.
    """
    watched = [*jobs, ASSET_JOB]

    @dg.sensor(
        name="failed_runs",
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="A run that fails is told, and that a later one of its job has succeeded.",
    )
    def watch_runs(context: dg.SensorEvaluationContext, alerts: AlertsResource, home: HomeResource) -> dg.SkipReason:
        if not home.home.path.exists():
            return dg.SkipReason(NO_HOME)
        last = (_last_run(context.instance, job) for job in watched)
        failed = [run for run in last if run is not None and run.status is dg.DagsterRunStatus.FAILURE]
        return dg.SkipReason(_told(home, alerts, Look(tuple(map(_of_run, failed)), frozenset({FAILED_RUN}))))

    return watch_runs


def standing_alerts_sensor() -> dg.SensorDefinition:
    """Asks the rules that need no Dagster; once a day it reads the home to its last byte."""

    @dg.sensor(
        name="standing_alerts",
        minimum_interval_seconds=STANDING_INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="What stands in the home and somebody should look at, such as a full disk, is told until it ends.",
    )
    def watch_home(alerts: AlertsResource, home: HomeResource) -> dg.SkipReason:
        opened = home.home
        if not opened.path.exists():
            return dg.SkipReason(NO_HOME)
        settings = opened.settings
        situation = Situation(
            opened, datetime.now(UTC), settings.alerts, settings.llm, is_graph_set=is_graph_set(environment())
        )
        return dg.SkipReason(_told(home, alerts, look_at(situation)))

    return watch_home


def _told(home: HomeResource, alerts: AlertsResource, look: Look) -> str:
    """Tells what was found, and says what came of it."""
    settings = home.home.settings.alerts
    sent = tell(home.home, look, alerts.sinks(settings), datetime.now(UTC), settings.repeat_hours)
    stands = f"{counted(len(look.found), 'alert', ('stands', 'stand'))}, {counted(sent.n_taken, 'message')} sent"
    problems = [*look.problems, *(f"{name}: {why}" for name, why in sent.refused.items())]
    return "; ".join([stands, *problems])


def _new(instance: dg.DagsterInstance, key: dg.AssetCheckKey, last: int) -> list[PastCheck]:
    """The evaluations of a check that were not seen yet, in order."""
    found: Sequence[PastCheck] = ()
    for limit in SEEN_AT_ONCE:
        found = past_checks(instance, key, limit)
        if len(found) < limit or found[-1].number <= last:
            break
    return sorted((past for past in found if past.number > last), key=lambda past: past.number)


def _judged(new: Iterable[PastCheck], last: int, failing: Failing) -> tuple[int, Failing]:
    """The last evaluation, and of which days the check fails after it."""
    failing = dict(failing)
    for past in new:
        evaluation = past.evaluation
        if evaluation is None:
            continue
        day, last = evaluation.partition or "", past.number
        if day and LEFT_OVER in evaluation.metadata:
            continue  # that day fails as it did
        failing.pop(day, None)
        if not evaluation.passed and LEFT_OVER not in evaluation.metadata:
            is_warning = evaluation.severity is dg.AssetCheckSeverity.WARN
            severity = Severity.WARNING if is_warning else Severity.ERROR
            failing[day] = [severity, evaluation.description or "failed"]
    return last, failing


def _of_check(name: str, failing: Failing) -> Alert:
    days = sorted(filter(None, failing))
    severity = max((Severity(how) for how, _ in failing.values()), key=lambda one: one.rank)
    _, description = failing[days[-1] if days else ""]
    of_days = f" Of {counted(len(days), 'day')}, the last {days[-1]}." if days else ""
    return Alert(
        FAILED_CHECK,
        severity,
        f"the check {name} fails",
        f"{description.rstrip('.')}.{of_days}",
        "Look at the check in Dagster's UI; docs/operations.md says of each what to do.",
        about=name,
    )


def _last_run(instance: dg.DagsterInstance, job: str) -> dg.DagsterRun | None:
    ended = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    runs = instance.get_runs(dg.RunsFilter(job_name=job, statuses=ended), limit=1)
    return runs[0] if runs else None


def _of_run(run: dg.DagsterRun) -> Alert:
    attempt = run.tags.get(ATTEMPT_TAG)
    tried = f", attempt {attempt} to land the files of the inbox" if attempt else ""
    return Alert(
        FAILED_RUN,
        Severity.ERROR,
        f"a run of {run.job_name} has failed",
        f"Run {run.run_id} failed{tried}; what it had finished is kept.",
        "Read in Dagster's UI what it says, mend that, and run it again or call `em run`.",
        about=run.job_name,
    )
