"""Whether what was asked kept to the limits, counted from what was asked alone.

Shares nothing with the decision but the settings: a limit that the decision reads wrongly is counted rightly here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Asked:
    """One probe that was put to somebody: which, when, where, and what they said (accepted, ignored or deflected).
    `is_reported` says whether memory was told; `is_fitting` whether the conversation was on its topic."""

    target: str
    kind: str
    about: str
    at: datetime
    expires_at: datetime
    session_id: str
    turn_number: int
    is_group: bool
    is_fitting: bool
    answer: str
    is_reported: bool


def broken(asked: Sequence[Asked], zone: str, settings: ProactiveSettings) -> Counter[str]:
    """How many probes of one user broke which rule; `asked` in the order of time, in their zone."""
    found: Counter[str] = Counter()
    for place, one in enumerate(asked):
        before = asked[:place]
        found.update(_of_moment(one, zone, settings))
        found.update(_of_history(one, before, zone, settings))
    return found


def _of_moment(one: Asked, zone: str, settings: ProactiveSettings) -> list[str]:
    hour, begin, end = one.at.astimezone(ZoneInfo(zone)).hour, settings.quiet_from_hour, settings.quiet_until_hour
    quiet = set(range(begin, end)) if begin <= end else {*range(begin, 24), *range(end)}
    rules = {
        "expired": one.at >= one.expires_at,
        "group_conversation": one.is_group,
        "quiet_hours": hour in quiet,
        "too_early_in_conversation": one.turn_number < settings.min_turn,
        "context_mismatch": not one.is_fitting,
    }
    return [rule for rule, is_broken in rules.items() if is_broken]


def _of_history(one: Asked, before: Sequence[Asked], zone: str, settings: ProactiveSettings) -> list[str]:
    """Memory is held to what it was told: an answer that nobody reported cools nothing down."""
    today = one.at.astimezone(ZoneInfo(zone)).date()
    of_day = sum(other.at.astimezone(ZoneInfo(zone)).date() == today for other in before)
    of_week = [other for other in before if other.at > one.at - WEEK]
    told = [other for other in before if other.is_reported]
    n_deflected = sum(other.answer == "deflected" and other.at > one.at - WEEK for other in told)
    by = 2 if n_deflected > settings.max_deflected else 1
    days = {"ignored": settings.ignored_cooldown_days, "deflected": settings.deflected_cooldown_days}
    alike = [other for other in told if other.target == one.target or _is_like(other, one)]
    rules = {
        "per_conversation": sum(other.session_id == one.session_id for other in before)
        >= settings.max_per_conversation,
        "per_day": of_day >= max(1, settings.max_per_day // by),
        "per_week": len(of_week) >= max(1, settings.max_per_week // by),
        "cooldown": any(other.at + timedelta(days=days.get(other.answer, 0)) > one.at for other in alike),
    }
    return [rule for rule, is_broken in rules.items() if is_broken]


def _is_like(one: Asked, other: Asked) -> bool:
    return (one.about, one.kind) == (other.about, other.kind)


def most_in_a_week(asked: Sequence[Asked], n_deflected: int) -> int | None:
    """The most probes in any seven days after memory was told of the `n_deflected`th deflection; None before it."""
    told = [one.at for one in asked if one.is_reported and one.answer == "deflected"]
    if len(told) < n_deflected:
        return None
    later = [one.at for one in asked if one.at > told[n_deflected - 1]]
    return max((sum(at <= other < at + WEEK for other in later) for at in later), default=0)
