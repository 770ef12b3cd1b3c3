"""`em forget`: what it erases, what it refuses, and what it says."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from .conftest import EM, ROOT, Em

JOURNEY = ROOT.parent / "shared" / "gold" / "journeys" / "correction_and_retraction.jsonl"
SAID = (
    {"content": "I live in Bergen. My flatmate Torvald works at the aquarium."},
    {"content": "Torvald is nice.", "role": "assistant"},
    {"content": "I own a Fender Rhodes.", "session_id": "s2"},
)


@pytest.fixture
def home(em: Em, native: Callable[..., Path], tmp_path: Path) -> Path:
    """A home that was landed, and not yet made."""
    path = tmp_path / "home"
    assert em("land", native(*SAID), "--home", path).returncode == 0
    return path


def facts(em: Em, home: Path, user: str = "ada") -> set[tuple[str, str, str]]:
    out = em("facts", "--user", user, "--as-of", "2026-04-01", "--home", home, "--json").stdout
    return {(f["subject"], f["relation"], f["object"]) for f in json.loads(out)}


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_without_a_terminal_it_is_refused_in_a_sentence_that_names_the_flag(
    em: Em, home: Path, words: tuple[str, ...]
) -> None:
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    done = em("forget", "--user", "ada", "--entity", "Torvald", "--home", home, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--yes" in done.stderr
    assert {p: p.read_bytes() for p in home.rglob("*") if p.is_file()} == before


def test_with_yes_it_needs_no_terminal_and_prints_the_certificate(em: Em, home: Path) -> None:
    done = em("forget", "--user", "ada", "--entity", "Torvald", "--yes", "--home", home, "--json")
    assert done.returncode == 0, done.stderr
    certificate = json.loads(done.stdout)
    assert (certificate["scope"], certificate["result"], certificate["n_found_after"]) == ("entity", "erased", 0)
    assert "Torvald" not in done.stdout
    assert facts(em, home) == {("user", "lives_in", "Bergen"), ("user", "owns", "Fender Rhodes")}
    assert not [p for p in home.rglob("*") if p.is_file() and b"Torvald" in p.read_bytes()]


@pytest.mark.slow
def test_people_read_a_table(em: Em, home: Path) -> None:
    done = em("forget", "--user", "ada", "--session", "s2", "--yes", "--home", home)
    assert done.returncode == 0
    assert "Certificate of erasure" in done.stdout
    assert done.stderr == ""
    assert ("user", "owns", "Fender Rhodes") not in facts(em, home)


@pytest.mark.slow
def test_a_dry_run_shows_what_would_go_and_changes_nothing(em: Em, home: Path) -> None:
    em("forget", "--user", "ada", "--session", "s2", "--yes", "--home", home)
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    done = em("forget", "--user", "ada", "--entity", "Torvald", "--home", home, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["n_cut"] == 2
    assert "Torvald works_at aquarium" in shown["facts"]
    assert {p: p.read_bytes() for p in home.rglob("*") if p.is_file()} == before
    assert "Torvald works_at aquarium" in em("forget", "--user", "ada", "--all", "--dry-run", "--home", home).stdout


@pytest.mark.slow
def test_what_cannot_be_meant_is_said_in_one_sentence(em: Em, home: Path) -> None:
    em("forget", "--user", "ada", "--session", "s2", "--yes", "--home", home)
    for words, hint in (
        (("--user", "ada"), "exactly one"),
        (("--user", "ada", "--all", "--session", "s1"), "exactly one"),
        (("--user", "ada", "--entity", "Torwald"), "Torvald"),
        (("--user", "ada", "--session", "s0"), "no session"),
        (("--user", "ada", "--fact", "edge_nothing"), "no fact"),
    ):
        done = em("forget", *words, "--yes", "--home", home)
        assert (done.returncode, hint in done.stderr, done.stderr.count("\n")) == (2, True, 1), (words, done.stderr)
    assert not list((home / "record" / "pending").glob("*"))


def test_nobody_can_be_forgotten_by_a_wrong_name(em: Em, home: Path) -> None:
    done = em("forget", "--user", "adda", "--all", "--yes", "--home", home)
    assert (done.returncode, "did you mean 'ada'?" in done.stderr, done.stderr.count("\n")) == (1, True, 1)
    assert not list((home / "record" / "pending").glob("*"))


@pytest.mark.slow
def test_twelve_that_write_meanwhile_lose_nothing(em: Em, home: Path, tmp_path: Path) -> None:
    def land_feedback(n: int) -> None:
        path = tmp_path / f"feedback{n}.jsonl"
        said: list[dict[str, Any]] = [
            {"kind": "feedback", "type": "recalled", "user_id": "ada", "timestamp": f"2026-03-2{k}T10:00:{n:02}Z",
             "relation": "lives_in", "object": f"Bergen {n}"} for k in range(3)
        ]  # fmt: skip
        path.write_bytes(b"\n".join(map(orjson.dumps, said)))
        command = [*EM, "land", str(path), "--home", str(home)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=300, check=False)
        codes.append(done.returncode)

    codes: list[int] = []
    writers = [threading.Thread(target=land_feedback, args=(n,)) for n in range(12)]
    for writer in writers:
        writer.start()
    assert em("forget", "--user", "ada", "--entity", "Torvald", "--yes", "--home", home).returncode == 0
    for writer in writers:
        writer.join()
    assert codes == [0] * 12
    lines = [line for path in (home / "log" / "feedback").rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) == len(set(lines)) == 36


@pytest.mark.slow
def test_a_run_carries_out_what_a_log_asks_and_dagster_remembers_nothing(
    em: Em, native: Callable[..., Path], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert em("run", native(*SAID), "--home", home).returncode == 0
    ask = {"kind": "feedback", "type": "forget", "timestamp": "2026-03-20T09:00:00Z", "entity": "Torvald"}
    done = em("run", native(ask, name="ask.jsonl"), "--home", home)
    assert done.returncode == 0, done.stderr
    assert len(list((home / "record" / "certificates").iterdir())) == 1
    assert not [p for p in home.rglob("*") if p.is_file() and b"Torvald" in p.read_bytes()]
    assert facts(em, home) == {("user", "lives_in", "Bergen"), ("user", "owns", "Fender Rhodes")}
    assert em("run", native(*SAID), native(ask, name="ask.jsonl"), "--home", home, "--full").returncode == 0
    assert facts(em, home) == {("user", "lives_in", "Bergen"), ("user", "owns", "Fender Rhodes")}


@pytest.mark.skipif(not JOURNEY.exists(), reason="the gold journeys are not here")
@pytest.mark.parametrize("day", ["2026-02-08", "2026-02-20", "2026-03-04"])
@pytest.mark.slow
def test_a_journey_with_a_request_to_forget(em: Em, tmp_path: Path, day: str) -> None:
    records = [orjson.loads(line) for line in JOURNEY.read_bytes().splitlines()]
    asked, plain, answers = tmp_path / "asked.jsonl", tmp_path / "plain.jsonl", []
    asked.write_bytes(JOURNEY.read_bytes())
    plain.write_bytes(b"\n".join(orjson.dumps(r) for r in records if r.get("type") != "forget"))
    for path in (asked, plain):
        home = tmp_path / path.stem
        assert em("land", path, "--home", home).returncode == 0
        make = "from em_pipelines.governance.erasure.forget import carry_out, catch_up\n"
        make += "from em_pipelines.pipeline import Pipeline\n"
        make += "from em_pipelines.settings import load_settings\nimport sys\nfrom pathlib import Path\n"
        make += "home = Pipeline(load_settings(home=Path(sys.argv[1])))\ncatch_up(home)\ncarry_out(home)\n"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", make, str(home)], cwd=ROOT, env=environment, check=True)
        out = em("facts", "--user", "tilde", "--as-of", day, "--home", home, "--json").stdout
        answers.append({(f["subject"], f["relation"], f["object"]) for f in json.loads(out)})
    with_request, without = answers
    assert with_request == {fact for fact in without if "Derek" not in fact}


@pytest.mark.slow
def test_a_run_after_the_oldest_month_was_erased_ends_well(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    log = native({"content": "I live in Oslo."}, {"content": "I like tea.", "session_id": "s2",
                                                  "timestamp": "2026-10-01T10:00:00Z"})  # fmt: skip
    assert em("run", log, "--home", home).returncode == 0
    assert em("forget", "--user", "ada", "--session", "s1", "--yes", "--home", home).returncode == 0
    done = em("run", "--home", home)
    assert (done.returncode, done.stderr.strip()) == (0, "")
