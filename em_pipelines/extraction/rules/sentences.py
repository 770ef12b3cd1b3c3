"""Where sentences end."""

from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import PUNCT

_LINE_OF_PROSE = 55
"""A line at least this long may go on in the next one."""


def sentences(tokens: list[Token], text: str) -> list[tuple[int, int]]:
    """Token ranges of sentences, without the closing mark. A line break ends one unless the line is wrapped prose."""
    ranges: list[tuple[int, int]] = []
    start = 0
    line_start = 0
    for i, token in enumerate(tokens):
        if not token.bits & PUNCT:
            continue
        if token.low == "\n":
            following = tokens[i + 1] if i + 1 < len(tokens) else None
            is_wrapped = (
                token.start - line_start >= _LINE_OF_PROSE
                and following is not None
                and following.low != "\n"
                and text[following.start].islower()
            )
            line_start = token.end
            if is_wrapped:
                continue
        elif token.low not in ".!?;…":
            continue
        if i > start:
            ranges.append((start, i))
        start = i + 1
    if start < len(tokens):
        ranges.append((start, len(tokens)))
    return ranges
