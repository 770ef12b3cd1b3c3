"""Whether a message vents: feelings let out, whose wishes and dislikes are of the hour.

No single word tells. What counts is how many kinds of sign there are: exasperation, a negative feeling of one's own,
everything or nobody judged badly, hatred of work or life, the wish to be out of it, shouting.
"""

from em_pipelines.extraction.rules.cues import Cue
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import FINITE, PUNCT

_ENOUGH = 2
"""Kinds of sign from which a message vents."""
_ABSOLUTES = words("venting", "absolutes")
_BAD = words("venting", "bad")
_FEELINGS = words("nouns", "feelings") | words("venting", "feeling")
_EXCLAMATIONS = words("venting", "exclamations")
_BURDENS = words("venting", "burdens")
_ESCAPES = words("venting", "escapes")
_HATE = frozenset({"hate", "loathe", "despise", "detest"})
_HATING = frozenset(lemma + ending for lemma in _HATE for ending in ("", "s", "es", "d", "ed", "ing")) | {
    "hating",
    "loathing",
    "despising",
}
_SIGNS = _ABSOLUTES | _FEELINGS | _EXCLAMATIONS | _HATING
"""Words without one of which nothing vents; shouting and wishes alone do not."""
_OWN = frozenset({"i", "'m", "me", "my", "am"})
_DESPAIR = words("venting", "despair")
_INTENSE = frozenset({"so", "utterly", "completely", "totally", "absolutely", "beyond"})
_WISHING = frozenset({"want", "wanna", "wish"})
_NEAR = 8
"""Words within which two parts of a sign stand."""
_SHOUTED = 3


def is_venting(tokens: list[Token], text: str, cues: list[Cue]) -> bool:
    """Whether the message as a whole lets off steam."""
    if any(cue.tag == "venting" for cue in cues):
        return True
    if _SIGNS.isdisjoint([token.low for token in tokens]) and "aa" not in text.lower():
        return False
    signs: set[str] = set()
    for i, token in enumerate(tokens):
        low = token.low
        if low in _EXCLAMATIONS or (low.startswith("aa") and low.endswith("h")):
            signs.add("exclamation")
        elif low in _ABSOLUTES and _is_judged(tokens, i):
            signs.add("absolute")
        elif low in _FEELINGS and _lows(tokens, i - 4, i) & _OWN:
            signs.add("feeling")
        elif low in _WISHING and "feeling" in signs and _is_intense(tokens):
            signs.add("wish")
        if low == "want" and _lows(tokens, i + 1, i + 5) & _ESCAPES:
            signs.add("escape")
        if token.verbs and not _HATE.isdisjoint(token.verbs) and _lows(tokens, i - 3, i) & _OWN:
            signs.add("hatred" if _lows(tokens, i + 1, i + 5) & (_BURDENS | _ABSOLUTES) else "dislike")
        if low == "!" and _lows(tokens, i + 1, i + 2) & {"!"}:
            signs.add("shouting")
    if signs and _is_shouted(tokens, text):
        signs.add("shouting")
    is_unhappy = not signs.isdisjoint({"absolute", "feeling", "hatred"}) or (
        "exclamation" in signs and not signs.isdisjoint({"escape", "dislike"})
    )
    return is_unhappy and len(signs) >= _ENOUGH


def _is_intense(tokens: list[Token]) -> bool:
    """`I'm so angry`, `I feel utterly useless`: what is wished in such a state is of the hour."""
    return any(
        token.low in _DESPAIR and _lows(tokens, i - 2, i) & _INTENSE and _lows(tokens, i - 4, i) & _OWN
        for i, token in enumerate(tokens)
    )


def _lows(tokens: list[Token], start: int, stop: int) -> set[str]:
    return {token.low for token in tokens[max(0, start) : stop]}


def _is_judged(tokens: list[Token], i: int) -> bool:
    """`everything is terrible`, `nobody ever helps`, `nothing works`: the absolute with a judgement or a verb."""
    stop = next((k for k in range(i, min(len(tokens), i + _NEAR)) if tokens[k].bits & PUNCT), i + _NEAR)
    after = tokens[i + 1 : stop]
    if any(token.low in _BAD for token in after):
        return True
    if tokens[i].low not in {"nobody", "nothing", "no-one"}:
        return False
    return any(k & FINITE for token in after[:3] for k in (token.verbs or {}).values())


def _is_shouted(tokens: list[Token], text: str) -> bool:
    shouted = [t for t in tokens if t.is_capital and t.end - t.start >= _SHOUTED and text[t.start : t.end].isupper()]
    return 0 < len(shouted) <= len(tokens) // 2 and any(t.low in _ABSOLUTES | _BAD | {"again"} for t in shouted)
