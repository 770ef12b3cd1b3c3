"""A cut takes away; it never lets a sentence that stays say something new."""

import pytest

from .conftest import World, lines

AMBIGUOUS = (
    ("s1", "2026-03-02T08:00:00Z", "user", "My brother Arne came over. My flatmate Torvald came, too. He is 40."),
    ("s1", "2026-03-02T08:01:00Z", "user", "I like tea."),
)
TOLD_LATER = (
    ("s1", "2026-03-02T08:00:00Z", "user", "My brother Arne came over."),
    ("s1", "2026-03-02T08:01:00Z", "user", "My flatmate Torvald came, too."),
    ("s1", "2026-03-02T08:02:00Z", "user", "He works at Nordlys. I like tea."),
)


@pytest.mark.slow
def test_a_pronoun_does_not_pass_to_who_is_left(empty: World) -> None:
    for user, said in (("a", AMBIGUOUS), ("b", TOLD_LATER)):
        empty.land(*lines(user, said), name=f"{user}.jsonl")
        empty.make()
        before = empty.facts(user)
        assert ("user", "likes", "tea") in before
        empty.forget(user, entity="Torvald")
        assert empty.facts(user) == {fact for fact in before if "Torvald" not in fact}


@pytest.mark.slow
def test_what_others_said_in_the_same_sentence_stays(empty: World) -> None:
    said = (("s1", "2026-03-02T08:00:00Z", "user", "I moved to Oslo and Torvald helped me, but I still own a boat."),)
    empty.land(*lines("a", said))
    empty.make()
    before = empty.facts("a")
    empty.forget("a", entity="Torvald")
    assert empty.facts("a") == before >= {("user", "lives_in", "Oslo"), ("user", "owns", "boat")}
