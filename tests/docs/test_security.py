"""Every promise of SECURITY.md has a test that is there, and whoever attacks is met by a section that is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ATTACKERS = 9


def section(title: str) -> str:
    """What stands below a heading, up to the next of its level."""
    rest = PAGE.partition(f"\n{title}\n")[2]
    assert rest, f"{title} is not there"
    return re.split(rf"(?m)^{'#' * title.count('#', 0, title.index(' '))} ", rest)[0]


def rows(text: str) -> list[str]:
    """The rows of its tables, without heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [line for line in lines if not re.match(r"\| (?:who|promise|setting) \|", line)]


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("promise", rows(section("## What is promised")), ids=lambda row: row[2:60])
def test_every_promise_names_tests_that_are_there(promise: str) -> None:
    named = NAMED.findall(promise)
    assert named, "a promise without a test is none"
    assert len(named) == promise.count("::")
    for path, test in named:
        assert (ROOT / path).is_file(), path
        assert test in functions(path), f"{path} has no {test}"


def test_no_promise_stands_outside_of_the_tables() -> None:
    assert len(NAMED.findall(PAGE)) == sum(len(NAMED.findall(row)) for row in rows(section("## What is promised")))


def test_whoever_attacks_is_met_by_a_section() -> None:
    attackers = rows(section("## Who attacks"))
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"(?m)^#+ (.+)$", PAGE)}
    assert len(attackers) == ATTACKERS
    for row in attackers:
        met = re.findall(r"\]\(#([\w-]+)\)", row)
        assert met, row
        assert set(met) <= anchors, row


@pytest.mark.parametrize("title", ["## What is not promised", "## Reporting", "## What settings open"])
def test_what_is_not_promised_and_how_to_report_are_said(title: str) -> None:
    assert len(section(title)) > 100
