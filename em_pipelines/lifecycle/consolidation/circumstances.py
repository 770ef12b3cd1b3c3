"""What followed failures: what helped, what passed by itself, and what was only the echo of another failure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from em_pipelines.lifecycle.consolidation.evidence import Evidence
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings

Row = Mapping[str, Any]
"""A row of skill_invocations."""
MIN_REMEDIES = 2
"""What helped once may have been called for something else."""


@dataclass(frozen=True, slots=True)
class Following:
    """What followed a failure in its conversation: what else was called before the skill worked again, and whether it
    was the very same call that then worked, with nothing in between."""

    remedies: frozenset[str] = frozenset()
    is_passing: bool = False


def echoes(rows: Sequence[Row]) -> set[str]:
    """The ids of failures that came right after another skill had failed in the same conversation. `rows` are in order
    of time."""
    in_order = sorted(rows, key=lambda row: row["session_id"])
    return {
        later["invocation_id"]
        for earlier, later in pairwise(in_order)
        if earlier["session_id"] == later["session_id"]
        and earlier["skill_name"] != later["skill_name"]
        and earlier["error_category"] is not None
        and later["error_category"] is not None
    }


NOTHING = Following()


def what_followed(rows: Sequence[Row]) -> dict[str, Following]:
    """By the id of each failure after which its skill worked again in the same conversation: what came in between.
    `rows` are in order of time."""
    found: dict[str, Following] = {}
    in_order = sorted(rows, key=lambda row: row["session_id"])  # stable: by time within each
    for _, group in groupby(in_order, key=lambda row: row["session_id"]):
        waiting: dict[str, list[tuple[Row, set[str]]]] = {}
        for row in group:
            name = row["skill_name"]
            if row["error_category"] is not None:
                waiting.setdefault(name, []).append((row, set()))
                continue
            for failure, between in waiting.pop(name, ()):
                is_same = row["input_hash"] is not None and failure["input_hash"] == row["input_hash"]
                found[failure["invocation_id"]] = Following(frozenset(between), is_same and not between)
            for failures in waiting.values():
                for _, between in failures:
                    between.add(name)
    return found


def remedy_of(evidence: Sequence[Evidence], shares: Mapping[str, float], settings: ConsolidationSettings) -> str | None:
    """What was called between failure and success after most failures, and far more often than it is called anyway;
    None where nothing was. `shares` are what each skill is of all calls."""
    counts = Counter(name for one in evidence for name in one.remedies)
    n_between = sum(counts.values()) / len(evidence)
    found = []
    for name, n in counts.items():
        share, by_chance = n / len(evidence), 1 - (1 - shares[name]) ** n_between
        if n >= MIN_REMEDIES and share >= settings.min_remedy_share and share >= settings.min_remedy_lift * by_chance:
            found.append((-share, name))
    return min(found)[1] if found else None


def told_and_seen(evidence: Sequence[Evidence], told: Collection[str]) -> str | None:
    """What others say has helped, and has helped here more than once, too, however often it is called otherwise."""
    counts = Counter(name for one in evidence for name in one.remedies if name in told)
    seen = [(-n, name) for name, n in counts.items() if n >= MIN_REMEDIES]
    return min(seen)[1] if seen else None
