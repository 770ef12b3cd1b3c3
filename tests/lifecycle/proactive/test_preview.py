"""The calendar of what would be asked: within every limit, by day, in the user's zone."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from em_pipelines.lifecycle.proactive.delivery import Situation
from em_pipelines.lifecycle.proactive.preview import preview
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CHOSEN = ProactiveSettings()


def waiting(n: int, **changes: object) -> dict[str, object]:
    row = {"probe_id": f"probe_{n}", "kind": "discovery", "entity_id": f"ent_{n}", "edge_id": None}
    times = {"generated_at": NOON - timedelta(days=1), "expires_at": NOON + timedelta(days=30)}
    return {**row, **times, "value": 0.9 - n / 100, "context_tags": [], **changes}


def test_a_calendar_keeps_the_limits_and_the_quiet_hours_of_the_zone() -> None:
    zone = ZoneInfo("Asia/Tokyo")
    found = preview([waiting(n) for n in range(8)], Situation(NOON, time_zone="Asia/Tokyo"), [], CHOSEN, 14)
    assert found
    hours = {one.at.astimezone(zone).hour for one in found}
    assert min(hours) >= CHOSEN.quiet_until_hour
    assert max(hours) < CHOSEN.quiet_from_hour
    assert max(Counter(one.at.astimezone(zone).date() for one in found).values()) <= CHOSEN.max_per_day
    for one in found:
        assert sum(one.at - timedelta(days=7) < other.at <= one.at for other in found) <= CHOSEN.max_per_week
    assert found[0].row["probe_id"] == "probe_0", "what is worth most comes first"


def test_what_was_not_answered_comes_again_after_its_cooldown_and_not_once_it_has_expired() -> None:
    (row,) = [waiting(0, expires_at=NOON + timedelta(days=10))]
    asked = [one.at for one in preview([row], Situation(NOON), [], CHOSEN, 30)]
    assert len(asked) == 2
    assert asked[1] - asked[0] >= timedelta(days=CHOSEN.ignored_cooldown_days)


def test_nothing_is_asked_before_its_cause_or_where_the_context_is_another() -> None:
    later = waiting(0, generated_at=NOON + timedelta(days=3))
    assert preview([later], Situation(NOON), [], CHOSEN, 2) == []
    assert preview([waiting(0, context_tags=["cooking"])], Situation(NOON, context="my car"), [], CHOSEN, 2) == []
