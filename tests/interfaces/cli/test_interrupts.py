"""Told to stop: one sentence, no success, whatever runs just then; and what a home says of itself afterwards."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from em_pipelines.interfaces.cli import interrupts
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

ROOT = Path(__file__).parents[3]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SENTENCE = f"em: {interrupts.KEPT}\n"
BEGIN = """
import signal, sys, time
from em_pipelines.interfaces.cli import interrupts
signal.pthread_sigmask(signal.SIG_UNBLOCK, interrupts.SIGNALS)
for one in interrupts.SIGNALS:
    signal.signal(one, signal.SIG_IGN if str(int(one)) in sys.argv else signal.SIG_DFL)
interrupts.listen()
def ready():
    print("ready", flush=True)
"""
END = "sys.exit(interrupts.end() if interrupts.came() else 0)"
UNWINDS = """
try:
    ready()
    time.sleep(60)
except KeyboardInterrupt:
    pass
"""
SWALLOWED = """
class Closes:
    def __del__(self):
        ready()
        time.sleep(60)
Closes()
"""
NOTED_AND_FORGOTTEN = """
is_noted = []
signal.signal(signal.SIGINT, lambda *_: is_noted.append(1))
ready()
while not is_noted:
    time.sleep(0.01)
"""
MADE_AN_ERROR = """
try:
    ready()
    time.sleep(60)
except BaseException:
    with interrupts.saying("never said"):
        pass
"""
HANGS = """
for number in interrupts.SIGNALS:
    signal.signal(number, lambda *_: None)
interrupts.GRACE_SECONDS = 0.1
ready()
while True:
    time.sleep(60)
"""
Started = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def started() -> Iterator[Started]:
    """Starts a script that listens, and waits until it is at work."""
    processes: list[subprocess.Popen[str]] = []

    def start(script: str, ignored: signal.Signals | None = None) -> "subprocess.Popen[str]":
        words = [str(int(ignored))] if ignored else []
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + script + END, *words], cwd=ROOT, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        processes.append(process)
        assert process.stdout and process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("script", [UNWINDS, SWALLOWED, MADE_AN_ERROR])
def test_a_signal_ends_with_one_sentence_whoever_catches_it(started: Started, number: int, script: str) -> None:
    process = started(script)
    os.killpg(process.pid, number)
    assert (process.communicate(timeout=30)[1], process.returncode) == (SENTENCE, 3)


def test_a_signal_that_a_library_notes_and_forgets_is_no_success(started: Started) -> None:
    process = started(NOTED_AND_FORGOTTEN)
    os.killpg(process.pid, signal.SIGINT)
    assert (process.communicate(timeout=30)[1], process.returncode) == (SENTENCE, 3)


def test_who_does_not_end_is_cut_off(started: Started) -> None:
    process = started(HANGS)
    os.killpg(process.pid, signal.SIGTERM)
    assert (process.communicate(timeout=30)[1], process.returncode) == (SENTENCE, 3)


def test_told_twice_it_ends_at_once(started: Started) -> None:
    process = started(HANGS.replace("0.1", "60"))
    for number in (signal.SIGINT, signal.SIGTERM):  # of one number the kernel may make one
        os.killpg(process.pid, number)
    assert (process.communicate(timeout=30)[1], process.returncode) == (SENTENCE, 3)


def test_a_signal_that_is_ignored_stays_so(started: Started) -> None:
    quiet = UNWINDS.replace("60", "0.2")
    process = started(quiet, ignored=signal.SIGHUP)
    os.killpg(process.pid, signal.SIGHUP)
    assert (process.communicate(timeout=30)[1], process.returncode) == ("", 0)


def test_in_the_background_without_a_terminal_a_sigint_is_meant_for_us(started: Started) -> None:
    process = started(UNWINDS, ignored=signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)
    assert (process.communicate(timeout=30)[1], process.returncode) == (SENTENCE, 3)


def broken_off(home: Path, name: str) -> Pipeline:
    """A home on which work was interrupted."""
    opened = Pipeline(load_settings(home=home))
    with pytest.raises(KeyboardInterrupt), opened.at_work(name):
        raise KeyboardInterrupt
    return opened


@pytest.mark.slow
def test_after_a_run_that_broke_off_what_is_published_is_counted(em, examples_home, copied, native) -> None:
    home = copied(examples_home)
    before = orjson.loads(em("status", "--json", "--home", home).stdout)
    said = {"user_id": "ada", "session_id": "late", "content": "I live in Graz.", "timestamp": "2026-11-02T10:00:00Z"}
    em("land", native(said), "--home", home)
    opened = broken_off(home, "run")
    for name in ("interactions", "messages"):
        opened.store.run_days(opened.steps[name], opened.store.days(opened.steps[name]))
    found = orjson.loads(em("status", "--json", "--home", home).stdout)
    for figure in ("n_messages", "n_facts", "first_day", "last_day", "n_users"):
        assert found[figure] == before[figure], figure
    assert (found["n_unread_messages"], found["has_run_broken_off"], found["is_at_work"]) == (1, True, False)
    assert "goes on" in found["next_step"]
    (ada,) = [one for one in orjson.loads(em("users", "--json", "--home", home).stdout) if one["user_id"] == "ada"]
    assert (ada["n_waiting"], ada["last_day"]) == (1, "2026-11-01")


def test_after_a_first_run_that_broke_off_nothing_counts_and_all_waits(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    em("land", native({"content": "I live in Oslo."}, {"content": "I love tea."}), "--home", home)
    opened = broken_off(home, "run")
    for name in ("interactions", "messages"):
        opened.store.run_days(opened.steps[name], opened.store.days(opened.steps[name]))
    found = orjson.loads(em("status", "--json", "--home", home).stdout)
    assert (found["n_messages"], found["n_unread_messages"], found["has_run_broken_off"]) == (0, 2, True)
    assert "run           broke off" in em("status", "--home", home).stdout
    ill = [one for one in orjson.loads(em("doctor", "--json", "--home", home).stdout) if one["subject"] == "runs"]
    assert [(one["ok"], one["advice"]) for one in ill] == [(False, "em run")]


def test_while_somebody_is_at_work_that_is_said_and_not_that_it_broke_off(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    em("land", native({"content": "I live in Oslo."}), "--home", home)
    with Pipeline(load_settings(home=home)).at_work("run"):
        found = orjson.loads(em("status", "--json", "--home", home).stdout)
        assert "at work" in em("status", "--home", home).stdout
    assert (found["is_at_work"], found["has_run_broken_off"]) == (True, False)
    found = orjson.loads(em("status", "--json", "--home", home).stdout)
    assert (found["is_at_work"], found["has_run_broken_off"]) == (False, False)


def test_a_landing_that_broke_off_wants_its_files_again_until_one_lands(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    log = native({"content": "I live in Oslo."})
    em("land", log, "--home", home)
    broken_off(home, "landing")
    told = em("status", "--home", home).stdout
    assert "landing       broke off" in told
    assert "the same files" in told
    em("land", log, "--home", home)
    assert "broke off" not in em("status", "--home", home).stdout


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """Copies a home."""
    return lambda home: Path(shutil.copytree(home, tmp_path / "copy", symlinks=True))
