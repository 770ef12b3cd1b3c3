"""Clauses without a verb: `Priya, a data engineer at Monzo, …`, `I'm Marco, 27, from Bari`, `Two kids.`

They become clauses of `be` or `have` with an empty verb group, so that the patterns read them as they read
any other. Who is meant is settled here: the person before an insertion, or the speaker where the message plainly
introduces its writer. Anything else is left alone.
"""

from itertools import islice, takewhile

from em_pipelines.language.en.clauses import Chunk, Clause, SentenceParse, kind_at, pronoun_of
from em_pipelines.language.en.lexicon import FEMALE_NAMES, MALE_NAMES, is_profession, words
from em_pipelines.language.en.noun_phrases import FIRST_PERSON, KIN, NounPhrase
from em_pipelines.language.en.tokens import (
    ADV,
    CONJ,
    DET,
    NEG,
    NUMBER,
    POSS,
    PUNCT,
    QUANT,
    Token,
    low_at,
    token_at,
)
from em_pipelines.language.en.verb_groups import VerbGroup, is_ing

_MARKS = frozenset({",", ":", "(", ")", "-", "–", "—", ";", "|", "/", "•", "*", "\n"})
_OPENERS = frozenset({",", "(", ":", "-", "–", "—"})
_CLAUSAL = frozenset({"vg", "pron", "rel", "inf"})
_OVER_NOUNS = words("nouns", "before_over")
_CLOSERS = frozenset({",", ")", "-", "–", "—", ";"})
_BEFORE_PLACES = frozenset({"in", "at", "from", "near", "to", "on", "of"})
Piece = tuple[int, int]
"""First token and the one after the last of what stands between two marks."""

