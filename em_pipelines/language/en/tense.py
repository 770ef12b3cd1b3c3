"""Which tense a clause tells in, so that a date without its year means the last one or the next.

What there is of verb and clause says it: `I went on Friday` is past, `I'm going on Friday` ahead, and so is what was
settled before it happens: `we decided to go in May`, `booked for the 3rd`.
"""

from bisect import bisect_right
from collections.abc import Callable

from em_pipelines.language.dates.calendar_spans import Tense
from em_pipelines.language.en.clause_parser import parse_clauses
from em_pipelines.language.en.clauses import Clause, SentenceParse
from em_pipelines.language.en.tokens import BASE, MONTH, PARTICIPLE, PAST, WEEKDAY, Token, sentences
from em_pipelines.language.en.verb_groups import VerbGroup, base_after_to

_DECIDING = frozenset({"plan", "decide", "intend", "hope", "promise", "agree", "arrange"})
"""What is decided, planned or promised to be done lies ahead of the decision."""
_CERTAIN = frozenset({"will", "shall"})
_NEAR = 4
"""Clauses that may hold a word, for a resumed one ends where the next begins."""
_AHEAD_OF = frozenset({"for", "to"})
"""`booked for Friday`, `moved to the 12th`."""


def tense_of(verb: VerbGroup, tokens: list[Token]) -> Tense:
    """The tense of a verb with its auxiliaries. A form that is both present and past, `quit`, tells of the past."""
    if verb.modal in _CERTAIN:
        return Tense.FUTURE
    if any((verb.is_past, verb.is_perfect, verb.used_to, verb.is_participle)):
        return Tense.PAST
    if verb.is_future or verb.modal:
        return Tense.FUTURE
    main = tokens[verb.main]
    is_either = verb.start == verb.main and bool(main.forms & PAST) and bool(main.forms & BASE)
    return Tense.PAST if is_either else Tense.PRESENT


def tense_at(parse: SentenceParse, i: int) -> Tense:
    """The tense that is told in at token i of a sentence, where a date begins."""
    clause = _clause_at([one for one in parse.clauses if not _is_possessive(one, parse.tokens)], i)
    return tense_in(clause, parse.tokens, i) if clause is not None else tense_without_verb(parse)


def _is_possessive(clause: Clause, tokens: list[Token]) -> bool:
    """`over New Year's`: a mark of a genitive that was read as `is`, with nothing behind it."""
    return tokens[clause.verb.start].low == "'s" and clause.right == clause.verb.end


def tense_in(clause: Clause, tokens: list[Token], i: int) -> Tense:
    """The tense that is told in at token i of a clause."""
    tense = tense_of(clause.verb, tokens)
    if tense is Tense.PRESENT and _lacks_ending(clause, tokens):
        tense = Tense.PAST
    return Tense.FUTURE if tense is Tense.PAST and _is_settled_before(clause, tokens, i) else tense


def _lacks_ending(clause: Clause, tokens: list[Token]) -> bool:
    """`She crept home`: a verb that no list knows, without the ending that the present has after `she`."""
    main = tokens[clause.verb.main]
    is_one = clause.pronoun is not None and tokens[clause.pronoun].low in {"he", "she", "it"}
    return is_one and main.verbs is None and not main.bits and not main.low.endswith("s")


def _clause_at(clauses: list[Clause], i: int) -> Clause | None:
    """The clause in which token i stands, else the last one before it, else the first."""
    n = bisect_right(clauses, i, key=lambda clause: clause.left)
    around = next((clause for clause in reversed(clauses[max(0, n - _NEAR) : n]) if i < clause.right), None)
    before = bisect_right(clauses, i, key=lambda clause: clause.verb.start)
    return around or (clauses[max(0, before - 1)] if clauses else None)


def tense_without_verb(parse: SentenceParse) -> Tense:
    """`The storm hit on 3 May`: a form of the past tells of what was, though no clause was made of it."""
    own = parse.tokens[parse.start : parse.stop]
    is_past = any(
        (token.forms & (PAST | PARTICIPLE) and (n > 0 or not token.forms & BASE))
        or (not token.bits and token.verbs is None and token.low.endswith("ed"))
        for n, token in enumerate(own)
    )
    return Tense.PAST if is_past else Tense.PRESENT


def _is_settled_before(clause: Clause, tokens: list[Token], i: int) -> bool:
    """Whether what the date says comes after the past verb: `decided to go in May`, `booked for the 3rd`."""
    verb = clause.verb
    if i <= verb.end:
        return False
    if not _DECIDING.isdisjoint(verb.lemmas) and any(base_after_to(tokens, k, i) for k in range(verb.end, i)):
        return True
    at = i + (tokens[i].low == "the")
    is_of_calendar = bool(tokens[at].bits & (WEEKDAY | MONTH)) or tokens[at].low[0].isdigit()
    return tokens[i - 1].low in _AHEAD_OF and is_of_calendar


def tenses_of(tokens: list[Token], text: str) -> Callable[[int], Tense]:
    """The tense that is told in at each character of a text, of which the tokens are given; sentences are taken apart
    when they are asked for."""
    starts = [token.start for token in tokens]
    ranges = sentences(tokens, text)
    parses: dict[int, SentenceParse] = {}
    unsaid: dict[int, Tense] = {}

    def at(position: int) -> Tense:
        i = max(0, bisect_right(starts, position) - 1)
        n = max(0, bisect_right(ranges, (i, len(tokens))) - 1)
        if not ranges:
            return Tense.PRESENT
        if n not in parses:
            parses[n] = parse_clauses(tokens, *ranges[n])
            unsaid[n] = tense_without_verb(parses[n])
        return tense_at(parses[n], i) if parses[n].clauses else unsaid[n]

    return at
