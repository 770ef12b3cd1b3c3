"""A message taken apart before anybody is looked for in it: sentences, clauses and what each clause is worth. First of
all self-corrections: `buy a ladder, no wait, rent one`, `in Bergen, sorry, Stavanger`.

A correction ends the sentence where it stands. What was said last before it is taken back; where only a name or thing
follows, that replaces the last one: the words before are said again with it, so that `We live in Bergen, sorry,
Stavanger` reads `We live in Bergen; we live in Stavanger`, of which only the second holds.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from em_pipelines.extraction.quoted_material import quoted_material
from em_pipelines.extraction.rules.modifiers import (
    LEVELS,
    Modified,
    Modifiers,
    end_questions,
    only_hedges,
    set_modifiers,
    weaken,
)
from em_pipelines.extraction.rules.sincerity import (
    is_venting,
    mark_sarcasm,
    may_mock,
    mocked_phrases,
)
from em_pipelines.extraction.rules.verbless import introduces_writer, own_unsaid_subjects, verbless_clauses
from em_pipelines.guard.passages import blanked
from em_pipelines.language.cleaning import blank_code
from em_pipelines.language.en.clause_parser import parse_clauses
from em_pipelines.language.en.clauses import Clause, SentenceParse
from em_pipelines.language.en.cues import AFTERTHOUGHT, Cue, between, find_phrases
from em_pipelines.language.en.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.language.en.tokens import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BOUNDARY,
    CONJ,
    DET,
    MONTH,
    NOT_IN_PHRASE,
    POSS,
    PUNCT,
    SUBJECT,
    WEEKDAY,
    Token,
    bits_of,
    low_at,
    sentences,
)

_MARK = ";"
_ENDS = ".!?;…\n"
_SOMEBODY = frozenset({"he", "she", "they", "it"})
_JOINING = frozenset({",", "-", "–", "—", "…"})
_LONGEST = 24
"""Words before a replacement that are said again at most."""


class Mended(NamedTuple):
    """Tokens with `marks` where something is taken back, and `seams` where words are joined that stood apart."""

    tokens: list[Token]
    marks: frozenset[int] = frozenset()
    seams: frozenset[int] = frozenset()


def mend(tokens: list[Token], cues: list[Cue], *, is_spoken: bool = False) -> Mended:
    """Takes the corrections out of a message; the tokens are as they were where there is none."""
    corrections = [cue for cue in cues if cue.tag in {"repair", "replacement"} and cue.start]
    if is_spoken:
        corrections = sorted(corrections + _spoken(tokens))
    if not corrections:
        return Mended(tokens)
    mender = _Mender(tokens)
    for cue in corrections:
        if cue.start >= mender.done and _is_exclaimed(tokens, cue):
            mender.correct(cue)
    return mender.mended()


class _Mender:
    """Copies the tokens of a message up to each correction, and from there on what it says instead."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.done = 0
        """Tokens that have been copied or left out."""
        self._out: list[Token] = []
        self._marks: set[int] = set()
        self._seams: set[int] = set()

    def correct(self, cue: Cue) -> None:
        """Goes on to the end of the cue, unless nothing fits what it would replace."""
        stop = _past_denied(self.tokens, cue)
        begin = _piece_start(self.tokens, self.done, cue.start)
        old = _last_phrase(self.tokens, begin, cue.start) if _only_phrase(self.tokens, stop) else None
        if cue.tag == "replacement" and not self._is_alike(old, stop):
            return
        if not self._end_sentence(cue.start):
            return
        if old is not None and old - begin <= _LONGEST:
            self._out += self.tokens[begin:old]
            self._seams.add(len(self._out))
        self.done = stop

    def mended(self) -> Mended:
        return Mended(self._out + self.tokens[self.done :], frozenset(self._marks), frozenset(self._seams))

    def _is_alike(self, old: int | None, new: int) -> bool:
        """Whether something stands to be replaced, and is a name where that is one."""
        return old is not None and self.tokens[old].is_capital is self.tokens[new].is_capital

    def _end_sentence(self, at: int) -> bool:
        """Copies up to token `at` and marks the end of what is taken back; False where nothing has been said."""
        self._out += self.tokens[self.done : at]
        self.done = at
        while self._out and self._out[-1].low in _JOINING:
            self._out.pop()
        if not self._out:
            return False
        if self._out[-1].low not in _ENDS:
            self._out.append(Token(_MARK, self.tokens[at].start, self.tokens[at].end, False))
        self._marks.add(len(self._out) - 1)
        return True


def _spoken(tokens: list[Token]) -> list[Cue]:
    """`call mum no she's asleep I'll text her`: in speech a lone `no`, `wait` or `actually` before a new start."""
    cues: list[Cue] = []
    for i in range(1, len(tokens) - 1):
        stop = _past_exclamation(tokens, i)
        if stop == i:
            continue
        after = low_at(tokens, stop, len(tokens))
        begins = after in {"let", "i", "we", "better"} or (tokens[i].low == "no" and after in _SOMEBODY)
        if begins and not tokens[i - 1].bits & (CONJ | AUX | DET | SUBJECT):
            cues.append(Cue(i, stop, "repair"))
    return cues


