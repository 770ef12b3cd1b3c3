"""`em run`: repeated, interrupted, restricted, twice at once."""

import os
import signal
import subprocess
import sys
import time
from datetime import date

import orjson
import pytest

from em_pipelines.interfaces.cli.interrupts import KEPT
from em_pipelines.interfaces.cli.running import way_to_ui
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

ENTRY = "from em_pipelines.interfaces.cli.entry import main; main()"


def state(em, home) -> str:
    return orjson.loads(em("state-hash", "--home", home, "--json").stdout)["all"]


@pytest.mark.slow
def test_a_run_restricted_to_days_leaves_the_others_for_later(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    log = native({"content": "I live in Oslo."}, {"content": "I love tea."}, {"content": "I own a canoe."})
    assert em("run", log, "--to", "2026-03-02", "--home", home).returncode == 0
    assert {p.stem for p in (home / "lake" / "edges").iterdir()} == {"2026-03-01", "2026-03-02"}
    assert em("doctor", "--home", home).returncode == 1
    assert em("run", "--home", home).returncode == 0
    assert em("doctor", "--home", home).returncode == 0
    assert "Nothing is new" in em("run", "--home", home).stdout
    Pipeline(load_settings(home=home)).note_unchecked([date(2026, 3, 2), date(2026, 3, 3)])
    again = em("run", "--home", home)
    assert (again.returncode, "Every day is current" in again.stdout) == (0, True), "checks that never passed are run"
    assert "Nothing is new" in em("run", "--home", home).stdout


def test_feedback_that_fits_no_fact_is_reported(em, native, tmp_path) -> None:
    home, said = tmp_path / "home", {"kind": "feedback", "subject": "user", "relation": "likes"}
    log = native(
        {"content": "I love tea."}, {**said, "type": "retract", "object": "skiing"},
        {**said, "type": "confirm", "object": "tea"},
    )  # fmt: skip
    named = "1 fitted no fact"
    ran = em("run", log, "--home", home)
    assert (ran.returncode, named in ran.stdout, "taken back: user likes skiing" in ran.stdout) == (0, True, True)
    found = em("doctor", "--home", home)
    assert (found.returncode, named in found.stdout) == (0, True)
    assert named not in em("run", "--home", home).stdout, "it is said once"


@pytest.mark.slow
def test_an_interrupted_run_says_so_and_the_next_one_goes_on(em, native, root, tmp_path) -> None:
    home = tmp_path / "home"
    log = native({"content": "I live in Oslo."}, {"content": "I love tea."})
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "run", str(log), "--home", str(home)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (home / "lake" / "messages").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: whatever the run has started hears of it, too
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (3, f"em: {KEPT}\n")
    assert em("doctor", "--home", home).returncode == 1
    assert em("run", "--home", home).returncode == 0
    assert em("doctor", "--home", home).returncode == 0


@pytest.mark.slow
def test_two_runs_at_once_wait_for_each_other(em, em_command, native, root, tmp_path) -> None:
    home = tmp_path / "home"
    logs = [
        native({"content": "I live in Oslo."}, name="a.jsonl"),
        native({"content": "I love tea.", "session_id": "s2"}, name="b.jsonl"),
    ]
    processes = [
        subprocess.Popen(
            [*em_command, "run", str(log), "--home", str(home)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for log in logs
    ]
    errors = [p.communicate(timeout=240)[1] for p in processes]
    assert [p.returncode for p in processes] == [0, 0], errors
    assert em("doctor", "--home", home).returncode == 0
    found = orjson.loads(em("facts", "--user", "ada", "--as-of", "2026-03-01", "--json", "--home", home).stdout)
    assert {(f["relation"], f["object"]) for f in found} >= {("lives_in", "Oslo"), ("likes", "tea")}


def test_what_a_killed_writer_left_is_swept_by_the_next_run_and_a_living_ones_stays(settings) -> None:
    home = Pipeline(settings)
    (home.path / "lake" / "edges").mkdir(parents=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, living = (home.path / "lake" / "edges" / f".2026-03-01.parquet.{pid}.tmp" for pid in (dead.pid, os.getpid()))
    left.touch()
    living.touch()
    assert home.sweep() == [left]
    assert (left.exists(), living.exists()) == (False, True)


@pytest.mark.slow
def test_a_damaged_partition_is_a_finding_and_deleting_it_heals_the_home(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    em("run", native({"content": "I live in Oslo."}), "--home", home)
    before = state(em, home)
    path = home / "lake" / "claims" / "2026-03-01.parquet"
    path.write_bytes(path.read_bytes()[:200])
    sick = em("doctor", "--home", home)
    assert (sick.returncode, "damaged" in sick.stdout) == (1, True)
    path.unlink()
    assert em("run", "--home", home).returncode == 0
    assert state(em, home) == before


def test_a_run_over_nothing_that_can_be_read_is_a_finding_and_no_failure(em, tmp_path) -> None:
    wrong = tmp_path / "notes.xyz"
    wrong.write_text("# Notes\n")
    done = em("run", wrong, "--home", tmp_path / "home")
    assert (done.returncode, "Nothing learned yet" in done.stdout) == (1, True)
    assert (
        f"1 line is a dead letter (1 unknown_format); see `em dead-letters list --home {tmp_path}/home`" in done.stderr
    )
    assert "Nothing is new" in em("run", "--home", tmp_path / "home").stdout


def test_the_summary_says_that_the_end_of_a_long_message_was_not_read(em, tmp_path) -> None:
    said = {"user_id": "ada", "session_id": "s1", "turn_number": 0, "role": "user", "timestamp": "2026-03-05T18:00:00Z"}
    (tmp_path / "logs.jsonl").write_bytes(orjson.dumps(said | {"content": "It rained. " * 10_000 + "I own a raft."}))
    done = em("run", tmp_path / "logs.jsonl", "--home", tmp_path / "home")
    assert "Too long: 1 conversation holds a message of which the end was not read" in done.stdout


def test_the_summary_opens_the_ui_on_the_home_that_was_run(root, tmp_path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "my home"))
    assert way_to_ui(Pipeline(load_settings(home=root / ".em")), root) == "make dev"
    assert way_to_ui(home, root) == f"make dev EM_HOME='{tmp_path}/my home'"
    installed = f"EM_HOME='{tmp_path}/my home' DAGSTER_HOME='{tmp_path}/my home/dagster' dagster dev"
    assert way_to_ui(home, tmp_path) == f"{installed} -m em_pipelines.definitions"


@pytest.mark.slow
def test_a_run_says_what_the_rules_do_not_read(em, native, tmp_path) -> None:
    log = native(
        {"content": "Mi hermana vive en Granada con sus dos gatos."},
        {"content": "Meine Schwester wohnt in einem Haus am See."},
        {"content": "Trabajo en una panadería del centro."},
        {"content": "I live in Oslo with my sister."},
    )
    told = em("run", log, "--home", tmp_path / "home")
    assert told.returncode == 0, told.stderr
    assert "3 messages of 1 user not read, for the rules read English (es 2, de 1)" in " ".join(told.stdout.split())
