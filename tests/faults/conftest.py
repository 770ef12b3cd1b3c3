"""A home to harm, commands in processes of their own, and what has to be the same whatever happened in between."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

ROOT = Path(__file__).parents[2]
USERS = ("ada", "ivo")
SAID = {
    "ada": (
        ("2026-03-02", "I live in Bergen. My flatmate Torvald works at the aquarium."),
        ("2026-03-03", "Torvald plays the zither. I own a Fender Rhodes."),
        ("2026-03-05", "My wife Ylva likes cloudberries. I moved to Trondheim."),
        ("2026-03-09", "I like knitting. My brother Jens lives in Bergen."),
    ),
    "ivo": (
        ("2026-03-04", "I live in Porto. My friend Torvald works at the aquarium."),
        ("2026-03-06", "I own a Fender Rhodes. I moved to Lagos."),
    ),
}  # fmt: skip


class Warm:
    """The process that forks for commands."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "faults" / "warm.py")],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, **asked: Any) -> int:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@dataclass(frozen=True)
class Commands:
    """`em` in processes of their own, on one home."""

    home: Path
    warm: Warm

    def __call__(self, *words: object, limit: int | None = None) -> "subprocess.CompletedProcess[str]":
        process = self._start(words, limit)
        return self._ended(words, self.warm.ask(wait=process))

    def killed(self, seconds: float, *words: object) -> bool:
        """Starts a command and ends it by SIGKILL, whatever it does by then; whether it was still at work."""
        process = self._start(words, None)
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        return self.warm.ask(wait=process) == -signal.SIGKILL

    def interrupted(self, seconds: float, number: int, *words: object) -> "subprocess.CompletedProcess[str]":
        """Starts a command and sends a signal to it and to all that it has started, as a terminal does."""
        process = self._start(words, None)
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.killpg(process, number)
        return self._ended(words, self.warm.ask(wait=process))

    def document(self, *words: object) -> Any:
        """What a command prints with --json."""
        done = self(*words, "--json")
        assert done.returncode == 0, (words, done.stderr)
        return orjson.loads(done.stdout)

    def _start(self, words: tuple[object, ...], limit: int | None) -> int:
        out, err = (str(self.warm.folder / name) for name in ("out", "err"))
        return self.warm.ask(words=[*map(str, words), "--home", str(self.home)], out=out, err=err, limit=limit)

    def _ended(self, words: tuple[object, ...], code: int) -> "subprocess.CompletedProcess[str]":
        out, err = ((self.warm.folder / name).read_text(errors="replace") for name in ("out", "err"))
        return subprocess.CompletedProcess(words, code, out, err)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def em_command() -> tuple[str, ...]:
    """The command `em`, by this interpreter."""
    return (sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()")


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """The process that forks."""
    made = Warm(tmp_path_factory.mktemp("warm"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A log of each user, by name."""
    folder = tmp_path_factory.mktemp("logs")
    for user, said in SAID.items():
        lines = [
            {"user_id": user, "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": content,
             "timestamp": f"{day}T10:00:00Z"}
            for n, (day, content) in enumerate(said)
        ]  # fmt: skip
        lines += [
            {"user_id": user, "session_id": f"s{n}", "skill_name": name, "error_category": error, "exit_code": code,
             "timestamp": f"{day}T11:0{minute}:00Z"}
            for n, (day, _) in enumerate(said)
            for minute, (name, error, code) in enumerate((("push", "behind", 1), ("pull", None, 0), ("push", None, 0)))
        ]  # fmt: skip
        (folder / f"{user}.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return {user: folder / f"{user}.jsonl" for user in USERS}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, warm: Warm, logs: dict[str, Path]) -> Path:
    """A home with one person's logs."""
    home = tmp_path_factory.mktemp("faults") / "home"
    done = Commands(home, warm)("run", logs["ada"])
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def copy_of(tmp_path: Path, warm: Warm) -> Callable[[Path], Commands]:
    """Copies a home, to be harmed."""

    def make(home: Path, place: Path | None = None) -> Commands:
        target = place or tmp_path / "home"
        shutil.copytree(home, target, symlinks=True)
        return Commands(target, warm)

    return make


def known(em: Commands) -> dict[str, Any]:
    """What memory holds, without the times of what was said on the command line just now."""
    facts = {}
    for user in USERS:
        done = em("facts", "--user", user, "--as-of", "2026-11-30", "--all", "--json")
        found = orjson.loads(done.stdout) if done.returncode == 0 else []
        facts[user] = sorted([fact["subject"], fact["relation"], str(fact["object"]), fact["status"]] for fact in found)
    return facts


@pytest.fixture(scope="session")
def memory_of() -> Callable[[Commands], dict[str, Any]]:
    """What memory holds."""
    return known


@pytest.fixture(scope="session")
def check_sound() -> Callable[[Commands], None]:
    """That nothing is wrong with a home, and the ledger shows no edit."""

    def check(em: Commands) -> None:
        found = [d for d in orjson.loads(em("doctor", "--json").stdout) if not d["ok"]]
        assert [d for d in found if d["subject"] != "left-over files"] == []  # which the next run sweeps
        assert em("verify-ledger").returncode == 0

    return check
