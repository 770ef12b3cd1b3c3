"""The clause around a claim: with what belongs to it, without what else the sentence says."""

import pytest

from em_pipelines.guard.passages import clause_around
from em_pipelines.language.cleaning import CODE_MARK

LONG = "and then some more of the same " * 8


@pytest.mark.parametrize(
    ("text", "words", "clause"),
    [
        ("We moved to Bergen because our son was born, and I love it.", "moved to Bergen",
         "We moved to Bergen because our son was born"),
        ("Hi! Oh, and my sister Dana lives in Graz so that she is near the lake; I like tea.", "lives in Graz",
         "my sister Dana lives in Graz so that she is near the lake"),
        ("I like tea but I hate coffee, it keeps me awake.", "hate coffee", "I hate coffee, it keeps me awake"),
        ("Because the rent rose, we moved to Oslo.", "we moved to Oslo", "Because the rent rose, we moved to Oslo"),
        ("The rent rose, so we moved to Oslo.", "we moved to Oslo", "The rent rose, so we moved to Oslo"),
        (f"I live in Oslo {CODE_MARK * 12} and work", "live in Oslo", "I live in Oslo"),
        (f"{CODE_MARK * 5} I live\nin Oslo", "live\nin Oslo", "I live in Oslo"),
        ("«I live in Oslo» [", "live in Oslo", "I live in Oslo"),
    ],
)  # fmt: skip
def test_a_clause_has_its_reason_and_no_other_fact(text: str, words: str, clause: str) -> None:
    start = text.index(words)
    assert clause_around(text, start, start + len(words), 160) == clause


@pytest.mark.parametrize("text", [f"{LONG} I live in Oslo {LONG}", f"I live in Oslo {'x' * 300}", "x" * 400, "", " . "])
def test_a_clause_is_never_longer_than_it_may_be(text: str) -> None:
    start = max(text.find("live in Oslo"), 0)
    clause = clause_around(text, start, start + 12, 160)
    assert len(clause) <= 160
    assert ("live in Oslo" in clause) == ("live in Oslo" in text)
