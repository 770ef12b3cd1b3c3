"""Single verb forms: which verbs a word may be a form of. Groups of them are `verb_groups`' business."""

from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import BASE, WORD_BITS


def unlisted(low: str) -> tuple[str, ...]:
    """What a verb that no list knows may be a form of."""
    return (low, low[:-1]) if low.endswith("s") else (low,)


def lemmas_of(token: Token, kind: int) -> tuple[str, ...]:
    """The verbs of which the token is a form of this kind (`word_classes.BASE`, …)."""
    if token.verbs is None:
        return ("be",) if kind & BASE and token.low == "be" else ()
    return tuple(lemma for lemma, kinds in token.verbs.items() if kinds & kind)


def base_after_to(tokens: list[Token], j: int, stop: int) -> bool:
    """Whether `to` and the base of a verb start at token j."""
    if j + 1 >= stop or tokens[j].low != "to":
        return False
    token = tokens[j + 1]
    return (
        bool(lemmas_of(token, BASE))
        or token.low in {"be", "have", "do"}
        or (WORD_BITS.get(token.low, 0) == 0 and token.verbs is None and not token.is_capital)
    )
