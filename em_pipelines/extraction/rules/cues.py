"""Phrases that say how a statement is meant: hedges, hearsay, mockery. Found once a message, before its clauses.

Most are data (`patterns/lexicon/hedges.yaml`). What has a form rather than a wording is here: how sure somebody says
to be (`not a hundred percent sure`, `fairly certain`, `90% sure`), and `not … any more`.
"""

from bisect import bisect_left
from typing import NamedTuple

from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.tokens import Token, tokenise
from em_pipelines.extraction.rules.word_classes import CONJ, CONTRAST, NEG, PUNCT, WH


class Cue(NamedTuple):
    """Tokens `start` to `stop`, and the list the phrase is of."""

    start: int
    stop: int
    tag: str


AFTERTHOUGHT = "_before"
"""Ends the tags of what weakens the words before it (`but don't quote me`), not those around it."""
_ENDED = (["any", "more"], ["anymore"], ["any", "longer"])
_SURENESS = frozenset({"sure", "certain", "positive", "convinced"})
_NEARLY = words("words", "nearly_certain")
_FAR_BACK = 5
"""`not` and `sure` stand at most this many words apart."""
LONGEST = 8
"""Words of the longest phrase, at most."""
_SLIGHT_FROM = 80
"""Per cent from which being sure is only slightly hedged."""


def _phrases_by_first_word() -> dict[str, list[tuple[list[str], str]]]:
    index: dict[str, list[tuple[list[str], str]]] = {}
    for tag, phrases in load_lexicon("hedges").items():
        for phrase in phrases:
            parts = [token.low for token in tokenise(phrase.strip())]
            index.setdefault(parts[0], []).append((parts, tag))
    for parts in _ENDED:
        index.setdefault(parts[0], []).append((parts, "ended"))
    return index


_PHRASES = _phrases_by_first_word()
_STARTS = _PHRASES.keys() | _SURENESS


def find_phrases(tokens: list[Token]) -> list[Cue]:
    """Every cue in the message, in order."""
    found: list[Cue] = []
    lows = [token.low for token in tokens]
    lows.append("")
    for i in [n for n, low in enumerate(lows) if low in _STARTS]:
        low = lows[i]
        listed = _PHRASES.get(low)
        if listed is not None:
            after = lows[i + 1] if low else ""
            for parts, tag in listed:
                n = len(parts)
                if n == 1 or (parts[1] == after and (n == 2 or lows[i : i + n] == parts)):
                    found.append(Cue(i, i + n, tag))
        if low in _SURENESS and (level := _sureness(tokens, i)) is not None:
            found.append(level)
    found.sort()
    return found


def between(cues: list[Cue], start: int, stop: int) -> list[Cue]:
    """The cues, which are in order, that begin at a token from `start` up to and without `stop`."""
    return cues[bisect_left(cues, (start, 0, "")) : bisect_left(cues, (stop, 0, ""))] if cues else cues


def _sureness(tokens: list[Token], i: int) -> Cue | None:
    """How sure `sure` at token i is: None where it hedges nothing (`I'm sure`, `make sure`, `certain cheeses`) or only
    a part (`not sure which, but …`)."""
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    is_adjective = following is not None and not following.bits and not following.is_capital
    is_of_something = following is not None and (bool(following.bits & WH) or following.low in {"about", "of"})
    if is_of_something and not (i + 2 < len(tokens) and tokens[i + 2].low in {"that", "it", "this"}):
        return None
    if is_adjective or (i and tokens[i - 1].low in {"make", "for", "making", "made"}):
        return None
    share: int | None = None
    level: Cue | None = None
    for k in range(i - 1, max(-1, i - 1 - _FAR_BACK), -1):
        token = tokens[k]
        if token.bits & NEG:
            return Cue(k, i + 1, "strong")
        if token.low.isdigit():
            share = int(token.low[:4])
        elif token.bits & (PUNCT | CONJ | CONTRAST) and token.low != "%":
            break
        elif token.low in _NEARLY and level is None and k >= i - 2:
            level = Cue(k, i + 1, "slight")
    if share is not None and share < 100:
        return Cue(i, i + 1, "slight" if share >= _SLIGHT_FROM else "moderate")
    return level
