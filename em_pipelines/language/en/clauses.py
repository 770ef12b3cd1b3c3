"""Clauses: one finite verb each, with its subject: what stands before the verb, or what it shares with another. And
where verb phrases end: `learn how to make X`, `resign from Y`, `moving to Z`.

What the subject denotes is `subjects`' business, what a clause is worth (hedged, asked, supposed, reported) that of
`modifiers`.
"""

from dataclasses import dataclass

from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.noun_phrases import KIN, NounPhrase, parse_noun_phrase
from em_pipelines.language.en.tokens import (
    ADV,
    AUX,
    BASE,
    MONTH,
    NOT_IN_PHRASE,
    OBJECT,
    PREP,
    SUBORD,
    WEEKDAY,
    WH,
    Token,
    low_at,
)
from em_pipelines.language.en.verb_groups import VerbGroup

Chunk = tuple[str, int, NounPhrase | None]
"""(kind, first token, phrase): np, pron, vg, rel, conj, prep, inf, mark, other. Adverbs leave no chunk."""

_DEICTIC = words("words", "deictic")
_JOINTS = frozenset({"and", ",", "&", "or"})
_OPENERS = frozenset({"start", "conj", "mark", "other"})
_CLOSERS = frozenset({",", ")", "-", "–", "—"})
_TIME_HEADS = words("words", "time_heads")
_LINKING = frozenset({"like", "until", "till", "since", "before", "after", "except", "because", "than"})
_PARTICLES = words("words", "particles")
_MAX_INSERTED = 12
"""Chunks between the commas of an insertion; what is longer is more likely a list."""


class Clause:
    """One finite verb with its subject. Tokens `left` to `right`; `lead` is where its own words begin.

    `subject` is a pronoun's token index, a list of noun phrases, or None when the sentence names none. `is_relative`
    marks a subject taken from the phrase before `who` or `which`, `is_shared` one taken from the clause before,
    `is_resumed` one from before an insertion: `Jana, who …, is`; `is_own` that the speaker is meant without being
    named.
    """

    __slots__ = (
        "companion", "holder", "is_behind_verb", "is_own", "is_relative", "is_resumed", "is_shared", "is_uncertain",
        "lead", "left", "pronoun", "right", "subject", "verb",
    )  # fmt: skip

    def __init__(self, verb: VerbGroup, left: int) -> None:
        self.verb = verb
        self.left = left
        self.lead = verb.start
        self.right = verb.end
        self.pronoun: int | None = None
        self.holder: Clause | None = None
        """The clause of who thinks or says this: `Piet thinks …`."""
        self.companion: NounPhrase | None = None
        """Who does it together with the pronoun: `Jonne and I`."""
        self.subject: list[NounPhrase] = []
        self.is_own = False
        self.is_relative = False
        self.is_resumed = False
        self.is_shared = False
        self.is_behind_verb = False
        """Its verb follows another directly, which then is no verb but the subject: `Two-step checks were …`."""
        self.is_uncertain = False
        """It is not clear whose clause it is: `Jonne or Ida …`, `somebody …, I think Jonne`."""

    @property
    def has_subject(self) -> bool:
        """Whether a subject is known: a pronoun or phrases."""
        return self.pronoun is not None or bool(self.subject)


@dataclass(frozen=True, slots=True)
class SentenceParse:
    """A sentence taken apart: tokens `start` to `stop` of its message, its clauses and all its chunks, in order."""

    tokens: list[Token]
    start: int
    stop: int
    clauses: list[Clause]
    chunks: list[Chunk]

    @property
    def nouns(self) -> list[NounPhrase]:
        """Its noun phrases, in order."""
        return [phrase for _, _, phrase in self.chunks if phrase is not None]


def pronoun_of(clause: Clause, tokens: list[Token]) -> str:
    """The pronoun that is the subject, case-folded; empty where none is."""
    return tokens[clause.pronoun].low if clause.pronoun is not None else ""


def set_subject(clause: Clause, tokens: list[Token], chunks: list[Chunk], earlier: list[Clause]) -> None:
    """Sets subject, pronoun and lead of a clause whose verb comes right after the chunks."""
    kind = kind_at(chunks, len(chunks) - 1)
    if kind == "pron":
        clause.pronoun = clause.lead = chunks[-1][1]
        clause.companion = _companion(chunks) if not earlier else None
    elif kind == "np":
        clause.subject = _phrases_before(tokens, chunks)
        clause.lead = clause.subject[0].start
    elif kind == "rel":
        clause.is_relative = True
        clause.lead = chunks[-1][1]
        before = _before_relative(tokens, chunks)
        clause.subject = [before] if before is not None else []
    elif kind != "mark" or not _resume(clause, tokens, chunks):
        _set_unsaid(clause, tokens, kind, earlier)
    if not clause.has_subject and not clause.is_relative:
        clause.lead = _start_of_unread(chunks, clause.verb.start)


