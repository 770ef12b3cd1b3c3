"""Two names by their wording alone: what makes them one, what two, and what says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language.name_keys import compact_key, name_key
from em_pipelines.resolution.clusters import is_one_under_one_name
from em_pipelines.resolution.linking import compare
from em_pipelines.resolution.name_parts import is_nameable, parse_name


@pytest.mark.parametrize(
    ("one", "other", "kind", "method"),
    [
        ("Hôtel Brise", "hotel brise", "place", "spelling"),
        ("Marsh Rd Depot", "Marsh Road Depot", "place", "spelling"),
        ("Lamb & Larder", "Lamb and Larder", "organization", "spelling"),
        ("Tinwork Ltd", "Tinwork GmbH", "organization", "spelling"),
        ("moss-garden", "MossGarden", "project", "spelling"),
        ("Lathe 4", "lathe4", "product", "spelling"),
        ("University of Tilburg", "Tilburg University", "organization", "word_order"),
        ("NYC", "New York City", "place", "known"),
        ("SWF", "Society for Wet Feet", "organization", "acronym"),
        ("PS5", "PlayStation 5", "product", "spelling"),
        ("FP4", "Fairphone 4", "product", "abbreviation"),
        ("NY Times", "New York Times", "work", "abbreviation"),
        ("Galaxy A53", "Samsung A53", "product", "model"),
        ("Norrby", "Norrby IF", "organization", "part"),
        ("Python 3", "Python", "tool", "part"),
        ("Bergamo, Italy", "Bergamo", "place", "part"),
        ("Ms. Lindqvist", "Karin Lindqvist", "person", "part"),
        ("K. Lindqvist", "Karin Lindqvist", "person", "initials"),
        ("Peggy", "Margaret", "person", "nickname"),
        ("Bob Miller", "Robert Miller", "person", "nickname"),
        ("Erik", "Eric", "person", "similarity"),
        ("Micheal", "Michael", "person", "similarity"),
        ("Weserlink", "Weserlnik", "organization", "similarity"),
        ("B.K. Norrby", "BK Norrby", "organization", "spelling"),
        ("W.F.S.", "Wet Feet Society", "organization", "acronym"),
        ("Kamra K7III", "K7 III", "product", "part"),
        ("Mount Elva", "Elva", "place", "spelling"),
        ("Juergen Vos", "Jürgen Vos", "person", "similarity"),
        ("Herr Mueller", "Anke Müller", "person", "part"),
        ("Dr. Mina", "Dr. Mina Okabe", "person", "part"),
    ],
)
def test_names_of_one_thing(one: str, other: str, kind: str, method: str) -> None:
    for a, b in ((one, other), (other, one)):
        verdict = compare(parse_name(a, kind), parse_name(b, kind))
        assert verdict is not None
        assert (verdict.method, verdict.score >= 0.85) == (method, True)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("iPhone 12", "iPhone 13", "product"),
        ("Pixel 7", "Pixel 7 Pro", "product"),
        ("Java", "JavaScript", "tool"),
        ("React", "React Native", "tool"),
        ("GPT-4", "GPT-4o", "product"),
        ("Lumen Labs", "Lumen Foundation", "organization"),
        ("Paris", "Paris, Texas", "place"),
        ("York", "New York", "place"),
        ("Dune", "Dune Messiah", "work"),
        ("Saltmarsh", "Saltmarsh: Part Two", "work"),
        ("FC Bergamo", "Real Bergamo", "organization"),
        ("Kamra K7 III", "Kamra K7 IV", "product"),
        ("Mike", "Mickey", "person"),
        ("Daniel", "Daniela", "person"),
        ("Anna Kovacs", "Anna Petrova", "person"),
        ("Peter Kovacs", "Anna Kovacs", "person"),
        ("soil probe", "capacitive soil probe", "product"),
        ("red wine", "wine", "food"),
        ("wife", "Lena", "person"),
    ],
)
def test_names_that_are_not_shown_to_be_one(one: str, other: str, kind: str) -> None:
    for a, b in ((one, other), (other, one)):
        verdict = compare(parse_name(a, kind), parse_name(b, kind))
        assert verdict is None or verdict.is_conflict


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["person", "place", "product", "tool", "concept"]))
def test_comparing_is_symmetric_and_bounded(one: str, other: str, kind: str) -> None:
    a, b = parse_name(one, kind), parse_name(other, kind)
    verdict = compare(a, b)
    assert verdict == compare(b, a)
    assert verdict is None or 0 <= verdict.score <= 1


@given(st.text(max_size=30))
def test_keys_stay_as_they_are_made(text: str) -> None:
    assert name_key(name_key(text)) == name_key(text)
    assert compact_key(text) == compact_key(text.upper().lower()) or not text.isascii()


@pytest.mark.parametrize(
    ("one", "other", "n_tokens", "is_one"),
    [
        ("person", "place", 1, False),
        ("organization", "place", 1, False),
        ("organization", "place", 2, True),
        ("tool", "product", 1, True),
        ("concept", "animal", 1, True),
        ("material", "project", 2, False),
    ],
)
def test_types_that_one_name_can_have(one: str, other: str, n_tokens: int, is_one: bool) -> None:
    assert is_one_under_one_name(one, other, n_tokens) is is_one


@pytest.mark.parametrize("name", ["he", "It", "the", "tomorrow", "Monday", "went", "...", "my"])
def test_what_names_nothing(name: str) -> None:
    assert not is_nameable(name, "concept")


@pytest.mark.parametrize(("name", "kind"), [("May", "person"), ("Friday", "work"), ("running", "activity"),
    ("WHO", "organization"), ("Go", "tool")])  # fmt: skip
def test_what_names_something(name: str, kind: str) -> None:
    assert is_nameable(name, kind)
