"""Names are read whole, in whatever letters, and one name in two ways of typing is one."""

import unicodedata
from collections.abc import Callable

import pytest

from em_pipelines.extraction.messages import language_of
from em_pipelines.language.name_keys import compact_key, name_key

ClaimsOf = Callable[..., list[str]]
NAMES = [
    "Ẹ̀bùn", "Chí̧ka", "Ayọ̀délé", "Zoë", "Łucja", "İlkay", "Ольга", "Θάλεια", "美咲", "이서연", "दीपिका", "நிலா", "ليلى",
    "נועה", "Ana-Luz", "Ana‑Luz", "Ana‐Luz", "Ana–Luz", "N'Dour", "N’Dour", "NʼDour",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_read_whole(name: str, claims_of: ClaimsOf) -> None:
    name = unicodedata.normalize("NFC", name)
    text = f"My cousin {name} lives in Trondheim."
    assert language_of(text) == "en"
    assert sorted(name_key(part) for claim in claims_of(text) for part in claim.split(" | ")) == sorted(
        ["user", "knows", name_key(name), name_key(name), name_key("lives_in"), "trondheim"]
    )


@pytest.mark.parametrize("mark", "‐‑‒–—―")
def test_a_hyphen_is_one_in_all_its_forms(mark: str) -> None:
    assert name_key(f"Ana{mark}Luz") == name_key("Ana-Luz")
    assert compact_key(f"Ana{mark}Luz") == compact_key("Ana-Luz")


@pytest.mark.parametrize("mark", "’‘ʼʻ")
def test_an_apostrophe_is_one_in_all_its_forms(mark: str) -> None:
    assert name_key(f"N{mark}Dour") == name_key("N'Dour")


def test_names_that_differ_in_their_vowel_signs_are_two() -> None:
    assert compact_key("रीता") != compact_key("रति")
    assert name_key("रीता") != name_key("रीत")


def test_a_dash_between_blanks_is_a_pause(claims_of: ClaimsOf) -> None:
    assert "user | lives_in | Trondheim" in claims_of("I live in Trondheim – my cousin Ana lives in Bodø.")
