"""The page for agents: its example runs, its table is that of the server, its configuration starts one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from em_pipelines.interfaces.agents.frames import FACT_TYPES, HIT_TYPES
from em_pipelines.interfaces.mcp.server import TOOLS
from em_pipelines.interfaces.memory import Memory


def python(root: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(root)}, text=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False,
    )  # fmt: skip


def test_the_example_of_the_page_runs(root: Path, tmp_path: Path, blocks) -> None:
    (block,) = blocks("docs/agents.md", "python")
    done = python(root, tmp_path, "-c", block.text)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_examples_of_the_page_for_python_run(root: Path, tmp_path: Path, blocks) -> None:
    script = "\n".join(block.text for block in blocks("docs/python.md", "python"))
    done = python(root, tmp_path, "-c", script)
    assert done.returncode == 0, done.stderr


def test_frames_are_those_of_the_page(page) -> None:
    rows = [line.split("|")[1:-1] for line in page("docs/python.md").splitlines() if line.startswith("| facts |")]
    rows += [line.split("|")[1:-1] for line in page("docs/python.md").splitlines() if line.startswith("| hits |")]
    for cells, types in zip(rows, (FACT_TYPES, HIT_TYPES), strict=True):
        assert {name for cell in cells[1:] for name in re.findall(r"`([a-z_]+)`", cell)} == set(types)


@pytest.mark.slow
def test_the_example_script_runs(root: Path, tmp_path: Path) -> None:
    done = python(root, tmp_path, str(root / "examples" / "agents" / "remember.py"), "home")
    assert done.returncode == 0, done.stderr
    assert "2 [('Dana', 'Graz')]" in done.stdout
    assert "('lives_in', 'Voss', 1.0)" in done.stdout
    assert done.stdout.endswith("[] erased\n")


@pytest.mark.slow
def test_the_configuration_of_the_page_is_the_example_and_starts_a_server(
    root: Path, tmp_path: Path, blocks, page
) -> None:
    (block,) = blocks("docs/agents.md", "json")
    assert json.loads(block.text) == json.loads(page("examples/agents/mcp.json"))
    server = json.loads(block.text)["mcpServers"]["memory"]
    assert server["command"] == ".venv/bin/em"
    done = python(root, tmp_path, "-c", "from em_pipelines.interfaces.cli.app import main; main()", *server["args"])
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_tools_and_scopes_are_those_of_the_page(page) -> None:
    rows = re.findall(r"^\| `(em_\w+)` \|.*\| (\w+) \|$", page("docs/agents.md"), re.MULTILINE)
    assert dict(rows) == {name: scope.label for name, (scope, _) in TOOLS.items()}


def test_methods_that_the_page_names_exist(page) -> None:
    table = page("docs/agents.md").partition("| method | does |")[2].partition("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    }
    assert named
    assert not [name for name in named if not callable(getattr(Memory, name, None))]
