"""Phrases that say how a statement is meant: hedges, hearsay, mockery; and what keeps a clause from being a statement
of its own: `I doubt …`, `say …`, `forget that …`, `nearly`, `when …`.

Most are data (`word_lists/hedges.yaml`). What has a form rather than a wording is here: how sure somebody says
to be (`not a hundred percent sure`, `fairly certain`, `90% sure`), and `not … any more`. Words of time before a clause
are judged here; dates are read elsewhere.
"""

from bisect import bisect_left
from typing import NamedTuple

from em_pipelines.language.en.clauses import Clause, pronoun_of
from em_pipelines.language.en.lexicon import load_lexicon, words
from em_pipelines.language.en.noun_phrases import parse_noun_phrase
from em_pipelines.language.en.tokens import (
    BOUNDARY,
    CONJ,
    CONTRAST,
    NEG,
    PUNCT,
    RELATIVE,
    SUBORD,
    WH,
    Token,
    low_at,
    token_at,
    tokenise,
)


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


def _phrases() -> list[tuple[list[str], str]]:
    """The words of each phrase, and the list it is of."""
    phrases: list[tuple[list[str], str]] = [(parts, "ended") for parts in _ENDED]
    for tag, listed in load_lexicon("hedges").items():
        phrases += [([token.low for token in tokenise(phrase.strip())], tag) for phrase in listed]
    return phrases


def _tags_of_words(phrases: list[tuple[list[str], str]]) -> dict[str, list[str]]:
    """The lists of which a single word is."""
    tags: dict[str, list[str]] = {}
    for parts, tag in phrases:
        if len(parts) == 1:
            tags.setdefault(parts[0], []).append(tag)
    return tags


def _by_first_two(phrases: list[tuple[list[str], str]]) -> dict[tuple[str, str], list[tuple[list[str], str]]]:
    index: dict[tuple[str, str], list[tuple[list[str], str]]] = {}
    for parts, tag in phrases:
        if len(parts) > 1:
            index.setdefault((parts[0], parts[1]), []).append((parts, tag))
    return index


_PHRASES = _phrases()
_WORDS = _tags_of_words(_PHRASES)
_LONGER = _by_first_two(_PHRASES)
_STARTS = {parts[0] for parts, _ in _PHRASES} | _SURENESS


def find_phrases(tokens: list[Token]) -> list[Cue]:
    """Every cue in the message, in order."""
    cues: list[Cue] = []
    lows = [token.low for token in tokens]
    lows.append("")
    for i in [n for n, low in enumerate(lows) if low in _STARTS]:
        low = lows[i]
        for tag in _WORDS.get(low, ()):
            cues.append(Cue(i, i + 1, tag))
        for parts, tag in _LONGER.get((low, lows[i + 1]), ()):
            if lows[i : i + len(parts)] == parts:
                cues.append(Cue(i, i + len(parts), tag))
        if low in _SURENESS and (level := _sureness(tokens, i)) is not None:
            cues.append(level)
    cues.sort()
    return cues


def between(cues: list[Cue], start: int, stop: int) -> list[Cue]:
    """The cues, which are in order, that begin at a token from `start` up to and without `stop`."""
    return cues[bisect_left(cues, (start, 0, "")) : bisect_left(cues, (stop, 0, ""))] if cues else cues


def _sureness(tokens: list[Token], i: int) -> Cue | None:
    """How sure `sure` at token i is: None where it hedges nothing (`I'm sure`, `make sure`, `certain cheeses`) or only
    a part (`not sure which, but …`)."""
    return None if _is_of_part(tokens, i) or _is_no_state(tokens, i) else _level_before(tokens, i)


def _is_of_part(tokens: list[Token], i: int) -> bool:
    """`sure which …`, `certain about the name`; but `sure about that` is about the whole."""
    following = low_at(tokens, i + 1, len(tokens))
    is_of_something = following in {"about", "of"} or (following != "" and bool(tokens[i + 1].bits & WH))
    return is_of_something and low_at(tokens, i + 2, len(tokens)) not in {"that", "it", "this"}


def _is_no_state(tokens: list[Token], i: int) -> bool:
    """`certain cheeses`, `make sure`."""
    following = token_at(tokens, i + 1, len(tokens))
    if following is not None and not following.bits and not following.is_capital:
        return True
    return i > 0 and tokens[i - 1].low in {"make", "for", "making", "made"}


def _level_before(tokens: list[Token], i: int) -> Cue | None:
    """What the words before `sure` at token i make of it: `not …`, `90% …`, `fairly …`."""
    share = 100
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
    return Cue(i, i + 1, _level_of(share)) if share < 100 else level


def _level_of(share: int) -> str:
    """The hedge of being sure to so many per cent."""
    return "slight" if share >= _SLIGHT_FROM else "moderate"


