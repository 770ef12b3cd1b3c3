"""How many tokens a text costs a model: an estimate from above, for no vocabulary is at hand without a network.

A tokenizer reads a word it knows as one token and spells out what it does not know, two letters or so at a time. So a
word counts one where all its runs of three letters are ordinary ones (`letters.txt`: those that several words of this
project's own pages and patterns share, `^` and `$` for the ends), else by its length. Figures come in threes, a mark
counts one, other scripts by the bytes of UTF-8, below which no byte-level tokenizer can fall apart further. A text that
is cheaper than a token for four characters is counted as that.
"""

import re
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil
from pathlib import Path

CHARACTERS_A_TOKEN = 4
"""The rule of thumb for English that many budgets are kept by."""
TYPOGRAPHIC = frozenset("‘’“”–—…•·°£€§é")
"""Marks outside ASCII that are common enough to have a token, or two with the blank before them."""
SPELT_OUT_A_LETTER = 0.57
"""Tokens a letter of what is no word, of cl100k_base and o200k_base over random letters."""
CAPITALS_A_LETTER = 0.4
CODED_A_LETTER = 0.7
"""Letters among figures: ids, keys, addresses."""
LONGEST_WORD = 12
_PIECE = re.compile(r"[A-Za-z]*[0-9][A-Za-z0-9]*|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[ ](?=[0-9])|[ ]{2,}|[^ ]")
_RUN = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")


def count_tokens(text: str) -> int:
    """At least as many tokens as GPT-4's tokenizers make of the text in what people write, in any script; counts of
    parts add up to no less than that of the whole."""
    pieces = sum(_cost(piece) for piece in _PIECE.findall(text))
    return max(pieces, ceil(len(text) / CHARACTERS_A_TOKEN))


@lru_cache(maxsize=65_536)
def _cost(piece: str) -> int:
    if not piece.isascii():
        return 2 if piece in TYPOGRAPHIC else len(piece.encode("utf-8", "replace"))
    if piece.isalnum() and not piece.isalpha():
        runs = _RUN.findall(piece)
        return sum(ceil(len(run) / 3) if run.isdigit() else ceil(len(run) * CODED_A_LETTER) for run in runs)
    if not piece.isalpha():
        return 0 if piece == "\n" else 1
    length = len(piece)
    if length > 1 and piece.isupper():
        return ceil(length * CAPITALS_A_LETTER)
    if length <= LONGEST_WORD and _is_ordinary(piece.lower()):
        return 1
    return ceil(length * SPELT_OUT_A_LETTER)


def _is_ordinary(word: str) -> bool:
    known = _ordinary()
    ended = f"^{word}$"
    return len(word) == 1 or all(
        third in known.get(first + second, "")
        for (first, second), third in zip(pairwise(ended), ended[2:], strict=False)
    )


@cache
def _ordinary() -> dict[str, str]:
    """Which letters ordinarily follow two others."""
    lines = Path(__file__).with_name("letters.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split(" ") for line in lines)
