"""kill -9 at fifty-six instants of commands that change a home, and signals that ask them to stop at some: the same
command again ends as if nothing had been."""

import random
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.faults

SEED = 20261122
START_SECONDS = 0.02
"""Nothing is done before."""


@dataclass(frozen=True)
class Harmed:
    """A command, how often it is killed, and what it may say when it was done before it was killed."""

    words: tuple[str, ...]
    n_kills: int
    is_hashed: bool = False
    """Whether the whole state is compared: a command that notes when it was called ends in another one each time."""
    done_before: tuple[int, ...] = (0,)


COMMANDS = {
    "run": Harmed(("run", "LOG"), 16, is_hashed=True),
    "forget an entity": Harmed(("forget", "--user", "ada", "--entity", "Torvald", "--yes"), 8, done_before=(0, 2)),
    "forget a user": Harmed(("forget", "--user", "ada", "--all", "--yes"), 6, done_before=(0, 2)),
    "correct": Harmed(
        ("correct", "--user", "ada", "--subject", "user", "--relation", "lives_in", "--object", "Lagos"), 6
    ),
    "infer": Harmed(("infer", "--user", "ada"), 4, is_hashed=True),
    "snapshot": Harmed(("snapshot", "--date", "2026-03-04"), 3, is_hashed=True),
    "token": Harmed(("token", "create", "--user", "ada"), 3),
    "backup": Harmed(("backup", "BACKUPS"), 4),
    "consolidate": Harmed(("consolidate", "--force"), 6, is_hashed=True),
}
ASKED = [
    ("run", signal.SIGINT, 6), ("run", signal.SIGTERM, 2), ("run", signal.SIGHUP, 2),
    ("forget an entity", signal.SIGINT, 2), ("snapshot", signal.SIGINT, 1), ("backup", signal.SIGINT, 1),
]  # fmt: skip
"""A command, what asks it to stop, and at how many instants."""
INSTANTS = [(name, number) for name, one in COMMANDS.items() for number in range(one.n_kills)]


@pytest.fixture(scope="session")
def undisturbed(made, logs, tmp_path_factory, memory_of) -> Callable[[str], tuple[float, Any]]:
    """Seconds that a command takes, and what is there after it and a run."""
    found: dict[str, tuple[float, Any]] = {}

    def of(name: str, copy_of: Any) -> tuple[float, Any]:
        if name not in found:
            em = copy_of(made, tmp_path_factory.mktemp("whole") / "home")
            begun = time.monotonic()
            done = em(*words_of(name, logs, em.home))
            seconds = time.monotonic() - begun
            assert done.returncode == 0, done.stderr
            found[name] = seconds, what_is_there(em, name, memory_of)
        return found[name]

    return of


def words_of(name: str, logs: dict[str, Path], home: Path) -> list[str]:
    places = {"LOG": logs["ivo"], "BACKUPS": backups_of(home)}
    return [str(places.get(word, word)) for word in COMMANDS[name].words]


def backups_of(home: Path) -> Path:
    return home.with_name("backups")


def what_is_there(em: Any, name: str, memory_of: Any) -> Any:
    """The hash of all tables and of what is published, or what is known once it was folded."""
    if COMMANDS[name].is_hashed:
        snapshots = sorted(path.name for path in (em.home / "snapshots").glob("*.duckdb"))
        return em.document("state-hash"), snapshots
    if backups_of(em.home).exists():  # what was copied is all that there is
        shutil.rmtree(em.home)
        assert em("restore", str(backups_of(em.home))).returncode == 0
    assert em("run").returncode == 0
    return memory_of(em)


def test_fifty_instants_and_more_are_tried() -> None:
    assert len(INSTANTS) == 56


@pytest.mark.parametrize(("name", "number"), INSTANTS)
def test_the_same_command_again_ends_as_without_the_kill(
    made: Path, logs: Any, copy_of: Any, undisturbed: Any, memory_of: Any, check_sound: Any, name: str, number: int
) -> None:
    seconds, wanted = undisturbed(name, copy_of)
    em = copy_of(made)
    instant = random.Random(f"{SEED} {name} {number}").uniform(START_SECONDS, max(seconds, 2 * START_SECONDS))
    was_at_work = em.killed(instant, *words_of(name, logs, em.home))
    done = em(*words_of(name, logs, em.home))
    assert done.returncode in ((0,) if was_at_work and name == "run" else COMMANDS[name].done_before), done.stderr
    assert "Traceback" not in done.stderr
    assert what_is_there(em, name, memory_of) == wanted
    check_sound(em)


@pytest.mark.parametrize(
    ("name", "how", "number"), [(name, how, number) for name, how, n in ASKED for number in range(n)]
)
def test_the_same_command_again_ends_as_without_the_interruption(
    made: Path, logs: Any, copy_of: Any, undisturbed: Any, memory_of: Any, check_sound: Any,
    name: str, how: signal.Signals, number: int,
) -> None:  # fmt: skip
    seconds, wanted = undisturbed(name, copy_of)
    em = copy_of(made)
    instant = random.Random(f"{SEED} {name} {how.name} {number}").uniform(
        START_SECONDS, max(seconds, 2 * START_SECONDS)
    )
    asked = em.interrupted(instant, how, *words_of(name, logs, em.home))
    assert (asked.returncode, asked.stderr.count("\n")) in ((3, 1), (0, 0)), asked.stderr
    if asked.returncode:
        assert asked.stderr.startswith("em: interrupted")
    done = em(*words_of(name, logs, em.home))
    assert done.returncode in ((0,) if name == "run" else COMMANDS[name].done_before), done.stderr
    assert what_is_there(em, name, memory_of) == wanted
    check_sound(em)
