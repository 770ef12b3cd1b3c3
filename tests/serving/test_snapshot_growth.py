"""Snapshots that grow from the one before: whatever has happened in between, they hold what one written whole holds."""

import os
import shutil
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving import snapshot_file
from em_pipelines.serving.snapshot import LATEST, publish
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

LATER = datetime(2026, 4, 1, tzinfo=UTC)
SAID = ("I live in Oslo.", "I moved to Rome.", "I love tea.", "I don't like tea now.", "My sister Ines is a nurse.")


class World:
    """A home to which days are added, in whatever order."""

    def __init__(self, path: Path, n_landed: int = 0) -> None:
        self.home = Pipeline(load_settings(home=path))
        self.n_landed = n_landed

    def say(self, day: int, text: str) -> None:
        """Lands a message of ada on a day of March 2026, and makes its tables."""
        self.n_landed += 1
        message = {
            "user_id": "ada", "session_id": f"s{self.n_landed}", "turn_number": 0, "role": "user", "content": text,
            "timestamp": f"2026-03-{day:02}T10:00:00Z",
        }  # fmt: skip
        path = self.home.path / "said" / f"{self.n_landed}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(message))
        land([path], self.home.store.log, now=LATER, settings=self.home.settings.landing)
        for step in self.home.steps.values():
            self.home.store.run_days(step, self.home.store.days(step))
        self.home.infer()

    def publish(self, **options: Any) -> dict[str, Any]:
        """What the newest snapshot holds after publishing."""
        publish(self.home.store, self.home.snapshots, self.home.time_rules, **options)
        return content(self.home.snapshots / LATEST)

    def anew(self, folder: Path) -> dict[str, Any]:
        """What one holds that is written whole."""
        return content(publish(self.home.store, folder, self.home.time_rules).path)


def content(path: Path) -> dict[str, Any]:
    """Everything in a snapshot but how often it grew: rows in their order, types, comments, views and macros."""
    with connect(str(path), is_read_only=True) as connection:
        query = (
            "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
        )
        names = [name for (name,) in connection.execute(query).fetchall()]
        found: dict[str, Any] = {name: connection.execute(f"FROM {name}").fetchall() for name in names}
        found["snapshot_info"] = connection.execute("SELECT * EXCLUDE (n_grown) FROM snapshot_info").fetchall()
        for said_by in (
            "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE NOT internal",
            "SELECT table_name, comment FROM duckdb_tables()",
            "SELECT function_name, macro_definition FROM duckdb_functions() WHERE NOT internal",
        ):
            found[said_by] = sorted(map(str, connection.execute(said_by).fetchall()))
    return found


def n_grown(home: Pipeline) -> int:
    with connect(str(home.snapshots / LATEST), is_read_only=True) as connection:
        ((number,),) = connection.execute("SELECT n_grown FROM snapshot_info").fetchall()
    return int(number)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of two days with a snapshot."""
    found = World(tmp_path_factory.mktemp("published") / "home")
    found.say(1, SAID[0])
    found.say(3, SAID[2])
    found.publish()
    return found.home.path


@pytest.fixture
def world(home_path: Path, published: Path) -> World:
    shutil.copytree(published, home_path, symlinks=True)
    return World(home_path, n_landed=2)


@pytest.mark.parametrize(
    "day",
    [
        pytest.param(5, id="a new day", marks=pytest.mark.slow),
        pytest.param(3, id="more on the last day"),
        pytest.param(1, id="late data", marks=pytest.mark.slow),
    ],
)
def test_a_snapshot_grows_to_what_one_written_whole_holds(day: int, world: World, tmp_path: Path) -> None:
    world.say(day, SAID[1])
    assert world.publish() == world.anew(tmp_path / "anew")
    assert n_grown(world.home) == 1


@pytest.mark.slow
@hypothesis_settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from(SAID)), min_size=1, max_size=6))
def test_whatever_is_said_in_whatever_order_it_holds_the_same(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    world = World(folder / "home")
    for day, text in said:
        world.say(day, text)
        grown = world.publish()
    assert grown == world.anew(folder / "anew")


def test_after_an_erasure_it_is_written_whole_and_nothing_of_the_old_file_is_left(world: World) -> None:
    world.say(5, "I love Zanzibarian tea.")
    world.publish()
    assert n_grown(world.home) == 1
    world.say(5, "I love figs.")
    world.publish(is_anew=True)
    assert n_grown(world.home) == 0


@pytest.mark.slow
def test_what_leaves_gaps_is_written_whole_from_time_to_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_file, "MAX_GROWN", 2)
    grown = []
    for day in (5, 6, 7, 8):
        world.say(day, SAID[1])
        world.publish()
        grown.append(n_grown(world.home))
    assert grown == [1, 2, 0, 1]


def test_from_other_rules_of_time_or_of_a_later_day_nothing_grows(world: World) -> None:
    other = Pipeline(load_settings(home=world.home.path, decay={"curve": "exponential"}))
    world.say(5, SAID[1])
    publish(other.store, other.snapshots, other.time_rules)
    assert n_grown(other) == 0
    early = publish(world.home.store, world.home.snapshots, world.home.time_rules, date(2026, 3, 3))
    assert early.n_rows["messages"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "none of ours", "an older layout"])
def test_from_a_file_that_is_not_as_expected_nothing_grows(damage: str, world: World, tmp_path: Path) -> None:
    path = (world.home.snapshots / LATEST).resolve()
    if damage == "cut":
        os.truncate(path, path.stat().st_size // 2)
    elif damage == "none of ours":
        path.write_bytes(b"nothing")
    else:
        with duckdb.connect(str(path)) as connection:
            connection.execute("DROP TABLE snapshot_parts")
    world.say(5, SAID[1])
    assert world.publish() == world.anew(tmp_path / "anew")
    assert n_grown(world.home) == 0
