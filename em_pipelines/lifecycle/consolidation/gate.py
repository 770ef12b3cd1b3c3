"""The promotion gate: whether something happened often, long, widely and alike enough to be more than a coincidence.

Deterministic, and the same for every kind. Each refusal says by which bound, with both figures.
"""

from dataclasses import dataclass

from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.evidence import MAX_COMPARED, Cluster, alike, incidents
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says: `bound` names what it refused by, and is None where it let through."""

    bound: str | None
    reason: str

    @property
    def is_through(self) -> bool:
        """Whether it may be promoted."""
        return self.bound is None


def agreeing(cluster: Cluster, settings: ConsolidationSettings) -> int:
    """How many occurrences are like another and not spoken against."""
    return len(alike([one for one in cluster.evidence if one.agrees], settings))


def agreement(cluster: Cluster, settings: ConsolidationSettings) -> float:
    """Share of the occurrences that agree, 0 to 1; of the newest 200."""
    return agreeing(cluster, settings) / min(len(cluster.evidence), MAX_COMPARED) if cluster.evidence else 0.0


def confidence(cluster: Cluster, settings: ConsolidationSettings) -> float:
    """How sure it is that the next time will be like these: Laplace's rule of succession, (for + 1) / (for + against +
    2). What is merely worded otherwise is neither; where there are doubts a share of it is left."""
    n_against = sum(not one.agrees for one in cluster.evidence)
    n_for = agreeing(cluster, settings)
    sure = (n_for + 1) / (n_for + n_against + 2)
    return sure * settings.doubt_factor if cluster.doubts else sure


def strength(cluster: Cluster, settings: ConsolidationSettings) -> float:
    """How much stands behind it, 0 to 1; grows with occurrences and with the conversations that they come from."""
    return confidence(cluster, settings) * (1 - 1 / (1 + len(cluster.sources)))


def judge(cluster: Cluster, settings: ConsolidationSettings) -> Verdict:
    """Whether a cluster may be promoted: bound after bound, and the first that refuses is named."""
    n, n_sources, n_days = len(cluster.evidence), len(cluster.sources), cluster.n_days
    n_bursts = incidents(cluster.evidence, settings.burst_hours)
    n_alike = agreeing(cluster, settings)
    bounds = (
        ("occurrences", n >= settings.min_occurrences,
         f"it happened {counted(n, 'time')}, and {settings.min_occurrences} are wanted"),
        ("sources", n_sources >= settings.min_sources,
         f"it comes from {counted(n_sources, 'conversation')}, and {settings.min_sources} are wanted"),
        ("span", cluster.span_hours >= settings.min_span_hours,
         f"it lies within {cluster.span_hours:.0f} hours, and {settings.min_span_hours:.0f} are wanted"),
        ("days", n_days >= settings.min_days,
         f"it happened on {counted(n_days, 'day')}, and {settings.min_days} are wanted"),
        ("bursts", n_bursts >= settings.min_occurrences or n <= settings.max_per_burst * n_bursts,
         f"all of it came in {counted(n_bursts, 'burst')}, and {settings.min_occurrences} are wanted"),
        ("agreement", n_alike >= settings.min_agreement * min(n, MAX_COMPARED),
         f"{n_alike} of {n} tell of the same thing, and {settings.min_agreement:.0%} are wanted"),
    )  # fmt: skip
    refused = next(((bound, reason) for bound, holds, reason in bounds if not holds), None)
    return Verdict(*refused) if refused else Verdict(None, "often, long, widely and alike enough")
