"""Sentences come apart at their finite verbs, each a clause with its subject and its span.

What this module finds is grammar alone: chunks, the words at which a verb group starts, and where the complements of a
verb may stand. By the same tags it tells which names are none: a sentence about a thing, or what is done with it.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from em_pipelines.language.en.clauses import Chunk, Clause, SentenceParse, set_subject
from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.noun_phrases import NAMING, NounPhrase, parse_noun_phrase
from em_pipelines.language.en.tokens import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BASE,
    BE,
    BOUNDARY,
    CONJ,
    CONTRAST,
    DET,
    DO,
    FINITE,
    HAVE,
    ING,
    MODAL,
    NEG,
    NOT_IN_PHRASE,
    OBJECT,
    PAST,
    POSS,
    PREP,
    PUNCT,
    RELATIVE,
    S_FORM,
    SUBJECT,
    SUBORD,
    VERB_FORMS,
    VERB_SUBJECTS,
    WH,
    Token,
    low_at,
    token_at,
    tokenise,
)
from em_pipelines.language.en.verb_groups import parse_verb_group
from em_pipelines.schema.vocabulary import MAY_BE_PHRASE, PHRASE_OBJECT

_POINTING = frozenset({"this", "that", "these", "those", "there"})
_TAKES_ING = words("verbs", "before_ing")
_LEADS = CONJ | SUBORD | ADV | RELATIVE | PUNCT | BOUNDARY | CONTRAST | WH


def parse_clauses(tokens: list[Token], start: int, stop: int) -> SentenceParse:
    """Takes the sentence from `start` to `stop` apart."""
    parser = _Parser(tokens, start, stop)
    parser.run()
    return SentenceParse(tokens, start, stop, parser.clauses, parser.chunks)


def _may_start_phrase(token: Token) -> bool:
    return token.is_capital or bool(token.bits & (DET | POSS)) or not token.bits & (NOT_IN_PHRASE | ADV)


def _opens_sentence(token: Token, following: Token) -> bool:
    """Whether a verb without a subject may open a sentence: no noun, as in `Compost improves …`."""
    if following.bits & (AUX | PUNCT):
        return False
    is_finite = following.low not in ALSO_NOUNS and bool(following.forms & (S_FORM | PAST))
    return token.low not in ALSO_NOUNS or not (following.bits & PREP or is_finite)


def _may_be_object(token: Token) -> bool:
    return bool(token.bits & (DET | POSS | OBJECT | PREP)) or not token.bits & NOT_IN_PHRASE


class _Parser:
    """One pass over a sentence: chunks it, and opens a clause at every finite verb."""

    def __init__(self, tokens: list[Token], start: int, stop: int) -> None:
        self.tokens = tokens
        self.start = start
        self.stop = stop
        self.clauses: list[Clause] = []
        self.chunks: list[Chunk] = []
        self.kind = "start"
        """The kind of the last chunk; `start` before the first."""

    def run(self) -> None:
        i = self.start
        while i < self.stop:
            i = self._step(i)
        self._set_spans()

    def _step(self, i: int) -> int:
        """Reads what starts at token i; gives the token after it."""
        token = self.tokens[i]
        if token.bits & PUNCT:
            return self._chunk("mark", i)
        if token.low in NAMING and self._names(i):
            return self._chunk("prep", i)
        if self._starts_verb(i):
            return self._open_clause(i)
        if token.low in {"both", "all"} and (floating := self._past_both(i)) is not None:
            return floating
        phrase = parse_noun_phrase(self.tokens, i, self.stop) if _may_start_phrase(token) else None
        if phrase is None:
            return self._closed_word(i)
        self._chunk("np", i, phrase)
        return phrase.end

    def _closed_word(self, i: int) -> int:  # noqa: PLR0911, one return a kind of word
        """Chunks a word of the closed classes; gives the token after it."""
        token = self.tokens[i]
        bits = token.bits
        if self._is_pronoun(i):
            return self._chunk("pron", i)
        if bits & RELATIVE and self.chunks:
            return self._chunk("rel", i)
        if bits & (CONJ | CONTRAST):
            return self._chunk("conj", i)
        if token.low == "to" and self._is_base(i + 1):
            return self._chunk("inf", i) + 1
        if bits & PREP:
            return self._chunk("prep", i)
        if bits & (ADV | NEG) and not bits & SUBORD:
            return i + 1
        return self._chunk("other", i)

    def _chunk(self, kind: str, i: int, phrase: NounPhrase | None = None) -> int:
        self.chunks.append((kind, i, phrase))
        self.kind = kind
        return i + 1

    def _names(self, i: int) -> bool:
        """`a cat called Pudding`: whether the word at token i stands between a phrase and its name."""
        following = token_at(self.tokens, i + 1, self.stop)
        return following is not None and following.is_capital and self.kind == "np"

    def _is_pronoun(self, i: int) -> bool:
        """Whether the word at token i stands for a subject: `this` does before an auxiliary."""
        token = self.tokens[i]
        if token.bits & SUBJECT and not token.bits & DET:
            return True
        return token.low in _POINTING and i + 1 < self.stop and bool(self.tokens[i + 1].bits & AUX)

    def _is_base(self, i: int) -> bool:
        token = token_at(self.tokens, i, self.stop)
        return token is not None and bool(token.forms & BASE or token.bits & AUX)

    def _starts_verb(self, i: int) -> bool:
        token = self.tokens[i]
        is_name = token.is_capital and i > self.start
        if token.bits & AUX:
            return not is_name
        kind = self.kind
        if token.low == "no" and low_at(self.tokens, i + 1, self.stop) == "longer":
            return kind in {"np", "pron", "rel"}
        if kind == "pron":
            return self._is_verb_of_pronoun(token)
        if is_name:
            return False
        if not token.forms & FINITE:
            return bool(token.forms & ING) and kind in {"conj", "mark"} and self._goes_on(i)
        return self._is_finite_verb(kind, i)

    def _is_verb_of_pronoun(self, token: Token) -> bool:
        """Whether a word after a pronoun is its verb: one that no list knows is after `I` and such."""
        if token.bits & NEG or token.forms & FINITE:
            return True
        pronoun = self.tokens[self.chunks[-1][1]].low
        return pronoun in VERB_SUBJECTS and not token.bits & (NOT_IN_PHRASE | ADV)

    def _is_finite_verb(self, kind: str, i: int) -> bool:
        """Whether a word that may be a finite verb is one after a chunk of this kind."""
        bits = self.tokens[i].bits
        if kind == "rel":
            return True
        if kind == "np":
            return not bits & PREP
        if bits & (PREP | SUBORD) and kind != "start":
            return False
        return self._is_without_subject(kind, i)

    def _is_without_subject(self, kind: str, i: int) -> bool:
        """Verbs without a subject of their own: after `and` or a comma, or at the very start of a sentence."""
        token, following = self.tokens[i], token_at(self.tokens, i + 1, self.stop)
        if kind in {"start", "other"} or (kind == "mark" and not self.clauses):
            return following is not None and _opens_sentence(token, following)
        if kind not in {"conj", "mark"} or not self.clauses:
            return False
        return token.low not in ALSO_NOUNS or (following is not None and _may_be_object(following))

    def _past_both(self, i: int) -> int | None:
        """`We both love it`, `They all work there`: floats after the pronoun; `both love it` stands for one."""
        if i + 1 >= self.stop:
            return None
        if self.kind == "pron" and self._starts_verb(i + 1):
            return i + 1
        return self._chunk("pron", i) if self.tokens[i].low == "both" and self._is_base(i + 1) else None

    def _goes_on(self, i: int) -> bool:
        """`I'm porting X and experimenting with Y`: after a progressive verb, a form in -ing with its complement."""
        before = self.clauses[-1].verb if self.clauses else None
        if before is None or not before.is_progressive or not _TAKES_ING.isdisjoint(before.lemmas):
            return False
        following = token_at(self.tokens, i + 1, self.stop)
        return following is not None and (bool(following.bits & (DET | POSS | PREP)) or following.is_capital)

    def _open_clause(self, i: int) -> int:
        verb = parse_verb_group(self.tokens, i, self.stop)
        clause = Clause(verb, self.start)
        set_subject(clause, self.tokens, self.chunks, self.clauses)
        self.clauses.append(clause)
        return max(verb.end, self._chunk("vg", i))

    def _set_spans(self) -> None:
        """Ends each clause where the words that lead into the next one begin."""
        for clause, following in pairwise(self.clauses):
            right = following.lead
            while right > clause.verb.end and self.tokens[right - 1].bits & _LEADS:
                right -= 1
            clause.right = following.left = max(right, clause.verb.end)
        if self.clauses:
            self.clauses[-1].right = self.stop
        for n, clause in enumerate(self.clauses):
            if clause.is_resumed:
                _end_at(self.clauses[:n], clause.subject[0].start)


def _end_at(clauses: list[Clause], resumed: int) -> None:
    """Ends those of the clauses in whose complements the subject at this token stands that is resumed after them."""
    for clause in clauses:
        if clause.verb.end <= resumed < clause.right:
            clause.right = resumed


@lru_cache(maxsize=65_536)
def is_statement(text: str) -> bool:
    """Whether a name is a sentence about something, by a finite verb behind a noun: `Susan keeps me grounded`."""
    return bool(_subjects(text)) or _has_purpose(text)


def _has_purpose(text: str) -> bool:
    """Whether a proper name is followed by what its bearer is to do: `Ines to rest and recover`."""
    tokens = tokenise(text)
    return any(
        name.is_capital and to.low == "to" and not verb.is_capital and _is_plain_verb(verb)
        for name, to, verb in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


@lru_cache(maxsize=65_536)
def is_beside(part: str, text: str) -> bool:
    """Whether a name stands in a longer one only behind a preposition: the beach in `camping at the beach` is where,
    and not what. What is `of` a thing is named after it."""
    tokens = tokenise(text)
    places = [n for n, token in enumerate(tokens) if n and token.bits & PREP and not token.is_capital]
    end = next((n for n in places if tokens[n].low != "of"), len(tokens))
    head = {token.low for token in tokens[:end]}
    return end < len(tokens) and head.isdisjoint(token.low for token in tokenise(part) if not token.bits & (DET | POSS))


def _subjects(text: str) -> list[tuple[int, Token]]:
    """The words before finite verbs, with their places."""
    tokens = tokenise(text)
    return [
        (n, before)
        for n, (before, token) in enumerate(pairwise(tokens))
        if not token.is_capital and not before.bits & (NOT_IN_PHRASE & ~SUBJECT) and _is_finite(token, tokens[n + 2 :])
    ]


def _is_finite(token: Token, behind: Sequence[Token]) -> bool:
    """Whether a word can only be a verb with its subject: `is`, `should`, `keeps me`, `kept the`; not `races`."""
    if token.bits & (BE | HAVE | MODAL | DO):
        return token.low != "'s"  # of a name it is a possessive: St Anne's
    is_verb = bool(token.verbs) and bool(token.forms & (S_FORM | PAST))
    return is_verb and bool(behind) and bool(behind[0].bits & (OBJECT | DET | POSS))


@lru_cache(maxsize=65_536)
def is_verb_phrase(text: str) -> bool:
    """Whether a name says what is done, by a verb in its plain form before what it is done to: `watch a film`."""
    tokens = tokenise(text)
    words_of_it = tokens[1:] if tokens and tokens[0].low == "to" else tokens
    if len(words_of_it) < 2:
        return False
    verb, behind = words_of_it[:2]
    if verb.is_capital or not _is_plain_verb(verb):  # of a title: Call of Duty
        return False
    return bool(behind.bits & (DET | POSS)) or (bool(behind.bits & PREP) and verb.low not in ALSO_NOUNS)


def is_led_by_verb(text: str) -> bool:
    """Whether a text begins with a word that is a verb in its plain form and no noun: `go hiking`; but `live music`,
    too, so it tells what is done only where somebody does it."""
    tokens = tokenise(text)
    is_lone = len(tokens) < 2 or tokens[0].is_capital
    return not is_lone and _is_plain_verb(tokens[0]) and tokens[0].low not in ALSO_NOUNS


def _is_plain_verb(token: Token) -> bool:
    """Whether a word may be the plain form of a verb, or of one with `re-` before it."""
    again = VERB_FORMS.get(token.low.removeprefix("re"), {}) if token.low.startswith("re") else {}
    return bool(token.verbs and token.forms & BASE) or any(kinds & BASE for kinds in again.values())


def is_sentence(text: str) -> bool:
    """Whether a text is a sentence, and names nothing. `The house I was born in` is a noun with a clause about it, by
    the pronoun behind the noun."""
    return any(n == 0 or not before.bits & SUBJECT for n, before in _subjects(text)) or _has_purpose(text)


def is_clause(text: str) -> bool:
    """Whether a text is a sentence, or says what is done."""
    return is_sentence(text) or is_verb_phrase(text)


def is_phrase_of(relation: str, words: str) -> bool:
    """Whether the object of a relation says something in a phrase, which is stored as a value, and names no thing.

    What is liked may be what is done, `to go for a jog`: that is jogging in other words, and so an activity.
    """
    if relation == "did":
        return is_led_by_verb(words) or is_clause(words)
    return relation in PHRASE_OBJECT or (relation in MAY_BE_PHRASE and is_sentence(words))
