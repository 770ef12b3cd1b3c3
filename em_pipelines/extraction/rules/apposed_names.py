"""Names that stand behind a kin or pet noun and take its place.

`three cats: Miso, Tofu and Nori`.
"""

from dataclasses import replace

from em_pipelines.extraction.rules.names import Reading, starts_sentence
from em_pipelines.extraction.rules.noun_phrases import NounPhrase
from em_pipelines.extraction.rules.people import Referent
from em_pipelines.extraction.rules.tokens import CONJ, MONTH, NOT_IN_PHRASE, PREP, PUNCT, RELATIVE, WEEKDAY, Token

_OPENERS = frozenset({":", ",", "(", "-", "–", "—", "called", "named"})
_OPENS_NAMES = frozenset({"called", "named", ""})
"""After these words, or after nothing but the noun, the names need no mark behind them."""
_JOINTS = frozenset({",", "and", "&"})
_MAX_NAMES = 8


def names_behind(reading: Reading, phrase: NounPhrase, person: Referent, stop: int) -> list[Referent]:
    """The names after a phrase that gives only the noun; one for a single creature, several for a plural."""
    tokens = reading.tokens
    gender = person.gender if person.gender != "p" else ""
    names = []
    for start, end in _spans_behind(tokens, phrase.end, stop, person.kin):
        name = reading.text[tokens[start].start : tokens[end - 1].end]
        names.append(replace(person, name=name, start=start, end=end, gender=gender, is_own=False))
    return names


def _spans_behind(tokens: list[Token], i: int, stop: int, kin: str) -> list[tuple[int, int]]:
    """First token and end of each name that stands behind a kin or pet noun, which ends before token i."""
    is_plural = kin.endswith("s")
    opener = tokens[i].low if i < stop else ""
    if opener not in _OPENERS and not is_plural:
        return []
    spans = _name_spans(tokens, i + (opener in _OPENERS), stop)
    is_too_many = len(spans) > 1 and not is_plural and kin != "children"
    if not spans or is_too_many:
        return []
    return spans if opener in _OPENS_NAMES or _ends_names(tokens, spans[-1][1], stop) else []


def _name_spans(tokens: list[Token], i: int, stop: int) -> list[tuple[int, int]]:
    """First token and end of each name in a row that begins at token i: `Miso (7), Tofu and Nori`."""
    spans: list[tuple[int, int]] = []
    while i < stop and len(spans) < _MAX_NAMES:
        end = _name_end(tokens, i, stop)
        if end == i:
            break
        spans.append((i, end))
        i = _past_joints(tokens, end, stop)
    return spans


def _past_joints(tokens: list[Token], i: int, stop: int) -> int:
    """Past one word in brackets, and past commas and `and`."""
    if i + 2 < stop and tokens[i].low == "(" and tokens[i + 2].low == ")":
        i += 3
    while i < stop and tokens[i].low in _JOINTS:
        i += 1
    return i


def _ends_names(tokens: list[Token], i: int, stop: int) -> bool:
    return i >= stop or bool(tokens[i].bits & (PUNCT | CONJ | PREP | RELATIVE))


def _name_end(tokens: list[Token], i: int, stop: int) -> int:
    j = i
    while j < stop and tokens[j].is_capital and not tokens[j].bits & (WEEKDAY | MONTH | PUNCT):
        if j == i and (tokens[j].bits & NOT_IN_PHRASE or (starts_sentence(tokens, j) and tokens[j - 1].low in ".!?\n")):
            break
        j += 1
    return j
