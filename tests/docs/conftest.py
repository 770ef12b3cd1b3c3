"""Pages, their blocks, and a checkout of its own in which the commands of a page are run as a reader would."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import fast_folder

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    if "```sh\n" in path.read_text(encoding="utf-8")
)
SOURCES = (
    "assets", "em_pipelines", "examples", "quality", "resources", "sensors", "tests",
    "Makefile", "pyproject.toml", "requirements.txt", "requirements-test.txt", "workspace.yaml",
)  # fmt: skip
PROGRAMS = {
    "em": "-c 'from em_pipelines.interfaces.cli.app import main; main()'",
    "python": "",
    "pytest": "-m pytest -p no:cacheprovider",
}
BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MAKE = re.compile(r"^make (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the words behind the fence, the text, and the line of the page it begins at."""

    info: tuple[str, ...]
    text: str
    line: int


@dataclass(frozen=True)
class Checkout:
    """A folder with the sources of the project, `.venv/bin/em` and its kin, and whatever a page makes in it."""

    path: Path

    @classmethod
    def of(cls, source: Path, path: Path, names: tuple[str, ...]) -> "Checkout":
        """Copies files and folders by name, and puts the programs into `.venv/bin`."""
        for name in names:
            if (source / name).is_dir():
                shutil.copytree(source / name, path / name, symlinks=True)
            else:
                path.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, path / name)
        programs = path / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name, arguments in PROGRAMS.items():
            script = f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" {arguments} "$@"\n'
            (programs / name).write_text(script, encoding="utf-8")
            (programs / name).chmod(0o755)
        return cls(path)

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Runs a block in a shell that stops at the first command that fails; of make it asks the plan alone."""
        return subprocess.run(
            ["sh", "-eu", "-c", MAKE.sub(r"make -n \1 > make.log", script)],
            cwd=self.path,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )


@dataclass(frozen=True)
class Walk:
    """A page whose commands have been run: where, what went wrong, a sentence a block, and what blocks printed, by
    their lines."""

    checkout: Checkout
    failures: tuple[str, ...]
    printed: dict[int, str]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout under test."""
    return ROOT


@pytest.fixture(scope="session")
def page() -> Callable[[str], str]:
    """The text of a page, by its path below the root."""
    return lambda name: (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def blocks() -> Callable[[str, str], list[Block]]:
    """The blocks of a page in one language."""
    return _blocks


@pytest.fixture(scope="session")
def outputs() -> Callable[[str], list[tuple[Block, Block]]]:
    """Commands of a page with the block of what they print, which follows without a word between."""
    return _outputs


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """Every file that is or would be tracked, below the root."""
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return [path for name in found.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    inside = (path for path in ROOT.rglob("*") if path.is_file())
    return [path for path in inside if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]


@pytest.fixture(scope="session")
def made_run(examples_home: Path) -> Iterator[Checkout]:
    """A checkout after `make run`: the example logs are in its home."""
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        checkout = Checkout.of(ROOT, Path(folder) / "made", SOURCES)
        shutil.copytree(examples_home, checkout.path / ".em", symlinks=True)
        yield checkout


@pytest.fixture(scope="session")
def walks(made_run: Checkout, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Walk]]:
    """Runs the commands of the pages that tests ask for, each in a copy of the checkout after `make run`, only once,
    two at a time."""
    following = (item for item in request.session.items if "walks" in getattr(item, "fixturenames", ()))
    named = (item.callspec.params.get("name") for item in following if hasattr(item, "callspec"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        begun = {name: pool.submit(_walk, made_run, name) for name in dict.fromkeys(named) if name in PAGES}

        def walk(name: str) -> Walk:
            if name not in begun:
                begun[name] = pool.submit(_walk, made_run, name)
            return begun[name].result()

        yield walk


def _walk(made_run: Checkout, name: str) -> Walk:
    checkout = Checkout.of(made_run.path, made_run.path.parent / name.replace("/", "-"), (*SOURCES, ".em"))
    failures, printed = [], {}
    for block in _blocks(name, "sh"):
        done = checkout.run(block.text)
        printed[block.line] = done.stdout
        if done.returncode:
            failures.append(f"{name}:{block.line} ends with {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return Walk(checkout, tuple(failures), printed)


def _blocks(name: str, language: str) -> list[Block]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [block for m in BLOCK.finditer(text) if (block := _block(m)).info[:1] == (language,)]


def _outputs(name: str) -> list[tuple[Block, Block]]:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    pairs = [
        (_block(one), _block(other)) for one, other in pairwise(found) if text[one.end() : other.start()].isspace()
    ]
    return [(said, shown) for said, shown in pairs if said.info == ("sh",) and shown.info in (("text",), ("xml",))]


def _block(match: re.Match[str]) -> Block:
    return Block(tuple(match["info"].split()), match["text"], match.string.count("\n", 0, match.start()) + 1)


def _environment() -> dict[str, str]:
    """The environment without what would steer make, pytest or the project from outside."""
    foreign = ("EM_", "OPENAI_", "DAGSTER_", "NEO4J_", "PYTEST_", "MAKE", "MFLAGS", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, "COLUMNS": "160", "DAGSTER_DISABLE_TELEMETRY": "1", "GX_ANALYTICS_ENABLED": "false"}
