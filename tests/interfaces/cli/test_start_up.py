"""What starting costs: which libraries are imported before a command has anything to do with them, and what the shell
is told at TAB. Modules are counted, not seconds."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

IMPORTED = re.compile(r"^import time:.*\| +(?P<name>[\w.]+)$", re.MULTILINE)
ENGINE = ("numpy", "pyarrow", "duckdb", "pydantic_settings", "fsspec", "em_pipelines.pipeline", "em_pipelines.settings")
SELDOM = (
    "pandas.core", "scipy", "bm25s", "dagster", "openai", "great_expectations", "neo4j", "mcp", "dateparser", "sqlite3",
    "rich.progress", "uvicorn", "em_pipelines.definitions", "em_pipelines.extraction.llm.extractor",
)  # fmt: skip
"""What neither help nor a command that reads facts has a use for. Of pandas a part: an import that comes to nothing is
listed, too."""
Imports = Callable[..., set[str]]


def called(command: tuple[str, ...], *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    python, *rest = command
    return subprocess.run(
        [python, *options, *rest],
        env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def imports(em_command: tuple[str, ...]) -> Imports:
    """Runs `em` in a process of its own and returns every module that was imported."""

    def run(*words: object, code: int = 0, **environment: str) -> set[str]:
        done = called((*em_command, *map(str, words)), "-X", "importtime", **environment)
        assert done.returncode == code, done.stderr[-2000:]
        found = {match["name"] for match in IMPORTED.finditer(done.stderr)}
        assert "typer" in found
        return found

    return run


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("facts", "--help"), 0), (("facts", "--as-off", "2026-10-12"), 2),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                (("--help",), 0), (("run", "--help"), 0), (("dead-letters", "replay", "--help"), 0), (("prompt",), 0),
                (("fakts",), 2), (("why",), 2),
            ]
        ),
    ],
)  # fmt: skip
def test_help_and_wrong_use_need_none_of_the_engine(imports: Imports, words: tuple[str, ...], code: int) -> None:
    assert imports(*words, code=code) & {*ENGINE, *SELDOM} == set()


@pytest.mark.parametrize(
    "typed",
    [
        "em fa",
        pytest.param("em facts --", marks=pytest.mark.slow),
        pytest.param("em land --format ", marks=pytest.mark.slow),
        pytest.param("em token ", marks=pytest.mark.slow),
    ],
)
def test_completion_needs_none_of_the_engine(imports: Imports, typed: str) -> None:
    found = imports(_EM_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=typed)
    assert found & {*ENGINE, *SELDOM} == set()


@pytest.mark.parametrize(
    "words",
    [
        ("facts", "--user", "mirela"),
        *(
            pytest.param(words, marks=pytest.mark.slow)
            for words in [("why", "edge_none"), ("bootstrap", "--user", "mirela"), ("settings",), ("token", "list")]
        ),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_who_reads_imports_what_reading_needs(imports: Imports, examples_home: Path, words: tuple[str, ...]) -> None:
    found = imports(*words, "--home", examples_home, code=words[0] == "why")
    assert found & {*SELDOM, "em_pipelines.extraction.rules.extractor"} == set()


@pytest.mark.slow
def test_facts_import_no_fold_while_no_feedback_waits(imports: Imports, examples_home: Path) -> None:
    found = imports("facts", "--user", "mirela", "--home", examples_home)
    assert found & {"em_pipelines.steps", "em_pipelines.serving.overlay", "em_pipelines.guard.screening"} == set()


@pytest.mark.slow
def test_a_question_imports_the_index_and_nothing_of_runs(imports: Imports, examples_home: Path) -> None:
    found = imports("search", "Porto", "--user", "mirela", "--home", examples_home)
    assert found & set(SELDOM) == {"bm25s", "scipy"}


@pytest.mark.slow
def test_landing_imports_nothing_of_runs(imports: Imports, tmp_path: Path, root: Path) -> None:
    found = imports("land", root / "examples" / "logs", "--home", tmp_path / "home")
    assert found & set(SELDOM) == set()


@pytest.mark.slow
def test_a_run_with_nothing_new_imports_nothing_of_runs(imports: Imports, examples_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))
    assert imports("run", "--home", home) & set(SELDOM) == set()


@pytest.mark.slow
def test_a_server_on_stdio_imports_no_more_than_the_protocol(imports: Imports, examples_home: Path) -> None:
    found = imports("mcp", "--user", "mirela", "--home", examples_home)
    assert found & {*SELDOM, "em_pipelines.steps"} == {"mcp", "uvicorn"}


@pytest.mark.slow
def test_pandas_is_there_for_who_wants_it_after_all() -> None:
    code = (
        "import sys, tempfile, pathlib, pyarrow as pa\n"
        "from em_pipelines.interfaces.cli.console import open_home\n"
        "open_home(pathlib.Path(tempfile.gettempdir(), 'none'))\n"
        "table = pa.table({'n': [1, 2]})\n"
        "assert 'pandas' not in sys.modules\n"
        "frame = table.to_pandas()\n"
        "assert pa.Table.from_pandas(frame).equals(table)\n"
    )
    done = called((sys.executable, "-c", code))
    assert done.returncode == 0, done.stderr


@pytest.fixture
def completed(em_command: tuple[str, ...]) -> Callable[..., list[str]]:
    """Asks as bash does at TAB, and returns the words that it is offered."""

    def ask(*words: str) -> list[str]:
        line = {"COMP_WORDS": " ".join(("em", *words)), "COMP_CWORD": str(len(words))}
        done = called(em_command, _EM_COMPLETE="complete_bash", **line)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return ask


@pytest.mark.slow
def test_the_shell_is_told_commands_options_and_values(completed: Callable[..., list[str]]) -> None:
    assert completed("fa") == ["facts"]
    assert completed("wh") == ["why", "why-not", "why-probe"]
    assert {"--user", "--as-of", "--json", "--help"} <= set(completed("facts", "--"))
    assert completed("land", "--format", "cl") == ["claude", "claude-code"]
    assert completed("dead-letters", "") == ["list", "show", "replay", "discard"]
    assert completed("--home", "/tmp", "tok") == ["token"]


@pytest.mark.parametrize(
    ("shell", "action", "said"), [("zsh", "", '"facts":"Show what is known'), ("fish", "get-args", "facts\tShow what")]
)
def test_shells_that_show_help_are_told_it(em_command: tuple[str, ...], shell: str, action: str, said: str) -> None:
    asked = {
        "_EM_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "em fa",
        "_TYPER_COMPLETE_FISH_ACTION": action,
    }
    assert said in called(em_command, **asked).stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_what_is_installed_completes_in_bash(em_command: tuple[str, ...], tmp_path: Path) -> None:
    em = tmp_path / "bin" / "em"
    em.parent.mkdir()
    em.write_text('#!/bin/sh\nexec "{}" {} "{}" "$@"\n'.format(*em_command), encoding="utf-8")
    em.chmod(0o755)
    script = (
        "em --install-completion > installed.txt\n"
        'source "$HOME/.bashrc"\n'
        "complete -p em\n"
        "COMP_WORDS=(em facts --as) COMP_CWORD=2\n"
        "_em_completion em\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    path = f"{em.parent}{os.pathsep}{os.environ['PATH']}"
    root = Path(__file__).parents[3]
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": path, "PYTHONPATH": str(root)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["complete -o default -F _em_completion em", "--as-of"]
    assert "bash completion installed" in (tmp_path / "installed.txt").read_text(encoding="utf-8")
