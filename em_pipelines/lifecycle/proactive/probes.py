"""The step that makes the probes of the newest day."""

from dataclasses import dataclass
from datetime import date

from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.outgoing import PROBES


@dataclass(frozen=True)
class ProbesRun:
    """Makes the probes that stand at the end of a day."""

    settings: ProactiveSettings

    def run(self, day: date, tables: Tables, _: Records) -> Tables:
        """Returns the table of probes of the day."""
        return {PROBES.name: PROBES.empty()}
