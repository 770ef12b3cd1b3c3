"""Where alerts go, as a resource for sensors. What the sinks are is the business of `resources.alert_sinks`."""

import dagster as dg

from em_pipelines.environment import environment
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.alerts.telling import Sink
from resources.alert_sinks import open_sinks

LEFT_OVER = "is_left_over"
"""Metadata of an evaluation that fails for an earlier run alone: that was told when it happened."""


class AlertsResource(dg.ConfigurableResource[None]):
    """The sinks; which they are is asked of settings and environment each time."""

    def sinks(self, settings: AlertSettings) -> list[Sink]:
        """Where alerts go now."""
        return open_sinks(settings, environment())
