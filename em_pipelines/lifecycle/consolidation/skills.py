"""What skill invocations tell: failures, slow successes, ways that worked; and how each skill has fared."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, pairwise
from statistics import fmean
from typing import Any, TypedDict

from em_pipelines.lifecycle.consolidation.circumstances import (
    NOTHING,
    Following,
    Row,
    echoes,
    once_an_outage,
    outages,
    remedy_of,
    told_and_seen,
    what_followed,
)
from em_pipelines.lifecycle.consolidation.doubts import UNORDERED, of_failures, of_slow, spread
from em_pipelines.lifecycle.consolidation.evidence import (
    ANOMALY,
    FAILURE,
    PROCEDURE,
    STEP_MARK,
    Cluster,
    Evidence,
    category_key,
    clusters,
    words_of,
)
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.slowness import SLOW, condition_of, is_more_work, slow_calls, time_of

MAX_STEPS = 6
"""Skills of one way of doing something; a longer one is a day's work and no recipe."""
DEGRADING_FACTOR = 2.0
"""A skill is degrading where it fails this many times as often in the newer half of its calls as in the older."""
MIN_RECENT = 5
MOST_MODES = 50
"""Categories of errors of a skill that are looked at, the most frequent: where each error has its own they are none."""
Elsewhere = Mapping[tuple[str, str, str], frozenset[str]]
"""By user, words of the skill and category of the failure: skills of the user that others say have helped."""
NOWHERE: Elsewhere = {}


class Quiet(TypedDict):
    """What a Cluster knows of the time since its last occurrence."""

    n_calls_since: int
    quiet_hours: float


def clusters_of_skills(
    rows: Iterable[Row], settings: ConsolidationSettings, elsewhere: Elsewhere = NOWHERE
) -> list[Cluster]:
    """Everything that recurs in the invocations, for the gate to judge; `elsewhere` is what others say has helped."""
    found: list[Cluster] = []
    ordered = sorted(rows, key=lambda row: (row["user_id"], row["timestamp"], row["invocation_id"]))
    for _, group in groupby(ordered, key=lambda row: row["user_id"]):
        found += _of_user(list(group), settings, elsewhere)
    return found


def _of_user(rows: list[Row], settings: ConsolidationSettings, elsewhere: Elsewhere) -> list[Cluster]:
    rows = list({(r["session_id"], r["skill_name"], r["timestamp"], r["input_hash"], r["error_category"]): r
                 for r in reversed(rows)}.values())[::-1]  # fmt: skip
    by_skill: dict[str, list[Row]] = {}
    for row in rows:
        by_skill.setdefault(row["skill_name"], []).append(row)
    found = [cluster for calls in by_skill.values() if (cluster := _slow_cluster(calls, rows, settings))]
    failures = _failure_clusters(rows, by_skill, settings, elsewhere)
    remedies = {(one.session_id, name) for cluster in failures for one in cluster.evidence for name in one.remedies}
    return [*found, *failures, *_procedures(clusters(_ways(rows, remedies)), settings)]


def _procedures(ways: Sequence[list[Evidence]], settings: ConsolidationSettings) -> list[Cluster]:
    """Ways of doing something; in doubt where the same skills came in other orders as well."""
    n_of_skills = Counter[frozenset[str]]()
    for way in ways:
        n_of_skills[_skills_of(way)] += len(way)
    return [
        Cluster(
            way[0].user_id,
            PROCEDURE,
            way[0].component,
            way[0].key,
            tuple(way),
            doubts=(UNORDERED,) if len(way) < settings.min_order_share * n_of_skills[_skills_of(way)] else (),
        )
        for way in ways
    ]


def _skills_of(way: Sequence[Evidence]) -> frozenset[str]:
    return frozenset(way[0].key.split(STEP_MARK))


