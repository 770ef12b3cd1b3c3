"""Packs that grow are the packs that are made at once."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.retrieval import writing as topics
from em_pipelines.retrieval.documents import SCHEMA
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.writing import PackOptions, write

WORDS = ["heron", "boat", "kiln", "clay", "harp", "Delft", "Hull", "seven", "yesterday", "it's", "naïve", "?", "—", ""]
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(seed: int, n_messages: int, n_facts: int) -> pa.Table:
    rng = random.Random(seed)
    rows = [
        {
            "kind": "message" if n < n_messages else "fact", "session_id": f"s{n // 7}", "turn_number": n % 7,
            "text": " ".join(rng.choices(WORDS, k=rng.randint(0, 9))) + f" w{n}", "confidence": 1.0,
            "speaker": rng.choice(["Ida", "Piet"]) if n < n_messages else None, "said_at": START + timedelta(hours=n),
        }
        for n in range(n_messages + n_facts)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_pack_that_grew_has_the_bytes_of_one_made_at_once(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "REFITTED", 20)
    sizes = sorted(data.draw(st.lists(st.integers(0, 60), min_size=2, max_size=4)))
    folder = tmp_path_factory.mktemp("packs")
    rows = said(data.draw(st.integers(0, 9)), sizes[-1], 3)
    for size in sizes:
        some = pa.concat_tables([rows.slice(0, size), rows.slice(sizes[-1], data.draw(st.integers(0, 2)))])
        if size == sizes[-1]:
            some = rows
        write(folder / "grown", some, PackOptions(5), Pack(folder / "grown") if (folder / "grown").exists() else None)
    write(folder / "at_once", rows, PackOptions(5))
    assert files(folder / "grown") == files(folder / "at_once")


def test_what_is_said_otherwise_now_is_read_again(tmp_path: Path) -> None:
    rows = said(1, 30, 0)
    write(tmp_path / "grown", rows, PackOptions(5))
    other = rows.to_pylist()
    other[4]["text"] = "the otter"
    changed = pa.Table.from_pylist(other[:20] + other[22:], schema=SCHEMA)
    write(tmp_path / "grown", changed, PackOptions(5), Pack(tmp_path / "grown"))
    write(tmp_path / "at_once", changed, PackOptions(5))
    assert files(tmp_path / "grown") == files(tmp_path / "at_once")
    assert all(b"w21" not in held for held in files(tmp_path / "grown").values())
