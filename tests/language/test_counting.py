"""Counted nouns: their plurals, and that commands count by the one helper."""

import re
from pathlib import Path

import pytest

from em_pipelines.language.counting import IS, counted, plural

COMMANDS = sorted((Path(__file__).parents[2] / "em_pipelines" / "interfaces" / "cli").glob("*.py"))
BY_HAND = re.compile(
    r"\{(?:len\([^{}]*\)|(?:\w+\.)*n_\w+|total)\} (?!bytes|others)(?:[a-z-]+ )?[a-z]+s\b(?<!ss)(?<!is)(?<!as)"
)


@pytest.mark.parametrize(
    ("noun", "several"),
    [
        ("day", "days"), ("entity", "entities"), ("search", "searches"), ("index", "indexes"), ("class", "classes"),
        ("dead letter", "dead letters"), ("memory", "memories"), ("key", "keys"), ("piece", "pieces"),
    ],
)  # fmt: skip
def test_the_last_word_takes_the_plural(noun: str, several: str) -> None:
    assert plural(noun) == several


def test_one_is_one_and_everything_else_is_several() -> None:
    assert [counted(n, "entry") for n in (0, 1, 2)] == ["0 entries", "1 entry", "2 entries"]
    assert [counted(n, "line", IS) for n in (1, 3)] == ["1 line is", "3 lines are"]


def test_no_command_counts_by_hand() -> None:
    found = {path.name: BY_HAND.findall(path.read_text(encoding="utf-8")) for path in COMMANDS}
    assert {name: these for name, these in found.items() if these} == {}
    assert BY_HAND.search('f"{len(rows)} facts"')
    assert BY_HAND.search('f"{report.n_left} dead letters"')
