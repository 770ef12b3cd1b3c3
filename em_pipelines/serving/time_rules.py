"""What time and repetition do to facts, as tables and a macro of a snapshot, so that it answers for any day by itself.

The numbers are those of the settings; the formula is that of the lifecycle, from its own SQL files.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from em_pipelines import lifecycle
from em_pipelines.lifecycle.decay import PERIOD_DAYS, Curve, DecaySettings
from em_pipelines.settings import Settings
from em_pipelines.sql import statement
from em_pipelines.vocabulary import TemporalType

LIFECYCLE = Path(str(lifecycle.__file__)).parent
BOUNDS = (
    "wish_expiry_days", "event_expiry_days", "archive_below_confidence", "archive_days", "max_unsupported_confidence",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeRules:
    """The settings of decay, and in how many conversations the same is vented before it counts as a state."""

    decay: DecaySettings
    venting_sessions: int

    @classmethod
    def of(cls, settings: Settings) -> "TimeRules":
        """Those of a home's settings."""
        return cls(settings.decay, settings.fold.venting_sessions)

    @property
    def version(self) -> str:
        """Changes with every number."""
        return f"{self.decay.model_dump_json()} {self.venting_sessions}"

    def tables(self) -> dict[str, pa.Table]:
        """`decay_rates`, a row a temporal type, and `time_rules`, one row."""
        rates = [
            {
                "temporal_type": kind.value,
                "loss_per_day": self.decay.loss_per_30_days[kind] / PERIOD_DAYS,
                "half_life_days": self.decay.half_life_days[kind] or None,
            }
            for kind in TemporalType
        ]
        columns = [("temporal_type", pa.string()), ("loss_per_day", pa.float64()), ("half_life_days", pa.float64())]
        bounds = {name: getattr(self.decay, name) for name in BOUNDS}
        numbers = {
            name: pa.array([number], pa.int32() if isinstance(number, int) else pa.float64())
            for name, number in (bounds | {"venting_sessions": self.venting_sessions}).items()
        }
        return {
            "decay_rates": pa.Table.from_pylist(rates, pa.schema(columns)),
            "time_rules": pa.table({"curve": [self.decay.curve.value], **numbers}),
        }


def decay_macro(curve: Curve) -> str:
    """SQL that makes the macro `decayed(confidence, unreferenced_days, loss_per_day, half_life_days)` for good."""
    temporary = statement(LIFECYCLE, f"macro_{curve.value}")
    return temporary.replace("CREATE OR REPLACE TEMP MACRO", "CREATE MACRO")
