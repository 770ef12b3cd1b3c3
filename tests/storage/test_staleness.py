"""What is known to be current without reading it: never more than reading would find, and after any change less."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.schema.table import INT, TEXT, Table, Tables, col
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.run_plan import plan
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import SETTLED, Store

HOUR_NS = 3_600_000_000_000


def table(name: str, *, is_state: bool = False) -> Table:
    columns = (col("line_id", TEXT, "its id"), col("amount", INT, "how much"))
    key = ("line_id",)
    return Table(
        name=name, group="graph", about="Amounts.", columns=columns, key=key, sort_by=key, is_state=is_state
    )  # fmt: skip


LINES, TOTALS, SHOWN = table("lines"), table("totals", is_state=True), table("shown", is_state=True)


def _land(_: date, __: Any, records: Any) -> Tables:
    return {"lines": LINES.from_rows([{"line_id": r["id"], "amount": r["amount"]} for r in records])}


def _fold(_: date, tables: Tables, __: Any) -> Tables:
    total = sum(row["amount"] for name in ("state_totals", "lines") for row in tables[name].to_pylist())
    return {"totals": TOTALS.from_rows([{"line_id": "sum", "amount": total}])}


def _show(_: date, tables: Tables, __: Any) -> Tables:
    return {"shown": SHOWN.from_rows(tables["state_totals"].to_pylist())}


@dataclass
class World:
    """A home of three steps, opened anew for each question, as by a process of its own. Its clock is an hour ahead of
    its files': what changed before the last question is settled."""

    path: Path
    steps: dict[str, Step] = field(
        default_factory=lambda: {
            "land": Step("land", (LINES,), _land, also=("1",), log_kind="lines"),
            "fold": Step("fold", (TOTALS,), _fold, also=("1",), inputs=(LINES,), previous=(TOTALS,)),
            "show": Step("show", (SHOWN,), _show, also=("1",), latest=(TOTALS,)),
        }
    )
    n_said: int = 0

    def store(self) -> Store:
        return Store(LandedLog(self.path / "log"), Lake(self.path / "lake"))

    def say(self, day: date, amount: int) -> None:
        self.n_said += 1
        self.store().log.append("lines", day, [{"id": f"{self.n_said}", "amount": amount}])

    def run(self) -> None:
        store = self.store()
        for step in self.steps.values():
            store.run_days(step, store.days(step))

    def settle(self) -> None:
        """Lets an hour pass over whatever changed since the last time."""
        for path in [self.path, *self.path.rglob("*")]:
            stat = path.stat()
            if stat.st_mtime_ns > time.time_ns() - HOUR_NS // 2:
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - HOUR_NS))

    def plan(self) -> tuple[date, ...]:
        """As a new process plans, which keeps what it finds."""
        return plan(self.store(), self.steps.values()).days

    def stale(self) -> dict[str, list[date]]:
        """As a new process says."""
        store, look = self.store(), self.store().look()
        return {name: store.stale_days(step, look) for name, step in self.steps.items()}

    def judged(self) -> dict[str, list[date]]:
        """What the footers alone say."""
        found = {}
        store = self.store()
        for name, step in self.steps.items():
            days = store.days(step)
            stale = [day for day in days if not store.is_current(step, day)]
            found[name] = [day for day in days if stale and day >= stale[0]] if step.is_fold else stale
        return found

    def n_footers_read(self) -> int:
        """How many footers a plan reads."""
        store = self.store()
        plan(store, self.steps.values())
        return len(store.lake._footers.known)

    def file(self, of: Table, day: date) -> Path:
        return Path(self.store().lake.path(of, day))


def day(number: int) -> date:
    """day(3): the third of March 2026, and on from there."""
    return date(2026, 3, 1) + timedelta(days=number - 1)


SAID = (1, 2, 20, 31, 32, 40, 65)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """All current, planned once, and nothing changed since for an hour."""
    made = World(tmp_path / "home")
    for number in SAID:
        made.say(day(number), number)
    made.run()
    made.settle()
    assert made.plan() == ()
    return made


