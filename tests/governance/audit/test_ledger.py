"""The ledger: what it keeps, what it finds, what a killed or a crowded append leaves behind."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.errors import CorruptLedgerError
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.salt import Salt

ROOT = Path(__file__).parents[3]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
APPENDING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.salt import Salt
folder, name = Path(sys.argv[1]), sys.argv[2]
for n in range(5):
    Ledger(folder, Salt(folder / "salt")).append(Act(
        "export", user_id=name, target=str(n), at=datetime(2026, 3, 1, tzinfo=UTC)
    ))
"""
N_ENTRIES = 6


def act(ledger: Ledger, target: str = "edge_new"):
    return ledger.append(Act("erase", user_id="zoe", target=target, at=NOON, count=3, certificate_id="cert_1"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger of six entries, to be copied."""
    folder = tmp_path_factory.mktemp("written")
    ledger = Ledger(folder, Salt(folder / "salt"))
    for n in range(N_ENTRIES):
        ledger.append(Act("correct", user_id=f"user-{n % 2}", target=f"edge_{n}", at=NOON))
    return folder


@contextmanager
def copy_of(written: Path) -> Iterator[tuple[Ledger, Path, Path]]:
    """A ledger of its own, the path of its lines and that of its head."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "record"
        shutil.copytree(written, folder)
        yield Ledger(folder, Salt(folder / "salt")), folder / "ledger.jsonl", folder / "ledger.head"


def test_an_entry_says_what_was_done_and_names_nobody(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, Salt(tmp_path / "salt"))
    entry = act(ledger, "edge_zanzibar")
    assert (entry.sequence, entry.action, entry.actor, entry.count) == (1, "erase", "user", 3)
    assert (entry.at, entry.certificate_id) == (NOON, "cert_1")
    assert ledger.entries() == [entry]
    said = (tmp_path / "ledger.jsonl").read_bytes() + (tmp_path / "ledger.head").read_bytes()
    assert b"zoe" not in said
    assert b"zanzibar" not in said


def test_entries_of_a_user_are_found_by_this_home_alone(tmp_path: Path, ledger_of) -> None:
    ledger = ledger_of(tmp_path / "one", 5)
    assert [entry.sequence for entry in ledger.of_user("user-0")] == [1, 3, 5]
    assert ledger.of_user("nobody") == []
    other = Ledger(tmp_path / "one", Salt(tmp_path / "other salt"))
    assert other.of_user("user-0") == []
    assert other.verify()


def test_targets_of_two_users_never_look_alike(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, Salt(tmp_path / "salt"))
    for user in ("ada", "ben"):
        ledger.append(Act("erase", user_id=user, target="Lisbon", at=NOON))
    assert len({entry.target for entry in ledger.entries()}) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"action": "Erased Ada's flat"}, {"actor": "Ada Byron"}, {"at": NOON.replace(tzinfo=None)}, {"count": -1},
        {"certificate_id": "a flat in Lisbon"},
    ],
)  # fmt: skip
def test_what_could_name_somebody_or_has_no_place_in_time_is_refused(changed, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, Salt(tmp_path / "salt"))
    with pytest.raises(ValueError, match=r"^entering "):
        ledger.append(Act(**{"action": "erase", "user_id": "ada", "target": "x", "at": NOON, **changed}))
    assert ledger.entries() == []


def test_a_ledger_without_entries_and_one_that_goes_on_are_sound(tmp_path: Path, ledger_of) -> None:
    assert Ledger(tmp_path, Salt(tmp_path / "salt")).verify() == []
    for _ in range(3):
        ledger = ledger_of(tmp_path, 2)
        assert ledger.verify() == []
    assert [entry.sequence for entry in ledger.entries()] == [1, 2, 3, 4, 5, 6]


edits = st.one_of(
    st.tuples(st.just("change"), st.floats(0, 0.999), st.integers(1, 255)),
    st.tuples(st.just("remove"), st.integers(0, N_ENTRIES - 1), st.integers(1, 3)),
    st.tuples(st.just("swap"), st.integers(0, N_ENTRIES - 1), st.integers(1, N_ENTRIES - 1)),
    st.tuples(st.just("insert"), st.integers(0, N_ENTRIES), st.integers(0, N_ENTRIES - 1)),
    st.tuples(st.just("cut"), st.floats(0, 0.999), st.just(0)),
    st.tuples(st.just("head"), st.floats(0, 0.999), st.integers(1, 255)),
    st.tuples(st.just("no head"), st.just(0), st.just(0)),
)


