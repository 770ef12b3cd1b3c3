"""Plans and wishes get the day that is said of them, and no other."""

from collections.abc import Callable

import pytest

from em_pipelines.schema.readings import Extraction

AHEAD = ("plans", "wants", "needs", "decided")


def days_of(read: Callable[..., Extraction], text: str) -> list[str | None]:
    claims = [claim for claim in read(text).claims if claim.relation in AHEAD]
    return [claim.valid_from and f"{claim.valid_from} {claim.valid_precision}" for claim in claims]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I'm going to Ghent on 3 December.", "2026-12-03 day"),
        ("I'm flying to Turku next Friday.", "2026-03-13 day"),
        ("I'm going to Ghent tomorrow.", "2026-03-06 day"),
        ("We're moving to Zutphen this weekend.", "2026-03-07 day"),
        ("On 3 April I'm flying to Graz.", "2026-04-03 day"),
        ("I plan to visit the mill on the 12th.", "2026-03-12 day"),
        ("I need a visa by Friday.", "2026-03-06 day"),
        ("We plan to visit Ghent in May.", "2026-05-01 month"),
        ("I want to learn Danish next year.", "2027-01-01 year"),
        ("I plan to visit the castle on 20 February.", "2027-02-20 day"),
        ("I'm planning a trip to Rome this month.", "2026-03-01 month"),
    ],
)
def test_a_plan_has_the_day_that_is_said_of_it(read: Callable[..., Extraction], text: str, day: str) -> None:
    assert days_of(read, text) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "I'm going to Ghent.",
        "We decided on slate tiles yesterday.",
        "Last week I decided to sell the canoe.",
        "I plan to visit Ghent on 3 May or on 9 May.",
    ],
)
def test_a_day_that_is_past_or_one_of_several_is_none_of_a_plan(read: Callable[..., Extraction], text: str) -> None:
    assert days_of(read, text) == [None]


def test_since_when_something_is_wished_is_kept_and_no_plan_is_over_by_when_it_was_made(
    read: Callable[..., Extraction],
) -> None:
    assert days_of(read, "I have wanted a kayak since 2019.") == ["2019-01-01 year"]
    assert days_of(read, "I have been planning to learn Danish since 2019.") == [None]
    assert days_of(read, "We settled on slate tiles last month.") == [None]
