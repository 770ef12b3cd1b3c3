"""Whether something may be said now: a pure function of what waits, the situation and what was said before.

The reasons against are looked at in the order of `Suppressed`, and the first that holds is told: what no waiting would
mend first, then what an hour or another conversation would, then what days would. docs/delivery.md has the table.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import Stemmer

from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

WEEK = timedelta(days=7)
ASKED = frozenset({"offered", "delivered", "accepted", "ignored", "deflected"})
"""What says of a probe that it was put to somebody: what was handed out counts, for nobody knows what became of it."""
SAID = frozenset({"offered", "delivered", "engaged", "dismissed"})
"""The same of a starter."""
TAKEN, TURNED_AWAY = frozenset({"accepted", "engaged"}), frozenset({"deflected", "dismissed"})
WORD = re.compile(r"\w+")
REPEATED = 0.5
"""What is left of the worth of saying something with each time that it was said before."""
MIN_LETTERS = 3
"""Letters of a word that says what something is about."""
EMPTY_WORDS = frozenset(
    [
        "and",
        "are",
        "but",
        "for",
        "from",
        "her",
        "his",
        "its",
        "not",
        "our",
        "she",
        "that",
        "the",
        "their",
        "they",
        "this",
        "was",
        "with",
        "you",
        "your",
    ]
)
"""Words of that length that stand in tags and say nothing."""


class Suppressed(StrEnum):
    """Why something is not said now."""

    EXPIRED = "expired"
    GROUP = "group_conversation"
    QUIET_HOURS = "quiet_hours"
    TOO_EARLY = "too_early_in_conversation"
    CONTEXT_MISMATCH = "context_mismatch"
    COOLDOWN = "cooldown_active"
    FREQUENCY_LIMIT = "frequency_limit"


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of the moment. `session_id` and `turn_number` (from 0, one a message) are None where nobody says in
    which conversation, or how far into it; `context` is what it is about, None where nobody says; `time_zone` is the
    user's, by its IANA name."""

    now: datetime
    session_id: str | None = None
    turn_number: int | None = None
    is_group: bool = False
    context: str | None = None
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of something that was said or offered: `said` is offered, delivered, accepted, ignored or deflected of
    a probe; offered, delivered, engaged or dismissed of a starter. `kind` is that of the probe or starter, `about` the
    entity or fact that it is about, where that is known."""

    target: str
    kind: str
    said: str
    at: datetime
    session_id: str | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether something is said now; if not, why, and from when on that reason would no longer hold, where that is
    known."""

    target: str
    why_not: Suppressed | None
    until: datetime | None = None

    @property
    def is_said(self) -> bool:
        """Whether nothing speaks against it."""
        return self.why_not is None


@dataclass(frozen=True, slots=True)
class Limits:
    """How often somebody may be asked: so many a day of theirs, so many in any seven days, and so much time between
    two."""

    per_day: int
    per_week: int
    apart: timedelta


def decide(
    waiting: Mapping[str, Any], situation: Situation, outcomes: Sequence[Outcome], settings: ProactiveSettings
) -> Decision:
    """Whether one probe or starter (a row of its table) is said now, as things stand with its user.

    `outcomes` are all that is known of what was said to the user, in any order. Raises ZoneInfoNotFoundError where the
    time zone of the situation is none.
    """
    is_probe = "probe_id" in waiting
    target = waiting["probe_id"] if is_probe else waiting["starter_id"]
    own = [one for one in outcomes if one.at <= situation.now]
    for why_not, until in _objections(waiting, target, situation, own, settings):
        return Decision(target, why_not, until)
    return Decision(target, None)


def limits_of(outcomes: Iterable[Outcome], now: datetime, settings: ProactiveSettings) -> Limits:
    """How often the user may be asked a probe, by how they have answered.

    More than `max_deflected` deflected in seven days halve the limits. Whoever deflected `n_hostile` or more within
    `prior_days`, and accepted no more than that, is asked once a week at most. Below the share of acceptances that is
    expected of somebody unknown the weekly limit falls in proportion (`acceptance`); below one a week it becomes a
    distance in days, of `max_apart_days` at most, so that nobody is written off for good.
    """
    since = now - timedelta(days=settings.prior_days)
    known = [one for one in outcomes if since < one.at <= now and one.said in ASKED]
    share = min(1.0, acceptance(known, settings) / _expected(settings))
    n_recent = sum(one.said == "deflected" and one.at > now - WEEK for one in known)
    halved = 2 if n_recent > settings.max_deflected else 1
    per_day, per_week = settings.max_per_day // halved, settings.max_per_week // halved
    if settings.max_per_day:
        per_day = max(1, per_day)
    n_deflected = sum(one.said == "deflected" for one in known)
    n_accepted = sum(one.said == "accepted" for one in known)
    allowed = min(settings.max_per_week * share, per_week)
    if n_deflected >= settings.n_hostile and n_deflected >= n_accepted:
        allowed = min(allowed, 1.0)
    if allowed >= 1 or not settings.max_per_week:
        return Limits(per_day, int(allowed), timedelta(0))
    apart = min(WEEK / allowed if allowed else timedelta.max, timedelta(days=settings.max_apart_days))
    return Limits(min(per_day, 1), 1, max(apart, WEEK))


