"""Summaries name the first of many people, and say what lists them all."""

from em_pipelines.interfaces.cli.console import MOST_PEOPLE, some_of


def test_of_few_people_all_are_named() -> None:
    rows = [(f"p{n}", n) for n in range(MOST_PEOPLE)]
    assert some_of(rows, "`em users`") == rows


def test_of_many_people_the_first_are_named_and_the_others_counted() -> None:
    rows = [(f"p{n}", n) for n in range(1_000 + MOST_PEOPLE)]
    *first, last = some_of(rows, "`em users`")
    assert first == rows[:MOST_PEOPLE]
    assert last == ("… and 1,000 more: `em users`", "")
