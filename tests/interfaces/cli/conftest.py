"""The command line as others use it: a process of its own, its exit code, its two streams."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from em_pipelines.interfaces.cli.app import main

ROOT = Path(__file__).parents[3]
EM = (sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()")
Em = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def em_command() -> tuple[str, ...]:
    """The command `em`, by this interpreter."""
    return EM


@pytest.fixture(scope="session")
def em() -> Em:
    """Runs `em` with arguments and returns what became of it.

    It is called here, which saves the seconds that a process takes to import; `em_command` starts one.
    """

    def run(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
        return call_here([str(argument) for argument in arguments], cwd, environment)

    return run


def call_here(words: list[str], cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Calls main() with streams, arguments, environment and working directory as a process would have them."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["em", *words])
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return subprocess.CompletedProcess(words, code, out, err)


@pytest.fixture
def native(tmp_path: Path) -> Callable[..., Path]:
    """Writes native lines to a file and returns its path."""

    def write(*messages: dict[str, object], name: str = "log.jsonl") -> Path:
        lines = [
            orjson.dumps(
                {
                    "user_id": "ada",
                    "session_id": "s1",
                    "turn_number": number,
                    "role": "user",
                    "timestamp": f"2026-03-0{1 + number % 9}T10:00:00Z",
                    **message,
                }
            )
            for number, message in enumerate(messages)
        ]
        path = tmp_path / name
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    return write
