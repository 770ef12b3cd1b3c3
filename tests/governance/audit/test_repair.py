"""Mending: what is damaged, edited or broken is made again; the rest is said; a second time does nothing more."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from em_pipelines.governance.audit.repair import Plan, Repair, apply, propose
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import packs
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.serving.snapshot import LATEST, publish
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.ledger_entries import Act

SAID = tuple({"content": text} for text in ("I live in Vienna.", "I like tea.", "I have moved to Graz.", "Thanks."))
FIRST = date(2026, 3, 1)
LAST = date(2026, 3, 4)


@pytest.fixture(scope="module")
def home(home_with, tmp_path_factory) -> Pipeline:
    home = home_with(tmp_path_factory.mktemp("repair") / "home", *SAID)
    home.infer()
    publish(home.store, home.snapshots, home.time_rules)
    return home


def no_runs(_: Pipeline, __: bool) -> int:
    return 0


def mend(home: Pipeline) -> Repair:
    return apply(home, propose(home, no_runs), no_runs)


def proposals(home: Pipeline) -> Plan:
    return propose(home, no_runs)


def path_of(home: Pipeline, table: Table, day: date) -> Path:
    return Path(home.store.lake.path(table, day))


def edit_with_arrow(path: Path) -> None:
    """Rewrites a file as somebody with a notebook would, footer and all."""
    found = pq.read_table(path)
    kept = pq.read_metadata(path).metadata
    changed = found.slice(1)
    with pq.ParquetWriter(path, changed.schema) as writer:
        writer.write_table(changed)
        writer.add_key_value_metadata({k: v for k, v in kept.items() if k.startswith(b"em.")})


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "half of it": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "nothing": lambda path: path.write_bytes(b""),
    "a changed byte": lambda path: path.write_bytes(b"".join((b"PAR1\xff", path.read_bytes()[5:]))),
    "an edit": edit_with_arrow,
}


def hashes(home: Pipeline) -> dict[str, str]:
    return state_hash(home.store, home.settings.decay)


def test_a_sound_home_needs_nothing(home: Pipeline) -> None:
    assert proposals(home).mends == ()
    assert [d for d in diagnose(home) if not d.is_well] == []


def test_a_home_that_is_not_there_needs_nothing(home_path: Path, settings) -> None:
    assert proposals(Pipeline(settings)).mends == ()


@pytest.mark.parametrize(
    ("damage", "table"),
    [
        *(pytest.param(one, EDGES, marks=() if one == "an edit" else pytest.mark.slow) for one in DAMAGES),
        *(pytest.param("an edit", table, marks=pytest.mark.slow) for table in (MESSAGES, ENTITIES, CURRENT_EDGES)),
    ],
    ids=lambda value: value.name if isinstance(value, Table) else value,
)
def test_a_damaged_or_edited_partition_is_found_and_made_again(
    damage: str, table: Table, home: Pipeline, own_home
) -> None:
    day = own_home.store.lake.days(table)[1]
    DAMAGES[damage](path_of(own_home, table, day))
    (found,) = [d for d in diagnose(own_home) if not d.is_well]
    assert (found.subject, found.found.startswith(f"1 damaged or edited: {table.name} of {day}")) == (
        "partitions",
        True,
    )
    assert [m.subject for m in proposals(own_home).mends] == [f"{table.name} of {day}"]
    assert mend(own_home).left == []
    assert path_of(own_home, table, day).read_bytes() == path_of(home, table, day).read_bytes()
    assert hashes(own_home) == hashes(home)
    assert [d for d in diagnose(own_home) if not d.is_well] == []


@pytest.mark.slow
def test_an_index_pack_that_is_lost_is_found_and_made_again(own_home: Pipeline) -> None:
    packs.build(own_home)
    (pack,) = packs.folders(own_home)
    (pack / "pack.json").unlink()
    (ill,) = [d for d in diagnose(own_home) if not d.is_well]
    assert (ill.subject, ill.found, ill.advice) == ("index packs", "1 of 1 are lost or damaged", "`em repair --apply`")
    repair = mend(own_home)
    assert (repair.done, repair.left) == (["made 1 index pack again"], [])
    assert [d for d in diagnose(own_home) if not d.is_well] == []


def test_proposing_changes_nothing(own_home: Pipeline) -> None:
    DAMAGES["an edit"](path_of(own_home, CLAIMS, FIRST))
    before = {path: path.read_bytes() for path in own_home.path.rglob("*") if path.is_file()}
    assert proposals(own_home).mends == proposals(own_home).mends != ()
    assert {path: path.read_bytes() for path in own_home.path.rglob("*") if path.is_file()} == before


def broken_state(home: Pipeline, day: date) -> None:
    """A state whose footer claims that it was made from what is there."""
    lake = home.store.lake
    for n in range((LAST - day).days + 1):
        on = day + timedelta(days=n)
        info = lake.info(EDGES, on)
        assert info is not None
        rows = [row | {"confidence": 0.5, "polarity": -row["polarity"]} for row in lake.read(EDGES, on).to_pylist()]
        lake.write(EDGES, on, EDGES.from_rows(rows), info.inputs_digest)


@pytest.mark.slow
def test_a_state_that_breaks_a_rule_is_made_again_from_its_first_bad_day(home: Pipeline, own_home: Pipeline) -> None:
    broken_state(own_home, FIRST + timedelta(days=2))
    assert "integrity" in {d.subject for d in diagnose(own_home) if not d.is_well}
    plan = proposals(own_home)
    assert plan.first_bad_day == FIRST + timedelta(days=2)
    kept = path_of(own_home, EDGES, FIRST).stat()
    assert mend(own_home).left == []
    assert path_of(own_home, EDGES, FIRST).stat() == kept
    assert hashes(own_home) == hashes(home)
    assert proposals(own_home).mends == ()


def test_the_last_good_snapshot_stays_while_the_state_is_broken(own_home: Pipeline, monkeypatch) -> None:
    broken_state(own_home, FIRST)
    before = (own_home.snapshots / LATEST).read_bytes()
    monkeypatch.setattr(own_home.store, "stale_days", lambda _: [])  # nothing can be made again
    monkeypatch.setattr(own_home.store.lake, "delete", lambda *_: None)
    assert "integrity" in {m.subject for m in mend(own_home).left}
    assert (own_home.snapshots / LATEST).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["half of it", "nothing"])
def test_a_damaged_snapshot_is_published_again(damage: str, own_home: Pipeline) -> None:
    DAMAGES[damage]((own_home.snapshots / LATEST).resolve())
    assert [m.subject for m in proposals(own_home).mends] == ["snapshot"]
    assert mend(own_home).done == [f"published the snapshot of {LAST}"]
    assert proposals(own_home).mends == ()


def test_a_snapshot_with_a_flipped_byte_in_its_rows_is_found(own_home: Pipeline) -> None:
    path = (own_home.snapshots / LATEST).resolve()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert [m.subject for m in proposals(own_home).mends] == ["snapshot"]
    assert mend(own_home).left == []


def test_left_overs_of_dead_processes_are_deleted_and_of_living_ones_kept(own_home: Pipeline) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder = own_home.path / "lake" / "edges"
    left, living = (folder / f".2026-03-01.parquet.{pid}.tmp" for pid in (dead.pid, os.getpid()))
    for path in (left, living):
        path.write_bytes(b"half")
    assert [m.subject for m in proposals(own_home).mends] == ["left-over files"]
    assert mend(own_home).done == ["deleted 1 left-over file"]
    assert (left.exists(), living.exists()) == (False, True)


@pytest.mark.slow
def test_days_out_of_date_are_made_and_left_to_be_checked(own_home: Pipeline) -> None:
    own_home.store.lake.delete(CURRENT_EDGES, LAST)
    assert {m.subject for m in proposals(own_home).mends} == {"days", "snapshot"}
    assert mend(own_home).left == []
    assert own_home.unchecked == (LAST, LAST)


def test_a_damaged_log_is_said_and_keeps_every_partition_where_it_is(own_home: Pipeline) -> None:
    segment = next((own_home.path / "log" / "interactions" / str(FIRST)).iterdir())
    segment.write_bytes(segment.read_bytes().replace(b"Vienna", b"Verona"))
    DAMAGES["an edit"](path_of(own_home, MESSAGES, FIRST))
    kept = path_of(own_home, MESSAGES, FIRST).read_bytes()
    (log,) = [d for d in diagnose(own_home) if d.subject == "landed log"]
    assert (log.is_well, "1 segment " in log.found) == (False, True)
    done = mend(own_home)
    assert [m.subject for m in done.left] == ["landed log", f"messages of {FIRST}"]
    assert not any(m.mend for m in done.left)
    assert path_of(own_home, MESSAGES, FIRST).read_bytes() == kept


def test_an_edited_ledger_is_said_and_left_as_it_is(own_home: Pipeline) -> None:
    from datetime import UTC, datetime

    ledger = Ledger(own_home.record, own_home.salt)
    ledger.append(Act("correct", user_id="ada", target="edge_1", at=datetime(2026, 3, 9, tzinfo=UTC)))
    assert proposals(own_home).mends == ()
    path = own_home.record / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"count":1', b'"count":9'))
    edited = path.read_bytes()
    done = mend(own_home)
    assert [(m.subject, m.mend) for m in done.left] == [("ledger", "")]
    assert path.read_bytes() == edited
    assert [d.subject for d in diagnose(own_home) if not d.is_well] == ["ledger"]


@pytest.mark.slow
def test_dead_runs_are_reset(own_home: Pipeline) -> None:
    asked: list[bool] = []

    def runs(_: Pipeline, is_applied: bool) -> int:
        asked.append(is_applied)
        return 0 if True in asked[:-1] else 2

    done = apply(own_home, propose(own_home, runs), runs)
    assert asked == [False, True, False]
    assert (done.done, done.left) == (["marked 2 dead runs as failed"], [])
