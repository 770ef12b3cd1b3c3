"""The simulation of asking: limits hold, breaches are seen, and the same seed gives the same."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from em_pipelines.evaluation.proactive import (
    Course,
    Person,
    asked_at_random,
    asked_by_decision,
    people,
    simulate,
)
from em_pipelines.evaluation.proactive_audit import Asked, broken, most_in_a_week
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

CHOSEN = ProactiveSettings()
NOON = datetime.fromisoformat("2026-06-10T12:00:00+00:00")
DAY = timedelta(days=1)


def asked(place: int, at: datetime, **changed: object) -> Asked:
    one = Asked(
        f"p{place}", "discovery", f"a{place}", at, at + DAY, f"s{place}", 5, is_group=False, is_fitting=True,
        answer="accepted", is_reported=True,
    )  # fmt: skip
    return replace(one, **changed)  # type: ignore[arg-type]


def test_no_limit_is_broken_and_the_same_seed_gives_the_same() -> None:
    found = simulate(14, 21, 3, CHOSEN)
    assert found.failures == []
    assert sum(ways["decided"].n_asked for ways in found.by_habit.values()) > 0
    assert found.as_document() == simulate(14, 21, 3, CHOSEN).as_document()
    assert found.as_document() != simulate(14, 21, 4, CHOSEN).as_document()


def test_a_decision_that_keeps_no_limit_is_found_out() -> None:
    def careless(person: Person, seed: int, settings: ProactiveSettings) -> Course:
        return asked_at_random(person, 60, seed, settings, is_moved=False)

    found = simulate(20, 21, 3, CHOSEN, careless)
    rules = {
        "group_conversation", "quiet_hours", "too_early_in_conversation", "context_mismatch", "per_conversation",
        "per_day", "per_week", "cooldown",
    }  # fmt: skip
    assert rules <= set(found.broken)
    assert (found.hostile_week or 0) > 1
    assert len(found.failures) > len(rules)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"expires_at": NOON}, "expired"), ({"is_group": True}, "group_conversation"),
        ({"turn_number": 2}, "too_early_in_conversation"), ({"is_fitting": False}, "context_mismatch"),
        ({"at": NOON + 10 * DAY / 24, "expires_at": NOON + DAY}, "quiet_hours"),
    ],
)  # fmt: skip
def test_the_audit_sees_what_is_out_of_place(changed: dict[str, object], rule: str) -> None:
    assert broken([asked(1, NOON)], "UTC", CHOSEN) == {}
    assert broken([replace(asked(1, NOON), **changed)], "UTC", CHOSEN) == {rule: 1}  # type: ignore[arg-type]


def test_the_audit_counts_conversations_days_and_weeks() -> None:
    hour = DAY / 24
    assert broken([asked(n, NOON + n * hour) for n in range(2)], "UTC", CHOSEN) == {}
    assert broken([asked(n, NOON + n * hour) for n in range(3)], "UTC", CHOSEN) == {"per_day": 1}
    assert broken([asked(n, NOON + n * DAY) for n in range(5)], "UTC", CHOSEN) == {}
    assert broken([asked(n, NOON + n * DAY) for n in range(6)], "UTC", CHOSEN) == {"per_week": 1}
    together = [asked(n, NOON + n * hour, session_id="s") for n in range(2)]
    assert broken(together, "UTC", CHOSEN) == {"per_conversation": 1}


@pytest.mark.parametrize(("answer", "days"), [("ignored", 7), ("deflected", 30)])
def test_the_audit_sees_what_is_asked_too_soon_again(answer: str, days: int) -> None:
    first = asked(1, NOON, answer=answer)
    for ago, n_broken in ((days, 0), (days - 1, 1)):
        again = asked(1, NOON + ago * DAY, session_id="other")
        like = replace(again, target="p2")
        assert broken([first, again], "UTC", CHOSEN)["cooldown"] == n_broken
        assert broken([first, like], "UTC", CHOSEN)["cooldown"] == n_broken
    unheard = replace(first, is_reported=False)
    assert broken([unheard, asked(1, NOON + DAY, session_id="other")], "UTC", CHOSEN) == {}


def test_the_audit_halves_limits_after_four_deflections() -> None:
    four = [asked(n, NOON + n * DAY, answer="deflected") for n in range(4)]
    assert broken(four, "UTC", CHOSEN) == {}
    assert broken([*four, asked(5, NOON + 4 * DAY)], "UTC", CHOSEN) == {"per_week": 1}


def test_weeks_are_any_seven_days_after_the_third_deflection() -> None:
    three = [asked(n, NOON + n * DAY, answer="deflected") for n in range(3)]
    assert most_in_a_week(three[:2], 3) is None
    assert most_in_a_week(three, 3) == 0
    later = [asked(n, NOON + n * DAY) for n in (9, 16)]
    assert most_in_a_week([*three, *later], 3) == 1
    assert most_in_a_week([*three, *later, asked(15, NOON + 15 * DAY)], 3) == 2


def test_a_person_is_asked_only_what_waits() -> None:
    for person in people(6, 30, 5, CHOSEN):
        gaps = {gap.probe_id: gap for gap in person.gaps}
        for one in asked_by_decision(person, 5, CHOSEN).asked:
            assert gaps[one.target].arises_at <= one.at < gaps[one.target].expires_at


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 21])
def test_two_hundred_people_over_ninety_days(seed: int) -> None:
    found = simulate(200, 90, seed, CHOSEN)
    assert found.failures == []
    assert found.hostile_week == 1
    for habit, ways in found.by_habit.items():
        shares = {way: figures.as_document()["closable_closed_share"] for way, figures in ways.items()}
        assert habit == "hostile" or shares["decided"] > shares["random"], habit
