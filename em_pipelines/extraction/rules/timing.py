"""Whether a clause only says when something is so (`when I lived in Delft, …`), which makes it no statement of its own.

Words of time before a clause are judged here; dates are read elsewhere.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import PUNCT

_TIMED = frozenset({"when", "whenever", "until", "till", "before", "after", "once", "while"})
_SPANS = words("words", "time_spans") | {"time"}
_ALL_OF_IT = frozenset({"all", "this", "that"})
_OF_ONE_TIME = frozenset({"the", "this", "that", "next"})


def is_timed(clause: Clause, tokens: list[Token]) -> bool:
    """Whether a word of time before the clause's subject makes it a time, or one that need not be now."""
    for k in range(clause.left, clause.lead):
        low = tokens[k].low
        if (low in _TIMED and not _looks_back(tokens, k, clause.lead)) or (low == "since" and clause.verb.is_past):
            return True
    return False


def _looks_back(tokens: list[Token], at: int, stop: int) -> bool:
    """`after all these years`, `after two weeks`, `after all (that)`: what comes behind a span of time holds now.

    `After this week` and `after the summer` may still be to come.
    """
    if tokens[at].low != "after" or at + 1 >= stop:
        return False
    has_all = tokens[at + 1].low == "all"
    k = at + 1
    while has_all and k < stop and tokens[k].low in _ALL_OF_IT:
        k += 1
    if k > at + 1 and (k == stop or tokens[k].bits & PUNCT):
        return True
    phrase = parse_noun_phrase(tokens, at + 1, stop)
    if phrase is None or tokens[phrase.head].low not in _SPANS:
        return False
    return has_all or (phrase.possessor is None and tokens[at + 1].low not in _OF_ONE_TIME)
