"""What relative dates meant when they were said, as it is shown behind them."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.retrieval.documents import Hit, with_dates
from em_pipelines.retrieval.said_dates import dated, said_dates

THURSDAY = date(2023, 7, 13)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("I sold the loom yesterday.", "2023-07-12"),
        ("We rowed last Friday.", "2023-07-07"),
        ("The kiln arrives next month.", "2023-08"),
        ("Two weeks ago the mast broke.", "about 2023-06-29"),
        ("This weekend we'll row.", "weekend of 2023-07-15"),
        ("We rowed this weekend.", "weekend of 2023-07-08"),
        ("last year's regatta", "2022"),
        ("I left ten years ago", "2013"),
        ("Last week I rowed", "week of 2023-07-03"),
        ("next week I will", "week of 2023-07-17"),
        ("two weekends ago", "weekend of 2023-07-01"),
        ("She came on Monday.", "2023-07-10"),
        ("She will come on Monday.", "2023-07-17"),
        ("I fly in three days", "2023-07-16"),
        ("the day before yesterday we ate", "2023-07-11"),
        ("I’m off next Tue", "2023-07-18"),
        ("a week from Friday", "2023-07-21"),
        ("last night was loud", "2023-07-12"),
        ("a month ago", "2023-06"),
        ("last June we rowed", "2023-06"),
        ("On Monday I was ill, but I will go.", "2023-07-10"),
        ("I rowed on the 9th.", "2023-07-09"),
        ("I rowed on the 19th.", "2023-06-19"),
        ("I'll row on the 9th.", "2023-08-09"),
        ("We moved in August.", "2022-08"),
        ("We rowed from Friday to Sunday.", "2023-07-07 to 2023-07-09"),
        ("the week before last", "week of 2023-06-26"),
    ],
)
def test_relative_dates_say_what_they_meant(text: str, meant: str) -> None:
    assert [one.date for one in said_dates(text, THURSDAY)] == [meant]
    assert with_dates(text, THURSDAY).count(f" ({meant})") == 1


@pytest.mark.parametrize(
    "text",
    [
        "Today it rains.",
        "I rowed all over the last week.",
        "The following day it rained.",
        "the leaders of tomorrow",
        "I built it in two weeks.",
        "once a month",
        "a few years ago",
        "this year",
        "We row in May.",
        "We work Monday to Friday.",
        "It came back in May 2020.",
        "Black Friday",
        "this boat is next to last",
        "",
    ],
)
def test_what_may_mean_two_days_or_the_day_itself_means_none(text: str) -> None:
    assert with_dates(text, THURSDAY) == text


def test_the_last_summer_is_not_the_one_that_it_is() -> None:
    assert dated("We sailed last summer", date(2023, 8, 11)) == "We sailed last summer (2022)"


def test_a_hit_shows_dates_and_keeps_its_text() -> None:
    said = Hit("message", "s1", 0, None, "I rowed yesterday.", 1.0, THURSDAY, "Ida", {})
    fact = Hit("fact", "s1", 0, "edge_1", "user sold loom: I sold it yesterday.", 1.0, THURSDAY, None, {})
    assert (said.text, said.shown) == ("I rowed yesterday.", "I rowed yesterday (2023-07-12).")
    assert fact.shown == fact.text
    assert replace(fact, sources=(("s1", 0),)).shown == "user sold loom: I sold it yesterday (2023-07-12)."


@given(st.text(max_size=120), st.dates(date(1950, 1, 1), date(2090, 1, 1)))
def test_any_text_is_kept_but_for_what_stands_behind(text: str, said_on: date) -> None:
    shown, at = dated(text, said_on), 0
    for one in said_dates(text, said_on):
        assert text[: one.end].endswith(one.text)
    for character in text:
        at = shown.index(character, at) + 1
