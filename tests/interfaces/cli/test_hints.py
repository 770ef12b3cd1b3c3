"""Hints: a command in a sentence is one that there is, and works when it is copied, with the home that was given."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from em_pipelines.interfaces.cli.app import app
from em_pipelines.interfaces.cli.hints import WITHOUT_HOME, runnable, with_home

ROOT = Path(__file__).parents[3]
HOME = Path("my memory")
FILLED = "FILLED"
COMMAND = re.compile(r"`(em [^`]+)`")
NAMED = re.compile(r"(?<![`\w.-])em (?:[a-z]+-)?[a-z]+\b(?!:)")
BY_ITSELF = frozenset({"em facts --user NAME", "em run", "em run PATH", "em questionnaire", "em mcp", "em ui"})
"""Texts that are a command and nothing else: shown with their home by `with_home`, or names of a source or a server."""


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Every text of the package that is no docstring and no help, by where it stands; what is filled in is FILLED."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "em_pipelines").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                inner.add(id(node.value))
            if isinstance(node, ast.JoinedStr):
                inner.update(id(value) for value in node.values)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = [v.value if isinstance(v, ast.Constant) else FILLED for v in node.values]
                yield f"{path.name}:{node.lineno}", "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
                yield f"{path.name}:{node.lineno}", node.value


@cache
def commands() -> list[tuple[str, str]]:
    return [(where, found) for where, text in texts() for found in COMMAND.findall(text)]


@cache
def parser() -> Any:
    """The command line as Click has it."""
    return typer.main.get_command(app)


def refusal(command: str) -> str | None:
    """Why the parser of the command line does not know a command; None where it does."""
    group = parser()
    _, *words = shlex.split(command)
    while words and hasattr(group, "commands") and not words[0].startswith("--"):
        if words[0] == "evaluate" and len(words) > 1:  # its parts are values of an argument
            words = words[:1]
        name = words.pop(0)
        if FILLED in name:
            return None
        if name not in group.commands:
            return f"no command {name}"
        group = group.commands[name]
    known = {option for param in group.params for option in param.opts} | {"--help"}
    strange = [word for word in words if word.startswith("--") and word not in known]
    return f"no option {strange[0]}" if strange else None


def test_every_command_in_a_sentence_is_one_that_there_is() -> None:
    found = commands()
    assert len(found) > 80
    assert not [(where, command, why) for where, command in found if (why := refusal(command))]


def test_every_command_in_a_sentence_takes_the_home_that_is_put_behind_it() -> None:
    told = [(where, runnable(f"`{command}`", HOME).strip("`")) for where, command in commands()]
    assert not [(where, command, why) for where, command in told if (why := refusal(command))]
    without = [command for _, command in told if "--home" not in command and "--help" not in command]
    assert {command.split()[1] for command in without} <= WITHOUT_HOME


def test_commands_stand_in_backticks_for_nothing_else_is_known_for_one() -> None:
    bare = [
        (where, text)
        for where, text in texts()
        if NAMED.search(COMMAND.sub("", text)) and text not in BY_ITSELF and "Example:" not in text
    ]
    assert not bare


@pytest.mark.parametrize(
    ("told", "home", "shown"),
    [
        ("see `em users`", None, "see `em users`"),
        ("see `em users`", Path("mine"), "see `em users --home mine`"),
        ("`em run` or `em forget` again", Path("a b"), "`em run --home 'a b'` or `em forget --home 'a b'` again"),
        ("see `em land --help`", Path("mine"), "see `em land --help`"),
        ("`em prompt` says how", Path("mine"), "`em prompt` says how"),
        ("`em run PATH --home new` makes one", Path("new"), "`em run PATH --home new` makes one"),
        ("`make dev` opens it", Path("mine"), "`make dev` opens it"),
    ],
)
def test_a_home_is_put_behind_the_commands_of_a_sentence(told: str, home: Path | None, shown: str) -> None:
    assert runnable(told, home) == shown


def test_a_home_is_written_as_the_shell_reads_it() -> None:
    assert shlex.split(with_home("em run", Path("it's mine")))[-1] == "it's mine"


def test_a_hint_names_the_home_wherever_the_option_stood(em, examples_home: Path, tmp_path: Path) -> None:
    beside, before = em("why", "edge_ffff", "--home", examples_home), em("--home", examples_home, "why", "edge_ffff")
    assert before.stderr == beside.stderr
    assert f"`em facts --user NAME --all --home {examples_home}`" in beside.stderr
    by_variable = em("why", "edge_ffff", EM_HOME=str(examples_home))
    assert "`em facts --user NAME --all`" in by_variable.stderr, "whoever has the variable needs no option"


def test_no_home_is_made_for_nothing(em, tmp_path: Path) -> None:
    (tmp_path / "memory" / "log").mkdir(parents=True)
    done = em("run", "--home", "memry", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "memry does not exist; did you mean 'memory'? `em run PATH --home memry` makes one" in done.stderr
    assert not (tmp_path / "memry").exists()


def test_what_makes_a_home_says_so_once(em, native, tmp_path: Path) -> None:
    file = native({"content": "I live in Bergen."})
    first = em("land", file, "--home", tmp_path / "memory")
    assert f"New home: {tmp_path / 'memory'}\n" in first.stdout
    assert "New home" not in em("land", file, "--home", tmp_path / "memory").stdout
    near = em("land", file, "--home", "memry", cwd=tmp_path)
    assert f"New home: {tmp_path / 'memry'}; did you mean 'memory'?" in near.stdout
    program = em("land", file, "--home", tmp_path / "other", "--json")
    assert (json.loads(program.stdout)["is_new_home"], program.stderr) == (True, "")
    token = em("token", "create", "--user", "ada", "--home", tmp_path / "tokens")
    assert token.stdout.count("\n") == 1, "a script takes it as it is printed"
    assert "New home" in token.stderr
