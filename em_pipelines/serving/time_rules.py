"""What time and repetition do to facts, as tables and a macro of a snapshot, so that it answers for any day by itself.

The numbers are those of the settings; the formula is that of the lifecycle, from its own SQL files.
"""

from dataclasses import dataclass

import pyarrow as pa

from em_pipelines.graph.confidence_decay import PERIOD_DAYS, DecaySettings
from em_pipelines.schema.vocabulary import TemporalType

BOUNDS = (
    "wish_expiry_days", "event_expiry_days", "archive_below_confidence", "archive_days", "max_unsupported_confidence",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeRules:
    """The settings of decay, and in how many conversations the same is vented before it counts as a trait."""

    decay: DecaySettings
    venting_sessions: int

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
