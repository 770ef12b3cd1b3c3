"""Facts of any day, asked of one snapshot, against what the engine gives from the state of that day."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from em_pipelines.evaluation import journeys
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.snapshot import publish
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

JOURNEYS = Path(journeys.__file__).parent / "corpora" / "journeys"

USERS = ("ada", "mirela", "tobias")
DAYS = [date(2026, 9, 24) + timedelta(days=n) for n in (0, 9, 18, 27, 38, 60, 200)]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    "day", [pytest.param(day, marks=() if day == DAYS[3] else pytest.mark.slow) for day in DAYS], ids=str
)
def test_facts_as_of_a_day_are_those_of_the_engine(snapshot, examples, by_engine, by_macro, user, day) -> None:
    assert by_macro(snapshot, "facts_as_of", user, day) == by_engine(examples, user, day)
    everything = by_engine(examples, user, day, is_all=True)
    assert everything
    assert by_macro(snapshot, "facts_in_every_status", user, day, day) == everything


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("day", "known"),
    [
        (DAYS[1], DAYS[4]),
        pytest.param(DAYS[3], DAYS[1], marks=pytest.mark.slow),
        pytest.param(DAYS[2], DAYS[2], marks=pytest.mark.slow),
    ],
    ids=str,
)
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


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A beekeeper who corrects, and namesakes at a theatre, with facts that fade by half-lives."""
    home = Pipeline(load_settings(home=tmp_path_factory.mktemp("corrected"), decay={"curve": "exponential"}))
    logs = [JOURNEYS / f"{name}.jsonl" for name in ("beekeeper_corrections", "theatre_namesakes")]
    land(logs, home.store.log, now=datetime(2027, 1, 1, tzinfo=UTC), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    return home


@pytest.mark.slow
def test_corrections_merges_and_splits_are_known_from_their_day_on(corrected, by_engine, by_macro, tmp_path) -> None:
    days = corrected.store.lake.days(EDGES)
    asked = [(days[at], days[known]) for at, known in product(range(0, len(days), 5), (0, len(days) // 2, -1))]
    path = publish(corrected.store, tmp_path, corrected.time_rules).path
    with connect(str(path), is_read_only=True) as connection:
        users = [user for (user,) in connection.execute("SELECT user_id FROM users").fetchall()]
        assert len(users) == 2
        for user, (day, known) in product(users, asked):
            wanted = by_engine(corrected, user, day, known_at=known)
            assert by_macro(connection, "facts_known_at", user, day, known) == wanted
            wanted = by_engine(corrected, user, day, is_all=True)
            assert by_macro(connection, "facts_in_every_status", user, day, day) == wanted


@pytest.mark.slow
def test_other_settings_of_time_make_another_snapshot(corrected, tmp_path) -> None:
    rules = corrected.time_rules
    assert publish(corrected.store, tmp_path, rules).is_new
    assert not publish(corrected.store, tmp_path, rules).is_new
    assert publish(corrected.store, tmp_path, replace(rules, venting_sessions=4)).is_new
