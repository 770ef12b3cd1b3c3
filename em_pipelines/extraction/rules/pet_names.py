"""Names behind a kin or pet noun: `three cats: Miso, Tofu and Nori`, `a cat (Miso)`, `our dogs Rex and Bella`."""

from em_pipelines.extraction.rules.names import Reading, starts_sentence
from em_pipelines.extraction.rules.noun_phrases import PETS, NounPhrase
from em_pipelines.extraction.rules.people import Referent
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import CONJ, MONTH, NOT_IN_PHRASE, PREP, PUNCT, RELATIVE, WEEKDAY
from em_pipelines.vocabulary import EntityType

_OPENERS = frozenset({":", ",", "(", "-", "–", "—", "called", "named"})
_JOINTS = frozenset({",", "and", "&"})
_MAX_NAMES = 8


def names_behind(reading: Reading, phrase: NounPhrase, person: Referent, stop: int) -> list[Referent]:
    """The names after a phrase that gives only the noun; one for a single creature, several for a plural."""
    tokens = reading.tokens
    i = phrase.end
    opener = tokens[i].low if i < stop else ""
    if opener in _OPENERS:
        i += 1
    elif not person.kin.endswith("s"):
        return []
    found: list[Referent] = []
    kind = EntityType.ANIMAL if person.kin in PETS else EntityType.PERSON
    while i < stop and len(found) < _MAX_NAMES:
        end = _name_end(tokens, i, stop)
        if end == i:
            break
        name = reading.text[tokens[i].start : tokens[end - 1].end]
        found.append(Referent(name, kind, i, end, person.gender if person.gender != "p" else "", person.kin))
        i = end
        if i + 2 < stop and tokens[i].low == "(" and tokens[i + 2].low == ")":
            i += 3
        while i < stop and tokens[i].low in _JOINTS:
            i += 1
    if not found or (len(found) > 1 and not person.kin.endswith("s") and person.kin not in {"children"}):
        return []
    last = found[-1].end
    is_closed = (
        last >= stop or bool(tokens[last].bits & (PUNCT | CONJ | PREP | RELATIVE)) or opener in {"called", "named", ""}
    )
    return found if is_closed else []


def _name_end(tokens: list[Token], i: int, stop: int) -> int:
    j = i
    while j < stop and tokens[j].is_capital and not tokens[j].bits & (WEEKDAY | MONTH | PUNCT):
        if j == i and (tokens[j].bits & NOT_IN_PHRASE or (starts_sentence(tokens, j) and tokens[j - 1].low in ".!?\n")):
            break
        j += 1
    return j
