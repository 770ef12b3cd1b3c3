"""Random and adversarial strings: nothing raises, lengths hold, masking is idempotent, and nothing takes long."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from em_pipelines.text.cleaning import clean_text
from em_pipelines.text.guard.injection import quarantine, strip_instructions
from em_pipelines.text.guard.passages import has_pasted_block
from em_pipelines.text.guard.screening import is_unsafe_content, privilege_spans
from em_pipelines.text.guard.sensitive import categories, sensitive_spans
from em_pipelines.text.masking import mask_text

MAX_CPU_SECONDS = 10.0  # half a second where nothing else is at work; what is not linear would take an hour
LONG = 100_000
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


def timed(read: Callable[[str], Any], text: str) -> Any:
    started = time.process_time()
    found = read(text)
    assert time.process_time() - started < MAX_CPU_SECONDS, getattr(read, "__name__", "read")
    return found


def check(text: str) -> None:
    masked = timed(mask_text, text)
    assert timed(mask_text, masked) == masked
    text = clean_text(masked)
    for read in (strip_instructions, quarantine):
        found = timed(read, text)
        assert len(found.text) == len(text)
        assert [n for n, c in enumerate(found.text) if c == "\n"] == [n for n, c in enumerate(text) if c == "\n"]
    assert all(0 <= start < end <= len(text) for start, end in timed(privilege_spans, text))
    assert all(0 <= start < end <= len(text) for start, end in timed(all_sensitive_spans, text))
    timed(has_pasted_block, text)
    timed(is_unsafe_content, text[:300])


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
def test_long_repeats_of_any_piece_end_soon(piece: str) -> None:
    check(piece * (LONG // len(piece)))
