"""Ten kinds of damage to one user's memory: everybody else has theirs on the same run, and what is missing is named."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pytest

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.integrity import violations_on
from em_pipelines.governance.audit.settling import settle
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import packs
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.snapshot import publish
from em_pipelines.settings import load_settings
from em_pipelines.storage.quarantine import RAISED
from em_pipelines.storage.step import Step

FIRST, SECOND, THIRD = (date(2026, 3, day) for day in (1, 2, 3))
SAID = {
    FIRST: "I live in Oslo. I work at Fjordbank.",
    SECOND: "I moved to Bergen. My sister Inga lives in Turku.",
    THIRD: "I like chess. I have a dog named Bo.",
}
USERS = ("ada", "ben", "cora", "dag")
POOR = "ben"


class World:
    """A home of four people who say the same on three days, and runs of it as assets do them."""

    def __init__(self, path: Path) -> None:
        self.home = Pipeline(load_settings(home=path / "home"))
        self.path = path

    def land(self, *days: date) -> None:
        for day in days:
            lines = [
                orjson.dumps({
                    "user_id": user, "session_id": f"{user}-{day.day}", "turn_number": 1, "role": "user",
                    "content": SAID[day], "timestamp": f"{day}T10:00:00Z",
                })
                for user in USERS
            ]  # fmt: skip
            file = self.path / f"{day}.jsonl"
            file.write_bytes(b"\n".join(lines))
            now = datetime(2026, 4, 1, tzinfo=UTC)
            assert land([file], self.home.store.log, now=now, settings=self.home.settings.landing).n_landed == len(
                USERS
            )

    def run(self) -> None:
        for step in (*self.home.steps.values(), self.home.inference):
            days = self.home.store.days(step)
            if step is self.home.inference:
                self.home.infer()
                continue
            self.home.store.run_days(step, days)
            settle(self.home.store, step, days)
        packs.build(self.home)
        publish(self.home.store, self.home.snapshots, self.home.time_rules)

    def known(self, user: str, day: date = THIRD) -> set[tuple[str, str]]:
        rows = facts(self.home.store, FactQuery(user, day), self.home.settings.decay)
        return {(row["relation"], row["object"]) for row in rows}

    def break_step(self, name: str, run: Callable[[Step, date, Tables, Records], Tables]) -> None:
        step = self.home.steps[name]
        broken = replace(step, run=lambda *made_of: run(step, *made_of), run_many=None)
        broken.__dict__["code_version"] = step.code_version
        self.home.steps[name] = broken

    @property
    def aside(self) -> list[tuple[str, str, date, bool]]:
        return [
            (entry.user_id, entry.step, entry.day, entry.claim_id is not None)
            for entry in self.home.store.quarantine.entries()
        ]


def raising(step: Step, day: date, tables: Tables, records: Records) -> Tables:
    """What the step makes, but for the second day of the one whose memory is damaged."""
    if day == SECOND and any(
        POOR in rows["user_id"].to_pylist()
        for name, rows in tables.items()
        if "user_id" in rows.schema.names and not name.startswith("state_") and rows.num_rows
    ):
        raise ValueError(f"what {POOR} said")
    return step.run(day, tables, records)


def raising_by_state(step: Step, day: date, tables: Tables, records: Records) -> Tables:
    if day == SECOND and POOR in tables["state_edges"]["user_id"].to_pylist():
        raise KeyError(POOR)
    return step.run(day, tables, records)


def changing(table: str, column: str, value: Any) -> Callable[..., Tables]:
    """Gives every row of the second day's table that is about the damaged memory this value."""

    def run(step: Step, day: date, tables: Tables, records: Records) -> Tables:
        made = step.run(day, tables, records)
        rows = made[table] if isinstance(made[table], pa.Table) else made[table].to_table()
        if day == SECOND:
            changed = [row | {column: value} if row["user_id"] == POOR else row for row in rows.to_pylist()]
            rows = pa.Table.from_pylist(changed, schema=rows.schema)
        return made | {table: rows}

    return run


def two_homes(step: Step, day: date, tables: Tables, records: Records) -> Tables:
    """Lets the old home stand beside the new one, if the new one was said."""
    made = step.run(day, tables, records)
    rows = made["edges"].to_pylist()
    for row in rows:
        if row["user_id"] == POOR and row["relation"] == "lives_in":
            row["status"] = "active"
    return made | {"edges": EDGES.from_rows(rows)}


def edit_state(world: World) -> None:
    """Somebody edits the facts of the second day with a tool that leaves the footer as it was."""
    lake = world.home.store.lake
    rows = lake.read(EDGES, SECOND).to_pylist()
    info = lake.info(EDGES, SECOND)
    for row in rows:
        if row["user_id"] == POOR and row["relation"] == "lives_in":
            row["status"] = "active"
    lake.write(EDGES, SECOND, EDGES.from_rows(rows), info.inputs_digest)


