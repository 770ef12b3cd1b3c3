"""The step that makes the starters of the newest day."""

from dataclasses import dataclass
from datetime import date

from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.outgoing import STARTERS


@dataclass(frozen=True)
class StartersRun:
    """Makes the starters that stand at the end of a day."""

    settings: ProactiveSettings

    def run(self, day: date, tables: Tables, _: Records) -> Tables:
        """Returns the table of starters of the day."""
        return {STARTERS.name: STARTERS.empty()}
