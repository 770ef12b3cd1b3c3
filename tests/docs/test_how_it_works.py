"""The pages on how it works and how to contribute: the map is that of the rooms, the message walks as it says, and
recipes name what there is.
"""

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import build
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.settings import load_settings
from tests.house import rooms

PAGE = "docs/how-it-works.md"
PACKAGE = Path(__file__).parents[2] / "em_pipelines"
WALK = "## One message's walk\n"


def section(text: str, heading: str) -> str:
    """What stands below a heading."""
    return text.partition(heading)[2].partition("\n## ")[0]


def test_the_map_has_every_room_on_its_floor(page) -> None:
    drawn = section(page(PAGE), "## The rooms\n").partition("```text\n")[2].partition("```")[0]
    of_the_package = {name for floor in rooms.floors() for name in floor} - {"memory"}
    told = [re.split(r" {4,}", line.strip())[0] for line in drawn.splitlines()]
    names = [set(re.findall(r"[a-z]+", line)) & of_the_package for line in told]
    assert [found for found in names if found] == [set(floor) for floor in rooms.floors() if floor != ["memory"]]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, page) -> Path:
    """A home in which the message of the page has been read and indexed."""
    folder = tmp_path_factory.mktemp("walk")
    said = folder / "said.jsonl"
    said.write_text(next(line for line in section(page(PAGE), WALK).splitlines() if line.startswith("{")) + "\n")
    home = Pipeline(load_settings(home=folder / "home"))
    land([said], home.store.log, now=datetime(2026, 3, 3, tzinfo=UTC), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    home.infer()
    build(home)
    return home.path


def test_its_commands_print_what_stands_below_them(walked: Path, blocks) -> None:
    shown = [block for language in ("text", "xml") for block in blocks(PAGE, language)]
    for command in (block for block in blocks(PAGE, "sh") if "walk/home" in block.text and " run " not in block.text):
        printed = CliRunner().invoke(app, shlex.split(command.text.replace("walk/home", str(walked)))[1:])
        below = min((block for block in shown if block.line > command.line), key=lambda block: block.line)
        assert [line for line in below.text.splitlines() if line not in printed.output.splitlines()] == []


def test_its_stations_are_modules_and_its_rows_are_there(walked: Path, page) -> None:
    told = [line.split("|")[2:4] for line in section(page(PAGE), WALK).splitlines() if line.startswith("| ")][2:]
    named = [(modules, name) for modules, _ in told for name in re.findall(r"`([\w/.]+)`", modules)]
    beside = {(m, n) for m, n in named if "/" not in n and (PACKAGE / "extraction" / "patterns" / n).exists()}
    assert [name for modules, name in named if (modules, name) not in beside and not (PACKAGE / name).exists()] == []
    lake = Pipeline(load_settings(home=walked)).store.lake
    rows = {t.name: str([lake.read(t, day).to_pylist() for day in lake.days(t)]) for t in CATALOG.values()}
    missing = []
    for _, cell in told:
        for table, words in re.findall(r"`(\w+)`: ((?:(?!\. `)[^|])*)", cell):
            missing += [
                f"{table}: {word}"
                for word in re.findall(r"`([a-z_.]+_[0-9a-f]{20}|\w+\.\w+|\w+_\w+)`", words)
                if word not in rows[table]
            ]
    assert missing == []


def test_the_files_that_a_recipe_names_are_there(page) -> None:
    text = page("CONTRIBUTING.md")
    named = re.findall(r"`((?:em_pipelines|assets|resources|sensors|quality|tests|docs)/[a-z0-9_/.-]+\.\w+)`", text)
    assert named
    assert [name for name in named if not (PACKAGE.parent / name).exists()] == []
    constants = {name for name in re.findall(r"`((?!EM_)[A-Z][A-Z_]+)`", text) if "_" in name}
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.parent.glob("[aerqst]*/**/*.py"))
    assert [name for name in sorted(constants) if name not in code] == []
