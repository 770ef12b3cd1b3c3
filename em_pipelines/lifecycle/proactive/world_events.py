"""Which world event is for whom: by place, time and topic of what somebody plans, likes or lives at.

An event is for a user where one of three rules holds; one common word is never enough.

- **A plan's place**: the event is at the place of a plan, and the plan has no day, or one within `plan_slack_days`.
- **An interest**: a topic of the event is, but for the endings, the whole name of something that the user likes, does,
  uses or works on; an event with a place has to be at a place of the user's as well.
- **A warning at home**: a topic says that it concerns whoever is there (URGENT), and the user lives or works there.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from em_pipelines.guard.injection import is_quarantined
from em_pipelines.guard.screening import withheld_in
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.masking import mask_text
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.proactive.delivery import stems

URGENT = frozenset({"weather warning", "storm", "flood", "high water", "strike", "ferry strike", "closure", "outage",
                    "evacuation", "recall", "heat wave", "engineering works"})  # fmt: skip
MAX_TITLE_CHARACTERS = 110
"""What leaves room for the rest of a starter."""
MAX_EVENTS_A_USER = 3
"""Of one table: who is told of one thing a day has no use for more, and an event may concern a whole town."""
_LINKS = ("http", "www.", "://", "<", ">", "[", "]", "`", "{", "}")


@dataclass(frozen=True, slots=True)
class Concern:
    """Something of a user that an event may touch: `role` is plan, interest or home; `place` is the name by which its
    place is compared, where it has one; `on` the day of a plan."""

    user_id: str
    edge_id: str
    role: str
    name: str
    place: str | None
    on: date | None
    importance: float


@dataclass(frozen=True, slots=True)
class Match:
    """An event that is for a user, by which occasion, and what it touches."""

    template: str
    event: Mapping[str, Any]
    concern: Concern


def sayable(title: str) -> bool:
    """Whether a title may be said as it is: somebody unknown has written it."""
    return (
        0 < len(title) <= MAX_TITLE_CHARACTERS
        and clean_text(title) == title
        and not any(mark in title.casefold() for mark in _LINKS)
        and mask_text(title) == title
        and not is_quarantined(title)
        and not withheld_in(title)
    )


def matches(events: Iterable[Mapping[str, Any]], concerns: Iterable[Concern], slack: timedelta) -> list[Match]:
    """Every event that is for a user, once a user, by the rule that is worth most; of many the MAX_EVENTS_A_USER that
    were told of last. Concerns are looked up by place and by the stems of their names, so that the work is in
    proportion to the two lists and not to their product."""
    by_place: dict[tuple[str, str], list[Concern]] = {}
    by_name: dict[frozenset[str], list[Concern]] = {}
    places: dict[str, set[str]] = {}
    for one in concerns:
        if one.place:
            by_place.setdefault((one.role, one.place), []).append(one)
            places.setdefault(one.user_id, set()).add(one.place)
        if one.role != "home" and (key := stems(one.name)):
            by_name.setdefault(frozenset(key), []).append(one)
    found = []
    n_told: Counter[str] = Counter()
    for event in sorted(events, key=lambda one: (one["timestamp"], one["world_event_id"]), reverse=True):
        if not sayable(event["title"]):
            continue
        told: set[str] = set()
        for match in _matches_of(event, by_place, by_name, places, slack):
            user_id = match.concern.user_id
            if user_id not in told and n_told[user_id] < MAX_EVENTS_A_USER:
                told.add(user_id)
                n_told[user_id] += 1
                found.append(match)
    return found


def _matches_of(
    event: Mapping[str, Any],
    by_place: Mapping[tuple[str, str], list[Concern]],
    by_name: Mapping[frozenset[str], list[Concern]],
    places: Mapping[str, set[str]],
    slack: timedelta,
) -> Iterable[Match]:
    place = name_key(event["place"]) if event["place"] else None
    topics = [topic for topic in event["topics"] if topic.strip()]
    if place and any(topic.casefold() in URGENT for topic in topics):
        yield from (Match("warning_at_home", event, one) for one in by_place.get(("home", place), ()))
    if place:
        for one in by_place.get(("plan", place), ()):
            is_then = one.on is None or event["happens_on"] is None or abs(one.on - event["happens_on"]) <= slack
            if is_then:
                yield Match("event_of_plan", event, one)
    for topic in topics:
        for one in by_name.get(frozenset(stems(topic)), ()):
            if place is None or place in places.get(one.user_id, ()):
                yield Match("event_of_interest", event, one)
