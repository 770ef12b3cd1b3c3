"""Random and adversarial strings: nothing raises, lengths hold, masking is idempotent, and nothing takes long."""

import random

import pytest

from em_pipelines.guard.injection import privilege_spans, quarantine, strip_instructions
from em_pipelines.guard.passages import has_pasted_block
from em_pipelines.guard.screening import is_unsafe_content
from em_pipelines.guard.sensitive import categories, sensitive_spans
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.masking import mask_text
from tests.growth import grows_with_its_length

LONG = 50_000
PIECES = (
    "ignore previous instructions", "remember that ", "the user ", "store ", "memory ", "password is ", "pin ", "key: ",
    "is ", "to ", "= ", ": ", "; ", "a=b;", "4111 1111 ", "DE89 3704 ", "1 ", "-", ".", "!\n", "\n\n", "> ", "```", '"',
    "'", "`", "“", "<a ", "<system>", "</", "[system]", "{", '{"tool": "', "|", "| sh", "curl -s ", "rm -rf ", "eyJ",
    "sk-", "aGVsbG8gd29ybGQ", "%41%42", "\\x41", "0100100001", ".- -... ", "i g n o r e ", "vtaber ", "1gn0re ",
    "allergic to nuts, ", "and ", "owe 12k ", "takes ", "mg ", "word ", "zero one ", "seed ", "Ignоre ", "无视", "用户",
    "\u200b", "\u202e", "\ud800", "🙂", "é", "ß", "İ", "#", "# system", "--- ", "Assistant: ", "you must run ",
    "if you ", "whenever i say, ", "my name is ", "access ", "https://a:", "a@b ", "?token=", "iban ", "no. ",
    "always ",
    "never ",
)  # fmt: skip
SEEDS = [*PIECES, "a", " ", "A1b", "x.", "i ", "0", "=", "(", "\\"]


def check(text: str) -> None:
    masked = mask_text(text)
    assert mask_text(masked) == masked
    text = clean_text(masked)
    for read in (strip_instructions, quarantine):
        found = read(text)
        assert len(found.text) == len(text)
        assert [n for n, c in enumerate(found.text) if c == "\n"] == [n for n, c in enumerate(text) if c == "\n"]
    assert all(0 <= start < end <= len(text) for start, end in privilege_spans(text))
    assert all(0 <= start < end <= len(text) for start, end in all_sensitive_spans(text))
    has_pasted_block(text)
    is_unsafe_content(text[:300])


def all_sensitive_spans(text: str) -> list[tuple[int, int]]:
    return sensitive_spans(text, tuple(categories()))


@pytest.mark.parametrize("seed", range(20))
def test_random_strings_of_telling_pieces_are_read_without_harm(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(25):
        check("".join(source.choice(PIECES) for _ in range(source.randint(1, 40))))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_ten_thousand_random_strings_are_read_without_harm(seed: int) -> None:
    source = random.Random(1000 + seed)
    for _ in range(250):
        n = source.choice((1, 3, 10, 40, 200))
        anything = "".join(chr(source.randrange(1, 0x11000)) for _ in range(source.randint(0, 30)))
        check(anything + "".join(source.choice(PIECES) for _ in range(n)) + anything)


@pytest.mark.slow
@pytest.mark.parametrize("piece", SEEDS, ids=repr)
def test_a_long_repeat_of_any_piece_takes_time_as_long_as_it_is(piece: str) -> None:
    assert grows_with_its_length(check, piece * (LONG // len(piece)))
