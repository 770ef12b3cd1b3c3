"""The manifest of the landed log: what is lost or edited is named, what a killed process left heals by itself."""

import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path

import orjson
import pytest

from em_pipelines.errors import CorruptLogError, SaltError
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.log_manifest import Manifest, Segment
from em_pipelines.storage.salt import Salt

FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)
KIND = "interactions"


def log_in(folder: Path) -> LandedLog:
    """The log of a folder, as a process that has just begun sees it."""
    return LandedLog(
        folder / "log",
        manifest=Manifest(
            folder / "log" / "manifest.jsonl", folder / "record" / "log.head", Salt(folder / "record" / "salt")
        ),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log with two segments of one day and one of another."""
    log = log_in(tmp_path)
    log.append(KIND, FIRST, [{"n": 1}])
    with log.together():
        log.append(KIND, FIRST, [{"n": 2}])
        log.append(KIND, SECOND, [{"n": 3}])
    return tmp_path


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "log" / "manifest.jsonl").read_bytes().splitlines(keepends=True)


def write(folder: Path, lines: list[bytes]) -> None:
    (folder / "log" / "manifest.jsonl").write_bytes(b"".join(lines))


def segments(folder: Path, day: date = FIRST) -> list[Path]:
    return sorted((folder / "log" / KIND / str(day)).iterdir())


def test_nothing_is_lost_of_a_log_as_it_was_written(folder: Path) -> None:
    log = log_in(folder)
    log.settle()
    assert log.lost() == {}
    assert len(lines_of(folder)) == 3
    log.check(KIND, [FIRST, SECOND])


def test_a_segment_that_is_gone_is_named(folder: Path) -> None:
    segments(folder)[1].unlink()
    log = log_in(folder)
    assert list(log.lost().values()) == [Segment(KIND, FIRST, 2)]
    with pytest.raises(
        CorruptLogError, match=r"log/interactions/2026-03-01/000002-\*\.jsonl is lost; restore .* --accept-loss"
    ):
        log.check(KIND, [FIRST])
    log.check(KIND, [SECOND])


def test_a_segment_with_another_name_does_not_pass_for_the_one_that_landed(folder: Path) -> None:
    segments(folder)[0].rename(segments(folder)[0].with_name("000001-0123456789abcdef.jsonl"))
    assert list(log_in(folder).lost().values()) == [Segment(KIND, FIRST, 1)]


def test_what_is_read_is_what_landed(folder: Path) -> None:
    path = segments(folder)[0]
    path.write_bytes(path.read_bytes().replace(b"1", b"7"))
    with pytest.raises(CorruptLogError, match=path.name):
        list(log_in(folder).read(KIND, FIRST))


EDITS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a changed day": lambda lines: [lines[0].replace(b'"day":7', b'"day":8'), *lines[1:]],
    "a removed line": lambda lines: [lines[0], *lines[2:]],
    "swapped lines": lambda lines: [lines[1], lines[0], *lines[2:]],
    "a line twice": lambda lines: [lines[0], lines[0], *lines[1:]],
    "an end that was cut off": lambda lines: lines[:-1],
    "nothing left": lambda _: [],
    "no json": lambda lines: [lines[0], b"}{\n", *lines[2:]],
    "a changed last line": lambda lines: [*lines[:-1], lines[-1].replace(b'"number":1', b'"number":4')],
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_manifest_is_found(edit: str, folder: Path) -> None:
    write(folder, EDITS[edit](lines_of(folder)))
    with pytest.raises(CorruptLogError, match=r"manifest\.jsonl: .* --accept-loss"):
        log_in(folder).lost()


def test_every_flipped_byte_of_the_manifest_is_found(folder: Path) -> None:
    path = folder / "log" / "manifest.jsonl"
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CorruptLogError):
            log_in(folder).lost()


@pytest.mark.parametrize("name", ["log/manifest.jsonl", "record/log.head"])
def test_a_manifest_or_a_head_that_is_gone_is_found(name: str, folder: Path) -> None:
    (folder / name).unlink()
    log = log_in(folder)
    with pytest.raises(CorruptLogError, match=name.rpartition("/")[2]):
        log.lost()
    with pytest.raises(CorruptLogError):
        log.append(KIND, SECOND, [{"n": 4}])
    assert len(segments(folder, SECOND)) == 1


def test_another_salt_is_found(folder: Path) -> None:
    salt = folder / "record" / "salt"
    salt.write_bytes(bytes([salt.read_bytes()[0] ^ 4]) + salt.read_bytes()[1:])
    with pytest.raises(SaltError, match="salt"):
        log_in(folder).lost()


def test_a_landing_that_was_killed_before_it_entered_what_it_wrote_heals(folder: Path) -> None:
    before = (folder / "log" / "manifest.jsonl").read_bytes(), (folder / "record" / "log.head").read_bytes()
    log_in(folder).append(KIND, SECOND, [{"n": 4}])
    (folder / "log" / "manifest.jsonl").write_bytes(before[0])
    (folder / "record" / "log.head").write_bytes(before[1])
    log = log_in(folder)
    log.settle()
    segments(folder, SECOND)[1].unlink()
    assert list(log.lost().values()) == [Segment(KIND, SECOND, 2)]


@pytest.mark.parametrize("n_bytes", [1, 40, 10_000])
def test_an_entry_that_was_cut_short_by_a_kill_heals(n_bytes: int, folder: Path) -> None:
    head = (folder / "record" / "log.head").read_bytes()
    whole = b"".join(lines_of(folder))
    log_in(folder).append(KIND, SECOND, [{"n": 4}])
    added = b"".join(lines_of(folder))[len(whole) :]
    (folder / "log" / "manifest.jsonl").write_bytes(whole + added[:n_bytes])
    (folder / "record" / "log.head").write_bytes(head)
    log = log_in(folder)
    assert log.lost() == {}
    log.settle()
    log.append(KIND, SECOND, [{"n": 5}])
    again = log_in(folder)
    again.settle()
    assert again.lost() == {}
    assert len(again.manifest.listed().segments) == 5


def test_a_log_from_before_there_was_a_manifest_gets_one_with_its_next_landing(folder: Path) -> None:
    (folder / "log" / "manifest.jsonl").unlink()
    (folder / "record" / "log.head").unlink()
    assert log_in(folder).lost() == {}
    log_in(folder).append(KIND, SECOND, [{"n": 4}])
    segments(folder)[0].unlink()
    assert list(log_in(folder).lost().values()) == [Segment(KIND, FIRST, 1)]


def test_what_an_erasure_rewrites_or_removes_is_not_missed(folder: Path) -> None:
    log = log_in(folder)
    log.rewrite(KIND, FIRST, lambda record: None if record["n"] == 1 else {"n": 20})
    assert log_in(folder).lost() == {}
    said = [orjson.loads(line)["what"] for line in lines_of(folder)]
    assert said == [1, 1, 1, 4, 3]
    segments(folder)[0].unlink()
    assert list(log_in(folder).lost().values()) == [Segment(KIND, FIRST, 2)]


def test_an_erasure_that_was_killed_between_entry_and_removal_leaves_nothing_to_miss(folder: Path) -> None:
    old = segments(folder)[0]
    said = old.read_bytes()
    log_in(folder).rewrite(KIND, FIRST, lambda record: {"n": 20} if record["n"] == 1 else record)
    old.write_bytes(said)
    log = log_in(folder)
    log.settle()
    log.rewrite(KIND, FIRST, lambda record: {"n": 20} if record["n"] == 1 else record)
    assert log_in(folder).lost() == {}
    assert sorted(record["n"] for record in log.read(KIND, FIRST)) == [2, 20]


def test_who_looks_without_a_lock_misses_nothing_that_is_landed_or_rewritten_meanwhile(folder: Path) -> None:
    def work() -> None:
        log = log_in(folder)
        for n in range(150):
            log.append(KIND, SECOND, [{"n": 100 + n}])
            if n % 10 == 0:
                log.rewrite(KIND, SECOND, lambda record: {"n": -record["n"]} if record["n"] > 0 else record)

    worker = threading.Thread(target=work)
    worker.start()
    log = log_in(folder)
    while worker.is_alive():
        assert log.lost() == {}
        log.check(KIND, [SECOND])
    worker.join()
    assert len(log.manifest.listed().segments) == 153


def test_entries_tell_nothing_of_what_was_said(folder: Path) -> None:
    names = [path.stem.partition("-")[2] for path in (*segments(folder), *segments(folder, SECOND))]
    assert not any(name.encode() in line for name in names for line in lines_of(folder))
