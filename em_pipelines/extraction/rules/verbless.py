"""Clauses without a verb: `Priya, a data engineer at Monzo, …`, `I'm Marco, 27, from Bari`, `Two kids.`, `City: Pune`.

They become clauses of `be`, `have` or `label` with an empty verb group, so that the patterns read them as they read
any other. Who is meant is settled here: the person before an insertion, or the speaker where the message plainly
introduces its writer. Anything else is left alone.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.clause_subjects import Chunk
from em_pipelines.extraction.rules.insertions import (
    CLAUSAL,
    MARKS,
    empty_clause,
    insertions,
    is_known_person,
    opening_roles,
    rankings,
)
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import KIN, NounPhrase
from em_pipelines.extraction.rules.patterns import LABEL
from em_pipelines.extraction.rules.people import FIRST_PERSON
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.verb_phrases import is_ing
from em_pipelines.extraction.rules.word_classes import ADV, CONJ, DET, NEG, NUMBER, PUNCT, QUANT

Piece = tuple[int, int]
"""First token and the one after the last of what stands between two marks."""

INTRODUCTIONS = words("words", "introductions")
_PROFILE_LABELS = words("words", "profile_labels")
_SELF_VERBS = frozenset({"be", "live", "work", "study"})
_BEFORE_INTRODUCTION = INTRODUCTIONS | {
    "about",
    "my",
    "quick",
    "short",
    "brief",
    "a",
    "bit",
    "little",
    "some",
    "few",
    "facts",
}
_BEFORE_OTHERS = frozenset({"with", "for", "to", "about", "by", "beside", "behind", "opposite", "under", "like", "as"})
_DENIED = frozenset(
    {"no", "without", "neither", "former", "formerly", "previously", "ex", "instead", "minus", "except"}
)
_BEFORE_FAN = frozenset({"not", "really", "so", "a", "big", "huge", "massive", "lifelong", "total", "avid"})
_BEFORE_NAME = frozenset({"full", "first", "my"})
_MIN_LABELS = 2
_MAX_LABEL_WORDS = 3


def introduces_writer(tokens: list[Token]) -> bool:
    """Whether a message is a profile of its writer: `About me: …`, or lines such as `Name: …` and `Age: …`."""
    labels = 0
    for i, token in enumerate(tokens):
        if token.low != ":" or i == 0:
            continue
        if _is_introduction(tokens, i):
            return True
        starts_line = i == 1 or bool(tokens[i - 2].bits & PUNCT) or tokens[i - 2].low in _BEFORE_NAME
        labels += tokens[i - 1].low in _PROFILE_LABELS
        labels += tokens[i - 1].low == "name" and starts_line
    return labels >= _MIN_LABELS


def _is_introduction(tokens: list[Token], right: int) -> bool:
    """`about me`, `quick intro`, before token `right`: not `customer profile`."""
    left = right - 1
    while left >= 0 and tokens[left].low in _BEFORE_INTRODUCTION:
        left -= 1
    is_whole = left < 0 or bool(tokens[left].bits & PUNCT)
    return is_whole and left < right - 1 and tokens[right - 1].low in INTRODUCTIONS


def own_unsaid_subjects(clauses: list[Clause]) -> None:
    """`Lives in Porto.` in a profile of the writer is about the writer."""
    for clause in clauses:
        if clause.pronoun is None and not clause.subject and not clause.verb.is_inverted:
            clause.is_own = True


def verbless_clauses(
    tokens: list[Token], start: int, stop: int, chunks: list[Chunk], clauses: list[Clause], *, is_profile: bool
) -> list[Clause]:
    """The clauses without a verb of one sentence, whose chunks and ordinary clauses are given."""
    if not is_profile and MARKS.isdisjoint([token.low for token in tokens[start:stop]]):
        return _fans(tokens, start, stop)
    named = {c.verb.end for c in clauses if c.pronoun is not None and tokens[c.pronoun].low in FIRST_PERSON}
    found = insertions(tokens, stop, chunks, named) + _fans(tokens, start, stop)
    found += rankings(chunks, tokens, start, stop) + opening_roles(chunks, tokens, start, stop)
    described = {clause.left for clause in found}
    pieces = _pieces(tokens, start, stop)
    kinds = {at: kind for kind, at, _ in chunks}
    own_from = _own_from(tokens, start, stop, clauses, pieces, is_profile=is_profile)
    for n, (left, right) in enumerate(pieces):
        label = _label(tokens, pieces, n)
        if label is not None and is_profile:
            found.append(empty_clause(LABEL, left, _value_end(tokens, pieces, n, stop), subject=[label]))
        elif left in described or (right < stop and tokens[right].low == ":"):
            continue
        elif own_from is not None and left >= own_from and _is_verbless(kinds, left, right):
            if n and not is_profile and _speaks_of_others(tokens, chunks, clauses, pieces[n - 1], named):
                own_from = None
                continue
            found += _own(tokens, left, right)
        elif (
            own_from is not None and not is_profile and _speaks_of_others(tokens, chunks, clauses, (left, right), named)
        ):
            own_from = None
    return found


def _pieces(tokens: list[Token], start: int, stop: int) -> list[Piece]:
    """What stands between marks, without leading joints."""
    pieces: list[Piece] = []
    left = start
    for i in range(start, stop + 1):
        if i < stop and tokens[i].low not in MARKS:
            continue
        while left < i and tokens[left].bits & (CONJ | ADV) and not tokens[left].bits & (DET | QUANT | NUMBER):
            left += 1
        if left < i:
            pieces.append((left, i))
        left = i + 1
    return pieces


def _own_from(
    tokens: list[Token],
    start: int,
    stop: int,
    clauses: list[Clause],
    pieces: list[Piece],
    *,
    is_profile: bool,
) -> int | None:
    """The token from which fragments are the speaker's; None where they are nobody's for certain."""
    for left, right in pieces[:1]:
        if right < stop and right - left <= _MAX_LABEL_WORDS and _is_introduction(tokens, right):
            colon = next((k for k in range(right, stop) if tokens[k].low == ":"), None)
            if colon is not None:
                return colon + 1
    if not clauses:
        return start if is_profile else None
    only = clauses[0]
    clauses = [c for c in clauses if not (c.is_shared and c.verb.is_participle and _ends_at(tokens, c.verb.end))]
    is_own = only.pronoun is not None and tokens[only.pronoun].low in FIRST_PERSON
    is_plain = not only.verb.is_inverted and not only.verb.is_negated
    says_self = bool(_SELF_VERBS.intersection(only.verb.lemmas))
    return only.verb.end if len(clauses) == 1 and is_own and is_plain and says_self else None


def _ends_at(tokens: list[Token], i: int) -> bool:
    """`…, divorced, …`: a word by itself between two marks."""
    return i >= len(tokens) or bool(tokens[i].bits & PUNCT)


def _is_verbless(kinds: dict[int, str], left: int, right: int) -> bool:
    return all(kinds.get(i) not in CLAUSAL for i in range(left, right))


def _speaks_of_others(
    tokens: list[Token], chunks: list[Chunk], clauses: list[Clause], piece: Piece, named: set[int]
) -> bool:
    """Whether a piece names somebody else or says something of them, so that what follows may be theirs."""
    left, right = piece
    if any(tokens[i].low in _BEFORE_OTHERS for i in range(left, right)):
        return True
    for clause in clauses:
        is_own = clause.pronoun is not None and tokens[clause.pronoun].low in FIRST_PERSON
        if left <= clause.verb.start < right and not (is_own and _SELF_VERBS.intersection(clause.verb.lemmas)):
            return True
    for _, _, phrase in chunks:
        if phrase is None or not left <= phrase.start < right or phrase.start in named:
            continue
        if tokens[phrase.head].low in KIN or is_known_person(tokens, phrase) or phrase.possessor is not None:
            return True
    return False


def _own(tokens: list[Token], left: int, right: int) -> list[Clause]:
    """What a fragment may say of the speaker: that he is it, has it, or does it; nothing where it is denied or past."""
    first = tokens[left]
    if any(tokens[i].bits & NEG or tokens[i].low in _DENIED for i in range(left, right)):
        return []
    if is_ing(first) and first.verbs:
        clause = empty_clause(next(iter(first.verbs)), left, right)
        clause.verb.end, clause.verb.is_progressive, clause.is_own = left + 1, True, True
        return [clause]
    lemmas = ["be"] + (["have"] if first.bits & (NUMBER | DET | QUANT) else [])
    found = [empty_clause(lemma, left, right) for lemma in lemmas]
    for clause in found:
        clause.is_own = True
    return found


def _label(tokens: list[Token], pieces: list[Piece], n: int) -> NounPhrase | None:
    """The words before a colon that open the piece, as the subject of a `label` clause over the next piece."""
    if n == 0 or tokens[pieces[n][0] - 1].low != ":":
        return None
    left, right = pieces[n - 1]
    if tokens[right - 1].low in INTRODUCTIONS:
        return None
    if right - left > _MAX_LABEL_WORDS or any(tokens[i].bits & PUNCT for i in range(left, right)):
        return None
    return NounPhrase(left, left, right - 1, right)


def _fans(tokens: list[Token], start: int, stop: int) -> list[Clause]:
    """`Big fan of Murakami`, `really not into horror`: said of oneself, as the sentence opens."""
    i = start
    while i < stop and tokens[i].low in _BEFORE_FAN:
        i += 1
    is_into = i < stop and tokens[i].low == "into"
    if i >= stop or not (is_into or (i > start and tokens[i].low in {"fan", "lover"})):
        return []
    is_negated = any(token.low == "not" for token in tokens[start:i])
    clause = empty_clause("be", i if is_into else start + is_negated, stop)
    clause.is_own, clause.verb.is_negated = True, is_negated
    return [clause]


def _value_end(tokens: list[Token], pieces: list[Piece], n: int, stop: int) -> int:
    """A value may be a list: it runs to the next label or the end of the sentence."""
    for left, right in pieces[n + 1 :]:
        if right < stop and tokens[right].low == ":":
            return left - 1
    return stop
