import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language.cleaning import CODE_MARK, blank_code, clean_text, looks_like_code


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("I li\u200bke te\u00ada", "I like tea"),
        ("\u202eabc\u202c", "abc"),
        ("e\u0301", "é"),
        ("a\u00a0b\r\nc", "a b\nc"),
        ("I lоve tea", "I love tea"),
        ("люблю", "люблю"),
        ("👩\u200d🌾", "👩\u200d🌾"),
        ("tab\tstays\x00", "tab\tstays"),
        ("lone \ud800", "lone \ufffd"),
    ],
)
def test_text_is_normalised_without_invisible_characters(raw: str, cleaned: str) -> None:
    assert clean_text(raw) == cleaned


@given(st.text(max_size=300))
def test_cleaning_is_idempotent_and_blanking_keeps_the_length(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    assert len(blank_code(once)) == len(once)


@pytest.mark.parametrize(
    "code",
    [
        "```python\nwife = 'Lena'\n```",
        "def greet(name):\n    return name",
        'user.wife = "Lena"',
        "SELECT name FROM people WHERE city = 'Oslo'",
        '{"name": "Olga", "likes": ["moss"]}',
        'Traceback (most recent call last):\n  File "x.py", line 3, in <module>',
        "services:\n  web:\n    image: x",
        "import os",
    ],
)
def test_code_is_found_and_blanked(code: str) -> None:
    assert looks_like_code(code)
    assert CODE_MARK in blank_code(code)


@pytest.mark.parametrize(
    "prose",
    [
        "I like moss; it is soft.",
        "Dear all:\nthe meeting is at 3.",
        "Name: Olga\nCity: Delft",
        "We use `ripgrep` a lot",
        "10:30 works (really)",
        "I import wine from Chile",
    ],
)
def test_prose_is_no_code(prose: str) -> None:
    assert not looks_like_code(prose)
    assert CODE_MARK not in blank_code(prose)