def test_what_was_found_current_is_not_read_again(world: World) -> None:
    assert (world.path / "lake" / SETTLED).exists()
    assert world.n_footers_read() == 0


def test_a_new_day_costs_the_reading_of_that_day_and_of_the_state_before_it(world: World) -> None:
    world.say(day(66), 5)
    assert world.plan() == (day(66),)
    store = world.store()
    assert store.stale_days(world.steps["land"]) == [day(66)]
    assert store.lake._footers.known == {}
    world.run()
    world.settle()
    assert world.n_footers_read() <= 4
    assert world.n_footers_read() == 0


def test_files_that_changed_just_now_are_not_taken_for_settled(tmp_path: Path) -> None:
    world = World(tmp_path / "home")
    world.say(day(1), 1)
    world.run()
    world.plan()
    assert not (world.path / "lake" / SETTLED).exists()
    assert world.n_footers_read() > 0


def _deleted(world: World) -> None:
    world.file(LINES, day(20)).unlink()


def _state_deleted(world: World) -> None:
    world.file(TOTALS, day(20)).unlink()


def _replaced(world: World) -> None:
    world.store().lake.write(LINES, day(20), LINES.empty(), "of something else")


def _replaced_at_the_same_time_and_length(world: World) -> None:
    path = world.file(TOTALS, day(31))
    elsewhere = Lake(path.parents[2] / "elsewhere")
    elsewhere.write(TOTALS, day(31), world.store().lake.read(TOTALS, day(31)), "0" * 64)
    stat, other = path.stat(), Path(elsewhere.path(TOTALS, day(31)))
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(path)
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (stat.st_mtime_ns, stat.st_size)


def _edited(world: World) -> None:
    path = world.file(TOTALS, day(31))
    other = world.file(TOTALS, day(32)).read_bytes()
    with path.open("r+b") as handle:  # the same inode
        handle.write(other)
        handle.truncate(len(other))


def _landed_late(world: World) -> None:
    world.say(day(2), 100)


def _landed_between(world: World) -> None:
    world.say(day(10), 100)


def _gone_from_the_log(world: World) -> None:
    log = world.store().log
    log.rewrite("lines", day(31), lambda _: None)


def _rewritten_in_the_log(world: World) -> None:
    log = world.store().log
    log.rewrite("lines", day(31), lambda record: {**record, "amount": 7})


def _month_before_made_anew(world: World) -> None:
    world.say(day(31), 5)
    store = world.store()
    for step in world.steps.values():
        store.run_days(step, [d for d in store.days(step) if d <= day(31)])
    assert world.judged() == {"land": [], "fold": [day(32), day(40), day(65)], "show": []}


def _state_added(world: World) -> None:
    world.store().lake.write(TOTALS, day(25), TOTALS.from_rows([{"line_id": "sum", "amount": 9}]), "nobody knows")


def _reopened(world: World) -> None:
    world.store().reopen(world.steps["fold"], day(32))


def _other_code(world: World) -> None:
    world.steps["fold"] = replace(world.steps["fold"], also=("2",))


CHANGES: list[Callable[[World], None]] = [
    _deleted, _state_deleted, _replaced, _replaced_at_the_same_time_and_length, _edited, _landed_late, _landed_between,
    _gone_from_the_log, _rewritten_in_the_log, _month_before_made_anew, _state_added, _reopened, _other_code,
]  # fmt: skip


@pytest.mark.parametrize("is_settled", [True, False])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_any_change_is_noticed(change: Callable[[World], None], is_settled: bool, world: World) -> None:
    before = world.judged()
    change(world)
    if is_settled and change is not _replaced_at_the_same_time_and_length:
        world.settle()
    assert world.stale() == world.judged()
    if change is not _gone_from_the_log:  # then there is nothing to make of that day
        assert world.judged() != before
    world.plan()
    assert world.stale() == world.judged()


