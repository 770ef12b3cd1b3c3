"""How confidence fades while nobody mentions a fact: the formula, its settings, and its macros for SQL.

A closed form of state and day, never an iteration. What becomes of facts that have faded is the lifecycle's business.
"""

import math
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from em_pipelines.schema.vocabulary import Mechanism, TemporalType
from em_pipelines.storage.duckdb_engine import statement

HERE = Path(__file__).parent
PERIOD_DAYS = 30
_EPOCH = date(1970, 1, 1)
KEPT_DAYS = 1_000_000
DIGITS = 12
"""Confidences are rounded here, so that 0.3 − 0.2 is not below the bound of 0.1."""
LASTING = frozenset({TemporalType.ATTRIBUTE, TemporalType.TRAIT, TemporalType.STATE})
STATED = frozenset({Mechanism.EXPLICIT, Mechanism.USER_CORRECTION})


class Curve(StrEnum):
    LINEAR = "linear"
    EXPONENTIAL = "exponential"


class DecaySettings(BaseModel):
    """How facts fade. Losses are of confidence (0 to 1) a 30 unreferenced days; half-lives are in days, 0 = never."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    curve: Curve = Field(default=Curve.LINEAR, description="linear (a loss per 30 days) or exponential (half-lives)")
    loss_per_30_days: dict[TemporalType, float] = Field(
        default={
            TemporalType.ATTRIBUTE: 0.0,
            TemporalType.TRAIT: 0.02,
            TemporalType.STATE: 0.05,
            TemporalType.PLAN: 0.10,
            TemporalType.WISH: 0.10,
            TemporalType.EPISODE: 0.10,
        },
        description="confidence lost per 30 unreferenced days, by temporal type (curve linear)",
    )
    half_life_days: dict[TemporalType, float] = Field(
        default={
            TemporalType.ATTRIBUTE: 0.0,
            TemporalType.TRAIT: 720.0,
            TemporalType.STATE: 365.0,
            TemporalType.PLAN: 120.0,
            TemporalType.WISH: 120.0,
            TemporalType.EPISODE: 120.0,
        },
        description="days in which confidence halves, by temporal type; 0: never (curve exponential)",
    )
    wish_expiry_days: int = Field(default=180, description="a wish expires this long after its last mention")
    event_expiry_days: int = Field(default=30, description="a plan or dated event expires this long after its date")

    @field_validator("loss_per_30_days", "half_life_days", mode="before")
    @classmethod
    def _complete(cls, given: object, info: ValidationInfo) -> object:
        """Types that a setting leaves out keep their default."""
        default = cls.model_fields[str(info.field_name)].default
        return {**{kind.value: rate for kind, rate in default.items()}, **given} if isinstance(given, dict) else given

    archive_below_confidence: float = Field(
        default=0.10, description="effective confidence below which a fact is archived"
    )
    archive_days: int = Field(default=180, ge=0, description="an archived fact is purged after this many days")
    kept_from_confidence: float = Field(
        default=0.60,
        ge=0,
        le=1,
        description="what a person stated at least so surely, and what lasts, stays in the state and is served as old",
    )
    max_unsupported_confidence: float = Field(
        default=0.84,
        ge=0,
        le=1,
        description="effective confidence, at most, of a fact that only one conversation with pasted blocks has stated",
    )

    def keeping(self) -> "DecaySettings":
        """The same, with an archive that purges nothing: for who looks at what is about to go."""
        return self.model_copy(update={"archive_days": KEPT_DAYS})


def effective_confidence(
    confidence: float, unreferenced_days: int, temporal_type: TemporalType, settings: DecaySettings
) -> float:
    """Returns the confidence (0 to 1) left of `confidence` after whole days without a mention.

    Linear: c − loss × days ÷ 30, never below 0. Exponential: c × 2^(−days ÷ half-life). Both compose: decaying by a
    days and then by b more gives what a + b days give. sql/macro_*.sql is the same formula on columns.
    """
    days = max(0, unreferenced_days)
    if settings.curve is Curve.LINEAR:
        left = max(0.0, confidence - settings.loss_per_30_days[temporal_type] / PERIOD_DAYS * days)
        return rounded(left, DIGITS)
    half_life = settings.half_life_days[temporal_type]
    return rounded(confidence if half_life == 0 else confidence * 2.0 ** (-days / half_life), DIGITS)


def rounded(value: float, digits: int) -> float:
    """`value`, which is not negative, rounded as DuckDB rounds it: halves up, and of the binary number.

    Python's `round` asks for the decimal that lies nearest, which is another one now and then.
    """
    scaled = value * 10.0**digits
    whole = math.floor(scaled)
    return (whole + (scaled - whole >= 0.5)) / 10.0**digits


def purged(edges: pa.Table, as_of: date, settings: DecaySettings) -> pa.Array:
    """Whether each edge has been in the archive for `archive_days` and leaves the state; `is_dropped` of sql/, on
    columns.

    `edges` has status, confidence, last_reinforced, temporal_type, source_mechanism and flags.
    """
    days = (as_of - _EPOCH).days - pc.cast(pc.cast(edges["last_reinforced"], pa.date32()), pa.int32()).to_numpy()
    is_old = days >= settings.archive_days
    if not is_old.any():
        return pa.array(is_old)
    is_old &= pc.is_in(edges["status"], value_set=pa.array(["active", "contradicted"])).to_numpy()
    left = np.ones(len(edges))
    columns = [edges[name].take(np.flatnonzero(is_old)).to_pylist() for name in ("confidence", "temporal_type")]
    left[is_old] = [
        effective_confidence(confidence, int(n_days), TemporalType(kind), settings)
        for confidence, kind, n_days in zip(*columns, days[is_old] - settings.archive_days, strict=True)
    ]
    is_gone = is_old & (left < settings.archive_below_confidence)
    own = edges.filter(pa.array(is_gone)).select(["confidence", "temporal_type", "source_mechanism", "flags"])
    is_gone[is_gone] = [not is_own_word(row, settings) for row in own.to_pylist()]
    return pa.array(is_gone)


def is_own_word(edge: Mapping[str, Any], settings: DecaySettings) -> bool:
    """Whether an edge is what the person stated plainly, of anything that lasts; `is_own_word` of sql/, on one row."""
    return (
        edge["confidence"] >= settings.kept_from_confidence
        and edge["temporal_type"] in LASTING
        and edge["source_mechanism"] in STATED
        and not edge["flags"]
    )


def install_macros(connection: duckdb.DuckDBPyConnection, settings: DecaySettings, as_of: date) -> None:
    """Defines the macros of sql/ for the chosen curve and the end of a day: `decayed`, `faded`, `is_purged`,
    `is_own_word` and `is_dropped`."""
    rates = {
        kind.value: {
            "loss_per_day": settings.loss_per_30_days[kind] / PERIOD_DAYS,
            "half_life_days": settings.half_life_days[kind] or None,
        }
        for kind in TemporalType
    }
    connection.execute("SET VARIABLE rates = $rates", {"rates": rates})
    connection.execute("SET VARIABLE as_of = ?::DATE", [as_of])
    for name in ("archive_days", "archive_below_confidence", "kept_from_confidence"):
        connection.execute(f"SET VARIABLE {name} = {getattr(settings, name)}")
    connection.execute(statement(HERE, f"macro_{settings.curve.value}"))
    connection.execute(statement(HERE, "decay_macros"))


def published_macro(curve: Curve) -> str:
    """SQL that makes the macro `decayed(confidence, unreferenced_days, loss_per_day, half_life_days)` for good."""
    temporary = statement(HERE, f"macro_{curve.value}")
    return temporary.replace("CREATE OR REPLACE TEMP MACRO", "CREATE MACRO")