def acceptance(outcomes: Iterable[Outcome], settings: ProactiveSettings) -> float:
    """The share of probes or starters that the user is expected to take up, 0 to 1: the mean of a Beta distribution
    that begins at `prior_accepted` and `prior_refused` and has each answer added, one that was turned away as
    `deflected_weight` of them, one that was ignored as `ignored_weight`."""
    said = [one.said for one in outcomes]
    good = settings.prior_accepted + sum(one in TAKEN for one in said)
    bad = (
        settings.prior_refused
        + settings.deflected_weight * sum(one in TURNED_AWAY for one in said)
        + settings.ignored_weight * said.count("ignored")
    )
    return good / (good + bad)


def acceptance_of_kind(outcomes: Sequence[Outcome], kind: str, settings: ProactiveSettings) -> float:
    """The same for one kind: it begins at what is expected of the user on the whole, with the same weight."""
    of_user = acceptance(outcomes, settings)
    weight = settings.prior_accepted + settings.prior_refused
    learned = settings.model_copy(update={"prior_accepted": weight * of_user, "prior_refused": weight * (1 - of_user)})
    return acceptance([one for one in outcomes if one.kind == kind], learned)


def worth(waiting: Mapping[str, Any], outcomes: Sequence[Outcome], settings: ProactiveSettings) -> float:
    """What saying it is worth among all that waits, 0 to 1: its value, times how likely the user is to take its kind,
    and half of that for each conversation in which it was said before, so that what is new comes first. Of a probe the
    answers to probes count, of a starter what became of starters."""
    is_probe = "probe_id" in waiting
    target = waiting["probe_id"] if is_probe else waiting["starter_id"]
    n_before = len({one.session_id for one in outcomes if one.target == target})
    alike = [one for one in outcomes if one.said in (ASKED if is_probe else SAID)]
    return float(waiting["value"] * acceptance_of_kind(alike, waiting["kind"], settings) * REPEATED**n_before)


def _expected(settings: ProactiveSettings) -> float:
    """Of somebody who has answered nothing yet."""
    return settings.prior_accepted / (settings.prior_accepted + settings.prior_refused)


def _objections(
    waiting: Mapping[str, Any],
    target: str,
    situation: Situation,
    outcomes: Sequence[Outcome],
    settings: ProactiveSettings,
) -> Iterator[tuple[Suppressed, datetime | None]]:
    """Everything that speaks against saying it now, in order."""
    is_probe = "probe_id" in waiting
    if waiting["expires_at"] <= situation.now:
        yield Suppressed.EXPIRED, None
    if situation.is_group:
        yield Suppressed.GROUP, None
    if until := _quiet_until(situation, settings):
        yield Suppressed.QUIET_HOURS, until
    if is_probe and situation.turn_number is not None and situation.turn_number < settings.min_turn:
        yield Suppressed.TOO_EARLY, None
    if situation.context is not None and not fits(waiting["context_tags"], situation.context):
        yield Suppressed.CONTEXT_MISMATCH, None
    if until := _cooled_down_at(waiting, target, situation, outcomes, settings):
        yield Suppressed.COOLDOWN, until
    is_too_often, until = _frequency(target, situation, outcomes, settings, is_probe=is_probe)
    if is_too_often:
        yield Suppressed.FREQUENCY_LIMIT, until


def fits(tags: Iterable[str], context: str) -> bool:
    """Whether a telling word of one of the tags is a word of the context, but for its ending (Porter's second stemmer).
    Where no tag has one any context fits."""
    wanted = {stem for tag in tags for stem in stems(tag)}
    return not wanted or not wanted.isdisjoint(stems(context))


def stems(text: str) -> set[str]:
    """The stems of the telling words of a text."""
    words = WORD.findall(text.casefold())
    return {_stem(word) for word in words if len(word) >= MIN_LETTERS and word not in EMPTY_WORDS}