def _companion(chunks: list[Chunk]) -> NounPhrase | None:
    """`Jonne and` before the pronoun of `Jonne and I`."""
    is_joined = kind_at(chunks, len(chunks) - 2) == "conj" and kind_at(chunks, len(chunks) - 3) == "np"
    return chunks[-3][2] if is_joined else None


def _resume(clause: Clause, tokens: list[Token], chunks: list[Chunk]) -> bool:
    """Takes the subject from before an insertion; whether there is one."""
    subject = _before_insertion(tokens, chunks)
    if subject is None:
        return False
    clause.subject, clause.lead, clause.is_resumed = [subject], clause.verb.start, True
    return True


def _set_unsaid(clause: Clause, tokens: list[Token], kind: str, earlier: list[Clause]) -> None:
    """Takes the subject behind the auxiliary, or that of the clause before: `She sings and plays`."""
    clause.is_behind_verb = bool(earlier) and _is_behind_verb(clause, tokens, kind, earlier[-1])
    if clause.verb.inverted_subject is not None:
        clause.pronoun = clause.verb.inverted_subject
    elif kind in {"conj", "mark"} and earlier and tokens[clause.verb.start - 1].low not in _DEICTIC:
        shared = earlier[-1]
        if not shared.verb.is_inverted:
            clause.pronoun, clause.subject = shared.pronoun, shared.subject
            clause.is_shared = True


def _is_behind_verb(clause: Clause, tokens: list[Token], kind: str, before: Clause) -> bool:
    """Whether nothing that begins a clause or ends one stands between the verb and that of the clause before."""
    between = tokens[before.verb.end : clause.verb.start]
    return kind in {"vg", "other"} and not any(token.bits & (SUBORD | PREP | WH) for token in between)


def kind_at(chunks: list[Chunk], n: int) -> str:
    """The kind of the n-th chunk; `start` before the first."""
    return chunks[n][0] if n >= 0 else "start"


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
    farthest = max(0, len(chunks) - _MAX_INSERTED)
    opening = next((n for n in range(len(chunks) - 2, farthest, -1) if chunks[n][0] == "mark"), None)
    before = chunks[opening - 1][2] if opening is not None else None
    if opening is None or before is None or not _may_insert(tokens, chunks, opening):
        return None
    return _resumed(tokens, chunks[opening + 1 : -1], before)


def _may_insert(tokens: list[Token], chunks: list[Chunk], n: int) -> bool:
    """Whether the n-th chunk and the last are marks that fit each other, with a whole subject before the first."""
    if (tokens[chunks[n][1]].low == "(") != (tokens[chunks[-1][1]].low == ")"):
        return False
    origin = kind_at(chunks, n - 2)
    is_listed = origin == "mark" and tokens[chunks[n - 2][1]].low == "," and _lists(chunks, n)
    return origin in _OPENERS and not is_listed


def _lists(chunks: list[Chunk], n: int) -> bool:
    """Whether the phrase before the n-th chunk stands in a row of phrases, where a comma inserts nothing."""
    return kind_at(chunks, n - 3) == "np"


def _resumed(tokens: list[Token], inserted: list[Chunk], before: NounPhrase) -> NounPhrase | None:
    """The subject that is gone on with after what was inserted behind the phrase `before`."""
    kinds = [kind for kind, _, _ in inserted]
    phrase = inserted[0][2] if inserted else None
    if phrase is None:
        return before if kinds[:1] == ["rel"] or kinds == ["other"] else None
    if kinds == ["np"] and _is_bare_name(tokens, phrase):
        return phrase
    return before if _describes(tokens, phrase) and "vg" not in kinds else None


def _is_bare_name(tokens: list[Token], phrase: NounPhrase) -> bool:
    return tokens[phrase.first].is_capital and phrase.det is None and phrase.possessor is None


def _describes(tokens: list[Token], phrase: NounPhrase) -> bool:
    """`a nurse in Hull`, `7`: whether the phrase says what somebody is."""
    return phrase.det is not None or phrase.possessor is not None or tokens[phrase.first].low.isdigit()


