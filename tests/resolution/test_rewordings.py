"""The same in other words is one thing; what differs in a number, a name, a denial or what it is about is two."""

import pytest

from em_pipelines.resolution.linking import compare
from em_pipelines.resolution.name_parts import parse_name

SAME = [
    ("jogging", "going for jogs"), ("jogging", "jog"), ("running", "running every morning"), ("running", "runs"),
    ("going for a swim", "swimming on Sundays"), ("having a swim", "swim daily"), ("doing yoga", "yoga"),
    ("coffee cup", "cup of coffee"), ("a coffee cup", "cups of coffee"), ("baking bread", "bread baking"),
    ("long walks in the forest", "going for long forest walks"), ("new laptop for work", "new work laptop"),
    ("playing board games", "play board games"), ("growing tomatoes", "grow tomatoes"),
    ("learn Danish", "learning Danish"), ("learn how to knit", "learn knitting"), ("learn to knit", "learning to knit"),
    ("my grandmother's apple pie", "the apple pie of my grandmother"), ("taking photos", "take photographs"),
    ("documentaries about rivers", "watching documentaries about rivers"), ("jazz", "listening to jazz"),
    ("herring", "eating herring"), ("movies", "watching films"), ("getting up early", "get up early"),
    ("painting the small old wooden boat in the shed", "painting the old wooden boat in the shed"),
]  # fmt: skip
OTHER = [
    ("running", "running a shop"), ("two cats", "three cats"), ("running 5 km", "running 10 km"), ("tea", "iced tea"),
    ("coffee", "coffee cups"), ("cake of Anna", "cake of Maria"), ("hot weather", "cold weather"),
    ("indoor climbing", "outdoor climbing"), ("cooking", "cooking shows"), ("playing football", "watching football"),
    ("football", "watching football"), ("beach", "beach volleyball"), ("learn Spanish", "learn Danish"),
    ("buy a house", "sell a house"), ("move in", "move out"), ("moving", "moving out"), ("getting up", "going up"),
    ("teach children", "teach adults"), ("dogs", "hot dogs"), ("red wine", "white wine"),
    ("being alone", "being together"),
    ("eating meat", "not eating meat"), ("cooking with meat", "cooking without meat"), ("art", "art history"),
    ("modern art", "ancient art"), ("getting up early", "getting up late"), ("early mornings", "early evenings"),
    ("board games", "video games"), ("quit smoking", "start smoking"), ("open a bakery", "close the bakery"),
    ("skiing", "water skiing"), ("race horse", "horse race"), ("reading", "reading out loud"),
    ("my first novel", "novel"),
    ("swimming in the sea", "sea view"), ("house in Rome", "house in Riga"), ("Java", "Javanese dancing"),
    ("paint the small boat in the old shed", "paint the big boat in the old shed"), ("half a marathon", "marathon"),
    ("paint the boat in the old wooden shed twice", "do not paint the boat in the old wooden shed twice"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_one_thing(one: str, other: str) -> None:
    for left, right in ((one, other), (other, one)):
        verdict = compare(parse_name(left, "concept"), parse_name(right, "activity"))
        assert verdict is not None
        assert verdict.score >= 0.9


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_is_near_and_another_thing_stays_two(one: str, other: str) -> None:
    for left, right in ((one, other), (other, one)):
        verdict = compare(parse_name(left, "concept"), parse_name(right, "concept"))
        assert verdict is None or verdict.score < 0.9, verdict


@pytest.mark.parametrize(
    ("one", "other", "kind", "is_same"),
    [
        ("red bike", "red bicycle", "product", True),
        ("bike", "bikes", "product", False),
        ("boarding school", "board schools", "organization", False),
    ],
)
def test_of_things_that_there_may_be_several_of_only_words_cut_short_are_the_same(
    one: str, other: str, kind: str, is_same: bool
) -> None:
    verdict = compare(parse_name(one, kind), parse_name(other, kind))
    assert (verdict is not None and verdict.score >= 0.9) == is_same
