"""Clauses: sentences come apart at their finite verbs, each with its subject and its span.

What this module finds is grammar alone: verb groups (auxiliaries, negation and main verb), the subject of each, and
where its complements may stand. What a clause is worth (hedged, asked, supposed, reported) is `modifiers`' business.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.clause_subjects import Chunk, set_subject
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import NAMING, NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.verb_groups import parse_verb_group
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BASE,
    BOUNDARY,
    CONJ,
    CONTRAST,
    DET,
    ING,
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
    VERB_SUBJECTS,
    WH,
)

_LEADS = CONJ | SUBORD | ADV | RELATIVE | PUNCT | BOUNDARY | CONTRAST | WH


def parse_clauses(tokens: list[Token], start: int, stop: int) -> tuple[list[Clause], list[Chunk]]:
    """The clauses of one sentence and all its chunks, in order."""
    parser = _Parser(tokens, start, stop)
    clauses = parser.run()
    return clauses, parser.chunks


_TAKES_ING = words("verbs", "before_ing")


def _is_finite(token: Token) -> bool:
    """`improves`, after a noun that could be a verb as well: `Compost improves …`."""
    return token.low not in ALSO_NOUNS and bool(token.forms & (S_FORM | PAST))


class _Parser:
    """One pass over a sentence: chunks it, and opens a clause at every finite verb."""

    def __init__(self, tokens: list[Token], start: int, stop: int) -> None:
        self.tokens = tokens
        self.start = start
        self.stop = stop
        self.clauses: list[Clause] = []
        self.chunks: list[Chunk] = []
        """(kind, first token, phrase): np, pron, vg, rel, conj, prep, mark, other. Adverbs leave no chunk."""

    def run(self) -> list[Clause]:
        i = self.start
        while i < self.stop:
            i = self._step(i)
        self._set_spans()
        return self.clauses

    def _step(self, i: int) -> int:  # noqa: PLR0911, one return a kind of word
        token = self.tokens[i]
        bits = token.bits
        if bits & PUNCT:
            return self._chunk("mark", i)
        is_naming = token.low in NAMING and i + 1 < self.stop and self.tokens[i + 1].is_capital
        if is_naming and self.chunks and self.chunks[-1][0] == "np":
            return self._chunk("prep", i)
        if self._starts_verb(i):
            return self._open_clause(i)
        if token.low in {"both", "all"} and i + 1 < self.stop and (floating := self._past_both(i)) is not None:
            return floating
        if bits & (DET | POSS) or not bits & NOT_IN_PHRASE or token.is_capital:
            phrase = self._phrase(i)
            if phrase is not None:
                self.chunks.append(("np", i, phrase))
                return phrase.end
        if (bits & SUBJECT and not bits & DET) or (
            token.low in {"this", "that", "these", "those", "there"}
            and (i + 1 < self.stop and self.tokens[i + 1].bits & AUX)
        ):
            return self._chunk("pron", i)
        if bits & RELATIVE and self.chunks:
            return self._chunk("rel", i)
        if bits & (CONJ | CONTRAST):
            return self._chunk("conj", i)
        if token.low == "to" and i + 1 < self.stop and self._is_base(i + 1):
            self.chunks.append(("inf", i, None))
            return i + 2
        if bits & PREP:
            return self._chunk("prep", i)
        if bits & (ADV | NEG) and not bits & SUBORD:
            return i + 1
        return self._chunk("other", i)

    def _phrase(self, i: int) -> NounPhrase | None:
        token = self.tokens[i]
        if token.bits & ADV and not token.is_capital and not token.bits & (DET | POSS):
            return None
        return parse_noun_phrase(self.tokens, i, self.stop)

    def _chunk(self, kind: str, i: int) -> int:
        self.chunks.append((kind, i, None))
        return i + 1

    def _is_base(self, i: int) -> bool:
        token = self.tokens[i]
        return bool(token.forms & BASE or token.bits & AUX)

    def _starts_verb(self, i: int) -> bool:  # noqa: PLR0911, one return a rule of grammar
        token = self.tokens[i]
        bits = token.bits
        kind, at, _ = self.chunks[-1] if self.chunks else ("start", 0, None)
        if bits & AUX:
            return not (token.is_capital and i > self.start)
        if token.low == "no" and i + 1 < self.stop and self.tokens[i + 1].low == "longer":
            return kind in {"np", "pron", "rel"}
        if kind == "pron" and bits & NEG:
            return True
        forms = token.forms
        if kind == "pron":
            low = self.tokens[at].low
            if forms & (BASE | S_FORM | PAST):
                return True
            return low in VERB_SUBJECTS and not bits & (NOT_IN_PHRASE | ADV)
        if token.is_capital and i > self.start:
            return False
        if not forms & (BASE | S_FORM | PAST):
            return bool(forms & ING) and kind in {"conj", "mark"} and self._goes_on(i)
        if kind in {"np", "rel"}:
            return not bits & PREP or kind == "rel"
        if bits & (PREP | SUBORD) and kind != "start":
            return False
        return self._is_coordinated(kind, token, i)

    def _past_both(self, i: int) -> int | None:
        """`We both love it`, `They all work there`: floats after the pronoun; `both love it` stands for one."""
        if self.chunks and self.chunks[-1][0] == "pron" and self._starts_verb(i + 1):
            return i + 1
        return self._chunk("pron", i) if self.tokens[i].low == "both" and self._is_base(i + 1) else None

    def _goes_on(self, i: int) -> bool:
        """`I'm porting X and experimenting with Y`: after a progressive verb, a form in -ing with its complement."""
        before = self.clauses[-1].verb if self.clauses else None
        if before is None or not before.is_progressive or not _TAKES_ING.isdisjoint(before.lemmas):
            return False
        following = self.tokens[i + 1] if i + 1 < self.stop else None
        return following is not None and (bool(following.bits & (DET | POSS | PREP)) or following.is_capital)

    def _is_coordinated(self, kind: str, token: Token, i: int) -> bool:
        """Verbs without a subject of their own: after `and` or a comma, or at the very start of a sentence."""
        following = self.tokens[i + 1] if i + 1 < self.stop else None
        if kind in {"start", "other"} or (not self.clauses and kind == "mark"):
            return (
                following is not None
                and not following.bits & (AUX | PUNCT)
                and (token.low not in ALSO_NOUNS or not (following.bits & PREP or _is_finite(following)))
            )
        if kind in {"conj", "mark"} and self.clauses:
            if token.low in ALSO_NOUNS:
                return following is not None and (
                    bool(following.bits & (DET | POSS | OBJECT | PREP)) or not following.bits & NOT_IN_PHRASE
                )
            return True
        return False

    def _open_clause(self, i: int) -> int:
        verb = parse_verb_group(self.tokens, i, self.stop)
        clause = Clause(verb, self.start)
        set_subject(clause, self.tokens, self.chunks, self.clauses)
        self.clauses.append(clause)
        self.chunks.append(("vg", i, None))
        return max(verb.end, i + 1)

    def _set_spans(self) -> None:
        """Ends each clause where the words that lead into the next one begin."""
        for n, clause in enumerate(self.clauses):
            following = self.clauses[n + 1] if n + 1 < len(self.clauses) else None
            if following is None:
                clause.right = self.stop
                continue
            right = following.lead
            while right > clause.verb.end and self.tokens[right - 1].bits & _LEADS:
                right -= 1
            clause.right = max(right, clause.verb.end)
            following.left = clause.right
        for n, clause in enumerate(self.clauses):
            resumed = clause.subject[0].start if clause.is_resumed else clause.lead
            for before in self.clauses[:n] if clause.is_resumed else ():
                if before.verb.end <= resumed < before.right:
                    before.right = resumed