def test_a_change_reads_the_months_it_can_reach_and_no_other(world: World) -> None:
    world.say(day(65), 1)
    store = world.store()
    plan(store, world.steps.values())
    assert {Path(path).stem for path in store.lake._footers.known} <= {str(day(n)) for n in (40, 65)}


def test_a_day_that_waits_is_never_known_to_be_current(world: World) -> None:
    waiting = Step("wait", (table("waits"),), lambda _, __, ___: {"waits": LINES.empty()}, also=("1",), inputs=(LINES,))
    world.steps["wait"] = replace(waiting, is_complete=lambda _: False)
    world.run()
    world.settle()
    for _ in range(2):
        world.plan()
        assert world.stale()["wait"] == [day(n) for n in SAID]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"a": 1}', b'{"a": "zz"}', b'{"a": ""}', b"\xff", b'{"a": null}']
)
def test_a_damaged_note_is_as_good_as_none(content: bytes, world: World) -> None:
    (world.path / "lake" / SETTLED).write_bytes(content)
    assert world.stale() == world.judged() == {"land": [], "fold": [], "show": []}
    world.plan()
    assert world.n_footers_read() == 0


def test_a_note_carried_to_another_home_says_nothing_there(world: World, tmp_path: Path) -> None:
    shutil.copytree(world.path, tmp_path / "copy")
    other = World(tmp_path / "copy")
    other.file(TOTALS, day(20)).unlink()
    other.settle()
    assert other.stale() == other.judged()
    assert other.stale()["fold"]
    assert world.n_footers_read() == 0


def test_what_changes_between_looking_and_judging_shows_at_the_next_look(world: World) -> None:
    (world.path / "lake" / SETTLED).unlink()
    store = world.store()
    look = store.look()
    for step in world.steps.values():
        store.stale_days(step, look)
    world.file(TOTALS, day(20)).unlink()
    look.save()
    assert world.stale() == world.judged()
    assert world.stale()["fold"]


def test_object_stores_are_read_as_ever() -> None:
    store = Store(LandedLog("memory://settled/log"), Lake("memory://settled/lake"))
    steps = World(Path()).steps
    store.log.append("lines", day(1), [{"id": "a", "amount": 1}])
    assert plan(store, steps.values()).days == (day(1),)
    for step in steps.values():
        store.run_days(step, store.days(step))
    assert plan(store, steps.values()).days == ()
    assert len(store.lake.days(LINES)) == 1


DAYS = st.integers(1, 65)
DOINGS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), DAYS),
        st.tuples(st.just("plan"), DAYS),
        st.tuples(st.just("run"), DAYS),
        st.tuples(st.just("run half"), DAYS),
        st.tuples(st.just("delete"), DAYS),
        st.tuples(st.just("foist"), DAYS),
        st.tuples(st.just("code"), st.integers(1, 2)),
        st.tuples(st.just("settle"), DAYS),
    ),
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(DOINGS)
def test_it_never_says_other_than_the_footers(doings: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "home")
        for number in (1, 33):
            world.say(day(number), number)
        world.run()
        for name, number in doings:
            _do(world, name, number)
            assert world.stale() == world.judged()
        world.run()
        world.settle()
        world.plan()
        assert world.stale() == world.judged()


def _do(world: World, name: str, number: int) -> None:
    store = world.store()
    if name == "say":
        world.say(day(number), number)
    elif name == "plan":
        world.plan()
    elif name == "run":
        world.run()
    elif name == "run half":  # a run that was killed
        for step in list(world.steps.values())[: 1 + number % 2]:
            store.run_days(step, [d for d in store.days(step) if d <= day(number)])
    elif name == "delete":
        for of in (LINES, TOTALS, SHOWN)[number % 3 :]:
            store.lake.delete(of, next((d for d in store.lake.days(of) if d >= day(number)), day(number)))
    elif name == "foist":
        store.lake.write(TOTALS, day(number), TOTALS.from_rows([{"line_id": "sum", "amount": number}]), "foisted")
    elif name == "code":
        world.steps["show"] = replace(world.steps["show"], also=(str(number),))
    else:
        world.settle()
