"""Clauses: sentences come apart at their finite verbs, each with its subject and its span.

What this module finds is grammar alone: verb groups (auxiliaries, negation and main verb), the subject of each, and
where its complements may stand. What a clause is worth (hedged, asked, supposed, reported) is `modifiers`' business.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
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
_DEICTIC = words("words", "deictic")


def parse_clauses(tokens: list[Token], start: int, stop: int) -> tuple[list[Clause], list[NounPhrase]]:
    """The clauses of one sentence and all its noun phrases, in order."""
    parser = _Parser(tokens, start, stop)
    clauses = parser.run()
    return clauses, [chunk[2] for chunk in parser.chunks if chunk[2] is not None]


class _Parser:
    """One pass over a sentence: chunks it, and opens a clause at every finite verb."""

    def __init__(self, tokens: list[Token], start: int, stop: int) -> None:
        self.tokens = tokens
        self.start = start
        self.stop = stop
        self.clauses: list[Clause] = []
        self.chunks: list[tuple[str, int, NounPhrase | None]] = []
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
        if self._starts_verb(i):
            return self._open_clause(i)
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
        return any(kind & BASE for kind in (token.verbs or {}).values()) or bool(token.bits & AUX)

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
        forms = 0
        for form in (token.verbs or {}).values():
            forms |= form
        if kind == "pron":
            low = self.tokens[at].low
            if forms & (BASE | S_FORM | PAST):
                return True
            return low in VERB_SUBJECTS and not bits & (NOT_IN_PHRASE | ADV)
        if token.is_capital and i > self.start:
            return False
        if token.low in {"called", "named"} and kind == "np" and i + 1 < self.stop and self.tokens[i + 1].is_capital:
            return False
        if not forms & (BASE | S_FORM | PAST):
            return False
        if kind in {"np", "rel"}:
            return not bits & PREP or kind == "rel"
        if bits & (PREP | SUBORD) and kind != "start":
            return False
        return self._is_coordinated(kind, token, i)

    def _is_coordinated(self, kind: str, token: Token, i: int) -> bool:
        """Verbs without a subject of their own: after `and` or a comma, or at the very start of a sentence."""
        following = self.tokens[i + 1] if i + 1 < self.stop else None
        if kind in {"start", "other"} or (not self.clauses and kind == "mark"):
            return (
                following is not None
                and not following.bits & (AUX | PUNCT)
                and (token.low not in ALSO_NOUNS or not following.bits & PREP)
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
        self._set_subject(clause)
        self.clauses.append(clause)
        self.chunks.append(("vg", i, None))
        return max(verb.end, i + 1)

    def _set_subject(self, clause: Clause) -> None:
        kind, at, phrase = self.chunks[-1] if self.chunks else ("start", 0, None)
        if kind == "pron":
            clause.pronoun = clause.lead = at
            if not self.clauses and [c[0] for c in self.chunks[-3:-1]] == ["np", "conj"]:
                clause.companion = self.chunks[-3][2]
        elif kind == "np" and phrase is not None:
            clause.subject = self._subject_phrases()
            clause.lead = clause.subject[0].start
        elif kind == "rel":
            clause.is_relative = True
            clause.lead = at
            before = next((c[2] for c in reversed(self.chunks[:-1]) if c[0] != "mark"), None)
            clause.subject = [before] if before is not None else []
        elif kind == "mark" and self._closes_apposition():
            named = self.chunks[-2][2]
            assert named is not None
            clause.subject, clause.lead = [named], named.start
        elif clause.verb.inverted_subject is not None:
            clause.pronoun = clause.verb.inverted_subject
        elif kind in {"conj", "mark"} and self.clauses and self.tokens[clause.verb.start - 1].low not in _DEICTIC:
            shared = self.clauses[-1]
            if not shared.verb.is_inverted:
                clause.pronoun, clause.subject = shared.pronoun, shared.subject
                clause.is_shared = True
        if clause.pronoun is None and not clause.subject and not clause.is_relative:
            clause.lead = self._start_of_unread(clause.verb.start)

    def _start_of_unread(self, verb_start: int) -> int:
        """Where the words before a verb without a known subject begin: after the last mark, joint or verb."""
        for kind, at, _ in reversed(self.chunks):
            if kind in {"mark", "conj", "vg"}:
                return at + 1 if kind != "vg" else verb_start
        return verb_start

    def _closes_apposition(self) -> bool:
        """`my mother, Ruth, was …`: the name between commas is the subject."""
        kinds = [chunk[0] for chunk in self.chunks[-4:]]
        if kinds != ["np", "mark", "np", "mark"] or any(self.tokens[self.chunks[n][1]].low != "," for n in (-1, -3)):
            return False
        earlier = self.chunks[-5][0] if len(self.chunks) > 4 else "start"
        named = self.chunks[-2][2]
        return (
            earlier in {"start", "conj", "mark", "other"} and named is not None and self.tokens[named.first].is_capital
        )

    def _subject_phrases(self) -> list[NounPhrase]:
        """The phrases before the verb: `A and B`, or the first of `A in B`; never the object of the verb before."""
        found: list[NounPhrase] = []
        n = len(self.chunks) - 1
        while n >= 0:
            kind, _, phrase = self.chunks[n]
            if kind != "np" or phrase is None:
                break
            found.insert(0, phrase)
            before = self.chunks[n - 1][0] if n else "start"
            if before == "prep" and n >= 2 and self.chunks[n - 2][0] == "np":
                earlier = self.chunks[n - 3][0] if n >= 3 else "start"
                if earlier in {"start", "mark", "conj", "other"}:
                    found.clear()
                    n -= 2
                    continue
            if before not in {"conj", "mark"} or n < 2 or self.chunks[n - 2][0] != "np":
                break
            origin = self.chunks[n - 3][0] if n >= 3 else "start"
            if origin in {"vg", "prep", "inf"} or self.tokens[self.chunks[n - 1][1]].low not in {"and", ",", "&", "or"}:
                break
            n -= 2
        if len(found) > 1 and not self._has_and(found):
            return found[-1:]
        return found

    def _has_and(self, phrases: list[NounPhrase]) -> bool:
        return any(self.tokens[k].low in {"and", "&", "or"} for k in range(phrases[-2].end, phrases[-1].start))

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
