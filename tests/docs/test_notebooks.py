"""Notebooks run from their first cell to the last and give what is stored in them.

What a change gives now is stored with

    .venv/bin/jupyter-execute --inplace examples/notebooks/memory.ipynb

A cell whose result is of the day has the tag `volatile`.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""
NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def told(notebook: Any) -> list[tuple[str, list[str]]]:
    """What each cell of code gives as text, with its source; of one that is volatile nothing."""
    return [
        (cell.source, [] if "volatile" in cell.metadata.get("tags", ()) else [_text(out) for out in cell.outputs])
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _text(output: Any) -> str:
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return str(output.text if output.output_type == "stream" else output.data["text/plain"])


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_is_stored_in_it(path: Path, root: Path, tmp_path: Path) -> None:
    own = {name: str(tmp_path) for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path), str(tmp_path / path.name)],
        cwd=tmp_path, env={**os.environ, **own, "PYTHONPATH": str(root)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    stored, now = (nbformat.read(place, as_version=4) for place in (path, tmp_path / path.name))
    assert told(now) == told(stored)
    assert all(cell.outputs for cell in stored.cells[2:] if cell.cell_type == "code"), "outputs are stored, too"