def _phrases_before(tokens: list[Token], chunks: list[Chunk]) -> list[NounPhrase]:
    """The phrases before the verb: `A and B`, or the first of `A in B`; never the object of the verb before."""
    phrases: list[NounPhrase] = []
    n = len(chunks) - 1
    while n >= 0 and (phrase := chunks[n][2]) is not None:
        phrases.insert(0, phrase)
        if _is_adjunct(chunks, n):
            phrases.clear()
        elif not _is_coordinated(tokens, chunks, n):
            break
        n -= 2
    return phrases[-1:] if len(phrases) > 1 and not _has_and(tokens, phrases) else phrases


def _is_adjunct(chunks: list[Chunk], n: int) -> bool:
    """Whether the n-th chunk is the B of `A in B`, and A what the sentence or clause begins with."""
    is_behind = kind_at(chunks, n - 1) == "prep" and kind_at(chunks, n - 2) == "np"
    return is_behind and kind_at(chunks, n - 3) in _OPENERS


def _is_coordinated(tokens: list[Token], chunks: list[Chunk], n: int) -> bool:
    """Whether the n-th chunk is the B of `A and B`, where A is no object."""
    if kind_at(chunks, n - 1) not in {"conj", "mark"} or kind_at(chunks, n - 2) != "np":
        return False
    origin = kind_at(chunks, n - 3)
    is_object = origin in {"vg", "prep", "inf"} or (origin == "np" and _touches(chunks[n - 3], chunks[n - 2]))
    return not is_object and tokens[chunks[n - 1][1]].low in _JOINTS


def _touches(before: Chunk, chunk: Chunk) -> bool:
    """`selling` and `the canoe`: the second is the object of the first."""
    return before[2] is not None and chunk[2] is not None and before[2].end == chunk[2].start


def _has_and(tokens: list[Token], phrases: list[NounPhrase]) -> bool:
    return any(tokens[k].low in {"and", "&", "or"} for k in range(phrases[-2].end, phrases[-1].start))


def verb_phrase_end(tokens: list[Token], i: int, stop: int) -> int | None:
    """The token after the phrase of the base verb at i and what it cannot do without; None where there is no verb."""
    while i < stop and tokens[i].bits & ADV and not tokens[i].verbs:
        i += 1
    if i >= stop or tokens[i].bits & (NOT_IN_PHRASE & ~AUX) or tokens[i].is_capital:
        return None
    token = tokens[i]
    if token.verbs is not None and not token.forms & BASE:
        return None
    return complement_end(tokens, i + 1, stop)


def complement_end(tokens: list[Token], i: int, stop: int) -> int:
    """Past the object after a verb, or its particle and preposition phrase when it has no object."""
    if i >= stop:
        return i
    token = tokens[i]
    if token.bits & WH and low_at(tokens, i + 1, stop) == "to":
        return verb_phrase_end(tokens, i + 2, stop) or i
    if token.low == "to":
        return verb_phrase_end(tokens, i + 1, stop) or _after_preposition(tokens, i, stop)
    if token.low in _PARTICLES and token.bits & (ADV | PREP):
        return _after_particle(tokens, i, stop)
    return _object_end(tokens, i, stop)


def _after_particle(tokens: list[Token], i: int, stop: int) -> int:
    """Past the particle at i and its object (`give up the harp`), or past the phrase it governs (`move to Graz`)."""
    phrase = parse_noun_phrase(tokens, i + 1, stop)
    if phrase is None or tokens[i].bits & ADV:
        return _object_end(tokens, i + 1, stop)
    if not _is_time(tokens, phrase):
        return phrase.end
    return i + 1 if tokens[i].low in {"up", "out", "back", "away"} else i


def _object_end(tokens: list[Token], i: int, stop: int) -> int:
    if i < stop and tokens[i].bits & OBJECT and not tokens[i].bits & NOT_IN_PHRASE & ~OBJECT:
        return i + 1
    phrase = parse_noun_phrase(tokens, i, stop)
    if phrase is not None and not _is_time(tokens, phrase):
        return phrase.end
    return _after_preposition(tokens, i, stop)


def _after_preposition(tokens: list[Token], i: int, stop: int) -> int:
    if i < stop and tokens[i].bits & PREP and tokens[i].low not in _LINKING:
        phrase = parse_noun_phrase(tokens, i + 1, stop)
        if phrase is not None and not _is_time(tokens, phrase):
            return phrase.end
    return i


def _is_time(tokens: list[Token], phrase: NounPhrase) -> bool:
    head = tokens[phrase.head]
    return bool(head.bits & (WEEKDAY | MONTH)) or head.low.removesuffix("s") in _TIME_HEADS or head.low.isdigit()