_INTRODUCTIONS = words("words", "introductions")
_SELF_VERBS = frozenset({"be", "live", "work", "study"})
_BEFORE_INTRODUCTION = _INTRODUCTIONS | {
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
_MAX_LABEL_WORDS = 3


def _next_mark(tokens: list[Token], i: int, stop: int) -> int:
    return next((k for k in range(i, stop) if tokens[k].low in _MARKS), stop)


def _insertions(parse: SentenceParse, named: set[int]) -> list[Clause]:
    """`Priya, a data engineer at Monzo, …`, `Nell (7)`, `Viktor, my flatmate, …`: the phrase before is described.

    Not where the phrase starts at one of `named`, as in `I'm Marco, 27`: that is the speaker himself.
    """
    clauses: list[Clause] = []
    for n in range(2, len(parse.chunks)):
        before, inserted = parse.chunks[n - 2][2], parse.chunks[n][2]
        if before is None or inserted is None or before.start in named or not _opens_insertion(parse, n - 1, before):
            continue
        right = _next_mark(parse.tokens, inserted.start, parse.stop)
        opening = parse.tokens[parse.chunks[n - 1][1]].low
        if _is_insertion(parse, n, right) and _is_described(parse.tokens, opening, before, inserted):
            clauses.append(_empty_clause("be", inserted.start, right, subject=[before]))
    return clauses


def _opens_insertion(parse: SentenceParse, n: int, before: NounPhrase) -> bool:
    """Whether the n-th chunk is a mark right after the phrase before, which is no place: `in Graz, …`."""
    kind, mark, _ = parse.chunks[n]
    if kind != "mark" or mark != before.end or parse.tokens[mark].low not in _OPENERS:
        return False
    is_behind_preposition = kind_at(parse.chunks, n - 2) == "prep"
    return not (is_behind_preposition and parse.tokens[parse.chunks[n - 2][1]].low in _BEFORE_PLACES)


def _is_insertion(parse: SentenceParse, n: int, right: int) -> bool:
    """Whether what begins with the n-th chunk ends with a mark at `right`, and is no clause nor one of a list."""
    if right < parse.stop and parse.tokens[right].low not in _CLOSERS:
        return False
    inside = takewhile(lambda chunk: chunk[1] < right, islice(parse.chunks, n, None))
    is_clausal = any(kind in _CLAUSAL for kind, _, _ in inside)
    return not is_clausal and not _is_listed(parse.tokens, right, parse.stop)


def _is_described(tokens: list[Token], opening: str, before: NounPhrase, inserted: NounPhrase) -> bool:
    """Whether the inserted phrase says what the phrase before is: not `my aunt, my uncle`, nor `Ida, two sisters`."""
    first, head = tokens[inserted.start], tokens[inserted.head]
    if inserted.possessor is not None and (before.possessor is not None or head.is_capital):
        return False
    if first.bits & NUMBER and head.low in KIN:
        return False
    if opening not in {",", "("}:
        return _is_known_person(tokens, before)
    return opening == "(" or inserted.det is not None or bool(first.bits & (NUMBER | POSS | DET))


def _opening_phrases(chunks: list[Chunk]) -> tuple[NounPhrase, int, NounPhrase] | None:
    """The phrases of `A in B`, and the token of the preposition, where chunks begin so."""
    if [kind for kind, _, _ in chunks[:3]] != ["np", "prep", "np"]:
        return None
    one, other = chunks[0][2], chunks[2][2]
    return (one, chunks[1][1], other) if one is not None and other is not None else None


def _is_plain(phrase: NounPhrase) -> bool:
    return phrase.det is None and phrase.possessor is None and phrase.number is None


def _rankings(parse: SentenceParse) -> list[Clause]:
    """`Rye over spelt, always`: what somebody prefers, as a sentence opens; not `fog over the bay`."""
    phrases = _opening_phrases(parse.chunks)
    if phrases is None or not _ranks(parse, *phrases):
        return []
    clause = _empty_clause("prefer", parse.start, parse.stop)
    clause.is_own = True
    return [clause]


def _ranks(parse: SentenceParse, one: NounPhrase, at: int, other: NounPhrase) -> bool:
    tokens = parse.tokens
    if tokens[at].low != "over" or tokens[one.head].low in _OVER_NOUNS or not (_is_plain(one) and _is_plain(other)):
        return False
    is_closed = other.end >= parse.stop or bool(tokens[other.end].bits & (PUNCT | ADV))
    is_opening = one.start == parse.start and one.end == at
    return is_closed and is_opening and all(kind != "vg" for kind, _, _ in parse.chunks)


def _opening_roles(parse: SentenceParse) -> list[Clause]:
    """`Tram driver in Graz, been at it since May`: what the writer is, as a message opens; a mark has to follow."""
    phrases = _opening_phrases(parse.chunks) if parse.start == 0 else None
    right = _next_mark(parse.tokens, parse.start, parse.stop) if phrases is not None else parse.stop
    if phrases is None or [(kind, at) for kind, at, _ in parse.chunks[3:4]] != [("mark", right)]:
        return []
    role, _, place = phrases
    is_place = parse.tokens[place.head].is_capital and place.possessor is None
    if not is_place or not _is_plain(role) or not is_profession(parse.tokens[role.head].low):
        return []
    clause = _empty_clause("be", parse.start, right)
    clause.is_own = True
    return [clause]


def _is_known_person(tokens: list[Token], phrase: NounPhrase) -> bool:
    low = tokens[phrase.first].low
    return low in FEMALE_NAMES or low in MALE_NAMES or tokens[phrase.head].low in KIN


def _is_listed(tokens: list[Token], right: int, stop: int) -> bool:
    """`Tom, my brother, and Ana`: a row of people, not a description."""
    return right + 1 < stop and tokens[right].low == "," and tokens[right + 1].low in {"and", "&", "or"}


def _empty_clause(lemma: str, left: int, right: int, subject: list[NounPhrase] | None = None) -> Clause:
    """A clause over the tokens from left to right, with no word for its verb."""
    verb = VerbGroup(left)
    verb.end, verb.lemmas = left, (lemma,)
    clause = Clause(verb, left)
    clause.right = right
    clause.subject = subject or []
    return clause


def introduces_writer(tokens: list[Token]) -> bool:
    """Whether a message is a profile of its writer: `About me: …`. Lines such as `Name: …` alone are a form."""
    return any(token.low == ":" and _is_introduction(tokens, i) for i, token in enumerate(tokens) if i)


def _is_introduction(tokens: list[Token], right: int) -> bool:
    """`about me`, `quick intro`, before token `right`: not `customer profile`."""
    left = right - 1
    while left >= 0 and tokens[left].low in _BEFORE_INTRODUCTION:
        left -= 1
    is_whole = left < 0 or bool(tokens[left].bits & PUNCT)
    return is_whole and left < right - 1 and tokens[right - 1].low in _INTRODUCTIONS


def own_unsaid_subjects(clauses: list[Clause]) -> None:
    """`Lives in Porto.` in a profile of the writer is about the writer."""
    for clause in clauses:
        if not clause.has_subject and not clause.verb.is_inverted:
            clause.is_own = True


def verbless_clauses(parse: SentenceParse, *, is_profile: bool) -> list[Clause]:
    """The clauses without a verb of one sentence; `is_profile`: of a message that introduces its writer."""
    tokens = parse.tokens
    if not is_profile and _MARKS.isdisjoint([token.low for token in tokens[parse.start : parse.stop]]):
        return _fans(parse)
    named = {clause.verb.end for clause in parse.clauses if pronoun_of(clause, tokens) in FIRST_PERSON}
    clauses = _insertions(parse, named) + _fans(parse) + _rankings(parse) + _opening_roles(parse)
    described = {clause.left for clause in clauses}
    return clauses + _Fragments(parse, named, is_profile=is_profile).read(described)


class _Fragments:
    """What stands between the marks of one sentence without a verb, as far as it is the writer's.

    From token `own_from` fragments are the writer's; None where they are nobody's for certain.
    """

    def __init__(self, parse: SentenceParse, named: set[int], *, is_profile: bool) -> None:
        self.parse = parse
        self.named = named
        self.is_profile = is_profile
        self.pieces = _pieces(parse.tokens, parse.start, parse.stop)
        self.kinds = {at: kind for kind, at, _ in parse.chunks}
        self.own_from = self._own_from()

    def read(self, described: set[int]) -> list[Clause]:
        """The clauses of all pieces but those that begin at one of the tokens `described`."""
        clauses: list[Clause] = []
        for n, (left, right) in enumerate(self.pieces):
            is_label = low_at(self.parse.tokens, right, self.parse.stop) == ":"
            if left not in described and not is_label and not (self.is_profile and self._is_labelled(n)):
                clauses += self._own_at(n)
        return clauses

    def _is_labelled(self, n: int) -> bool:
        """`City: Pune`: what a label says is not told by the words behind it alone."""
        tokens = self.parse.tokens
        if n == 0 or tokens[self.pieces[n][0] - 1].low != ":":
            return False
        left, right = self.pieces[n - 1]
        is_short = right - left <= _MAX_LABEL_WORDS and not any(token.bits & PUNCT for token in tokens[left:right])
        return is_short and tokens[right - 1].low not in _INTRODUCTIONS

    def _own_at(self, n: int) -> list[Clause]:
        """What the n-th piece says of the writer."""
        left, right = self.pieces[n]
        if self.own_from is None:
            return []
        if left < self.own_from or any(self.kinds.get(i) in _CLAUSAL for i in range(left, right)):
            self._leave(self.pieces[n])
            return []
        if n and self._leave(self.pieces[n - 1]):
            return []
        return _own(self.parse.tokens, left, right)

    def _leave(self, piece: Piece) -> bool:
        """Whether a piece speaks of others, after which no more is the writer's; in a profile all is."""
        if self.is_profile or not self._speaks_of_others(*piece):
            return False
        self.own_from = None
        return True

    def _own_from(self) -> int | None:
        opening = self._past_introduction()
        if opening is not None:
            return opening
        clauses = self.parse.clauses
        if not clauses:
            return self.parse.start if self.is_profile else None
        n_whole = sum(not self._is_word(clause) for clause in clauses)
        verb = clauses[0].verb
        is_plain = not verb.is_inverted and not verb.is_negated
        return verb.end if n_whole == 1 and is_plain and self._says_self(clauses[0]) else None

    def _past_introduction(self) -> int | None:
        """Past the colon of `about me:`, with which the sentence opens."""
        tokens, stop = self.parse.tokens, self.parse.stop
        left, right = self.pieces[0] if self.pieces else (stop, stop)
        if right == stop or right - left > _MAX_LABEL_WORDS or not _is_introduction(tokens, right):
            return None
        return next((k + 1 for k in range(right, stop) if tokens[k].low == ":"), None)

    def _is_word(self, clause: Clause) -> bool:
        """`…, divorced, …`: a word by itself between two marks."""
        if not clause.is_shared or not clause.verb.is_participle:
            return False
        following = token_at(self.parse.tokens, clause.verb.end, len(self.parse.tokens))
        return following is None or bool(following.bits & PUNCT)

    def _says_self(self, clause: Clause) -> bool:
        """`I am`, `I live` and such."""
        is_own = pronoun_of(clause, self.parse.tokens) in FIRST_PERSON
        return is_own and not _SELF_VERBS.isdisjoint(clause.verb.lemmas)

    def _speaks_of_others(self, left: int, right: int) -> bool:
        """Whether a piece names somebody else or says something of them, so that what follows may be theirs."""
        if any(self.parse.tokens[i].low in _BEFORE_OTHERS for i in range(left, right)):
            return True
        if any(left <= clause.verb.start < right and not self._says_self(clause) for clause in self.parse.clauses):
            return True
        return any(left <= phrase.start < right and self._names_another(phrase) for phrase in self.parse.nouns)

    def _names_another(self, phrase: NounPhrase) -> bool:
        if phrase.start in self.named:
            return False
        return phrase.possessor is not None or _is_known_person(self.parse.tokens, phrase)


def _pieces(tokens: list[Token], start: int, stop: int) -> list[Piece]:
    """What stands between marks, without leading joints."""
    pieces: list[Piece] = []
    left = start
    for i in range(start, stop + 1):
        if i < stop and tokens[i].low not in _MARKS:
            continue
        while left < i and tokens[left].bits & (CONJ | ADV) and not tokens[left].bits & (DET | QUANT | NUMBER):
            left += 1
        if left < i:
            pieces.append((left, i))
        left = i + 1
    return pieces


def _own(tokens: list[Token], left: int, right: int) -> list[Clause]:
    """What a fragment may say of the speaker: that he is it, has it, or does it; nothing where it is denied or past."""
    first = tokens[left]
    if any(tokens[i].bits & NEG or tokens[i].low in _DENIED for i in range(left, right)):
        return []
    if is_ing(first) and first.verbs:
        clause = _empty_clause(next(iter(first.verbs)), left, right)
        clause.verb.end, clause.verb.is_progressive, clause.is_own = left + 1, True, True
        return [clause]
    lemmas = ["be"] + (["have"] if first.bits & (NUMBER | DET | QUANT) else [])
    found = [_empty_clause(lemma, left, right) for lemma in lemmas]
    for clause in found:
        clause.is_own = True
    return found


def _fans(parse: SentenceParse) -> list[Clause]:
    """`Big fan of Murakami`, `really not into horror`: said of oneself, as the sentence opens."""
    tokens, start, stop = parse.tokens, parse.start, parse.stop
    i = start
    while i < stop and tokens[i].low in _BEFORE_FAN:
        i += 1
    is_into = low_at(tokens, i, stop) == "into"
    if not is_into and (i == start or low_at(tokens, i, stop) not in {"fan", "lover"}):
        return []
    is_negated = any(token.low == "not" for token in tokens[start:i])
    clause = _empty_clause("be", i if is_into else start + is_negated, stop)
    clause.is_own, clause.verb.is_negated = True, is_negated
    return [clause]
