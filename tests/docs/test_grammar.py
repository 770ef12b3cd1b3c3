"""The page about the grammar: its example's output is real, and it names the modules there are."""

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app

PAGE = "docs/grammar.md"
RULES = Path(__file__).parents[2] / "em_pipelines" / "extraction" / "rules"
ENGLISH = RULES.parents[1] / "language" / "en"


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_the_explanation_shown_is_what_the_command_prints(blocks) -> None:
    command = next(block for block in blocks(PAGE, "sh") if "--explain" in block.text)
    shown = next(block for block in blocks(PAGE, "text") if block.line > command.line)
    printed = CliRunner().invoke(app, shlex.split(command.text)[1:])
    assert lines(printed.output) == lines(shown.text)


def test_the_page_names_every_module_of_the_grammar(page) -> None:
    table = page(PAGE).partition("## Modules\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {path.stem for folder in (RULES, ENGLISH) for path in folder.glob("*.py")} - {"__init__"}
