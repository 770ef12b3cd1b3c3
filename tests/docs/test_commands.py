"""The command line, as its help and the page of commands describe it."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in DOCS)]


def names_of(typer_app, *before: str) -> list[tuple[str, ...]]:
    """Every command of the app as the words that call it."""
    own = [command.name or command.callback.__name__.replace("_", "-") for command in typer_app.registered_commands]
    groups = [(group.typer_instance, group.name) for group in typer_app.registered_groups]
    return [(*before, name) for name in own] + [c for group, name in groups for c in names_of(group, *before, name)]


COMMANDS = names_of(app)


@pytest.fixture
def rows(page) -> list[str]:
    """The rows of the table of commands."""
    return [line for line in page("docs/commands.md").splitlines() if line.startswith("| `em ")]


def help_of(words: tuple[str, ...]) -> str:
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0, words
    return shown.output


def test_commands_have_help_with_an_example() -> None:
    named = {" ".join(words): help_of(words) for words in COMMANDS}
    assert [name for name, shown in named.items() if not re.search(rf"Example: .*\bem {name}\b", shown)] == []


def test_groups_have_help_that_lists_their_commands() -> None:
    shown = {group: help_of(group) for group in {words[:-1] for words in COMMANDS}}
    assert [words for words in COMMANDS if words[-1] not in shown[words[:-1]]] == []


def test_commands_stand_on_their_page(rows: list[str]) -> None:
    assert [words for words in COMMANDS if not any(names(row, words) for row in rows)] == []


def names(row: str, words: tuple[str, ...]) -> bool:
    *group, name = words
    if group:
        return f"`em {' '.join(group)} " in row and re.search(rf"[` ]{name}`", row) is not None
    return re.search(rf"`em {name}[ `]", row) is not None


def test_commands_on_their_page_exist(rows: list[str]) -> None:
    named = {name for row in rows for name in re.findall(r"`em ([a-z-]+)", row)}
    assert named == {words[0] for words in COMMANDS}


def test_make_targets_that_pages_name_exist(page) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", page("Makefile"), re.MULTILINE))
    named = [(name, t) for name in PAGES for t in re.findall(r"(?:`|^)make ([a-z0-9-]+)", page(name), re.MULTILINE)]
    assert named
    assert [(name, target) for name, target in named if target not in targets] == []
