"""Whether the words around a kin phrase tell of somebody: who is named beside it, or may own it."""

from dataclasses import replace

from em_pipelines.extraction.rules.names import Reading, starts_sentence
from em_pipelines.extraction.rules.people import GENDER_OF, People, Referent, type_shown
from em_pipelines.extraction.segmentation import owner_named
from em_pipelines.language.en.lexicon import type_of_name
from em_pipelines.language.en.noun_phrases import NounPhrase
from em_pipelines.language.en.tokens import (
    AUX,
    CONJ,
    MONTH,
    NOT_IN_PHRASE,
    PAST,
    PREP,
    PUNCT,
    RELATIVE,
    S_FORM,
    WEEKDAY,
    Token,
)
from em_pipelines.schema.vocabulary import EntityType

_SENTENCE_ENDS = frozenset(".!?…\n")


def sentence_start(tokens: list[Token], i: int) -> int:
    """The first token of the sentence in which token i stands."""
    return next((k + 1 for k in range(i - 1, -1, -1) if tokens[k].low in _SENTENCE_ENDS), 0)


def is_name_apposed(reading: Reading, named: Referent, phrase: NounPhrase, kin: NounPhrase) -> bool:
    """Whether what stands before a kin phrase is a name: `Solvei, my sister, lives`; not `happy Easter, my sister!`

    A given name that is known is one. Of any other word a capital at the start of a sentence shows nothing: it has to
    be the subject of a verb or to stand behind one.
    """
    tokens = reading.tokens
    if named.gender:
        return True
    opening = tokens[sentence_start(tokens, phrase.start) : phrase.start]
    if opening:
        return tokens[phrase.start - 1].low != "," and any(token.verbs or token.bits & AUX for token in opening)
    behind = tokens[kin.end + 1 : kin.end + 2] if kin.end < len(tokens) and tokens[kin.end].low == "," else []
    behind = behind or tokens[kin.end : kin.end + 1]
    return any(token.bits & (AUX | RELATIVE) or (token.forms & (S_FORM | PAST) and not token.bits) for token in behind)


def may_own(reading: Reading, person: Referent, possessive: str) -> bool:
    """Whether the words show that `his`, `her` or `their` can be that of a name: somebody's, no place's and no firm's.

    Nor is it where the same sentence has a pronoun before the name: `he's off to see Anders, his wife is ill`.
    """
    tokens, start = reading.tokens, person.start
    pronouns = {low for low, gender in GENDER_OF.items() if gender == GENDER_OF[possessive]}
    if any(token.low in pronouns for token in tokens[sentence_start(tokens, start) : start]):
        return False
    if person.kin or person.gender or type_shown(reading, person) is EntityType.PERSON:
        return True
    is_governed = start > 0 and bool(tokens[start - 1].bits & PREP)
    acts = person.end < len(tokens) and bool(tokens[person.end].verbs or tokens[person.end].bits & AUX)
    return acts and not is_governed and type_of_name(person.name) is not EntityType.PLACE


def whose(people: People, reading: Reading, possessive: str) -> str | None:
    """Whom `his`, `her` or `their` means, by name; None where it could be several, or nobody."""
    meant = people.named_by(possessive)
    if meant is None or (people.is_among_people and not may_own(reading, meant, possessive)):
        return None
    return owner_named(people.names, meant.name)


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
