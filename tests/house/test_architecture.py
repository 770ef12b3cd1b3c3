"""The house: arrows, lint, types, sizes. What people would otherwise have to remember."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("em_pipelines", "assets", "resources", "sensors", "quality")
MODULES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))
MAX_MODULE_LINES = 250
MAX_FUNCTION_LINES = 60
BIN = Path(sys.executable).parent


def run(*command: str) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "format", "--check", "."),
        ("ruff", "check", "."),
        pytest.param(("mypy",), marks=pytest.mark.slow),
        ("lint-imports", "--no-cache"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_the_tools_find_nothing(command: tuple[str, ...]) -> None:
    run(str(BIN / command[0]), *command[1:])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_fit_their_budget(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno <= MAX_FUNCTION_LINES, node.name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_open_with_a_contract(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    if path.name == "__init__.py":
        assert len(tree.body) == 1, "an __init__.py holds a docstring and nothing else"


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    assert not [p for p in MODULES if p.stem in {"utils", "util", "helpers", "common", "misc"}]


def test_nothing_is_wired_or_read_at_import() -> None:
    code = (
        "import sys, os\n"
        "before = set(os.listdir('.'))\n"
        "import em_pipelines.definitions\n"
        "assert set(os.listdir('.')) == before\n"
        "assert 'great_expectations' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tests", check=True)


def test_test_folders_are_no_packages() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))