@lru_cache(maxsize=4_096)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def _quiet_until(situation: Situation, settings: ProactiveSettings) -> datetime | None:
    """When the quiet hours end that it is in; None outside of them, and where they begin as they end."""
    begin, end = settings.quiet_from_hour, settings.quiet_until_hour
    here = situation.now.astimezone(ZoneInfo(situation.time_zone))
    is_over_midnight = begin > end
    is_late, is_early = here.hour >= begin, here.hour < end
    is_quiet = (is_late or is_early) if is_over_midnight else (is_late and is_early)
    if not is_quiet:
        return None
    day = here.date() + timedelta(days=1 if is_over_midnight and is_late else 0)
    return _at(day, time(end), situation)


def _at(day: date, hour: time, situation: Situation) -> datetime:
    """An hour of a day of the user, in the zone of the situation's own instant."""
    return datetime.combine(day, hour, ZoneInfo(situation.time_zone)).astimezone(situation.now.tzinfo)


def _cooled_down_at(
    waiting: Mapping[str, Any],
    target: str,
    situation: Situation,
    outcomes: Iterable[Outcome],
    settings: ProactiveSettings,
) -> datetime | None:
    """When it may be said again: after it was said itself, or another of its kind about the same was not welcome. What
    was put to somebody and not heard of since was ignored, for all that anybody knows; in the conversation at hand it
    may still be answered."""
    about = waiting.get("entity_id") or waiting.get("edge_id")
    short, long = (timedelta(days=n) for n in (settings.ignored_cooldown_days, settings.deflected_cooldown_days))
    rest = {"ignored": short, "deflected": long, "dismissed": long}
    rest_of_itself = rest | {"offered": short, "delivered": short, "accepted": long, "engaged": long}
    ends = []
    for one in outcomes:
        is_here = one.session_id is not None and one.session_id == situation.session_id
        if one.target == target and not (is_here and one.said in ("offered", "delivered")):
            ends.append(one.at + rest_of_itself[one.said])
        elif about is not None and one.about == about and one.kind == waiting["kind"] and one.said in rest:
            ends.append(one.at + rest[one.said])
    end = max(ends, default=situation.now)
    return end if end > situation.now else None


def _frequency(
    target: str, situation: Situation, outcomes: Sequence[Outcome], settings: ProactiveSettings, *, is_probe: bool
) -> tuple[bool, datetime | None]:
    """Whether a limit holds, and from when on it does not; None where another conversation is what is wanted. What was
    offered in this very conversation, and nobody has heard of since, is offered again: it counts once."""
    limits = (
        limits_of(outcomes, situation.now, settings)
        if is_probe
        else Limits(settings.max_starters_per_day, settings.max_starters_per_week, timedelta(0))
    )
    counted = [one for one in outcomes if one.said in (ASKED if is_probe else SAID)]
    here = [one for one in counted if one.session_id is not None and one.session_id == situation.session_id]
    if {one.said for one in here if one.target == target} == {"offered"}:
        return False, None
    if is_probe and len({one.target for one in here}) >= settings.max_per_conversation:
        return True, None
    until = _free_at(askings(counted), situation, limits)
    return until is not None, until


def askings(outcomes: Iterable[Outcome]) -> list[datetime]:
    """When something was said, in order: once for each target and conversation, at the first that is known of it. What
    names no conversation is of the one in which the same was said within a day of it, or else of one of its own."""
    by_target: dict[str, list[Outcome]] = {}
    for one in outcomes:
        by_target.setdefault(one.target, []).append(one)
    found: list[datetime] = []
    for told in by_target.values():
        first: dict[str, datetime] = {}
        for one in told:
            if one.session_id is not None:
                first[one.session_id] = min(one.at, first.get(one.session_id, one.at))
        instants = list(first.values())
        for at in sorted(one.at for one in told if one.session_id is None):
            if not any(abs(at - known) <= timedelta(days=1) for known in instants):
                instants.append(at)
        found += instants
    return sorted(found)


def _free_at(asked: Sequence[datetime], situation: Situation, limits: Limits) -> datetime | None:
    """The earliest instant at which no limit holds that holds now; None where none does."""
    zone, now = ZoneInfo(situation.time_zone), situation.now
    today = now.astimezone(zone).date()
    ends = []
    if sum(at.astimezone(zone).date() == today for at in asked) >= limits.per_day:
        ends.append(_at(today + timedelta(days=1), time(0), situation))
    of_week = [at for at in asked if at > now - WEEK]
    if len(of_week) >= limits.per_week:
        ends.append((of_week[-limits.per_week] if limits.per_week else now) + WEEK)
    if asked and limits.apart and now < asked[-1] + limits.apart:
        ends.append(asked[-1] + limits.apart)
    return max(ends, default=None)
