"""Facts of any day, asked of one snapshot, against what the engine gives from the state of that day."""

from datetime import date, timedelta

import pytest

USERS = ("ada", "mirela", "tobias")
DAYS = [date(2026, 9, 24) + timedelta(days=n) for n in (0, 9, 18, 27, 38, 60, 200)]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_facts_as_of_a_day_are_those_of_the_engine(snapshot, examples, by_engine, by_macro, user, day) -> None:
    assert by_macro(snapshot, "facts_as_of", user, day) == by_engine(examples, user, day)
    everything = by_engine(examples, user, day, is_all=True)
    assert everything
    assert by_macro(snapshot, "facts_in_every_status", user, day, day) == everything


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(("day", "known"), [(DAYS[1], DAYS[4]), (DAYS[3], DAYS[1]), (DAYS[2], DAYS[2])], ids=str)
def test_facts_as_known_on_another_day_are_those_of_the_engine(
    snapshot, examples, by_engine, by_macro, user, day, known
) -> None:
    wanted = by_engine(examples, user, day, known_at=known)
    assert wanted
    assert by_macro(snapshot, "facts_known_at", user, day, known) == wanted


def test_nobody_stands_for_everybody(snapshot, by_macro) -> None:
    day = DAYS[3]
    each = [by_macro(snapshot, "facts_as_of", user, day) for user in USERS]
    assert by_macro(snapshot, "facts_as_of", None, day) == {**each[0], **each[1], **each[2]}


@pytest.mark.parametrize("user", ["nobody", "", "' OR true --", "../mirela", "mirela\0", "x" * 10_000])
def test_somebody_unknown_has_no_facts(snapshot, by_macro, user) -> None:
    assert by_macro(snapshot, "facts_as_of", user, DAYS[3]) == {}
