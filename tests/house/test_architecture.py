"""The house: arrows, lint, types, sizes, branches. What people would otherwise have to remember.

Each test lists all that offend, not the first.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from radon.complexity import cc_visit
from radon.visitors import Class, Function

from tests.house import rooms

ROOT = Path(__file__).parents[2]
PACKAGES = ("em_pipelines", "assets", "resources", "sensors", "quality")
MODULES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_ROOMS, MAX_LOOSE_FILES, MAX_MODULES_OF_A_WALK = 17, 9, 110
MAX_COMPLEXITY, MAX_COMPLEX_SHARE, NEVER_ABOVE = 10, 0.03, 20
"""By radon, which counts branches, loops, comprehensions and every `and` and `or`."""
INTERNALS = {"resources/dagster_internals.py", "resources/event_storage.py"}
"""The adapters of Dagster. The second is a class of Dagster's with some of its methods written anew: half of what it
does has no public name, and a list of names to import them by would say no more than its own imports."""
READERS_OF_THE_ENVIRONMENT = {"em_pipelines/environment.py"}
BIN = Path(sys.executable).parent


def run(*command: str) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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


def test_modules_and_functions_fit_their_budget() -> None:
    long = [shown(path) for path in MODULES if path.read_text(encoding="utf-8").count("\n") > MAX_MODULE_LINES]
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and (node.end_lineno or 0) - node.lineno > MAX_FUNCTION_LINES:
                long.append(f"{shown(path)}:{node.lineno} {node.name}")
    assert long == []


def test_modules_open_with_a_contract() -> None:
    trees = {shown(path): tree_of(path) for path in MODULES}
    assert [name for name, tree in trees.items() if not ast.get_docstring(tree)] == []
    packages = {name: tree for name, tree in trees.items() if name.endswith("__init__.py")}
    assert [n for n, tree in packages.items() if len(tree.body) > 1] == [], "an __init__.py holds a docstring alone"


def functions() -> Iterator[tuple[str, int]]:
    """Every function with its complexity, those inside others, too."""

    def inner(where: str, block: Function | Class) -> Iterator[tuple[str, int]]:
        if isinstance(block, Function):
            yield f"{where}:{block.lineno} {block.name}", block.complexity
        for part in (*block.closures, *getattr(block, "methods", ())) if isinstance(block, Class) else block.closures:
            yield from inner(where, part)

    for path in MODULES:
        blocks = cc_visit(path.read_text(encoding="utf-8"))
        for block in blocks:
            if isinstance(block, Function) and not block.is_method:
                yield from inner(shown(path), block)
            elif isinstance(block, Class):
                for method in block.methods:
                    yield from inner(shown(path), method)


def test_few_functions_branch_much_and_none_very_much() -> None:
    measured = dict(functions())
    complex_ones = {name: n for name, n in measured.items() if n > MAX_COMPLEXITY}
    assert {name: n for name, n in complex_ones.items() if n > NEVER_ABOVE} == {}
    share = len(complex_ones) / len(measured)
    assert share <= MAX_COMPLEX_SHARE, f"{share:.1%}: {complex_ones}"


def test_the_plan_of_the_house_holds() -> None:
    assert len(rooms.rooms()) <= MAX_ROOMS
    assert len(rooms.loose_files()) <= MAX_LOOSE_FILES
    assert rooms.rings() == []
    assert rooms.upward() == []
    named = {name for floor in rooms.floors() for name in floor}
    assert named == {*rooms.rooms(), *(name.removesuffix(".py") for name in rooms.loose_files())} - {"__init__"}


def test_one_message_passes_few_modules() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "house" / "rooms.py")],
        cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    passed = re.search(r"one message passes (\d+) of", done.stdout)
    assert passed
    assert int(passed[1]) <= MAX_MODULES_OF_A_WALK, done.stdout


def test_no_private_interface_of_a_library_is_used_but_in_its_adapter() -> None:
    private = re.compile(r"^\s*(?:from|import) (?:[\w.]+ import )?(?:[\w.]+\.)?_[a-z]\w*", re.MULTILINE)
    offenders = [
        shown(p) for p in MODULES if private.search(p.read_text(encoding="utf-8")) and shown(p) not in INTERNALS
    ]
    assert offenders == []


def test_one_module_reads_the_environment() -> None:
    readers = {
        shown(p) for p in MODULES if re.search(r"\bos\.(environ|getenv|putenv)\b", p.read_text(encoding="utf-8"))
    }
    assert readers == READERS_OF_THE_ENVIRONMENT


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
