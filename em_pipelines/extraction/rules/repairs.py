"""Self-corrections: `buy a ladder, no wait, rent one`, `in Bergen, sorry, Stavanger`.

A correction ends the sentence where it stands. What was said last before it is taken back; where only a name or thing
follows, that replaces the last one: the words before are said again with it, so that `We live in Bergen, sorry,
Stavanger` reads `We live in Bergen; we live in Stavanger`, of which only the second holds.
"""

from typing import NamedTuple

from em_pipelines.extraction.rules.cues import Cue
from em_pipelines.extraction.rules.noun_phrases import parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BOUNDARY,
    CONJ,
    DET,
    NOT_IN_PHRASE,
    POSS,
    PUNCT,
    SUBJECT,
)

_MARK = ";"
_ENDS = ".!?;…\n"
_SOMEBODY = frozenset({"he", "she", "they", "it"})
_LONGEST = 24
"""Words before a replacement that are said again at most."""


class Mended(NamedTuple):
    """Tokens with `marks` where something is taken back, and `seams` where words are joined that stood apart."""

    tokens: list[Token]
    marks: frozenset[int] = frozenset()
    seams: frozenset[int] = frozenset()


def mend(tokens: list[Token], cues: list[Cue], *, is_spoken: bool = False) -> Mended:
    """Takes the corrections out of a message; the tokens are as they were where there is none."""
    found = [cue for cue in cues if cue.tag in {"repair", "replacement"} and cue.start]
    if is_spoken:
        found = sorted(found + _spoken(tokens))
    if not found:
        return Mended(tokens)
    out: list[Token] = []
    marks: set[int] = set()
    seams: set[int] = set()
    done = 0
    for cue in found:
        if cue.start < done or not _is_exclaimed(tokens, cue):
            continue
        stop = _past_denied(tokens, cue)
        begin = _piece_start(tokens, done, cue.start)
        new = _only_phrase(tokens, stop)
        old = _last_phrase(tokens, begin, cue.start) if new else None
        if cue.tag == "replacement" and (old is None or tokens[old].is_capital is not tokens[stop].is_capital):
            continue
        out += tokens[done : cue.start]
        while out and out[-1].low in {",", "-", "–", "—", "…"}:
            out.pop()
        if not out:
            done = cue.start
            continue
        if out[-1].low not in _ENDS:
            out.append(Token(_MARK, tokens[cue.start].start, tokens[cue.start].end, False))
        marks.add(len(out) - 1)
        if old is not None and old - begin <= _LONGEST:
            out += tokens[begin:old]
            seams.add(len(out))
        done = stop
    return Mended(out + tokens[done:], frozenset(marks), frozenset(seams))


def _spoken(tokens: list[Token]) -> list[Cue]:
    """`call mum no she's asleep I'll text her`: in speech a lone `no`, `wait` or `actually` before a new start."""
    found = []
    for i in range(1, len(tokens) - 1):
        stop = i + 2 if tokens[i].low in {"hang", "hold"} and tokens[i + 1].low == "on" else i + 1
        if stop == i + 1 and tokens[i].low not in {"no", "wait", "actually"}:
            continue
        after = tokens[stop].low if stop < len(tokens) else ""
        begins = after in {"let", "i", "we", "better"} or (tokens[i].low == "no" and after in _SOMEBODY)
        if begins and not tokens[i - 1].bits & (CONJ | AUX | DET | SUBJECT):
            found.append(Cue(i, stop, "repair"))
    return found


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
    while at > begin and tokens[at - 1].low in {",", "-", "–", "—", "…", "."}:
        at -= 1
    found: int | None = None
    for k in range(at - 1, begin - 1, -1):
        bits = tokens[k].bits
        if bits & NOT_IN_PHRASE & ~(DET | POSS):
            break
        phrase = parse_noun_phrase(tokens, k, at)
        if (phrase is None or phrase.end != at) and not (k == at - 1 and tokens[k].low.isdigit()):
            break
        found = k
        before = tokens[k - 1] if k > begin else None
        if before is None or before.low == "to" or before.bits & (SUBJECT | AUX) or bits & (DET | POSS):
            break
        earlier = tokens[k - 2] if k - 2 >= begin else None
        if before.verbs and (earlier is None or earlier.low == "to" or earlier.bits & (SUBJECT | AUX | ADV)):
            break
    return found