def _slow_cluster(calls: Sequence[Row], rows: Sequence[Row], settings: ConsolidationSettings) -> Cluster | None:
    """The slow successes of one skill; None without any."""
    slow = slow_calls(calls, settings)
    if not slow:
        return None
    condition, slow_ids = condition_of(slow, calls, rows, settings), {row["invocation_id"] for row in slow}
    others = [row for row in calls if row["error_category"] is None and row["invocation_id"] not in slow_ids]
    found = _evidence(slow[0], ANOMALY, SLOW)
    return Cluster(
        found.user_id,
        ANOMALY,
        found.component,
        SLOW,
        tuple(_evidence(row, ANOMALY, SLOW) for row in slow),
        doubts=of_slow(
            found.component,
            condition,
            [row["output_summary"] or "" for row in slow],
            is_more=is_more_work(slow, others),
        ),
        condition=condition,
        **_quiet(calls, slow[-1]["timestamp"], rows[-1]["timestamp"]),
    )


def _failure_clusters(
    rows: Sequence[Row],
    by_skill: Mapping[str, Sequence[Row]],
    settings: ConsolidationSettings,
    elsewhere: Elsewhere,
) -> list[Cluster]:
    failed = [row for row in rows if row["error_category"] is not None]
    after, echoed = what_followed(rows), echoes(rows)
    has_codes = 2 * sum(bool(row["exit_code"]) for row in failed) > len(failed)
    evidence = [
        replace(
            _failure(row, after.get(row["invocation_id"], NOTHING)),
            is_noted=has_codes and row["exit_code"] == 0,
            is_echo=row["invocation_id"] in echoed,
        )
        for row in failed
    ]
    shares = {name: len(calls) / len(rows) for name, calls in by_skill.items()}
    groups = [_with_remedy(group, shares, settings, elsewhere) for group in clusters(evidence)]
    return [
        cluster
        for name, of_skill in groupby(groups, key=lambda group: group[0].component)
        for cluster in _of_skill(list(of_skill), by_skill[name], rows[-1]["timestamp"], settings)
    ]


def _of_skill(
    groups: Sequence[list[Evidence]], calls: Sequence[Row], last_at: datetime, settings: ConsolidationSettings
) -> list[Cluster]:
    """The failures of one skill, a group a category, with the doubts about each."""
    by_id, of_outages = {call["invocation_id"]: call for call in calls}, outages(calls)
    is_retired = _is_retired(calls, last_at, settings)
    doubted = {}
    for group in groups:
        own = once_an_outage([by_id[one.evidence_id] for one in group], of_outages)
        own_doubts = of_failures(
            group,
            settings,
            is_timed=time_of(own, calls, settings) is not None,
            is_retired=is_retired,
            outage_share=sum(one.evidence_id in of_outages for one in group) / len(group),
        )
        doubted[group[0].key] = group, own_doubts
    doubts = spread(doubted, settings)
    return [_failure_cluster(group, calls, last_at, doubts[group[0].key]) for group in groups]


def _is_retired(calls: Sequence[Row], last_at: datetime, settings: ConsolidationSettings) -> bool:
    """Whether a skill has been left alone for long, and for many times as long as it ever was while it was used."""
    at: list[datetime] = [call["timestamp"] for call in calls]
    hours = [(later - earlier).total_seconds() / 3600 for earlier, later in pairwise(at)]
    quiet_hours = (last_at - at[-1]).total_seconds() / 3600
    return quiet_hours >= max(24 * settings.quiet_days, settings.retired_factor * max(hours, default=0.0))


def _failure_cluster(
    evidence: list[Evidence], calls: Sequence[Row], last_at: datetime, doubts: tuple[str, ...]
) -> Cluster:
    first, last = evidence[0], evidence[-1]
    return Cluster(
        first.user_id,
        FAILURE,
        first.component,
        first.key,
        tuple(evidence),
        doubts=doubts,
        **_quiet(calls, last.at, last_at),
    )


def _quiet(calls: Sequence[Row], seen_at: datetime, last_at: datetime) -> Quiet:
    """How long something has not been seen, in calls of its skill and in hours."""
    return {
        "n_calls_since": sum(call["timestamp"] > seen_at for call in calls),
        "quiet_hours": (last_at - seen_at).total_seconds() / 3600,
    }