def _past_exclamation(tokens: list[Token], i: int) -> int:
    """Past a `no`, `wait`, `actually`, `hang on` or `hold on` at token i; i where there is none."""
    low = tokens[i].low
    if low in {"hang", "hold"} and tokens[i + 1].low == "on":
        return i + 2
    return i + 1 if low in {"no", "wait", "actually"} else i


def _is_exclaimed(tokens: list[Token], cue: Cue) -> bool:
    """Whether a final `no` is one, and no determiner: `actually no, …`, not `actually no dogs`."""
    if tokens[cue.stop - 1].low != "no" or cue.stop >= len(tokens):
        return True
    following = tokens[cue.stop]
    return (
        bool(following.bits & (PUNCT | SUBJECT | BOUNDARY | DET | POSS))
        or (following.verbs is not None and following.low not in ALSO_NOUNS)
        or following.low in {"let", "not"}
        or following.is_capital
    )


def _past_denied(tokens: list[Token], cue: Cue) -> int:
    """Past the cue, a comma, and what a `no not …` denies once more."""
    stop = cue.stop
    if tokens[stop - 1].low == "not":
        phrase = parse_noun_phrase(tokens, stop, len(tokens))
        stop = phrase.end if phrase is not None else stop
    while stop < len(tokens) and (tokens[stop].low == "," or tokens[stop].bits & BOUNDARY):
        stop += 1
    return stop


def _piece_start(tokens: list[Token], done: int, at: int) -> int:
    """Where the sentence, or what came after the correction before, begins."""
    for k in range(at - 1, done - 1, -1):
        if tokens[k].low in _ENDS and k < at - 1:
            return k + 1
    return done


def _only_phrase(tokens: list[Token], i: int) -> bool:
    """Whether a noun phrase, or a number, and nothing more stands up to the next mark."""
    if i >= len(tokens):
        return False
    phrase = parse_noun_phrase(tokens, i, len(tokens))
    end = phrase.end if phrase is not None else i + 1 if tokens[i].low.isdigit() else i
    while end < len(tokens) and tokens[end].bits & (ADV | BOUNDARY):
        end += 1
    return end > i and (end >= len(tokens) or bool(tokens[end].bits & PUNCT))


def _last_phrase(tokens: list[Token], begin: int, at: int) -> int | None:
    """Where the noun phrase or number begins that the words before the correction end with."""
    while at > begin and (tokens[at - 1].low in _JOINING or tokens[at - 1].low == "."):
        at -= 1
    start: int | None = None
    for k in range(at - 1, begin - 1, -1):
        if not _is_phrase(tokens, k, at):
            break
        start = k
        if _is_complete(tokens, begin, k):
            break
    return start


def _is_phrase(tokens: list[Token], start: int, end: int) -> bool:
    """Whether a noun phrase or number goes from `start` to `end`."""
    if tokens[start].bits & NOT_IN_PHRASE & ~(DET | POSS):
        return False
    phrase = parse_noun_phrase(tokens, start, end)
    return (phrase is not None and phrase.end == end) or (start == end - 1 and tokens[start].low.isdigit())


def _is_complete(tokens: list[Token], begin: int, k: int) -> bool:
    """Whether the words before token k, from `begin` on, cannot belong to the phrase that begins there."""
    if k == begin or tokens[k].bits & (DET | POSS):
        return True
    before = tokens[k - 1]
    if before.low == "to" or before.bits & (SUBJECT | AUX):
        return True
    return bool(before.verbs) and (k - 2 < begin or _may_precede_verb(tokens[k - 2]))


def _may_precede_verb(token: Token) -> bool:
    return token.low == "to" or bool(token.bits & (SUBJECT | AUX | ADV))


_STRAIGHT = str.maketrans("’‘ʼ“”„«»\u2010\u2011", "'''" + '"' * 5 + "--")
_JOINED_NAMES = re.compile(r"(?<![^\W\d_])([^\W\d_a-z][^\W\d_]*)[\u2012\u2013](?=([^\W\d_a-z][^\W\d_]*))")
_INTENDING = frozenset({"want", "need", "plan", "decide", "intend", "hope"})


def readable(text: str, *, is_note: bool = False) -> str:
    """The text to be read, of the same length: code and quoted material blanked, quotes and apostrophes straight. In
    an imported note nothing is quoted material: it is a list about the user."""
    text = blank_code(text if is_note else blanked(text, quoted_material(text)))
    return text if text.isascii() else _JOINED_NAMES.sub(_joined, text.translate(_STRAIGHT))


def _joined(match: re.Match[str]) -> str:
    """An en dash between two names joins them as a hyphen does, `Anne–Sophie`; between dates it is a range."""
    is_range = any(bits_of(word.lower()) & (WEEKDAY | MONTH) for word in match.groups())
    return match.group() if is_range else f"{match.group(1)}-"


