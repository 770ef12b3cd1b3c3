"""What type checkers of others see: the package is typed, and answers have the type that was asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLE = """
from typing import Any, assert_type

import pandas as pd

from em_pipelines.interfaces.agents.adding import Added
from em_pipelines.interfaces.agents.observations import Observation
from em_pipelines.memory import AsyncMemory, Memory
from em_pipelines.retrieval.documents import Hit


def ask(memory: Memory, is_framed: bool) -> None:
    assert_type(memory.facts(), list[dict[str, Any]])
    assert_type(memory.facts(as_frame=False), list[dict[str, Any]])
    assert_type(memory.facts(is_all=True, as_frame=True), pd.DataFrame)
    assert_type(memory.search("rye"), list[Hit])
    assert_type(memory.search("rye", k=3, as_frame=True), pd.DataFrame)
    assert_type(memory.list_observations(), list[Observation])
    assert_type(memory.list_observations(as_frame=True), pd.DataFrame)
    with memory as same:
        assert_type(same, Memory)
        assert_type(same.add(["I like rye.", {"role": "user", "content": "And tea."}], learn=True), Added)


async def wait(memory: AsyncMemory) -> None:
    async with memory as same:
        assert_type(await same.facts(), list[dict[str, Any]])
        assert_type(await same.facts(as_frame=True), pd.DataFrame)
        assert_type(await same.search("rye", as_frame=True), pd.DataFrame)
        assert_type((await same.add("I like rye.")).errors[0].reason, str)
"""
WRONG = """
from em_pipelines.memory import Memory

Memory("home", "nora").add(12)
Memory("home", "nora").facts(as_frame="yes")
"""


def mypy(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.slow
def test_an_example_passes_mypy_strict_and_a_wrong_one_does_not(tmp_path: Path) -> None:
    for name, text in (("right.py", EXAMPLE), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    right, wrong = mypy(tmp_path / "right.py"), mypy(tmp_path / "wrong.py")
    assert right.returncode == 0, right.stdout
    assert [line for line in wrong.stdout.splitlines() if "wrong.py:4: error" in line]
    assert [line for line in wrong.stdout.splitlines() if "wrong.py:5: error" in line]


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "em_pipelines" / "py.typed").exists()