STEPS = {
    "messages that cannot be made": ("messages", raising),
    "segments that cannot be made": ("segments", raising),
    "an extraction that raises": ("extraction", raising),
    "names that cannot be resolved": ("resolution", raising),
    "a fold that raises": ("fold", raising),
    "a fold that stumbles over the state": ("fold", raising_by_state),
    "a fade that raises": ("decay", raising_by_state),
    "an audit that raises": ("audit", raising),
    "claims of an unknown relation": ("extraction", changing("claims", "relation", "worships")),
    "facts that are surer than sure": ("fold", changing("edges", "confidence", 2.0)),
    "names that lead nowhere": ("resolution", changing("entities", "merged_into", "ent_nowhere")),
    "two homes at once": ("fold", two_homes),
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The same log without any damage."""
    world = World(tmp_path_factory.mktemp("sound"))
    world.land(FIRST, SECOND, THIRD)
    world.run()
    return world


@pytest.mark.parametrize(
    "damage", [pytest.param(d, marks=() if d == "a fold that raises" else pytest.mark.slow) for d in STEPS]
)
def test_one_damaged_memory_leaves_everybody_else_theirs(damage: str, world: World, sound: World) -> None:
    world.break_step(*STEPS[damage])
    world.land(FIRST, SECOND, THIRD)
    world.run()
    for user in USERS:
        if user != POOR:
            assert world.known(user) == sound.known(user), damage
    assert ("lives_in", "Oslo") in world.known(POOR, FIRST)
    assert ("likes", "chess") in world.known(POOR), "days after the damage count again"
    assert {entry[0] for entry in world.aside} == {POOR}
    assert {entry[2] for entry in world.aside} == {SECOND}
    assert {entry[1] for entry in world.aside} == {STEPS[damage][0]}
    assert not any(violations_on(world.home.store.lake, THIRD).values())


@pytest.mark.slow
def test_of_a_day_that_cannot_be_made_the_last_good_state_stays(world: World) -> None:
    world.break_step("fold", raising)
    world.land(FIRST, SECOND)
    world.run()
    assert world.known(POOR, SECOND) == world.known(POOR, FIRST) == {("lives_in", "Oslo"), ("works_at", "Fjordbank")}
    assert world.aside == [(POOR, "fold", SECOND, False)]


@pytest.mark.slow
def test_of_claims_that_break_a_rule_no_more_than_these_are_set_aside(world: World, sound: World) -> None:
    world.break_step("fold", two_homes)
    world.land(FIRST, SECOND, THIRD)
    world.run()
    ((user, step, day, is_claim),) = world.aside
    assert (user, step, day, is_claim) == (POOR, "fold", SECOND, True)
    assert world.known(POOR) == sound.known(POOR) - {("lives_in", "Bergen")} | {("lives_in", "Oslo")}


@pytest.mark.slow
def test_what_was_edited_is_made_again_and_nothing_set_aside(world: World, sound: World) -> None:
    world.land(FIRST, SECOND)
    world.run()
    edit_state(world)
    world.land(THIRD)
    world.run()
    assert world.aside == []
    assert all(world.known(user) == sound.known(user) for user in USERS)


@pytest.mark.slow
def test_what_is_set_aside_is_tried_again_when_the_step_has_been_mended(world: World, sound: World) -> None:
    whole = world.home.steps["fold"]
    world.break_step("fold", raising)
    world.land(FIRST, SECOND, THIRD)
    world.run()
    assert world.aside
    world.home.steps["fold"] = replace(whole, also=("mended",))
    world.run()
    assert world.aside == []
    assert world.known(POOR) == sound.known(POOR)


@pytest.mark.slow
def test_what_is_released_is_tried_again(world: World, sound: World) -> None:
    whole = world.home.steps["fold"]
    world.break_step("fold", raising)
    world.land(FIRST, SECOND, THIRD)
    world.run()
    world.home.steps["fold"] = whole
    world.run()
    assert world.aside, "nothing has changed that anybody could see"
    world.home.release(list(world.home.store.quarantine.entries()))
    world.run()
    assert world.aside == []
    assert world.known(POOR) == sound.known(POOR)


@pytest.mark.slow
def test_what_cannot_be_found_in_a_pack_was_set_aside_and_the_pack_of_before_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.land(FIRST)
    world.run()
    before = packs.folder_of(world.home, POOR).stat().st_ino
    build_one = packs._build_one

    def failing(home: Any, known: Any, *others: Any) -> bool:
        if known.user_id == POOR:
            raise ValueError(POOR)
        return build_one(home, known, *others)

    with monkeypatch.context() as patched:
        patched.setattr(packs, "_build_one", failing)
        world.land(SECOND)
        world.run()
        assert world.aside == [(POOR, "index_packs", SECOND, False)]
        assert packs.folder_of(world.home, POOR).stat().st_ino == before
        assert not packs.is_current(world.home)
    world.run()
    assert world.aside == []
    assert packs.is_current(world.home)


def test_the_snapshot_says_what_it_leaves_out_and_nothing_quotes_anybody(world: World) -> None:
    world.break_step("fold", two_homes)
    world.break_step("audit", raising)
    world.land(FIRST, SECOND, THIRD)
    world.run()
    with duckdb.connect(world.home.snapshots / "latest.duckdb", read_only=True) as connection:
        rows = connection.execute("SELECT user_id, day, step, rule, object, n_messages FROM left_out").fetchall()
    assert rows == [
        (POOR, SECOND, "audit", RAISED, None, 1),
        (POOR, SECOND, "fold", "one_functional_value", "Bergen", 0),
    ]
    reasons = [entry.reason for entry in world.home.store.quarantine.entries()]
    assert not any(POOR in reason or "Oslo" in reason for reason in reasons)


def test_a_step_that_fails_for_nobody_in_particular_fails(world: World) -> None:
    def run(step: Step, day: date, tables: Tables, records: Records) -> Tables:
        if len(set(tables["interactions"]["user_id"].to_pylist())) > 1:
            raise ValueError("together")
        return step.run(day, tables, records)

    world.break_step("messages", run)
    world.land(FIRST)
    with pytest.raises(ValueError, match="together"):
        world.run()


def test_a_file_that_cannot_be_read_stops_everybody(world: World) -> None:
    world.land(FIRST)
    world.run()
    path = Path(world.home.store.lake.path(CLAIMS, FIRST))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CorruptTableError):
        world.run()
    assert world.aside == []