@dataclass(slots=True)
class Sentence:
    """Tokens `start` to `stop`, its clauses with their modifiers, and its noun phrases, in order."""

    start: int
    stop: int
    clauses: list[Clause]
    modifiers: list[Modifiers]
    nouns: list[NounPhrase]
    verbless: list[Modified]
    """Clauses without a verb, with theirs."""
    mocked: list[NounPhrase]
    """What a sarcastic sentence complains of, apart from its claims."""


def parse_message(tokens: list[Token], text: str, *, is_spoken: bool = False) -> tuple[Mended, list[Sentence]]:
    """The tokens, in which self-corrections are mended, and the sentences. `is_spoken`: a transcript of speech."""
    cues = find_phrases(tokens)
    mended = mend(tokens, cues, is_spoken=is_spoken)
    if mended.marks:
        cues = find_phrases(mended.tokens)
    parser = _MessageParser(mended, text, cues, is_spoken=is_spoken)
    return mended, [parser.parse(start, stop) for start, stop in sentences(mended.tokens, text)]


class _MessageParser:
    """Parses the sentences of a message in order; each may change how the one before is meant."""

    def __init__(self, mended: Mended, text: str, cues: list[Cue], *, is_spoken: bool) -> None:
        self.tokens = mended.tokens
        self.marks = mended.marks
        self.text = text
        self.cues = cues
        self.is_spoken = is_spoken
        self.is_venting = is_venting(self.tokens, text, cues)
        self.is_profile = introduces_writer(self.tokens)
        self.is_earnest = any(cue.tag == "earnest" for cue in cues) or not may_mock(self.tokens, cues)
        self.mockery = [cue for cue in cues if cue.tag == "mockery"][:1]
        self.last: Modifiers | None = None
        """The modifiers of the last clause so far."""

    def parse(self, start: int, stop: int) -> Sentence:
        """The next sentence, from token `start` to `stop`."""
        parse = parse_clauses(self.tokens, start, stop)
        clauses = parse.clauses
        if self.is_profile:
            own_unsaid_subjects(clauses)
        here = between(self.cues, start, stop + 1)
        modifiers = set_modifiers(clauses, self.tokens, start, stop, here)
        self._weaken_last(clauses, here)
        verbless = self._verbless(parse, modifiers, here)
        modified = [*zip(clauses, modifiers, strict=True), *verbless]
        self._set_mood(modified)
        if self.is_spoken:
            end_questions(clauses, modifiers, self.tokens)
        is_mocking = not self.is_earnest and mark_sarcasm(parse, self.text, here + self.mockery, modifiers)
        if modifiers:
            self.last = modifiers[-1]
        if stop in self.marks and self.last is not None:
            _taken_back(clauses, modifiers, self.last).is_abandoned = True
        if is_mocking:
            return Sentence(start, stop, clauses, modifiers, parse.nouns, [], mocked_phrases(parse, here))
        return Sentence(start, stop, clauses, modifiers, parse.nouns, verbless, [])

    def _weaken_last(self, clauses: list[Clause], here: list[Cue]) -> None:
        """Applies what only comments on the sentence before: `I think?`, `But don't quote me.`"""
        if self.last is None or not here:
            return
        is_comment = only_hedges(clauses, self.tokens, here)
        for cue in here:
            is_afterthought = cue.tag.endswith(AFTERTHOUGHT) and _is_alone(cue, clauses)
            if is_afterthought or (is_comment and cue.tag in LEVELS):
                weaken(self.last, cue.tag)

    def _verbless(self, parse: SentenceParse, modifiers: list[Modifiers], here: list[Cue]) -> list[Modified]:
        """The clauses without a verb, where nothing in the sentence keeps them from being stated."""
        for mods in modifiers:
            if mods.is_supposed or mods.is_hypothetical or mods.is_reported or mods.is_question:
                return []
        return [
            (clause, set_modifiers([clause], self.tokens, parse.start, parse.stop, here)[0])
            for clause in verbless_clauses(parse, is_profile=self.is_profile)
        ]

    def _set_mood(self, modified: list[Modified]) -> None:
        if self.is_venting:
            for _, mods in modified:
                mods.is_venting = True


def _is_alone(cue: Cue, clauses: list[Clause]) -> bool:
    """Whether a cue stands before the first verb of its sentence and behind the start of the last, if there is any."""
    return not clauses or (cue.start <= clauses[0].verb.start and clauses[-1].verb.start < cue.stop)


def _taken_back(clauses: list[Clause], modifiers: list[Modifiers], last: Modifiers) -> Modifiers:
    """The clause that a correction takes back: the last that intends something, else the last there is."""
    for clause, mods in zip(reversed(clauses), reversed(modifiers), strict=True):
        verb = clause.verb
        is_told_to = clause.pronoun is None and not clause.subject and not verb.is_past
        if verb.is_future or is_told_to or verb.modal in {"will", "might"} or not _INTENDING.isdisjoint(verb.lemmas):
            return mods
    return last
