"""The subject of a clause: what stands before its verb, past relative clauses and appositions, or what it shares.

Works on the chunks of a sentence before the verb; what the subject denotes is nobody's business here.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import KIN, NounPhrase
from em_pipelines.extraction.rules.tokens import Token

Chunk = tuple[str, int, NounPhrase | None]
"""(kind, first token, phrase): np, pron, vg, rel, conj, prep, inf, mark, other. Adverbs leave no chunk."""

_DEICTIC = words("words", "deictic")
_JOINTS = frozenset({"and", ",", "&", "or"})
_OPENERS = frozenset({"start", "conj", "mark", "other"})
_CLOSERS = frozenset({",", ")", "-", "–", "—"})
_MAX_INSERTED = 12
"""Chunks between the commas of an insertion; what is longer is more likely a list."""


def set_subject(clause: Clause, tokens: list[Token], chunks: list[Chunk], earlier: list[Clause]) -> None:
    """Sets subject, pronoun and lead of a clause whose verb comes right after the chunks."""
    kind, at, phrase = chunks[-1] if chunks else ("start", 0, None)
    if kind == "pron":
        clause.pronoun = clause.lead = at
        if not earlier and [c[0] for c in chunks[-3:-1]] == ["np", "conj"]:
            clause.companion = chunks[-3][2]
    elif kind == "np" and phrase is not None:
        clause.subject = _phrases_before(tokens, chunks)
        clause.lead = clause.subject[0].start
    elif kind == "rel":
        clause.is_relative = True
        clause.lead = at
        before = _before_relative(tokens, chunks)
        clause.subject = [before] if before is not None else []
    elif kind == "mark" and (resumed := _before_insertion(tokens, chunks)) is not None:
        clause.subject, clause.lead, clause.is_resumed = [resumed], clause.verb.start, True
    elif clause.verb.inverted_subject is not None:
        clause.pronoun = clause.verb.inverted_subject
    elif kind in {"conj", "mark"} and earlier and tokens[clause.verb.start - 1].low not in _DEICTIC:
        shared = earlier[-1]
        if not shared.verb.is_inverted:
            clause.pronoun, clause.subject = shared.pronoun, shared.subject
            clause.is_shared = True
    if clause.pronoun is None and not clause.subject and not clause.is_relative:
        clause.lead = _start_of_unread(chunks, clause.verb.start)


def _before_relative(tokens: list[Token], chunks: list[Chunk]) -> NounPhrase | None:
    """What `who` or `which` stands for: the phrase before, or the relative of `a daughter at Oxford who …`."""
    before = [c for c in chunks[:-1] if c[0] != "mark"]
    if not before:
        return None
    if tokens[chunks[-1][1]].low == "who" and [c[0] for c in before[-3:]] == ["np", "prep", "np"]:
        person = before[-3][2]
        if person is not None and tokens[person.head].low in KIN:
            return person
    return before[-1][2]


def _start_of_unread(chunks: list[Chunk], verb_start: int) -> int:
    """Where the words before a verb without a known subject begin: after the last mark, joint or verb."""
    for kind, at, _ in reversed(chunks):
        if kind in {"mark", "conj", "vg"}:
            return at + 1 if kind != "vg" else verb_start
    return verb_start


def _before_insertion(tokens: list[Token], chunks: list[Chunk]) -> NounPhrase | None:
    """The subject before something inserted between two marks, which the verb follows.

    `my mother, Ruth, was …` gives the name; `Jana, who works at Skoda, is …`, `Priya, a nurse in Hull, moved` and
    `Nell (7) loves` give the phrase before.
    """
    if len(chunks) < 3 or tokens[chunks[-1][1]].low not in _CLOSERS:
        return None
    for n in range(len(chunks) - 2, max(0, len(chunks) - _MAX_INSERTED), -1):
        if chunks[n][0] != "mark":
            continue
        opening = tokens[chunks[n][1]].low
        before = chunks[n - 1][2]
        if before is None or (opening == "(") != (tokens[chunks[-1][1]].low == ")"):
            return None
        origin = chunks[n - 2][0] if n >= 2 else "start"
        if origin not in _OPENERS or (origin == "mark" and tokens[chunks[n - 2][1]].low == "," and _lists(chunks, n)):
            return None
        return _resumed(tokens, chunks[n + 1 : -1], before)
    return None


def _lists(chunks: list[Chunk], n: int) -> bool:
    """Whether the phrase before the n-th chunk stands in a row of phrases, where a comma inserts nothing."""
    return n >= 3 and chunks[n - 3][0] == "np"


def _resumed(tokens: list[Token], inserted: list[Chunk], before: NounPhrase) -> NounPhrase | None:
    if not inserted:
        return None
    kind, _, phrase = inserted[0]
    if kind == "rel":
        return before
    if kind == "np" and phrase is not None:
        if len(inserted) == 1 and tokens[phrase.first].is_capital and phrase.det is None and phrase.possessor is None:
            return phrase
        is_description = phrase.det is not None or phrase.possessor is not None or tokens[phrase.first].low.isdigit()
        return before if is_description and all(chunk[0] != "vg" for chunk in inserted) else None
    return before if kind == "other" and len(inserted) == 1 else None


def _phrases_before(tokens: list[Token], chunks: list[Chunk]) -> list[NounPhrase]:
    """The phrases before the verb: `A and B`, or the first of `A in B`; never the object of the verb before."""
    found: list[NounPhrase] = []
    n = len(chunks) - 1
    while n >= 0:
        kind, _, phrase = chunks[n]
        if kind != "np" or phrase is None:
            break
        found.insert(0, phrase)
        before = chunks[n - 1][0] if n else "start"
        if before == "prep" and n >= 2 and chunks[n - 2][0] == "np":
            earlier = chunks[n - 3][0] if n >= 3 else "start"
            if earlier in _OPENERS:
                found.clear()
                n -= 2
                continue
        if before not in {"conj", "mark"} or n < 2 or chunks[n - 2][0] != "np":
            break
        origin = chunks[n - 3][0] if n >= 3 else "start"
        is_object = n >= 3 and origin == "np" and _touches(chunks[n - 3], chunks[n - 2])
        if is_object or origin in {"vg", "prep", "inf"} or tokens[chunks[n - 1][1]].low not in _JOINTS:
            break
        n -= 2
    return found[-1:] if len(found) > 1 and not _has_and(tokens, found) else found


def _touches(before: Chunk, chunk: Chunk) -> bool:
    """`selling` and `the canoe`: the second is the object of the first."""
    return before[2] is not None and chunk[2] is not None and before[2].end == chunk[2].start


def _has_and(tokens: list[Token], phrases: list[NounPhrase]) -> bool:
    return any(tokens[k].low in {"and", "&", "or"} for k in range(phrases[-2].end, phrases[-1].start))
