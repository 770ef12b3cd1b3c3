"""Initials are one with a name where something shows it, and never for the letters alone."""

from collections.abc import Callable
from typing import Any

import pytest

from em_pipelines.resolution.linking import compare
from em_pipelines.resolution.name_parts import parse_name

Run, Said, ReadBy = Callable[..., Any], Callable[..., dict[str, Any]], Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("short", "long", "kind"),
    [
        ("GB", "garlic bread", "food"), ("GB", "Grete Bauer", "concept"), ("MTB", "morning tea break", "event"),
        ("LL", "Lena Lund", "person"), ("ab", "apple brandy", "food"), ("RC", "Red Cross", "organization"),
    ],
)  # fmt: skip
def test_letters_alone_join_nothing(short: str, long: str, kind: str) -> None:
    verdict = compare(parse_name(short, kind), parse_name(long, kind))
    assert verdict is None or verdict.is_conflict


def test_three_letters_of_a_proper_name_are_its_acronym() -> None:
    verdict = compare(parse_name("NHB", "organization"), parse_name("Nordic Harbour Board", "organization"))
    assert verdict is not None
    assert verdict.method == "acronym"


def test_two_letters_that_a_message_introduces_are_the_name(run: Run, said: Said, read_by: ReadBy) -> None:
    text = "Grete Bauer (GB) sent the plan."
    rows = [
        said("Grete Bauer", "person", text, 0),
        said("GB", "person", text, 0),
        said("GB", "person", "GB called again.", 1),
    ]
    assert read_by(run(rows).entities)["gb"] == "Grete Bauer"


def test_two_letters_of_two_things_leave_both_as_they_are(run: Run, said: Said, read_by: ReadBy) -> None:
    rows = [
        said("garlic bread", "food", "I love garlic bread.", 0),
        said("GB", "concept", "GB is my lawyer.", 0, 5),
        said("Grete Bauer", "person", "Grete Bauer is a judge.", 1),
    ]
    assert read_by(run(rows).entities) == {"garlic bread": "garlic bread", "gb": "GB", "grete bauer": "Grete Bauer"}