_REPORTING = words("verbs", "reporting")
_FIRST_PERSON = words("words", "first_person")
_NEG_RAISING = words("verbs", "neg_raising")
_UNBELIEVED = words("verbs", "unbelieved")
_UNSAID = words("verbs", "unsaid")
_THOUGHT = frozenset({"think", "assume", "believe"})
_TIMED = frozenset({"when", "whenever", "until", "till", "before", "after", "once", "while"})
_SPANS = words("words", "time_spans") | {"time"}
_ALL_OF_IT = frozenset({"all", "this", "that"})
_OF_ONE_TIME = frozenset({"the", "this", "that", "next"})


def is_set_up(clause: Clause, tokens: list[Token]) -> bool:
    """`Say I owned a café, …`, `Let's say …`: `say` before a subject, with no subject of its own."""
    at = clause.lead - 1
    if at < 0 or tokens[at].low not in {"say", "that"}:
        return False
    at -= tokens[at].low == "that"
    return tokens[at].low == "say" and (
        at == 0 or bool(tokens[at - 1].bits & PUNCT) or tokens[at - 1].low in {"'s", "us", "so", "just", "ok", "and"}
    )


def is_denied(previous: Clause, clause: Clause, tokens: list[Token]) -> bool:
    """Whether the verb before keeps a clause from being a fact: `I doubt I like it`, `I never said I like it`.

    `I don't think I like it` is one, of which the negation belongs to the clause: it is moved there.
    """
    lemmas = previous.verb.lemmas
    if previous.verb.is_negated and _NEG_RAISING.intersection(lemmas):
        clause.verb.is_negated = not clause.verb.is_negated
        return False
    if _denies(previous, clause, tokens):
        return True
    if _UNSAID.intersection(lemmas):
        return not previous.has_subject and not _is_apart(previous, clause, tokens)
    return previous.verb.is_past and clause.verb.is_past and _is_thought(previous, tokens)


def _is_thought(clause: Clause, tokens: list[Token]) -> bool:
    """`I thought` and such."""
    return pronoun_of(clause, tokens) in _FIRST_PERSON and not _THOUGHT.isdisjoint(clause.verb.lemmas)


def _denies(previous: Clause, clause: Clause, tokens: list[Token]) -> bool:
    """`I never said …`, `it's not that …`, `I doubt …`."""
    lemmas = previous.verb.lemmas
    if previous.verb.is_negated and (_REPORTING.intersection(lemmas) or _is_it_not(previous, clause, tokens)):
        return True
    return not _UNBELIEVED.isdisjoint(lemmas)


def _is_it_not(previous: Clause, clause: Clause, tokens: list[Token]) -> bool:
    """`It's not that I like it`, `It isn't like I own one`."""
    is_it = previous.verb.lemmas == ("be",) and pronoun_of(previous, tokens) == "it"
    return is_it and tokens[clause.lead - 1].low in {"that", "like"}


def is_led_by_not(clause: Clause, tokens: list[Token]) -> bool:
    """`Not that I like it`, `not because I like it`, `no way I like it`: what stands before the subject denies it all.

    `Not surprisingly, I …` and `no doubt I …` deny nothing: behind `not` stands no word that leads into a clause.
    """
    if clause.lead < 2:
        return False
    one, leading = tokens[clause.lead - 2], tokens[clause.lead - 1]
    return (one.low == "not" and bool(leading.bits & (RELATIVE | SUBORD | BOUNDARY))) or (
        one.low == "no" and leading.low == "way"
    )


def is_nearly(clause: Clause, tokens: list[Token]) -> bool:
    """`I nearly bought a drum kit`: it did not come to it."""
    return clause.verb.is_past and tokens[clause.verb.start - 1].low in {"almost", "nearly"}


def _is_apart(previous: Clause, clause: Clause, tokens: list[Token]) -> bool:
    """`Forget the papers, we own a raft`: what is to be dropped has been named, and a statement of its own follows."""
    between = tokens[previous.verb.end : clause.lead]
    return len(between) > 1 and between[-1].low in {",", "-", "–", "—"}


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
    if _is_after_all(tokens, at, stop):
        return True
    phrase = parse_noun_phrase(tokens, at + 1, stop)
    if phrase is None or tokens[phrase.head].low not in _SPANS:
        return False
    is_of_one_time = phrase.possessor is not None or tokens[at + 1].low in _OF_ONE_TIME
    return not is_of_one_time or tokens[at + 1].low == "all"


def _is_after_all(tokens: list[Token], at: int, stop: int) -> bool:
    """`after all`, `after all this`, and nothing more."""
    if tokens[at + 1].low != "all":
        return False
    end = at + 2
    while end < stop and tokens[end].low in _ALL_OF_IT:
        end += 1
    return end == stop or bool(tokens[end].bits & PUNCT)
