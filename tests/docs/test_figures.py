"""Figures in the README: those that commands give are asked of the commands, the others stand where it says."""

import json
import re
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app
from em_pipelines.schema.vocabulary import OBSERVATIONS, RELATIONS
from tests.docs.test_pages import rows_of

ROUNDING = 0.01
"""Two digits are shown; a corpus of some hundred facts may move by one."""


@pytest.fixture(scope="module")
def rows(page: Callable[[str], str]) -> list[list[str]]:
    """What was measured, how much it was, and how to see it again."""
    return rows_of(page("README.md"), "## What was measured")


def test_figures_of_commands_are_those_of_the_benchmarks(rows, page) -> None:
    measured = {row[0]: row[1] for row in rows_of(page("docs/benchmarks.md"), "## What commands cost")}
    said = {what: figure for what, figure, how in rows if how == "`make bench`"}
    assert said
    assert said == {what: measured.get(what) for what in said}


def test_figures_of_where_things_stand_stand_there(rows, page) -> None:
    said = [figure for _, figure, how in rows if "docs/state.md" in how and re.search("[.%]", figure)]
    assert said
    assert [figure for figure in said if figure not in page("docs/state.md")] == []


def test_relations_are_as_many_as_the_pages_say(page) -> None:
    for name in ("README.md", "docs/comparison.md"):
        assert f" {len(RELATIONS - {*OBSERVATIONS})} relations" in page(name)


@pytest.mark.slow
def test_figures_of_evaluations_are_what_the_commands_give(rows, tmp_path) -> None:
    def asked(what: str) -> dict:
        done = CliRunner().invoke(app, ["evaluate", what, "--json", "--home", str(tmp_path / what)])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    extraction, resolution, attacks = asked("extraction"), asked("resolution"), asked("attacks")
    given = {
        "`em evaluate extraction`": [
            extraction["relations"]["precision"], extraction["relations"]["recall"], extraction["hallucination_rate"],
        ],
        "`em evaluate resolution`": [resolution["pairwise"]["f1"]],
        "`em evaluate attacks`": [attacks["n_stored"] + attacks["n_leaked"] + attacks["n_quoted"]],
    }  # fmt: skip
    for how, figures in given.items():
        assert [float(figure) for _, figure, said in rows if said == how] == pytest.approx(figures, abs=ROUNDING), how
