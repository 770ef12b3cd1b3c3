"""Where alerts go: a webhook that takes Slack's format, where one is set, and the log in any case.

The address of a webhook is a secret: it is read from EM_ALERTS_WEBHOOK_URL, is no setting, and stands in no message.
"""

import logging
from dataclasses import dataclass

import dagster as dg
import requests

from em_pipelines.environment import environment

WEBHOOK_VARIABLE = "EM_ALERTS_WEBHOOK_URL"
TIMEOUT_SECONDS = 10
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Alert:
    """What somebody should look at; `severity` is warning or error. `text` holds no message of a user."""

    title: str
    text: str
    severity: str


class AlertsResource(dg.ConfigurableResource[None]):
    """Sends alerts."""

    def send(self, alert: Alert) -> bool:
        """Logs an alert and posts it to the webhook; returns False where the webhook did not take it."""
        _LOGGER.warning("alert (%s): %s: %s", alert.severity, alert.title, alert.text)
        address = environment().get(WEBHOOK_VARIABLE, "").strip()
        if not address:
            return True
        mark = ":warning:" if alert.severity == "warning" else ":rotating_light:"
        try:
            answer = requests.post(
                address, json={"text": f"{mark} *{alert.title}*\n{alert.text}"}, timeout=TIMEOUT_SECONDS
            )
        except requests.RequestException as error:
            _LOGGER.warning("the webhook of alerts could not be reached (%s)", type(error).__name__)
            return False
        if not answer.ok:
            _LOGGER.warning("the webhook of alerts answered HTTP %d", answer.status_code)
        return answer.ok
