"""When something is said: each reason against it by itself, and limits that hold whatever came before."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.lifecycle.proactive.delivery import (
    Outcome,
    Situation,
    Suppressed,
    acceptance,
    acceptance_of_kind,
    askings,
    decide,
    fits,
    limits_of,
    worth,
)
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

NOON = datetime(2026, 6, 10, 12, tzinfo=UTC)
CHOSEN = ProactiveSettings()
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def probe(**changed: Any) -> dict[str, Any]:
    return {
        "probe_id": "p1", "kind": "discovery", "context_tags": ["garden", "tomatoes"], "entity_id": "ent_1",
        "edge_id": None, "expires_at": NOON + 20 * DAY, "value": 0.5, **changed,
    }  # fmt: skip


def starter(**changed: Any) -> dict[str, Any]:
    return {
        "starter_id": "s1", "kind": "date", "context_tags": [], "edge_id": "edg_1", "expires_at": NOON + DAY, **changed,
    }  # fmt: skip


def outcome(said: str, ago: timedelta, target: str = "other", session: str | None = None, **more: Any) -> Outcome:
    return Outcome(target, more.pop("kind", "verification"), said, NOON - ago, session, more.pop("about", None))


def why_not(
    row: dict[str, Any], outcomes: Iterable[Outcome] = (), settings: ProactiveSettings = CHOSEN, **situation: Any
) -> tuple[Suppressed | None, datetime | None]:
    at = Situation(**{"now": NOON, "session_id": "here", "turn_number": 5, **situation})
    found = decide(row, at, list(outcomes), settings)
    return found.why_not, found.until


def test_nothing_speaks_against_it() -> None:
    assert why_not(probe()) == (None, None)
    assert why_not(probe(), context="When do I plant out the tomatoes?") == (None, None)
    assert why_not(probe(), session_id=None, turn_number=None) == (None, None)


def test_what_is_past_is_not_asked() -> None:
    assert why_not(probe(expires_at=NOON)) == (Suppressed.EXPIRED, None)


def test_nobody_is_asked_before_others() -> None:
    assert why_not(probe(), is_group=True) == (Suppressed.GROUP, None)


@pytest.mark.parametrize(("turn", "said"), [(0, False), (2, False), (3, True), (None, True)])
def test_the_first_turns_are_the_persons_own(turn: int | None, said: bool) -> None:
    assert (why_not(probe(), turn_number=turn)[0] is None) is said


def test_what_does_not_fit_the_conversation_waits() -> None:
    assert why_not(probe(), context="my tax return") == (Suppressed.CONTEXT_MISMATCH, None)


@pytest.mark.parametrize(
    ("tag", "context", "is_fitting"),
    [
        ("garden", "The gardens of Granada", True), ("party", "two parties", True), ("hike", "hiking boots", True),
        ("run", "the runway", False), ("cat", "a category", False), ("art", "start", False),
        ("allotment", "ALLOTMENT!", True), ("Dana", "dana's coming", True), ("plan", "planetarium", False),
    ],
)  # fmt: skip
def test_words_fit_but_for_their_endings(tag: str, context: str, is_fitting: bool) -> None:
    assert fits([tag], context) is is_fitting


def test_what_has_no_tags_fits_anywhere() -> None:
    assert fits([], "whatever")


@pytest.mark.parametrize(
    ("zone", "at", "until"),
    [
        ("UTC", "2026-06-10T22:00+00:00", "2026-06-11T08:00+00:00"),
        ("UTC", "2026-06-11T07:59+00:00", "2026-06-11T08:00+00:00"),
        ("UTC", "2026-06-11T08:00+00:00", None),
        ("UTC", "2026-06-10T21:59+00:00", None),
        ("Asia/Tokyo", "2026-06-10T12:00+00:00", None),
        ("Asia/Tokyo", "2026-06-10T13:00+00:00", "2026-06-10T23:00+00:00"),
        ("America/Lima", "2026-06-10T12:59+00:00", "2026-06-10T13:00+00:00"),
        # In the night of 29 March 2026 the clocks of Lisbon go from 01:00 to 02:00: eight o'clock is 07:00 UTC.
        ("Europe/Lisbon", "2026-03-29T00:30+00:00", "2026-03-29T07:00+00:00"),
    ],
)
def test_quiet_hours_are_those_of_the_user(zone: str, at: str, until: str | None) -> None:
    settings = ProactiveSettings(probe_days=90)
    now = datetime.fromisoformat(at)
    found = why_not(probe(expires_at=now + DAY), settings=settings, now=now, time_zone=zone)
    assert found == ((Suppressed.QUIET_HOURS, datetime.fromisoformat(until)) if until else (None, None))


def test_quiet_hours_may_lie_within_a_day_or_nowhere() -> None:
    siesta = ProactiveSettings(quiet_from_hour=12, quiet_until_hour=15)
    assert why_not(probe(), settings=siesta) == (Suppressed.QUIET_HOURS, NOON + 3 * HOUR)
    assert why_not(probe(), settings=siesta, now=NOON - HOUR)[0] is None
    assert why_not(probe(), settings=ProactiveSettings(quiet_from_hour=8, quiet_until_hour=8))[0] is None


def test_what_was_ignored_rests_a_week_and_what_was_turned_away_a_month() -> None:
    ignored = outcome("ignored", 2 * DAY, "p1")
    assert why_not(probe(), [ignored]) == (Suppressed.COOLDOWN, NOON + 5 * DAY)
    assert why_not(probe(), [outcome("ignored", 7 * DAY, "p1")])[0] is None
    deflected = outcome("deflected", 20 * DAY, "p1")
    assert why_not(probe(), [deflected]) == (Suppressed.COOLDOWN, NOON + 10 * DAY)


@pytest.mark.parametrize(("said", "days"), [("offered", 7), ("delivered", 7), ("accepted", 30)])
def test_what_was_put_to_them_elsewhere_rests_whatever_came_of_it(said: str, days: int) -> None:
    told = outcome(said, DAY, "p1", "there")
    assert why_not(probe(), [told]) == (Suppressed.COOLDOWN, NOON + (days - 1) * DAY)


def test_so_does_what_asks_the_same_of_the_same() -> None:
    like = outcome("deflected", 3 * DAY, "p2", about="ent_1", kind="discovery")
    assert why_not(probe(), [like])[0] is Suppressed.COOLDOWN
    assert why_not(probe(kind="refinement"), [like])[0] is None
    assert why_not(probe(entity_id="ent_2"), [like])[0] is None


def test_one_is_asked_in_a_conversation_and_the_same_is_offered_again() -> None:
    assert why_not(probe(), [outcome("offered", HOUR, "p2", "here")]) == (Suppressed.FREQUENCY_LIMIT, None)
    assert why_not(probe(), [outcome("offered", HOUR, "p1", "here")])[0] is None
    delivered = [outcome("offered", HOUR, "p1", "here"), outcome("delivered", HOUR, "p1", "here")]
    assert why_not(probe(), delivered) == (Suppressed.FREQUENCY_LIMIT, None)
    assert why_not(probe(), [outcome("offered", HOUR, "p2", "there")])[0] is None


def test_two_are_asked_in_a_day_of_the_user() -> None:
    two = [outcome("delivered", HOUR, "p2", "a"), outcome("accepted", 2 * HOUR, "p3", "b")]
    midnight = datetime(2026, 6, 11, tzinfo=UTC)
    assert why_not(probe(), two) == (Suppressed.FREQUENCY_LIMIT, midnight)
    # In Auckland, twelve hours ahead, one of them was yesterday, for it is midnight now.
    awake = ProactiveSettings(quiet_from_hour=8, quiet_until_hour=8)
    assert why_not(probe(), two, awake, time_zone="Pacific/Auckland")[0] is None


def test_five_are_asked_in_seven_days() -> None:
    five = [outcome("delivered", n * DAY, f"p{n + 2}", f"c{n}") for n in range(2, 7)]
    assert why_not(probe(), five) == (Suppressed.FREQUENCY_LIMIT, NOON + DAY)
    assert why_not(probe(), five[:-1])[0] is None


def test_one_question_counts_once_however_much_is_known_of_it() -> None:
    told = [outcome(said, n * HOUR, "p2", "a") for n, said in enumerate(("ignored", "delivered", "offered"))]
    assert askings(told) == [NOON - 2 * HOUR]
    of_no_conversation = [outcome("delivered", 3 * DAY, "p2"), outcome("accepted", 3 * DAY - HOUR, "p2")]
    assert askings(of_no_conversation) == [NOON - 3 * DAY]
    assert len(askings([*of_no_conversation, outcome("delivered", DAY, "p2")])) == 2
    offered = outcome("offered", 3 * HOUR, "p2", "a")
    assert askings([offered, outcome("accepted", HOUR, "p2")]) == [NOON - 3 * HOUR]
    assert len(askings([offered, outcome("delivered", 30 * HOUR, "p2")])) == 2


def test_more_than_three_turned_away_in_a_week_halve_the_limits() -> None:
    patient = ProactiveSettings(n_hostile=100, deflected_weight=0, ignored_weight=0)
    four = [outcome("deflected", n * DAY, f"p{n}") for n in range(1, 5)]
    assert (limits_of(four, NOON, patient).per_day, limits_of(four, NOON, patient).per_week) == (1, 2)
    assert limits_of(four[:3], NOON, patient).per_week == 5


def test_whoever_turns_three_away_is_asked_once_a_week_at_most() -> None:
    three = [outcome("deflected", n * 10 * DAY, f"p{n}") for n in range(1, 4)]
    found = limits_of(three, NOON, CHOSEN)
    assert found.per_week == 1
    assert found.apart >= 7 * DAY or found.apart == timedelta(0)
    thankful = [outcome("accepted", n * DAY, f"q{n}") for n in range(2, 8)]
    assert limits_of([*three, *thankful], NOON, CHOSEN).per_week > 1


def test_nobody_is_written_off_for_good() -> None:
    many = [outcome("deflected", n * DAY, f"p{n}") for n in range(1, 60)]
    assert limits_of(many, NOON, CHOSEN).apart == 28 * DAY
    assert why_not(probe(), [outcome("deflected", n * DAY, f"p{n}") for n in range(29, 90)])[0] is None


def test_what_is_expected_of_somebody_is_what_they_did() -> None:
    assert acceptance([], CHOSEN) == 0.5
    assert acceptance([outcome("accepted", DAY)] * 8, CHOSEN) == pytest.approx(9 / 10)
    assert acceptance([outcome("deflected", DAY)] * 3, CHOSEN) == pytest.approx(1 / 8)
    known = [outcome("accepted", DAY, kind="discovery")] * 4 + [outcome("deflected", DAY, kind="refinement")] * 2
    assert acceptance_of_kind(known, "discovery", CHOSEN) > 0.7
    assert acceptance_of_kind(known, "refinement", CHOSEN) < 0.3
    assert acceptance_of_kind(known, "verification", CHOSEN) == pytest.approx(acceptance(known, CHOSEN))


def test_openings_that_are_waved_off_come_after_others() -> None:
    dates, plans = starter(value=0.5), starter(starter_id="s9", kind="plan", value=0.5)
    assert worth(dates, [], CHOSEN) == worth(plans, [], CHOSEN)
    known = [outcome("engaged", n * DAY, f"d{n}", kind="date") for n in range(20, 24)]
    known += [outcome("dismissed", n * DAY, f"q{n}", kind="plan") for n in range(20, 23)]
    assert worth(dates, known, CHOSEN) > 2 * worth(plans, known, CHOSEN)
    # Openings say nothing of questions, nor questions of openings.
    assert worth(probe(), known, CHOSEN) == worth(probe(), [], CHOSEN)
    assert limits_of(known, NOON, CHOSEN) == limits_of([], NOON, CHOSEN)
    asked = [outcome("deflected", n * DAY, f"p{n}", kind="date") for n in range(3)]
    assert worth(dates, [*known, *asked], CHOSEN) == worth(dates, known, CHOSEN)


def test_a_starter_needs_no_conversation_and_has_limits_of_its_own() -> None:
    assert why_not(starter(), turn_number=0)[0] is None
    today = outcome("delivered", HOUR, "s2")
    assert why_not(starter(), [today])[0] is Suppressed.FREQUENCY_LIMIT
    dismissed = outcome("dismissed", 3 * DAY, "s1")
    assert why_not(starter(), [dismissed])[0] is Suppressed.COOLDOWN


SAID = st.sampled_from(["offered", "delivered", "accepted", "ignored", "deflected"])
STEPS = st.lists(
    st.tuples(
        st.integers(1, 60 * 24 * 3),  # minutes since the one before
        st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h"]),
        st.integers(0, 3),  # whether a new conversation begins
        SAID,
        st.sampled_from(["discovery", "verification"]),
    ),
    max_size=120,
)


@given(STEPS, st.sampled_from(["UTC", "Asia/Tokyo", "America/Lima"]))
def test_whatever_comes_no_limit_is_broken(steps: list[tuple[int, str, int, str, str]], zone: str) -> None:
    """Asks wherever it may, whatever is answered, and counts anew what was asked."""
    now, session, known, asked = NOON, 0, [], []
    for minutes, target, begins, said, kind in steps:
        now += timedelta(minutes=minutes)
        session += begins == 0
        situation = Situation(now, f"c{session}", 4, time_zone=zone)
        row = probe(probe_id=target, kind=kind, entity_id=None, expires_at=now + DAY)
        if decide(row, situation, known, CHOSEN).is_said:
            is_again = asked and asked[-1][1:] == (target, session)
            known.append(Outcome(target, kind, said, now, f"c{session}"))
            if not is_again:
                asked.append((now, target, session))
    sessions = [session for _, _, session in asked]
    assert len(sessions) == len(set(sessions))
    for at, _, _ in asked:
        assert sum(at - timedelta(days=7) < other <= at for other, _, _ in asked) <= CHOSEN.max_per_week
    assert not any(later - earlier < timedelta(0) for (earlier, *_), (later, *_) in pairwise(asked))


@given(st.lists(st.tuples(SAID, st.integers(0, 200)), max_size=30), st.integers(1, 170))
def test_one_more_turned_away_never_allows_more(told: list[tuple[str, int]], ago: int) -> None:
    known = [outcome(said, n * DAY, f"p{n}") for said, n in told]
    before, after = (limits_of(told, NOON, CHOSEN) for told in (known, [*known, outcome("deflected", ago * DAY)]))
    assert after.per_week <= before.per_week
    assert after.per_day <= before.per_day
    assert after.apart >= before.apart


@given(st.lists(st.tuples(SAID, st.integers(0, 400)), max_size=20), st.randoms())
def test_the_order_in_which_it_is_known_changes_nothing(told: list[tuple[str, int]], random: Any) -> None:
    known = [outcome(said, n * HOUR, f"p{n % 5}", f"c{n % 7}") for said, n in told]
    shuffled = list(known)
    random.shuffle(shuffled)
    assert why_not(probe(), known) == why_not(probe(), shuffled)
