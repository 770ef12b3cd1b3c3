"""The lake: atomic, deterministic, and never empty where it cannot be read."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import uuid
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import DATE, FLAG, INSTANT, INT, REAL, TEXT, TEXTS, Table, col, opt, rows_of
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.parquet_files import canonical

DAY = date(2026, 3, 1)
THINGS = Table(
    name="things",
    group="graph",
    about="One column of each type.",
    columns=(
        col("thing_id", TEXT, "its id"),
        col("kind", TEXT, "what it is"),
        opt("n", INT, "how many"),
        opt("share", REAL, "0 to 1"),
        col("is_new", FLAG, "seen for the first time"),
        opt("seen_at", INSTANT, "when"),
        opt("seen_on", DATE, "on which day"),
        col("tags", TEXTS, "words"),
    ),
    key=("thing_id",),
    sort_by=("kind", "thing_id"),
)
INSTANTS = st.integers(0, 4 * 10**15).map(lambda n: datetime.fromtimestamp(0, UTC) + timedelta(microseconds=n))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "thing_id": st.text(min_size=1, max_size=6),
            "kind": st.sampled_from(["a", "b", ""]),
            "n": st.none() | st.integers(-(2**63), 2**63 - 1),
            "share": st.none() | st.floats(0, 1),
            "is_new": st.booleans(),
            "seen_at": st.none() | INSTANTS,
            "seen_on": st.none() | st.dates(),
            "tags": st.lists(st.text(max_size=3), max_size=3),
        }
    ),
    unique_by=lambda row: row["thing_id"],
    max_size=20,
)


def thing(thing_id: str = "t1", **changes: Any) -> dict[str, Any]:
    return {"thing_id": thing_id, "kind": "a", "is_new": True, "tags": [], **changes}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@given(rows=ROWS, seed=st.integers(0, 9))
def test_the_same_rows_in_any_order_and_any_pieces_give_the_same_bytes(rows: Any, seed: int) -> None:
    lake = Lake(f"memory://{uuid.uuid4().hex}")
    first = lake.write(THINGS, DAY, THINGS.from_rows(rows), "x")
    written = lake._fs.cat_file(lake.path(THINGS, DAY))
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    half = len(rows) // 2
    pieces = pa.concat_tables([THINGS.from_rows(shuffled[:half]), THINGS.from_rows(shuffled[half:])])
    assert lake.write(THINGS, DAY, pieces.select(sorted(pieces.column_names)), "x") == first
    assert lake._fs.cat_file(lake.path(THINGS, DAY)) == written
    assert sorted(lake.read(THINGS, DAY).to_pylist(), key=str) == sorted(THINGS.from_rows(rows).to_pylist(), key=str)


@pytest.mark.slow
@given(rows=ROWS.filter(bool), data=st.data())
def test_other_rows_give_another_content_digest(rows: Any, data: st.DataObject) -> None:
    lake = Lake(f"memory://{uuid.uuid4().hex}")
    before = lake.write(THINGS, DAY, THINGS.from_rows(rows))
    place = data.draw(st.integers(0, len(rows) - 1))
    changes = {"kind": "c", "n": 7, "is_new": not rows[place]["is_new"], "tags": [*rows[place]["tags"], "more"]}
    column = data.draw(st.sampled_from(sorted(changes)))
    other = [row | {column: changes[column]} if i == place else row for i, row in enumerate(rows)]
    same = other == rows
    assert (lake.write(THINGS, DAY, THINGS.from_rows(other)) == before) is same
    assert lake.write(THINGS, DAY, THINGS.from_rows(rows[1:])).content_digest != before.content_digest


def test_the_digest_of_the_inputs_is_no_part_of_that_of_the_rows(lake: Lake) -> None:
    rows = THINGS.from_rows([thing()])
    one, other = lake.write(THINGS, DAY, rows, "one"), lake.write(THINGS, DAY, rows, "other")
    assert one.content_digest == other.content_digest
    assert lake.info(THINGS, DAY) == other
    assert (other.inputs_digest, other.n_rows) == ("other", 1)


def test_a_rewritten_partition_is_seen_though_its_footer_was_read_before(lake: Lake, tmp_path: Path) -> None:
    writer = Lake(tmp_path / "lake")
    writer.write(THINGS, DAY, THINGS.from_rows([thing("a")]))
    before = lake.info(THINGS, DAY)
    after = writer.write(THINGS, DAY, THINGS.from_rows([thing("b")]))
    assert lake.info(THINGS, DAY) == after != before
    writer.delete(THINGS, DAY)
    assert lake.info(THINGS, DAY) is None


def test_rows_are_kept_in_the_sort_order_of_the_table(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing("b"), thing("c", kind="Z"), thing("a")]))
    assert [row["thing_id"] for row in rows_of(lake.read(THINGS, DAY))] == ["c", "a", "b"]


def test_a_table_without_rows_is_a_partition_and_a_day_without_partition_is_none(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.empty())
    assert lake.days(THINGS) == [DAY]
    info = lake.info(THINGS, DAY)
    assert info is not None
    assert info.n_rows == 0
    assert lake.info(THINGS, date(2026, 3, 2)) is None
    assert lake.read(THINGS, date(2026, 3, 2)).num_rows == 0


def test_days_are_listed_in_order_and_the_latest_is_never_after_the_day_asked_for(lake: Lake) -> None:
    days = [date(2026, 3, 9), date(2026, 2, 1), date(2026, 3, 10)]
    for day in days:
        lake.write(THINGS, day, THINGS.empty())
    assert lake.days(THINGS) == sorted(days)
    assert lake.latest(THINGS, date(2026, 3, 9)) == date(2026, 3, 9)
    assert lake.latest(THINGS, date(2026, 3, 8)) == date(2026, 2, 1)
    assert lake.latest(THINGS, date(2026, 1, 31)) is None


def test_several_days_are_read_as_one_table_in_the_order_asked_for(lake: Lake) -> None:
    other = date(2026, 3, 2)
    lake.write(THINGS, DAY, THINGS.from_rows([thing("a")]))
    lake.write(THINGS, other, THINGS.from_rows([thing("b")]))
    assert lake.read_days(THINGS, [other, DAY])["thing_id"].to_pylist() == ["b", "a"]
    assert lake.read_days(THINGS, []).schema == THINGS.schema


def test_what_is_deleted_is_gone_and_deleting_it_again_is_no_error(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.empty())
    lake.delete(THINGS, DAY)
    lake.delete(THINGS, DAY)
    assert lake.days(THINGS) == []


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_litter(
    failing: str, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing("old")]))

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, failing, fail)
    for day in (DAY, date(2026, 3, 2)):
        with pytest.raises(OSError, match="no space left"):
            lake.write(THINGS, day, THINGS.from_rows([thing("new")]))
    monkeypatch.undo()
    assert lake.days(THINGS) == [DAY]
    assert lake.read(THINGS, DAY)["thing_id"].to_pylist() == ["old"]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["2026-03-01.parquet"]


def test_a_process_killed_before_the_rename_leaves_the_old_file(lake: Lake, tmp_path: Path) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing("old")]))
    before = Path(lake.path(THINGS, DAY)).read_bytes()
    program = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        from em_pipelines.storage.files import write_atomically
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        write_atomically(Path({lake.path(THINGS, DAY)!r}), b"new")
        """
    )
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", program], cwd=root, check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert Path(lake.path(THINGS, DAY)).read_bytes() == before
    assert lake.days(THINGS) == [DAY]


