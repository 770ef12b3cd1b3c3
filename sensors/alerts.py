"""The sensor of failed checks: each failure is told once, where alerts go."""

import json
from collections.abc import Iterable

import dagster as dg

from resources.alerts import Alert, AlertsResource
from resources.dagster_internals import past_checks

INTERVAL_SECONDS = 30
SEEN_AT_ONCE = 50
"""Evaluations of a check that are looked at in a tick; a run reports its days one by one."""


def alerts_sensor(checks: Iterable[dg.AssetCheckKey]) -> dg.SensorDefinition:
    """Watches checks. The cursor holds the last evaluation seen of each, so that nothing is told twice; an alert that
    the webhook did not take is tried again at the next tick."""
    watched = list(checks)

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="A check that fails is told to the webhook in EM_ALERTS_WEBHOOK_URL, and to the log.",
    )
    def watch_checks(context: dg.SensorEvaluationContext, alerts: AlertsResource) -> dg.SkipReason:
        seen: dict[str, int] = json.loads(context.cursor or "{}")
        n_sent = 0
        for key in watched:
            name = f"{key.name} on {key.asset_key.to_user_string()}"
            last = seen.get(name, 0)
            for past in sorted(past_checks(context.instance, key, SEEN_AT_ONCE), key=lambda check: check.number):
                evaluation = past.evaluation
                if past.number <= last or evaluation is None:
                    continue
                if not evaluation.passed:
                    if not alerts.send(_alert(name, evaluation)):
                        break
                    n_sent += 1
                seen[name] = past.number
        context.update_cursor(json.dumps(seen))
        return dg.SkipReason(f"{n_sent} alerts sent" if n_sent else "no check has failed since the last look")

    return watch_checks


def _alert(name: str, evaluation: dg.AssetCheckEvaluation) -> Alert:
    is_warning = evaluation.severity is dg.AssetCheckSeverity.WARN
    day = f" of {evaluation.partition}" if evaluation.partition else ""
    return Alert(f"{name}{day}", evaluation.description or "failed", "warning" if is_warning else "error")
