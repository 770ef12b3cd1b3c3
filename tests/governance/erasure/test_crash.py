"""A process that is killed at any instant of an erasure leaves one that the next process ends."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.governance.erasure import forget as forgetting
from em_pipelines.governance.erasure.forget import ask_to_forget, carry_out
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

from .conftest import NORA, NOW, World, feedback, lines

ROOT = Path(__file__).parents[3]
FORGET = """
import sys
from pathlib import Path
from em_pipelines.governance.erasure.forget import carry_out
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
home = Pipeline(load_settings(home=Path(sys.argv[1])))
print("ready", flush=True)
with home.lock("run"):
    carry_out(home)
"""


class KilledError(BaseException):
    """Stands for kill -9 at one place: nothing catches it."""


def ask(world: World) -> None:
    world.land(feedback("nora", "forget", "2026-04-01T09:00:00Z", entity="Torvald"), name="ask.jsonl")


def check_ended(world: World, expected: set[tuple[str, str, str]]) -> None:
    home = Pipeline(load_settings(home=world.home.path))
    home.sweep()
    with home.lock("run"):
        carry_out(home)
    assert home.book.pending() == []
    assert world.places("torvald", of="nora") == []
    assert world.facts("nora") == expected
    assert ("user", "knows", "Torvald") not in world.facts("nora")
    assert world.messages("ivo")


def kill_at(place: str) -> Iterator[None]:
    """Ends the erasure just before one of its steps begins."""

    def killed(*_: object, **__: object) -> None:
        raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, place, killed)
        yield


STEPS = (
    pytest.param("rewrite_log", marks=pytest.mark.slow),
    pytest.param("clear_inbox", marks=pytest.mark.slow),
    pytest.param("remake", marks=pytest.mark.slow),
    pytest.param("forget_answers", marks=pytest.mark.slow),
    "republish",
    pytest.param("scrub_dagster", marks=pytest.mark.slow),
    pytest.param("search", marks=pytest.mark.slow),
    pytest.param("certificate_of", marks=pytest.mark.slow),
)
"""All ways in which an erasure can end between two steps, all but one of them among the slow ones."""
WRITES = tuple(pytest.param(at, marks=pytest.mark.slow) for at in (0, 12, 24, 36, 48))


@pytest.mark.parametrize("place", STEPS)
def test_an_erasure_that_ends_before_a_step_is_taken_over(world: World, place: str) -> None:
    before = world.facts("nora")
    ask(world)
    for _ in kill_at(place):
        with pytest.raises(KilledError):
            world.carry_out()
    assert len(world.home.book.pending()) == 1
    world.land(*lines("nora", NORA), name="meanwhile.jsonl")
    check_ended(world, {fact for fact in before if "Torvald" not in fact})


@pytest.mark.parametrize("at", WRITES)
def test_an_erasure_that_ends_before_a_file_is_written_is_taken_over(
    world: World, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file of a home is written through one function: it dies at one of its calls."""
    from em_pipelines.storage import lake
    from em_pipelines.storage import landed_log as log

    before = world.facts("nora")
    ask(world)
    n_calls, write = 0, lake.write_atomically

    def dying(path: Path, data: bytes, *how: object) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls > at:
            raise KilledError
        write(path, data, *how)

    with monkeypatch.context() as patch:
        for module in (
            lake,
            log,
            sys.modules["em_pipelines.storage.tombstones"],
            sys.modules["em_pipelines.landing.erasure_requests"],
        ):
            patch.setattr(module, "write_atomically", dying)
        with pytest.raises(KilledError):
            world.carry_out()
    check_ended(world, {fact for fact in before if "Torvald" not in fact})


@pytest.mark.slow
def test_asked_again_after_a_crash_the_same_command_ends_it(world: World) -> None:
    for _ in kill_at("republish"):
        with pytest.raises(KilledError):
            world.forget("nora", user="")
    assert world.facts("nora") == set()
    certificate = world.forget("nora", user="")
    assert certificate.result == "erased"
    assert world.places("nora") == []


