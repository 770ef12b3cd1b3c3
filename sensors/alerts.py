"""The sensor of failed checks: each failure is told once, where alerts go."""

import json
from collections.abc import Iterable

import dagster as dg
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord

from resources.alerts import Alert, AlertsResource

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
            # By check, not by cursor over all events: asking the event log for check events fails on SQLite.
            history = context.instance.event_log_storage.get_asset_check_execution_history(key, limit=SEEN_AT_ONCE)
            last = seen.get(name, 0)
            for record in sorted(history, key=lambda r: r.id):
                evaluation = _evaluation(record)
                if record.id <= last or evaluation is None:
                    continue
                if not evaluation.passed:
                    if not alerts.send(_alert(name, evaluation)):
                        break
                    n_sent += 1
                seen[name] = record.id
        context.update_cursor(json.dumps(seen))
        return dg.SkipReason(f"{n_sent} alerts sent" if n_sent else "no check has failed since the last look")

    return watch_checks


def _evaluation(record: AssetCheckExecutionRecord) -> dg.AssetCheckEvaluation | None:
    """What a record says, None where it has not ended."""
    event = record.event.dagster_event if record.event else None
    data = event.event_specific_data if event else None
    return data if isinstance(data, dg.AssetCheckEvaluation) else None


def _alert(name: str, evaluation: dg.AssetCheckEvaluation) -> Alert:
    is_warning = evaluation.severity is dg.AssetCheckSeverity.WARN
    day = f" of {evaluation.partition}" if evaluation.partition else ""
    return Alert(f"{name}{day}", evaluation.description or "failed", "warning" if is_warning else "error")