@pytest.mark.parametrize("left", [0, 3, 50, 0.5, -1, -9])
def test_a_truncated_file_is_corrupt_and_never_an_empty_table(left: float, lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing(str(i)) for i in range(100)]))
    path = Path(lake.path(THINGS, DAY))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * left) if isinstance(left, float) else left])
    for ask in (lake.read, lake.info, lambda table, day: lake.read_days(table, [day])):
        with pytest.raises(
            CorruptTableError, match=r"reading things of 2026-03-01: .*; `em repair --apply` makes .* again"
        ):
            ask(THINGS, DAY)


def test_a_file_with_a_hole_in_its_rows_is_corrupt(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing(str(i), tags=[str(i * i)]) for i in range(1000)]))
    path = Path(lake.path(THINGS, DAY))
    data = bytearray(path.read_bytes())
    data[4:400] = bytes(396)
    path.write_bytes(data)
    with pytest.raises(CorruptTableError, match="reading things of 2026-03-01"):
        lake.read(THINGS, DAY)


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"thing_id": ["a"]}),
        THINGS.from_rows([thing()]).append_column("more", pa.array([1])),
        THINGS.from_rows([thing()]).select(list(reversed(THINGS.schema.names))),
        pa.table({name: pa.array([1]) for name in THINGS.schema.names}),
    ],
    ids=["a column alone", "a column more", "another order", "other types"],
)
def test_a_file_of_another_schema_is_corrupt(other: pa.Table, lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.empty())
    pq.write_table(other, lake.path(THINGS, DAY))
    with pytest.raises(CorruptTableError, match="its columns differ from the declared schema"):
        lake.read(THINGS, DAY)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (pa.table({"thing_id": ["a"]}), "kind"),
        (THINGS.from_rows([thing(kind=None)]), "writing things: .*kind.*null"),
        (THINGS.from_rows([thing(tags=None)]), "writing things: .*tags.*null"),
        (pa.table({name: ["many"] for name in THINGS.schema.names}), "writing things"),
    ],
    ids=["a column is missing", "a null", "a null list", "other types"],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_written(rows: pa.Table, found: str, lake: Lake) -> None:
    with pytest.raises(CorruptTableError, match=found):
        lake.write(THINGS, DAY, rows)
    assert lake.days(THINGS) == []


