"""What surrounded failures: what helped, what passed by itself, what was only the echo of another failure, and what
came in an outage."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from em_pipelines.lifecycle.consolidation.evidence import Evidence
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings

Row = Mapping[str, Any]
"""A row of skill_invocations."""
MIN_REMEDIES = 2
"""What helped once may have been called for something else."""
MIN_OF_OUTAGE, MIN_SOURCES_OF_OUTAGE = 4, 2
"""Calls of a skill, one after the other, and conversations in which they were made, of which none worked: from these
on it is an outage. Of the coincidences in six invented telemetries 43 came to half or more in such, of the lessons
one."""


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


def outages(calls: Sequence[Row]) -> dict[str, int]:
    """By the id of each failure that came in an outage the number of the outage: a run of calls, over several
    conversations, of which none worked. None where the skill hardly ever works. `calls` are all of the skill, in order
    of time."""
    found: dict[str, int] = {}
    if 2 * sum(call["error_category"] is None for call in calls) < len(calls):
        return found
    runs = (list(run) for has_failed, run in groupby(calls, key=_has_failed) if has_failed)
    for number, run in enumerate(runs):
        if len(run) >= MIN_OF_OUTAGE and len({call["session_id"] for call in run}) >= MIN_SOURCES_OF_OUTAGE:
            found |= dict.fromkeys((call["invocation_id"] for call in run), number)
    return found


def _has_failed(call: Row) -> bool:
    return call["error_category"] is not None


def once_an_outage(failed: Iterable[Row], of_outages: Mapping[str, int]) -> list[Row]:
    """The failures, of each outage the first alone: what came of one cause tells but once when things happen."""
    first: dict[object, Row] = {}
    for row in failed:
        first.setdefault(of_outages.get(row["invocation_id"], row["invocation_id"]), row)
    return list(first.values())
