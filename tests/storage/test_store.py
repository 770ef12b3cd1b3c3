"""Steps over days: what is current, what is stale, and that any order of doing ends in the same bytes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import INT, TEXT, Table, Tables, col, opt
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

LINES = Table(
    name="lines",
    group="landing",
    about="What was said.",
    columns=(col("line_id", TEXT, "its id"), opt("amount", INT, "what it adds")),
    key=("line_id",),
    sort_by=("line_id",),
)
TOTALS = Table(
    name="totals",
    group="graph",
    about="The sum so far.",
    columns=(col("name", TEXT, "of what"), col("total", INT, "so far")),
    key=("name",),
    sort_by=("name",),
    is_state=True,
)
JOURNAL = Table(
    name="journal",
    group="graph",
    about="What a day added.",
    columns=(col("line_id", TEXT, "by which line"), col("total", INT, "after it")),
    key=("line_id",),
    sort_by=("line_id",),
)
SHOWN = Table(
    name="shown",
    group="lifecycle",
    about="The sum as of a day.",
    columns=(col("as_of", TEXT, "the day"), col("total", INT, "as of it")),
    key=("as_of",),
    sort_by=("as_of",),
    is_state=True,
)


def _land(_: date, __: Any, records: Any) -> Tables:
    return {"lines": LINES.from_rows([{"line_id": r["id"], "amount": r["amount"]} for r in records])}


def _fold(_: date, tables: Tables, __: Any) -> Tables:
    total = sum(row["total"] for row in tables["state_totals"].to_pylist())
    journal = []
    for row in tables["lines"].to_pylist():
        total += row["amount"]
        journal.append({"line_id": row["line_id"], "total": total})
    return {"totals": TOTALS.from_rows([{"name": "sum", "total": total}]), "journal": JOURNAL.from_rows(journal)}


def _show(day: date, tables: Tables, _: Any) -> Tables:
    (row,) = tables["state_totals"].to_pylist()
    return {"shown": SHOWN.from_rows([{"as_of": day.isoformat(), "total": row["total"]}])}


@dataclass
class Sums:
    """A log of amounts, and steps that land them, add them up and show the sum of any day."""

    store: Store
    steps: dict[str, Step] = field(
        default_factory=lambda: {
            "land": Step("land", (LINES,), _land, also=("1",), log_kind="lines"),
            "fold": Step("fold", (TOTALS, JOURNAL), _fold, also=("1",), inputs=(LINES,), previous=(TOTALS,)),
            "show": Step("show", (SHOWN,), _show, also=("1",), latest=(TOTALS,)),
        }
    )

    def say(self, day: date, amount: int, name: str = "a") -> None:
        """Appends an amount to the log of a day."""
        self.store.log.append("lines", day, [{"id": f"{day}-{name}", "amount": amount}])

    def run(self, *days: date) -> None:
        """Runs all steps over the days, or over all that there are."""
        for step in self.steps.values():
            self.store.run_days(step, days or self.store.days(step))

    def total(self, day: date) -> int:
        (row,) = self.store.lake.read(TOTALS, day).to_pylist()
        return int(row["total"])

    def stale(self, step: str) -> list[date]:
        return self.store.stale_days(self.steps[step])


def day(number: int) -> date:
    """day(3): the third of March 2026, and on from there."""
    return date(2026, 3, 1) + timedelta(days=number - 1)


@pytest.fixture
def new_sums(tmp_path: Path) -> Callable[[str], Sums]:
    def make(name: str) -> Sums:
        return Sums(Store(LandedLog(tmp_path / name / "log"), Lake(tmp_path / name / "lake")))

    return make


@pytest.fixture
def sums(new_sums: Callable[[str], Sums]) -> Sums:
    return new_sums("sums")


def test_a_day_is_current_from_when_it_was_made_until_its_input_changes(sums: Sums) -> None:
    land = sums.steps["land"]
    sums.say(day(1), 5)
    assert not sums.store.is_current(land, day(1))
    sums.run()
    assert sums.store.is_current(land, day(1))
    sums.say(day(1), 7, "b")
    assert not sums.store.is_current(land, day(1))
    assert sums.stale("land") == [day(1)]


def test_a_day_lacking_one_of_its_tables_is_not_current(sums: Sums) -> None:
    sums.say(day(1), 5)
    sums.run()
    sums.store.lake.delete(JOURNAL, day(1))
    assert sums.stale("fold") == [day(1)]
    assert sums.store.run_days(sums.steps["fold"], [day(1)]).made == (day(1),)
    assert sums.store.lake.days(JOURNAL) == [day(1)]


def test_a_stale_day_of_a_fold_makes_every_later_one_stale_and_of_another_step_none(sums: Sums) -> None:
    for number in (1, 2, 4):
        sums.say(day(number), number)
    sums.run()
    assert sums.stale("land") == sums.stale("fold") == []
    sums.say(day(2), 10, "late")
    sums.store.run_days(sums.steps["land"], [day(2)])
    assert sums.stale("land") == []
    assert sums.stale("fold") == [day(2), day(4)]
    sums.run()
    assert [sums.total(day(n)) for n in (1, 2, 4)] == [1, 13, 17]


def test_late_data_that_leaves_the_state_as_it_was_stops_at_its_own_day(sums: Sums) -> None:
    for number in (1, 2, 3):
        sums.say(day(number), number)
    sums.run()
    sums.say(day(2), 0, "late")
    sums.store.run_days(sums.steps["land"], [day(2)])
    report = sums.store.run_days(sums.steps["fold"], sums.stale("fold"))
    assert (report.made, report.current) == ((day(2),), (day(3),))


@pytest.mark.parametrize("name", ["land", "fold", "show"])
def test_another_version_makes_all_days_of_its_step_stale(name: str, sums: Sums) -> None:
    for number in (1, 2):
        sums.say(day(number), number)
    sums.run()
    sums.steps[name] = replace(sums.steps[name], also=("2",))
    assert {step: sums.stale(step) for step in sums.steps if sums.stale(step)} == {name: [day(1), day(2)]}
    sums.run()
    assert not any(sums.stale(step) for step in sums.steps)


def test_another_declaration_of_a_table_makes_its_days_stale_and_readable_again(sums: Sums) -> None:
    sums.say(day(1), 5)
    sums.run()
    wider = replace(SHOWN, columns=(*SHOWN.columns, opt("note", TEXT, "new")))

    def show(on: date, tables: Tables, records: Any) -> Tables:
        made = _show(on, tables, records)["shown"]
        return {"shown": made.append_column("note", pa.nulls(made.num_rows, TEXT))}

    sums.steps["show"] = replace(sums.steps["show"], outputs=(wider,), run=show)
    with pytest.raises(CorruptTableError, match="its columns differ"):
        sums.store.lake.read(wider, day(1))
    assert sums.stale("show") == [day(1)]
    sums.run()
    assert sums.store.lake.read(wider, day(1))["note"].to_pylist() == [None]


def test_days_without_input_are_passed_over_in_a_range(sums: Sums) -> None:
    sums.say(day(1), 1)
    sums.say(day(4), 4)
    sums.store.run_days(sums.steps["land"], [day(1), day(4)])
    report = sums.store.run_days(sums.steps["fold"], [day(n) for n in range(1, 6)])
    assert report.made == (day(1), day(4))
    assert report.n_rows == {"totals": 2, "journal": 2}
    assert sums.store.lake.days(TOTALS) == [day(1), day(4)]
    assert sums.total(day(4)) == 5


def test_days_run_in_order_of_time_however_they_are_given(sums: Sums) -> None:
    for number in (1, 2, 3):
        sums.say(day(number), number)
    sums.run(day(3), day(1), day(2))
    assert [sums.total(day(n)) for n in (1, 2, 3)] == [1, 3, 6]


def test_a_quiet_day_has_state_when_it_is_asked_for_by_itself_and_follows_late_data(sums: Sums) -> None:
    show = sums.steps["show"]
    assert sums.store.run_days(show, [day(9)]).made == ()  # no state yet, so nothing to show
    sums.say(day(1), 5)
    sums.run()
    assert sums.store.run_days(show, [day(9)]).made == (day(9),)
    assert sums.store.run_days(show, [day(9)]).current == (day(9),)
    assert sums.store.lake.read(SHOWN, day(9))["total"].to_pylist() == [5]
    sums.say(day(3), 6)
    assert sums.stale("show") == []
    sums.run()
    assert sums.store.lake.read(SHOWN, day(9))["total"].to_pylist() == [11]
    assert sums.store.lake.days(SHOWN) == [day(1), day(3), day(9)]


def test_what_is_current_is_left_alone_unless_it_is_forced(sums: Sums) -> None:
    sums.say(day(1), 5)
    sums.run()
    path = Path(sums.store.lake.path(TOTALS, day(1)))
    inode, before = path.stat().st_ino, path.read_bytes()
    report = sums.store.run_days(sums.steps["fold"], [day(1)])
    assert (report.made, report.current, path.stat().st_ino) == ((), (day(1),), inode)
    report = sums.store.run_days(sums.steps["fold"], [day(1)], is_forced=True)
    assert (report.made, report.current) == ((day(1),), ())
    assert path.read_bytes() == before


def test_whoever_waits_hears_of_every_day_with_work(sums: Sums) -> None:
    for number in (1, 2):
        sums.say(day(number), number)
    heard: list[tuple[str, int]] = []
    sums.store.run_days(sums.steps["land"], [day(n) for n in (1, 2, 3)], on_days=lambda *said: heard.append(said))
    assert heard == [("land", 1), ("land", 1)]


@pytest.mark.parametrize("deadly", range(1, 13))
def test_a_step_killed_at_any_write_leaves_what_the_next_run_completes(
    deadly: int, new_sums: Callable[[str], Sums], monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, killed = new_sums("undisturbed"), new_sums("killed")
    for found in (undisturbed, killed):
        for number in (1, 2, 4):
            found.say(day(number), number)
    undisturbed.run()
    writes = 0

    def publish(lake: Lake, path: str, data: memoryview) -> None:
        nonlocal writes
        writes += 1
        if writes == deadly:
            raise KeyboardInterrupt
        write(lake, path, data)

    write = Lake._publish
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "_publish", publish)
        with pytest.raises(KeyboardInterrupt):
            killed.run()
    assert sum(len(killed.store.lake.days(table)) for table in (LINES, TOTALS, JOURNAL, SHOWN)) == deadly - 1
    killed.run()
    assert bytes_of(killed) == bytes_of(undisturbed)
    assert not any(killed.stale(step) for step in killed.steps)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(-9, 9), st.booleans()), min_size=1, max_size=8))
def test_any_order_of_landing_and_running_ends_in_the_same_bytes(said: list[tuple[int, int, bool]]) -> None:
    with TemporaryDirectory() as folder:
        pieces, whole = (
            Sums(Store(LandedLog(Path(folder) / n / "log"), Lake(Path(folder) / n / "lake"))) for n in ("a", "b")
        )
        for place, (number, amount, is_run_after) in enumerate(said):
            pieces.say(day(number), amount, str(place))
            if is_run_after:
                pieces.run()
        for place, (number, amount, _) in enumerate(said):
            whole.say(day(number), amount, str(place))
        pieces.run()
        whole.run()
        assert contents_of(pieces) == contents_of(whole)
        in_python = {number: sum(a for n, a, _ in said if n <= number) for number, _, _ in said}
        assert {number: pieces.total(day(number)) for number in in_python} == in_python


def test_a_corrupt_input_stops_the_step_and_keeps_the_days_before(sums: Sums) -> None:
    for number in (1, 2):
        sums.say(day(number), number)
    sums.store.run_days(sums.steps["land"], [day(1), day(2)])
    Path(sums.store.lake.path(LINES, day(2))).write_bytes(b"PAR1")
    with pytest.raises(CorruptTableError, match="reading lines of 2026-03-02"):
        sums.store.run_days(sums.steps["fold"], [day(1), day(2)])
    assert sums.store.lake.days(TOTALS) == [day(1)]


def bytes_of(sums: Sums) -> dict[str, bytes]:
    tables = (LINES, TOTALS, JOURNAL, SHOWN)
    lake = sums.store.lake
    return {f"{t.name} {d}": Path(lake.path(t, d)).read_bytes() for t in tables for d in lake.days(t)}


def contents_of(sums: Sums) -> dict[str, str]:
    """Digests of all rows: footers differ, for they name the segments of the log that the rows came from."""
    tables = (LINES, TOTALS, JOURNAL, SHOWN)
    lake = sums.store.lake
    infos = {f"{t.name} {d}": lake.info(t, d) for t in tables for d in lake.days(t)}
    return {name: info.content_digest for name, info in infos.items() if info}
