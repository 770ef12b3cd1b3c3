"""States of old days are given up, and are there all the same for whoever asks."""

import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.errors import CorruptTableError
from em_pipelines.landing.land import land
from em_pipelines.lifecycle.state_retention import thin as thin_states
from em_pipelines.lifecycle.state_retention_days import given_up
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import CONTRADICTIONS, EDGES, ENTITIES
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings
from em_pipelines.storage.lake import Lake

FIRST = date(2026, 1, 26)
WORDS = ("eels", "fog", "oboes", "rye", "tar", "moss", "kites", "plums", "gorse", "chalk", "elms", "toads")
SAID = [*(f"I like {word}." for word in WORDS), "I don't like eels any more.", "I live in Delft.", "I moved to Hull."]
STATES = (ENTITIES, EDGES, CONTRADICTIONS, CURRENT_EDGES)


def lines(said: list[tuple[date, str]]) -> bytes:
    return b"\n".join(
        orjson.dumps(
            {
                "user_id": "ada", "session_id": f"{day}", "turn_number": 0, "role": "user", "content": content,
                "timestamp": f"{day}T10:00:00Z",
            }
        )
        for day, content in said
    )  # fmt: skip


def tell(home: Pipeline, folder: Path, *said: tuple[date, str]) -> None:
    source = folder / f"{said[0][0]}.jsonl"
    source.write_bytes(lines(list(said)) + b"\n")
    land([source], home.store.log, now=datetime(2026, 9, 1, tzinfo=UTC), settings=home.settings.landing)


def make(home: Pipeline) -> dict[str, tuple[date, ...]]:
    return {name: home.store.run_days(step, home.store.stale_days(step)).made for name, step in home.steps.items()}


def thin(home: Pipeline) -> int:
    return thin_states(home.store, home.steps, home.settings.states, home.lock)


def known(home: Pipeline, day: date) -> set[tuple[str, str]]:
    query = FactQuery("ada", day, is_all=True)
    return {(f["relation"], f["object"]) for f in facts(home.store, query, home.settings.decay)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody who says something every fifth day, from January to April."""
    folder = tmp_path_factory.mktemp("made")
    home = Pipeline(load_settings(home=folder / "home"))
    tell(home, folder, *((FIRST + timedelta(days=5 * n), said) for n, said in enumerate(SAID)))
    make(home)
    return home.path


@pytest.fixture
def home(made: Path, home_path: Path) -> Pipeline:
    """A copy of that home."""
    shutil.copytree(made, home_path)
    return Pipeline(load_settings(home=home_path))


@pytest.mark.slow
@given(st.sets(st.dates(date(2026, 1, 1), date(2026, 12, 31)), max_size=60), st.integers(1, 90))
def test_what_is_kept(days: set[date], keep_days: int) -> None:
    ordered = sorted(days)
    gone = given_up(ordered, keep_days)
    kept = days - set(gone)
    assert {(day.year, day.month) for day in kept} == {(day.year, day.month) for day in days}
    assert all(day in kept for day in days if day > ordered[-1] - timedelta(days=keep_days))
    assert all(any(k.month == day.month and k > day for k in kept) for day in gone)
    assert not set(given_up(sorted(kept), keep_days)), "thinning once is enough"


@pytest.mark.slow
def test_nothing_is_out_of_date_for_it_and_no_answer_changes(home: Pipeline) -> None:
    days = home.store.lake.days(EDGES)
    before = {day: known(home, day) for day in days}
    whole = state_hash(home.store, home.settings.decay, inference=home.settings.inference)
    sizes = {t: home.store.lake.info(t, days[0]).n_rows for t in STATES}
    n_thinned = thin(home)
    assert n_thinned == len(given_up(days, 30)) * len(STATES) > 0
    assert thin(home) == 0
    gone = [day for day in days if home.store.lake.info(EDGES, day).is_thinned]
    assert gone == given_up(days, 30)
    assert {t: home.store.lake.info(t, days[0]).n_rows for t in STATES} == sizes
    assert all(made == () for made in make(home).values())
    assert {day: known(home, day) for day in reversed(days)} == before
    assert state_hash(home.store, home.settings.decay, inference=home.settings.inference) == whole


def test_rows_come_back_as_they_were(home: Pipeline) -> None:
    days = home.store.lake.days(EDGES)
    files = {(table, day): Path(home.store.lake.path(table, day)).read_bytes() for table in STATES for day in days}
    thin(home)
    gone = given_up(days, 30)
    assert all(Path(home.store.lake.path(EDGES, day)).read_bytes() != files[EDGES, day] for day in gone)
    for table in STATES:
        home.store.lake.read(table, gone[-1])
    for table in (ENTITIES, EDGES, CONTRADICTIONS):
        assert Path(home.store.lake.path(table, gone[-1])).read_bytes() == files[table, gone[-1]]
    assert all(made == () for made in make(home).values())


@pytest.mark.slow
def test_what_lands_late_in_a_thinned_time_changes_all_that_follows(home: Pipeline, tmp_path: Path) -> None:
    thin(home)
    late = FIRST + timedelta(days=12)
    tell(home, tmp_path, (late, "I like harps."))
    make(home)
    thin(home)
    assert ("likes", "harps") not in known(home, late - timedelta(days=1))
    assert ("likes", "harps") in known(home, late)
    fresh = Pipeline(load_settings(home=tmp_path / "fresh"))
    said = [(FIRST + timedelta(days=5 * n), said) for n, said in enumerate(SAID)]
    tell(fresh, tmp_path, *said, (late, "I like harps."))
    make(fresh)
    thin(fresh)
    for table in STATES:
        for day in fresh.store.lake.days(table):
            infos = [one.store.lake.info(table, day) for one in (home, fresh)]
            assert infos[0].content_digest == infos[1].content_digest, (table.name, day)


def test_while_a_step_is_at_work_nothing_is_taken_from_it(home: Pipeline) -> None:
    with home.lock("step-fold"):
        assert thin(home) == 0
    assert thin(home) > 0


def test_without_anybody_to_make_them_again_rows_are_not_silently_none(home: Pipeline) -> None:
    thin(home)
    day = home.store.lake.days(EDGES)[0]
    with pytest.raises(CorruptTableError, match="given up"):
        Lake(home.path / "lake").read(EDGES, day)
