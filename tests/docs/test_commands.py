"""The command line, as its help and the README describe it."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from em_pipelines.cli import app

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md")))]


def names_of(typer_app, *before: str) -> list[tuple[str, ...]]:
    """Every command of the app as the words that call it."""
    own = [command.name or command.callback.__name__.replace("_", "-") for command in typer_app.registered_commands]
    groups = [(group.typer_instance, group.name) for group in typer_app.registered_groups]
    return [(*before, name) for name in own] + [c for group, name in groups for c in names_of(group, *before, name)]


COMMANDS = names_of(app)


@pytest.fixture
def rows(page) -> list[str]:
    """The rows of the README's table of commands."""
    return [line for line in page("README.md").splitlines() if line.startswith("| `em ")]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_command_has_help_with_an_example(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0
    assert re.search(rf"Example: .*\bem {' '.join(words)}\b", shown.output)


@pytest.mark.parametrize("group", sorted({words[:-1] for words in COMMANDS}), ids=" ".join)
def test_group_has_help_that_lists_its_commands(group: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*group, "--help"])
    assert shown.exit_code == 0
    assert not [words for words in COMMANDS if words[:-1] == group and words[-1] not in shown.output]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_command_stands_in_the_readme(words: tuple[str, ...], rows: list[str]) -> None:
    *group, name = words
    if group:
        assert any(f"`em {' '.join(group)} " in row and re.search(rf"[` ]{name}`", row) for row in rows)
    else:
        assert any(re.search(rf"`em {name}[ `]", row) for row in rows)


def test_commands_in_the_readme_exist(rows: list[str]) -> None:
    named = {name for row in rows for name in re.findall(r"`em ([a-z-]+)", row)}
    assert named == {words[0] for words in COMMANDS}


@pytest.mark.parametrize("name", PAGES)
def test_make_targets_that_a_page_names_exist(name: str, page) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", page("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z0-9-]+)", page(name), re.MULTILINE)) <= targets
