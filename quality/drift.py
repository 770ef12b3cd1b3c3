"""Days that differ from those before: an exchanged model, a prompt that lost something, users who talk otherwise.

A day is compared with the `quality.baseline_days` before it that have data. Where there is too little to compare, on
the first days and on quiet ones, it passes and says so. What differs is a warning: it may be the users.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import NormalDist, fmean, stdev
from typing import Any

from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.storage.lake import Lake
from quality.finding import DEFAULTS, Finding, figures_of

TOO_LITTLE = "too little to compare"
PRIOR = 0.5
"""Added to each bin (Jeffreys), so that an empty one has a logarithm."""
TAIL = 0.999
"""Of days on which nothing has changed at most one in a thousand is above what chance explains."""
MIN_CHANGE = 0.5
"""Share of the figure of before: steady users make the deviations of days small, and small changes large in them."""

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """A check that compares a day with those before. `has_data` says of a day's figures whether it counts as one."""

    name: str
    asset: Table
    reads: tuple[Table, ...]
    judge: Callable[[QualitySettings, Figures, Sequence[Figures]], Finding]
    has_data: Callable[[Figures], bool]
    about: str
    is_blocking: bool = False

    def find(self, lake: Lake, days: Sequence[date], limits: QualitySettings = DEFAULTS) -> dict[date, Finding]:
        """What the check finds on each of the days, in their order. Raises CorruptTableError."""
        if not days:
            return {}
        there = [day for day in lake.days(self.asset) if day <= max(days)]
        n_before = sum(day < min(days) for day in there)
        # Of the days before some have no data: twice as many are looked at as are wanted.
        read = sorted({*there[max(0, n_before - 2 * limits.baseline_days) :], *days})
        figures = figures_of(lake, self.name, self.reads, read, {})
        with_data = [day for day in read if self.has_data(figures[day])]
        found = {}
        for day in days:
            earlier = [figures[one] for one in with_data if one < day][-limits.baseline_days :]
            found[day] = self.judge(limits, figures[day], earlier)
        return found


def entities_drift(limits: QualitySettings, today: Figures, before: Sequence[Figures]) -> Finding:
    """As many names a message as on the days before; the figure is how many there are.

    Shewhart's control chart: too far is `max_entities_deviations` standard deviations of the days before, or of
    Poisson's where they were steadier than that. By half of what it was it has to differ, too.
    """
    n_messages = today["n_messages"]
    figure = today["n_mentions"] / n_messages if n_messages else 0.0
    if len(before) < limits.min_baseline_days or n_messages < limits.min_drift_messages:
        return Finding(is_success=True, figure=figure, advice="", note=TOO_LITTLE)
    rates = [one["n_mentions"] / one["n_messages"] for one in before]
    usual = fmean(rates)
    deviation = max(stdev(rates), math.sqrt(max(usual, 1 / n_messages) / n_messages))
    distance = abs(figure - usual)
    is_far = distance > limits.max_entities_deviations * deviation and distance > MIN_CHANGE * usual
    return Finding(
        not is_far,
        figure,
        f"{figure:.2f} names a message where there were {usual:.2f}: see whether a model, a prompt or the kind of logs "
        "has changed",
        is_warning=True,
    )


def confidence_drift(limits: QualitySettings, today: Figures, before: Sequence[Figures]) -> Finding:
    """Claims are as sure as on the days before; the figure is the population stability index of the two.

    Above 0.25 a population has changed (Siddiqi, Credit Risk Scorecards, 2006). Of few claims the index is large by
    chance alone: (1/n + 1/m) of a chi square of one less than the bins (Yurdakul and Naranjo, Statistical properties of
    the population stability index, 2020), so it has to be above what that gives in one of a thousand, too.
    """
    counts = list(today["counts"])
    usual = [sum(column) for column in zip(*(one["counts"] for one in before), strict=True)]
    n_today, n_before = sum(counts), sum(usual)
    is_enough = min(n_today, n_before) >= limits.min_drift_claims and len(before) >= limits.min_baseline_days
    if not is_enough:
        return Finding(is_success=True, figure=0.0, advice="", note=TOO_LITTLE)
    index = stability_index(counts, usual)
    n_bins = sum(a + b > 0 for a, b in zip(counts, usual, strict=True))
    by_chance = (1 / n_today + 1 / n_before) * chi_square_quantile(TAIL, max(1, n_bins - 1))
    return Finding(
        index <= max(limits.max_confidence_psi, by_chance),
        index,
        "claims are surer, or less sure, than they were: see whether a model or a prompt has changed, and judge some "
        "of them with `em judge`",
        is_warning=True,
    )


def stability_index(one: Sequence[int], other: Sequence[int]) -> float:
    """The population stability index of two histograms over the same bins: 0 where they are alike, symmetric."""
    used = [(a + PRIOR, b + PRIOR) for a, b in zip(one, other, strict=True) if a + b]
    n_one, n_other = sum(a for a, _ in used), sum(b for _, b in used)
    return sum((a / n_one - b / n_other) * math.log((a / n_one) / (b / n_other)) for a, b in used)


def chi_square_quantile(share: float, degrees: int) -> float:
    """Below which so large a share of a chi square lies, within one in a hundred (Wilson and Hilferty, 1931)."""
    part = 2 / (9 * degrees)
    return float(degrees * (1 - part + NormalDist().inv_cdf(share) * math.sqrt(part)) ** 3)


DRIFTS = (
    DriftCheck(
        "entities_drift",
        MENTIONS,
        (MESSAGES, MENTIONS),
        entities_drift,
        lambda figures: bool(figures["n_messages"]),
        "As many names a message as on the days before, within `quality.max_entities_deviations` (warning).",
    ),
    DriftCheck(
        "confidence_drift",
        CLAIMS,
        (CLAIMS,),
        confidence_drift,
        lambda figures: any(figures["counts"]),
        "Claims are as sure as on the days before: a stability index up to `quality.max_confidence_psi` (warning).",
    ),
)
