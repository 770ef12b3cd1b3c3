"""Partitions: atomic, deterministic, and never read as empty when they are broken."""

from datetime import date
from pathlib import Path

import pytest

from em_pipelines.errors import CorruptTableError
from em_pipelines.ids import content_id
from em_pipelines.lake import Lake, write_atomically
from em_pipelines.tables.catalog import CATALOG
from em_pipelines.tables.clean import SESSIONS
from em_pipelines.tables.extraction import SEGMENTS
from em_pipelines.tables.schema import PERSONAL_COLUMNS

DAY = date(2026, 3, 1)


def rows(*numbers: int):
    return SEGMENTS.from_rows(
        [
            {
                "segment_id": f"seg_{n}", "user_id": "ada", "session_id": "s", "first_turn": n, "last_turn": n,
                "message_ids": [f"msg_{n}"], "n_tokens": n, "trust": "trusted",
            }
            for n in numbers
        ]
    )  # fmt: skip


@pytest.mark.parametrize("root", ["memory://lake", None])
def test_what_is_written_is_read_back_from_any_file_system(root, tmp_path) -> None:
    lake = Lake(root or tmp_path)
    lake.write(SEGMENTS, DAY, rows(2, 1), "made from this")
    assert lake.read(SEGMENTS, DAY).equals(rows(1, 2))
    assert lake.days(SEGMENTS) == [DAY]
    info = lake.info(SEGMENTS, DAY)
    assert info is not None
    assert (info.inputs_digest, info.n_rows) == ("made from this", 2)
    lake.delete(SEGMENTS, DAY)
    assert lake.days(SEGMENTS) == []


def test_equal_rows_give_equal_bytes_in_whatever_order_they_came(tmp_path) -> None:
    paths = []
    for number, order in enumerate([(1, 2, 3), (3, 1, 2)]):
        lake = Lake(tmp_path / str(number))
        lake.write(SEGMENTS, DAY, rows(*order))
        paths.append(Path(lake.path(SEGMENTS, DAY)))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_other_rows_have_another_digest_and_other_inputs_have_not(tmp_path) -> None:
    lake = Lake(tmp_path)
    digests = [lake.write(SEGMENTS, DAY, found, inputs).content_digest for found, inputs in
               ((rows(1), "a"), (rows(1), "b"), (rows(2), "a"), (rows(), "a"))]  # fmt: skip
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_a_rewritten_partition_is_seen_though_its_footer_was_read_before(tmp_path) -> None:
    reader, writer = Lake(tmp_path), Lake(tmp_path)
    writer.write(SEGMENTS, DAY, rows(1))
    before = reader.info(SEGMENTS, DAY)
    writer.write(SEGMENTS, DAY, rows(2))
    assert reader.info(SEGMENTS, DAY) != before


def test_a_day_without_a_partition_has_no_rows_and_no_info(tmp_path) -> None:
    lake = Lake(tmp_path)
    assert lake.read(SEGMENTS, DAY).num_rows == 0
    assert lake.info(SEGMENTS, DAY) is None


@pytest.mark.parametrize("length", [0, 3, 200])
def test_a_truncated_partition_is_corrupt_and_never_empty(tmp_path, length) -> None:
    lake = Lake(tmp_path)
    lake.write(SEGMENTS, DAY, rows(1, 2))
    path = Path(lake.path(SEGMENTS, DAY))
    path.write_bytes(path.read_bytes()[:length])
    for attempt in (lake.read, lake.info):
        with pytest.raises(CorruptTableError, match="segments of 2026-03-01"):
            attempt(SEGMENTS, DAY)


def test_a_partition_of_another_schema_is_corrupt(tmp_path) -> None:
    lake = Lake(tmp_path)
    lake.write(SEGMENTS, DAY, rows(1))
    Path(lake.path(SESSIONS, DAY)).parent.mkdir()
    Path(lake.path(SEGMENTS, DAY)).replace(lake.path(SESSIONS, DAY))
    with pytest.raises(CorruptTableError, match="declared schema"):
        lake.read(SESSIONS, DAY)


def test_rows_that_do_not_fit_the_declaration_are_refused(tmp_path) -> None:
    lake = Lake(tmp_path)
    with pytest.raises(CorruptTableError, match="trust"):
        lake.write(SEGMENTS, DAY, SEGMENTS.from_rows([{**rows(1).to_pylist()[0], "trust": None}]))
    with pytest.raises(CorruptTableError, match="segments"):
        lake.write(SEGMENTS, DAY, rows(1).drop_columns(["trust"]))
    assert lake.days(SEGMENTS) == []


def test_a_crash_before_the_rename_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("em_pipelines.lake.os.fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("name", CATALOG)
def test_every_declared_table_has_a_total_order_and_a_key(name) -> None:
    table = CATALOG[name]
    names = set(table.schema.names)
    assert set(table.key) <= names
    assert set(table.sort_by) <= names
    assert len(names) == len(table.columns)
    assert all(column.about for column in table.columns)
    assert table.empty().schema.equals(table.schema)


def test_personal_columns_are_columns() -> None:
    assert {c.name for table in CATALOG.values() for c in table.columns} >= PERSONAL_COLUMNS


def test_ids_tell_parts_apart() -> None:
    ids = {content_id("x", *parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", None), ("abc", ""))}
    assert len(ids) == 5
    assert content_id("x", "a") != content_id("y", "a")
