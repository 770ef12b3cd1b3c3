"""What stands between two marks and describes the phrase before: `Priya, a data engineer at Monzo, …`, `Nell (7)`."""

from collections.abc import Iterator

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.clause_subjects import Chunk
from em_pipelines.extraction.rules.entity_types import FEMALE_NAMES, MALE_NAMES, is_profession
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import KIN, NounPhrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.verb_group import VerbGroup
from em_pipelines.extraction.rules.word_classes import ADV, DET, NUMBER, POSS, PUNCT

MARKS = frozenset({",", ":", "(", ")", "-", "–", "—", ";", "|", "/", "•", "*", "\n"})
_OPENERS = frozenset({",", "(", ":", "-", "–", "—"})
CLAUSAL = frozenset({"vg", "pron", "rel", "inf"})
_OVER_NOUNS = words("nouns", "before_over")
_BEFORE_PLACES = frozenset({"in", "at", "from", "near", "to", "on", "of"})


def insertions(tokens: list[Token], stop: int, chunks: list[Chunk], named: set[int]) -> list[Clause]:
    """`Priya, a data engineer at Monzo, …`, `Nell (7)`, `Viktor, my flatmate, …`: the phrase before is described.

    Not where the phrase starts at one of `named`, as in `I'm Marco, 27`: that is the speaker himself.
    """
    found: list[Clause] = []
    for n in range(2, len(chunks)):
        kind, at, phrase = chunks[n]
        before = chunks[n - 2][2]
        opening = tokens[chunks[n - 1][1]].low if chunks[n - 1][0] == "mark" else ""
        if kind != "np" or phrase is None or before is None or opening not in _OPENERS:
            continue
        if before.end != chunks[n - 1][1] or phrase.start != at or before.start in named:
            continue
        if n > 2 and chunks[n - 3][0] == "prep" and tokens[chunks[n - 3][1]].low in _BEFORE_PLACES:
            continue
        right = next((k for k in range(at, stop) if tokens[k].low in MARKS), stop)
        is_closed = right == stop or tokens[right].low in {",", ")", "-", "–", "—", ";"}
        if phrase.possessor is not None and (before.possessor is not None or tokens[phrase.head].is_capital):
            continue
        if tokens[at].bits & NUMBER and tokens[phrase.head].low in KIN:
            continue
        is_clausal = any(c[0] in CLAUSAL for c in _within(chunks, n, right))
        if not is_closed or is_clausal or _is_listed(tokens, right, stop):
            continue
        is_described = phrase.det is not None or bool(tokens[at].bits & (NUMBER | POSS | DET)) or opening == "("
        if (is_described and opening in {",", "("}) or (opening not in {",", "("} and is_known_person(tokens, before)):
            found.append(empty_clause("be", at, right, subject=[before]))
    return found


def rankings(chunks: list[Chunk], tokens: list[Token], start: int, stop: int) -> list[Clause]:
    """`Rye over spelt, always`: what somebody prefers, as a sentence opens; not `fog over the bay`."""
    if len(chunks) < 3 or [chunk[0] for chunk in chunks[:3]] != ["np", "prep", "np"] or chunks[0][1] != start:
        return []
    one, at, other = chunks[0][2], chunks[1][1], chunks[2][2]
    if one is None or other is None or tokens[at].low != "over" or tokens[one.head].low in _OVER_NOUNS:
        return []
    is_plain = all(p.det is None and p.possessor is None and p.number is None for p in (one, other))
    is_closed = other.end >= stop or bool(tokens[other.end].bits & (PUNCT | ADV))
    if not is_plain or not is_closed or one.end != at or any(chunk[0] == "vg" for chunk in chunks):
        return []
    clause = empty_clause("prefer", start, stop)
    clause.is_own = True
    return [clause]


def opening_roles(chunks: list[Chunk], tokens: list[Token], start: int, stop: int) -> list[Clause]:
    """`Tram driver in Graz, been at it since May`: what the writer is, as a message opens; a mark has to follow."""
    right = next((k for k in range(start, stop) if tokens[k].low in MARKS), stop)
    kinds = [chunk[0] for chunk in chunks[:4]]
    if start or right == stop or kinds != ["np", "prep", "np", "mark"] or chunks[3][1] != right:
        return []
    role, place = chunks[0][2], chunks[2][2]
    if role is None or place is None or role.det is not None or role.possessor is not None or role.number is not None:
        return []
    if not is_profession(tokens[role.head].low) or not tokens[place.head].is_capital or place.possessor is not None:
        return []
    clause = empty_clause("be", start, right)
    clause.is_own = True
    return [clause]


def _within(chunks: list[Chunk], n: int, right: int) -> Iterator[Chunk]:
    while n < len(chunks) and chunks[n][1] < right:
        yield chunks[n]
        n += 1


def is_known_person(tokens: list[Token], phrase: NounPhrase) -> bool:
    low = tokens[phrase.first].low
    return low in FEMALE_NAMES or low in MALE_NAMES or tokens[phrase.head].low in KIN


def _is_listed(tokens: list[Token], right: int, stop: int) -> bool:
    """`Tom, my brother, and Ana`: a row of people, not a description."""
    return right + 1 < stop and tokens[right].low == "," and tokens[right + 1].low in {"and", "&", "or"}


def empty_clause(lemma: str, left: int, right: int, subject: list[NounPhrase] | None = None) -> Clause:
    """A clause over the tokens from left to right, with no word for its verb."""
    verb = VerbGroup(left)
    verb.end, verb.lemmas = left, (lemma,)
    clause = Clause(verb, left)
    clause.right = right
    clause.subject = subject or []
    return clause