def test_nulls_are_kept_where_they_are_allowed(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing(n=None, seen_at=None)]))
    (row,) = lake.read(THINGS, DAY).to_pylist()
    assert (row["n"], row["seen_at"]) == (None, None)


def test_columns_that_are_not_declared_are_left_out_and_types_are_cast() -> None:
    rows = pa.table(
        {
            **{name: pa.array([value]) for name, value in thing().items() if name != "tags"},
            "tags": pa.array([["a"]], pa.large_list(pa.large_string())),
            "n": pa.array([1], pa.int32()),
            "share": pa.nulls(1),
            "seen_at": pa.array([datetime(2026, 3, 1, tzinfo=UTC)], pa.timestamp("ns", "Europe/Vienna")),
            "seen_on": pa.nulls(1),
            "note": ["not declared"],
        }
    )
    made = canonical(THINGS, rows)
    assert made.schema == THINGS.schema
    assert made["seen_at"].to_pylist() == [datetime(2026, 3, 1, tzinfo=UTC)]


def test_a_lake_on_an_object_store_works_alike() -> None:
    root = f"memory://{uuid.uuid4().hex}/lake"
    lake = Lake(root)
    assert lake.days(THINGS) == []
    written = lake.write(THINGS, DAY, THINGS.from_rows([thing()]), "inputs")
    lake.write(THINGS, DAY, THINGS.from_rows([thing()]), "inputs")
    again = Lake(root)
    assert (again.days(THINGS), again.info(THINGS, DAY)) == ([DAY], written)
    assert again.read(THINGS, DAY).num_rows == 1
    assert again.info(THINGS, date(2026, 3, 2)) is None
    again._fs.pipe_file(again.path(THINGS, DAY), b"PAR1")
    with pytest.raises(CorruptTableError):
        again.read(THINGS, DAY)
    again.delete(THINGS, DAY)
    assert lake.days(THINGS) == []


def test_files_on_the_way_are_no_partitions(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.empty())
    folder = Path(lake.path(THINGS, DAY)).parent
    (folder / ".2026-03-02.parquet.77.tmp").write_bytes(b"half")
    (folder / "README").write_text("what is this?")
    assert lake.days(THINGS) == [DAY]


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=4), st.text(max_size=3))
def test_a_digest_tells_its_parts_apart(parts: list[str], more: str) -> None:
    assert digest(parts) == digest(iter(parts))
    assert digest([*parts, "x", more]) != digest([*parts, f"x{more}", "y"])


def test_the_head_of_a_partition_is_its_first_rows_in_the_columns_asked_for(lake: Lake) -> None:
    lake.write(THINGS, DAY, THINGS.from_rows([thing(f"t{n}", n=n) for n in range(5)]))
    assert lake.head(THINGS, DAY, ["n", "thing_id"], 2) == [{"n": 0, "thing_id": "t0"}, {"n": 1, "thing_id": "t1"}]
    assert len(lake.head(THINGS, DAY, ["n"], 9)) == 5
    assert lake.head(THINGS, DAY + timedelta(days=1), ["n"], 9) == []
    path = Path(lake.path(THINGS, DAY))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorruptTableError):
        lake.head(THINGS, DAY, ["n"], 1)


def test_arrow_reads_local_files_by_itself(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that belongs to Python, let go by one of Arrow's threads while a process ends, aborts it: one in twelve
    of `em why-not` ended so on a busy machine."""
    Lake(Path(lake.path(THINGS, DAY)).parents[1]).write(THINGS, DAY, THINGS.from_rows([thing("a")]))
    sources: list[object] = []
    opened = pq.ParquetFile

    def spy(source: object, **options: Any) -> pq.ParquetFile:
        sources.append(source)
        return opened(source, **options)

    monkeypatch.setattr(pq, "ParquetFile", spy)
    assert lake.find(THINGS, DAY, "thing_id", ["a"]).num_rows == 1
    assert lake.head(THINGS, DAY, ["thing_id"], 1) == [{"thing_id": "a"}]
    assert len(sources) == 3
    assert all(isinstance(source, pa.NativeFile) for source in sources)
