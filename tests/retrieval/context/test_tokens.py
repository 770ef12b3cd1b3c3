"""Counting tokens: from above, whatever is written, and not far above what people write in English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.retrieval.context.sections import count_tokens

ENGLISH = (
    "Hey! I went to the pottery class yesterday and it was so much fun. We made a bowl for my sister, and then the "
    "teacher showed us how to glaze it. I'll bring it home next week if it doesn't crack in the kiln."
)
KNOWN = [
    # text, tokens of cl100k_base, of o200k_base
    (ENGLISH, 53, 49),
    ('<fact id="edge_57e38005" confidence="0.99" since="2026-09-28">Dana lives in Graz</fact>\n', 34, 33),
    ("edge_57e380052cda1708a5dc", 13, 13),
    ("qzxjkvwp bvncmxlk", 9, 10),
    ("Donaudampfschifffahrtsgesellschaft", 13, 10),
    ("昨天我和姐姐去了广场旁边的新咖啡馆", 26, 14),
    ("👩‍👩‍👧‍👦🏳️‍🌈", 27, 17),
    ("MEETING AT NOON, ROOM 12B", 10, 10),
]


@pytest.mark.parametrize(("text", "cl100k", "o200k"), KNOWN)
def test_no_fewer_than_what_tokenizers_make(text: str, cl100k: int, o200k: int) -> None:
    assert count_tokens(text) >= max(cl100k, o200k)


def test_english_is_counted_within_a_third() -> None:
    assert count_tokens(ENGLISH) <= 53 * 1.33


@given(st.text())
def test_at_least_a_token_for_four_characters_and_at_most_one_a_byte(text: str) -> None:
    n_bytes = len(text.encode("utf-8", "surrogatepass"))
    assert -(-len(text) // 4) <= count_tokens(text) <= n_bytes + 1


@given(st.lists(st.text().map(lambda text: f"<q>{text}</q>\n")))
def test_elements_cost_together_no_more_than_one_by_one(parts: list[str]) -> None:
    assert count_tokens("".join(parts)) <= sum(map(count_tokens, parts))


@given(st.text(st.characters(min_codepoint=0x3000), min_size=1))
def test_other_scripts_cost_their_bytes(text: str) -> None:
    assert count_tokens(text) >= len(text.encode("utf-8", "replace"))