def _with_remedy(
    evidence: list[Evidence], shares: Mapping[str, float], settings: ConsolidationSettings, elsewhere: Elsewhere
) -> list[Evidence]:
    """Failures with what helped in most cases alone, where anything did; else with what helped here and elsewhere."""
    first = evidence[0]
    others = elsewhere.get((first.user_id, category_key(first.component), first.key), frozenset())
    helped = remedy_of(evidence, shares, settings) or told_and_seen(evidence, others)
    kept = frozenset({helped}) if helped else frozenset()
    return [replace(one, remedies=one.remedies & kept) for one in evidence]


def _failure(row: Row, after: Following) -> Evidence:
    found = _evidence(row, FAILURE, category_key(row["error_category"]), row["output_summary"] or "")
    return replace(found, remedies=after.remedies, is_passing=after.is_passing, is_followed=after is not NOTHING)


def _evidence(row: Row, kind: str, key: str, message: str = "") -> Evidence:
    return Evidence(
        row["invocation_id"],
        row["user_id"],
        kind,
        row["skill_name"],
        key,
        row["session_id"],
        row["timestamp"],
        message,
        words_of(message),
        given=row["input_hash"],
    )


def _ways(rows: Sequence[Row], remedies: Collection[tuple[str, str]]) -> list[Evidence]:
    """Conversations in which several skills, one after the other, came to a good end: by their order and outcome.
    `remedies` are skills that mended a failure, by conversation: the experience of the failure says so already."""
    found = []
    in_order = sorted(rows, key=lambda row: row["session_id"])
    for session_id, group in groupby(in_order, key=lambda row: row["session_id"]):
        calls = list(group)
        good = (call["skill_name"] for call in calls if call["error_category"] is None)
        steps = [name for name, _ in groupby(name for name in good if (session_id, name) not in remedies)]
        if not 2 <= len(steps) <= MAX_STEPS or len(set(steps)) < len(steps):
            continue
        last = calls[-1]
        found.append(
            Evidence(
                last["invocation_id"], last["user_id"], PROCEDURE, steps[-1], STEP_MARK.join(steps), session_id,
                last["timestamp"], agrees=last["error_category"] is None,
            )
        )  # fmt: skip
    return found


def profiles(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """How each skill of each user has fared, in the columns of skill_profiles."""
    by_skill: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_skill.setdefault((row["user_id"], row["skill_name"]), []).append(row)
    return [_profile(user_id, name, calls) for (user_id, name), calls in sorted(by_skill.items())]


def _profile(user_id: str, name: str, calls: list[Row]) -> dict[str, Any]:
    calls.sort(key=lambda row: (row["timestamp"], row["invocation_id"]))
    failed = [row for row in calls if row["error_category"] is not None]
    times = sorted(row["duration_ms"] for row in calls if row["duration_ms"] is not None)
    costs = [row["cost_usd"] for row in calls if row["cost_usd"] is not None]
    last: datetime | None = max((row["timestamp"] for row in failed), default=None)
    return {
        "user_id": user_id,
        "skill_name": name,
        "n_invocations": len(calls),
        "success_share": 1 - len(failed) / len(calls),
        "p50_ms": _percentile(times, 0.50),
        "p99_ms": _percentile(times, 0.99),
        "mean_cost_usd": fmean(costs) if costs else 0.0,
        "failure_modes": _modes(failed),
        "last_failed_at": last,
        "is_degrading": _is_degrading(calls),
    }


def _modes(failed: Iterable[Row]) -> list[str]:
    """The most frequent categories."""
    counts = Counter(category_key(row["error_category"]) for row in failed)
    ordered = sorted(counts, key=lambda mode: (-counts[mode], mode))
    return ordered[:MOST_MODES]


def _percentile(values: Sequence[float], share: float) -> float:
    """The nearest rank; 0 of none."""
    return float(values[max(0, math.ceil(share * len(values)) - 1)]) if values else 0.0


def _is_degrading(calls: Sequence[Row]) -> bool:
    half = len(calls) // 2
    older, newer = calls[:half], calls[half:]
    if len(older) < MIN_RECENT:
        return False
    before, after = (sum(row["error_category"] is not None for row in part) / len(part) for part in (older, newer))
    return after >= DEGRADING_FACTOR * max(before, 1 / len(older)) and after > before
