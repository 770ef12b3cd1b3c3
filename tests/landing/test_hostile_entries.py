"""Links, pipes, devices, names and folders that are no logs: each is named and refused, and the rest lands."""

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.landing.land import land
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.storage.landed_log import LandedLog

NOBODY = 65534
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def socket_at(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the whole path may be longer than a socket's address
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def outward(path: Path) -> None:
    target = path.parents[2] / "elsewhere.jsonl"
    target.write_text("secret\n")
    path.symlink_to(target)


def outward_folder(path: Path) -> None:
    target = path.parents[2] / "elsewhere"
    target.mkdir()
    (target / "secret.jsonl").write_text("secret\n")
    path.symlink_to(target)


ENTRIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a FIFO": (fifo, "no_regular_file"),
    "a socket": (socket_at, "no_regular_file"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "link_not_followed"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "link_not_followed"),
    "a link to nothing": (lambda path: path.symlink_to("gone"), "link_not_followed"),
    "a link to its own folder": (lambda path: path.symlink_to("."), "link_not_followed"),
    "a link to the folder above": (lambda path: path.symlink_to(".."), "link_not_followed"),
    "a link out of the folder": (outward, "link_not_followed"),
    "a link to a folder outside": (outward_folder, "link_not_followed"),
}


@pytest.mark.parametrize("what", ENTRIES)
@pytest.mark.parametrize("place", ["in", "in/bob"])
def test_what_is_no_file_is_named_and_the_rest_lands(home, message, what: str, place: str) -> None:
    home.write("good.jsonl", [message()])
    home.write("bob/other.jsonl", [message(1)])
    make, reason = ENTRIES[what]
    folder = home.root / place
    if place == "in" and what == "a link to the folder above":
        (home.root / "outside.jsonl").write_text("secret\n")
    make(folder / "bad.jsonl")
    report = home.land(home.root / "in")
    assert (report.n_landed, dict(report.n_dead_letters)) == (2, {reason: 1})
    assert any("bad.jsonl was left out: it is a" in note for note in report.notes)
    assert "secret" not in str(home.segments())
    again = home.land(home.root / "in")
    assert (again.n_landed, again.n_new_dead_letters) == (0, 0)


def test_a_link_that_stays_inside_is_the_file_that_it_names(home, message) -> None:
    path = home.write("good.jsonl", [message()])
    path.with_name("also.jsonl").symlink_to("good.jsonl")
    report = home.land(home.root / "in")
    assert (report.n_landed, report.n_duplicates, dict(report.n_dead_letters)) == (1, 0, {})


@pytest.mark.parametrize("name", [b"caf\xe9.jsonl", b"caf\xe9/log.jsonl"])
def test_a_name_that_is_no_utf8_is_told_with_escapes(home, message, name: bytes) -> None:
    home.write("good.jsonl", [message()])
    home.write(os.fsdecode(name), [message(1, user_id=None)])
    report = home.land(home.root / "in")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"name_not_utf8": 1})
    assert "caf\\udce9" in report.notes[0]
    assert all(file.encode() for file in report.files)


@pytest.mark.parametrize("make", [fifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_path_that_is_named_may_be_bad_too(home, message, make) -> None:
    good = home.write("good.jsonl", [message()])
    make(good.with_name("bad.jsonl"))
    report = home.land(good.with_name("bad.jsonl"), good)
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"no_regular_file": 1})


def test_a_link_that_is_named_is_followed(home, message) -> None:
    good = home.write("good.jsonl", [message()])
    link = home.root / "link.jsonl"
    link.symlink_to(good)
    assert home.land(link).n_landed == 1


def test_a_fifo_that_takes_the_place_of_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    fifo(tmp_path / "log.jsonl")
    with pytest.raises(RuleError):
        InputFile(tmp_path / "log.jsonl", LandingSettings()).check()


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder of somebody's without any rights beyond it, whose rights this process has while it is there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        was = os.geteuid()
        if was == 0:
            os.chown(made, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        yield Path(made)
        os.seteuid(was)


@pytest.mark.parametrize("closed", ["bob", "bob/log.jsonl"])
def test_what_may_not_be_read_is_named_and_the_rest_lands(as_nobody: Path, message, closed: str) -> None:
    folder = as_nobody / "in"
    (folder / "bob").mkdir(parents=True)
    for place in ("good.jsonl", "bob/log.jsonl"):
        (folder / place).write_bytes(orjson.dumps(message()))
    (folder / closed).chmod(0)
    report = land([folder], LandedLog(as_nobody / "log"), now=NOW, settings=LandingSettings())
    (folder / closed).chmod(0o700)
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"unreadable_file": 1})
