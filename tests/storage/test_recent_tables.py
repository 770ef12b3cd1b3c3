"""Tables that were written lately: read from memory while their file stands as it was written, and never otherwise."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from em_pipelines.schema.table import INT, TEXT, Table, col
from em_pipelines.storage.lake import Lake, RecentTables

DAY = date(2026, 3, 1)
NUMBERS = Table(
    name="numbers",
    group="graph",
    about="Numbers.",
    columns=(col("name", TEXT, "of what"), col("n", INT, "how many")),
    key=("name",),
    sort_by=("name",),
)


def rows(*names: str) -> pa.Table:
    return NUMBERS.from_rows([{"name": name, "n": n} for n, name in enumerate(names)])


def test_what_was_written_is_read_without_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(tmp_path)
    lake.write(NUMBERS, DAY, rows("b", "a"))
    monkeypatch.setattr(pq, "ParquetFile", lambda *_: pytest.fail("the file was opened"))
    assert lake.read(NUMBERS, DAY)["name"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("change", ["replaced", "edited", "deleted"])
def test_what_somebody_else_did_to_the_file_is_seen(change: str, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.write(NUMBERS, DAY, rows("a"))
    path = Path(lake.path(NUMBERS, DAY))
    if change == "replaced":
        Lake(tmp_path).write(NUMBERS, DAY, rows("other"))
    elif change == "edited":
        pq.write_table(rows("other"), path)
    else:
        path.unlink()
    assert lake.read(NUMBERS, DAY)["name"].to_pylist() == ([] if change == "deleted" else ["other"])


def test_another_process_reads_what_was_written(tmp_path: Path) -> None:
    Lake(tmp_path).write(NUMBERS, DAY, rows("a", "b"))
    assert Lake(tmp_path).read(NUMBERS, DAY).equals(rows("a", "b"))


@pytest.mark.parametrize("digest", ["0" * 64, "f" * 64, "incomplete", ""])
def test_a_partition_without_rows_has_the_footer_and_the_content_of_one(digest: str, tmp_path: Path) -> None:
    written = Lake(tmp_path).write(NUMBERS, DAY, NUMBERS.empty(), digest)
    found = Lake(tmp_path).info(NUMBERS, DAY)
    assert found == written
    assert (written.inputs_digest, written.n_rows) == (digest, 0)
    assert Lake(tmp_path).damage(NUMBERS, DAY) is None
    assert Lake(tmp_path).read(NUMBERS, DAY).equals(NUMBERS.empty())


def test_the_oldest_tables_are_forgotten_where_there_is_no_room() -> None:
    table = rows(*(f"name {n}" for n in range(100)))
    recent = RecentTables(kept_bytes=table.get_total_buffer_size() * 10)
    for n in range(20):
        recent.keep(f"{n}", (n, n, n), table)
    assert [n for n in range(20) if recent.of(f"{n}", (n, n, n)) is not None] == list(range(10, 20))
    assert recent.of("19", (0, 0, 0)) is None
    assert recent.of("19", (19, 19, 19)) is None


def test_a_table_that_would_push_out_many_is_not_kept() -> None:
    table = rows(*(f"name {n}" for n in range(100)))
    recent = RecentTables(kept_bytes=table.nbytes * 7)
    recent.keep("large", (1, 1, 1), table)
    assert recent.of("large", (1, 1, 1)) is None