def edit(lines: Path, head: Path, kind: str, where: float, how: int) -> None:
    data = lines.read_bytes()
    rows = data.splitlines(keepends=True)
    if kind in {"change", "head"}:
        path = head if kind == "head" else lines
        changed = bytearray(path.read_bytes())
        changed[int(where * len(changed))] ^= how
        path.write_bytes(changed)
    elif kind == "remove":
        lines.write_bytes(b"".join(rows[: int(where)] + rows[int(where) + how :]))
    elif kind == "swap":
        a, b = int(where), (int(where) + how) % len(rows)
        rows[a], rows[b] = rows[b], rows[a]
        lines.write_bytes(b"".join(rows))
    elif kind == "insert":
        rows.insert(int(where), rows[how])
        lines.write_bytes(b"".join(rows))
    elif kind == "cut":
        lines.write_bytes(data[: int(where * len(data))])
    else:
        head.unlink()


@given(edited=edits, n_appended=st.integers(0, 3))
def test_every_edit_is_found_at_once_and_after_any_number_of_appends(edited, n_appended: int, written: Path) -> None:
    with copy_of(written) as (ledger, lines, head):
        before = lines.read_bytes()
        edit(lines, head, *edited)
        for n in range(n_appended):
            act(ledger, str(n))
        is_whole = lines.read_bytes().startswith(before)  # a newline that was cut off is written again
        assert ledger.verify() or (n_appended and is_whole and edited[0] in {"cut", "change"})


@given(where=st.integers(1, N_ENTRIES))
def test_the_first_bad_line_is_named(where: int, written: Path) -> None:
    with copy_of(written) as (ledger, lines, _):
        rows = lines.read_bytes().splitlines(keepends=True)
        rows[where - 1] = rows[where - 1].replace(b'"count":1', b'"count":2')
        lines.write_bytes(b"".join(rows))
        problem = ledger.verify()[0]
        assert problem.line == where
        assert problem.found == "it was changed: its hash is not that of its content"


def test_a_chain_that_somebody_calculated_anew_is_found(written: Path) -> None:
    from hashlib import sha256

    with copy_of(written) as (ledger, lines, _):
        forged, previous = [], "0" * 64
        for row in map(orjson.loads, lines.read_bytes().splitlines()):
            content = {k: v for k, v in row.items() if k not in {"hash", "seal"}} | {"count": 7}
            content["previous_hash"] = previous
            previous = sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
            forged.append(content | {"hash": previous, "seal": row["seal"]})
        lines.write_bytes(b"".join(orjson.dumps(r, option=orjson.OPT_SORT_KEYS) + b"\n" for r in forged))
        assert ledger.verify()[0].found.startswith("it was not written by this home")


def test_a_head_that_was_put_back_with_the_lines_behind_it_left_is_found(written: Path) -> None:
    with copy_of(written) as (ledger, _, head):
        kept = head.read_bytes()
        act(ledger)
        act(ledger)
        head.write_bytes(kept)
        assert ledger.verify()[0].line == N_ENTRIES + 2


@given(share=st.floats(0, 1))
def test_an_append_that_was_killed_at_any_byte_loses_no_entry(share: float, written: Path) -> None:
    with copy_of(written) as (ledger, lines, head):
        counted, before = head.read_bytes(), lines.read_bytes()
        act(ledger)
        added = lines.read_bytes()[len(before) :]
        n_written = round(share * len(added))
        lines.write_bytes(before + added[:n_written])
        head.write_bytes(counted)
        assert ledger.verify() == []
        entry = act(ledger, "edge_next")
        n_kept = N_ENTRIES + (n_written >= len(added) - 1)
        assert ledger.verify() == []
        assert [e.sequence for e in ledger.entries()] == list(range(1, n_kept + 2))
        assert ledger.entries()[-1] == entry


def test_reading_stops_at_a_line_that_is_no_entry(written: Path) -> None:
    with copy_of(written) as (ledger, lines, _):
        rows = lines.read_bytes().splitlines(keepends=True)
        lines.write_bytes(b"".join([*rows[:2], b"{}\n", *rows[3:]]))
        with pytest.raises(CorruptLedgerError, match="line 3 is no entry"):
            ledger.entries()


@pytest.mark.slow
def test_twelve_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    def one(number: int) -> int:
        command = [sys.executable, "-c", APPENDING, str(tmp_path), f"user-{number}"]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120, check=False).returncode

    with ThreadPoolExecutor(max_workers=12) as pool:
        assert list(pool.map(one, range(12))) == [0] * 12
    ledger = Ledger(tmp_path, Salt(tmp_path / "salt"))
    assert ledger.verify() == []
    assert [entry.sequence for entry in ledger.entries()] == list(range(1, 61))
    assert all(len(ledger.of_user(f"user-{n}")) == 5 for n in range(12))