def kill_after(world: World, seconds: float) -> bool:
    """Starts an erasure in a process of its own and kills it; returns whether it was still at work."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORGET, str(world.home.path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    process.stdout.readline()
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    is_alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return is_alive


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_what_the_next_one_ends(world: World) -> None:
    before = world.facts("nora")
    ask(world)
    assert kill_after(world, 0.3)
    check_ended(world, {fact for fact in before if "Torvald" not in fact})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_killed_again_and_again_it_ends_all_the_same(world: World, seed: int) -> None:
    before, moments = world.facts("nora"), random.Random(seed)
    ask(world)
    for _ in range(3):
        kill_after(world, moments.uniform(0, 3))
    check_ended(world, {fact for fact in before if "Torvald" not in fact})


SCOPES = (("fact", ("Torvald", "works_at", "aquarium")), ("entity", "wife"), ("session", "s2"), ("user", ""))
KILLED_BEFORE = ("rewrite_log", "remake", "republish", "certificate_of")


def asked(world: World, kind: str, target: Any) -> str:
    return world.edge_id("nora", *target) if kind == "fact" else str(target)


def log_of(world: World) -> dict[str, list[dict[str, Any]]]:
    """All records of the log, but of erasures when they were carried out and under which id."""
    log = world.home.store.log
    kinds = ("interactions", "skill_invocations", "feedback", "dead_letters", "erasures")
    records = {kind: [dict(r) for day in log.days(kind) for r in log.read(kind, day)] for kind in kinds}
    for noted in records["erasures"]:
        del noted["timestamp"], noted["erasure_id"]
    return records


def come_to(world: World) -> tuple[Any, ...]:
    """Log, facts and hash of memory."""
    hashes = state_hash(world.home.store, world.home.settings.decay)
    return log_of(world), world.facts("nora"), world.facts("ivo"), hashes


@pytest.fixture(scope="module")
def undisturbed(made_world: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Any], tuple[Any, ...]]:
    """What an erasure comes to that nothing befalls."""

    @cache
    def of(kind: str, target: Any) -> tuple[Any, ...]:
        folder = tmp_path_factory.mktemp("undisturbed")
        shutil.copytree(made_world, folder, symlinks=True, dirs_exist_ok=True)
        world = World(Pipeline(load_settings(home=folder / "home")), folder)
        world.forget("nora", **{kind: asked(world, kind, target)})
        return come_to(world)

    return of


@pytest.mark.slow
@pytest.mark.parametrize("place", KILLED_BEFORE)
@pytest.mark.parametrize(("kind", "target"), SCOPES)
def test_every_scope_ends_as_if_nothing_had_befallen_it(
    world: World, undisturbed: Callable[[str, Any], tuple[Any, ...]], kind: str, target: Any, place: str
) -> None:
    for _ in kill_at(place):
        with pytest.raises(KilledError):
            world.forget("nora", **{kind: asked(world, kind, target)})
    again = World(Pipeline(load_settings(home=world.home.path)), world.folder)
    again.carry_out()
    assert again.home.book.pending() == []
    assert come_to(again) == undisturbed(kind, target)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("kind", "target"), SCOPES)
def test_every_scope_ends_after_kills_at_any_instant(
    world: World, undisturbed: Callable[[str, Any], tuple[Any, ...]], kind: str, target: Any, seed: int
) -> None:
    moments = random.Random(seed)
    scope = Scope(ScopeKind(kind), "nora", asked(world, kind, target))
    ask_to_forget(world.home, scope, actor="user", now=NOW)
    for _ in range(3):
        kill_after(world, moments.uniform(0, 3))
    again = World(Pipeline(load_settings(home=world.home.path)), world.folder)
    again.home.sweep()
    again.carry_out()
    assert again.home.book.pending() == []
    assert come_to(again) == undisturbed(kind, target)
