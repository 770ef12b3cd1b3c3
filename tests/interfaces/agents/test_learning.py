"""Learning without Dagster: known when the call returns, and the same that `em run` makes."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.errors import LockedError, UsageError
from em_pipelines.governance.erasure.forget import ask_to_forget
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.erasure_requests import Scope
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

ROOT = Path(__file__).parents[3]
NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)


def said(memory: Memory) -> set[tuple[str, str, str]]:
    return {(f["subject"], f["relation"], f["object"]) for f in memory.facts()}


def hashes(home: Path) -> dict[str, str]:
    opened = Pipeline(load_settings(home=home))
    return state_hash(opened.store, opened.settings.decay, inference=opened.settings.inference)


def em(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from em_pipelines.interfaces.cli.app import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


def em_run(home: Path) -> str:
    done = em("run", "--home", str(home))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_was_learned_is_known_when_the_call_returns(nora: Memory) -> None:
    added = nora.add("I work at Nordlys.", session_id="s7", timestamp=NOON, learn=True)
    assert (added.added, added.is_learned, added.waits_for) == (1, True, None)
    assert ("user", "works_at", "Nordlys") in said(nora)
    assert nora.search("Who works at Nordlys?")[0].session_id == "s7"
    assert "Nordlys" in nora.context("Where do I work?").text
    assert not nora.list_observations(session_id="s7")[0].awaits_run


@pytest.mark.slow
def test_in_a_home_that_is_not_there_yet(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "deep" / "home", "ines")
    assert memory.add("My sister Dana lives in Graz.", learn=True).is_learned
    assert ("Dana", "lives_in", "Graz") in said(memory)


@pytest.mark.slow
def test_what_was_added_before_is_learned_when_it_is_added_again(nora: Memory) -> None:
    nora.add("I work at Nordlys.", session_id="s7")
    assert ("user", "works_at", "Nordlys") not in said(nora)
    added = nora.add("I work at Nordlys.", session_id="s7", learn=True)
    assert (added.added, added.skipped, added.is_learned) == (0, 1, True)
    assert ("user", "works_at", "Nordlys") in said(nora)


@pytest.mark.slow
def test_late_words_change_what_is_known_of_later_days(nora: Memory) -> None:
    nora.add("I live in Tromsø now.", session_id="s3", timestamp=NOON, learn=True)
    assert ("user", "lives_in", "Bergen") not in said(nora)
    nora.add("I bought a canoe.", session_id="s4", timestamp=NOON - timedelta(days=28), learn=True)
    assert {("user", "owns", "canoe"), ("user", "lives_in", "Tromsø")} <= said(nora)


@pytest.mark.slow
def test_the_same_is_made_as_em_run_makes(home: Path, tmp_path: Path) -> None:
    by_run = shutil.copytree(home, tmp_path / "by_run", symlinks=True)
    batches = [
        (["I moved to Tromsø.", "My flatmate Torvald likes skiing."], "s3", NOON),
        (["I bought a canoe."], "s4", NOON - timedelta(days=28)),
        ([{"role": "tool", "content": "A page.", "trust": "untrusted"}], "s3", NOON + timedelta(days=1)),
        (["Ylva works at Nordlys.", "Forget what I said about Torvald."], "s5", NOON + timedelta(days=2)),
    ]
    for place, memory in ((home, Memory(home, "nora")), (by_run, Memory(by_run, "nora"))):
        for messages, session_id, at in batches:
            facts = [{"relation": "speaks", "object": "Norwegian"}]
            added = memory.add(messages, facts=facts, session_id=session_id, timestamp=at, learn=place is home)
            assert not added.errors
    learned = hashes(home)
    em_run(by_run)
    assert learned == hashes(by_run)
    assert "Every day is current; what was not checked or published yet is now." in em_run(home)
    assert learned == hashes(home)


@pytest.mark.slow
def test_a_run_from_python_publishes_what_em_run_would(home: Path, tmp_path: Path) -> None:
    by_run = shutil.copytree(home, tmp_path / "by_run", symlinks=True)
    for place in (home, by_run):
        Memory(place, "nora").add("I work at Nordlys.", session_id="s7", timestamp=NOON)
    done = Memory(home, "ivo").run()
    em_run(by_run)
    assert [day.isoformat() for day in done.days] == ["2026-04-01"]
    assert hashes(home) == hashes(by_run)
    assert (home / "snapshots" / "latest.duckdb").resolve().name == "2026-04-01.duckdb"
    assert Memory(home, "ivo").run().days == ()


@pytest.mark.slow
def test_a_run_from_python_forgets_what_was_asked_to_be_forgotten(nora: Memory, rerun: Callable[[], None]) -> None:
    scope = Scope.named("nora", fact=None, entity="Torvald", session=None)
    ask_to_forget(nora.home, scope, actor="user", now=NOON)
    nora.run()
    assert not nora.home.book.pending()
    assert "Torvald" not in repr(nora.facts(is_all=True))


def test_while_a_run_is_at_work_what_was_added_stays_and_waits(nora: Memory, home: Path) -> None:
    with Pipeline(load_settings(home=home)).lock("run"):
        added = Memory(home, "nora").add("I work at Nordlys.", session_id="s7", learn=True, wait_seconds=0.1)
        assert (added.added, added.is_learned) == (1, False)
        assert "run lock" in (added.waits_for or "")
        assert nora.list_observations(session_id="s7")[0].awaits_run
        with pytest.raises(LockedError):
            nora.run(wait_seconds=0.1)
    assert nora.add("I work at Nordlys.", session_id="s7", learn=True).is_learned
    assert ("user", "works_at", "Nordlys") in said(nora)


@pytest.mark.slow
def test_while_a_step_is_at_work_in_dagsters_ui_it_waits_no_longer(nora: Memory, home: Path) -> None:
    with Pipeline(load_settings(home=home)).lock("step-fold"):
        added = nora.add("I work at Nordlys.", session_id="s7", learn=True, wait_seconds=0.1)
    assert (added.added, added.is_learned) == (1, False)
    assert "step-fold lock" in (added.waits_for or "")
    assert nora.run().days
    assert ("user", "works_at", "Nordlys") in said(nora)


def test_asking_a_home_that_is_not_there_makes_none(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "typo", "nora")
    assert memory.facts() == memory.search("Graz") == memory.list_observations() == []
    assert not (tmp_path / "typo").exists()
    assert memory.run().days == ()


@pytest.mark.slow
def test_what_is_learned_beside_em_run_is_all_there_afterwards(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        "\n".join(
            f'{{"user_id": "nora", "session_id": "log{n}", "turn_number": 0, "role": "user", '
            f'"content": "I like fruit{n}.", "timestamp": "2026-03-{10 + n}T10:00:00Z"}}'
            for n in range(9)
        ),
        encoding="utf-8",
    )
    code = "from em_pipelines.interfaces.cli.app import main; main()"
    command = [sys.executable, "-c", code, "run", str(log), "--home", str(home)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    memory, n, learned = Memory(home, "nora"), 0, 0
    while process.poll() is None or n < 3:
        added = memory.add(f"I own boat{n}.", session_id="s7", learn=True, wait_seconds=0.2)
        assert (added.added, added.errors) == (1, ())
        learned += added.is_learned
        n += 1
    assert process.wait() == 0
    assert learned > 0
    memory.run()
    made = hashes(home)
    found = {fact["object"] for fact in memory.facts()}
    assert {f"boat{number}" for number in range(n)} | {f"fruit{number}" for number in range(9)} <= found
    em_run(home)
    assert hashes(home) == made
    for name in ("lake", "packs", "snapshots"):
        shutil.rmtree(home / name)
    Memory(home, "nora").run()
    assert hashes(home) == made


def test_what_no_model_can_read_here_is_refused_before_it_lands(home: Path) -> None:
    memory = Memory(Pipeline(load_settings(home=home, extractor="llm")), "nora")
    with pytest.raises(UsageError, match="no client"):
        memory.add("I work at Nordlys.", session_id="s7", learn=True)
    assert not Memory(home, "nora").list_observations(session_id="s7")
    assert memory.add("I work at Nordlys.", session_id="s7").added == 1


@pytest.mark.slow
def test_nobody_else_learns_of_it(nora: Memory) -> None:
    nora.add("I work at Nordlys.", session_id="s7", learn=True)
    ivo = Memory(nora.home, "ivo")
    assert "Nordlys" not in repr([ivo.facts(is_all=True), ivo.search("Nordlys"), ivo.list_observations()])
