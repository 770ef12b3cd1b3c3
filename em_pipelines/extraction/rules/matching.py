"""Matching one frame on one clause: the conditions on its verb, then what stands right of it, slot by slot."""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.fillers import Fill
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.patterns import Element, Pattern, PatternSpec
from em_pipelines.extraction.rules.slots import fill_slot
from em_pipelines.extraction.rules.verb_group import VerbGroup
from em_pipelines.extraction.rules.word_classes import ADV, PREP, PUNCT

Slots = dict[str, list[Fill]]

_MAX_GAP = 8


def verb_fits(
    spec: PatternSpec, verb: VerbGroup, mods: Modifiers, *, is_bare: bool = False, is_lasting: bool = False
) -> bool:
    """Whether tense, modal verb and the pattern's own needs allow this verb group."""
    if mods.is_timed and not spec.may_be_timed:
        return False
    if (
        verb.modal is not None
        and verb.modal not in spec.modals
        and not (mods.is_hypothetical and verb.modal == "would")
        and not (mods.is_guess and verb.modal == "might" and not spec.needs)
    ):
        return False
    if verb.is_future and "future" not in spec.needs:
        return False
    is_left_out = is_bare and verb.is_participle and "passive" in spec.needs
    has_never = verb.is_perfect and "never" in verb.adverbs
    is_told = has_never or verb.used_to or verb.has_begun or (mods.has_ended and (verb.is_past or verb.is_perfect))
    if not is_told and not is_left_out and not _tense_fits(spec, verb, is_lasting=is_lasting):
        return False
    if not spec.needs:
        return not verb.is_passive
    has = {
        "modal": verb.modal in spec.modals,
        "negation": verb.is_negated,
        "progressive": verb.is_progressive,
        "future": verb.is_future,
        "dictated": mods.is_settled and is_bare,
        "rather": verb.modal == "would" and "rather" in verb.adverbs,
        "settled": mods.is_settled,
        "hypothetical": mods.is_hypothetical,
        "passive": verb.is_passive or (verb.is_participle and spec.may_drop_subject and is_bare),
    }
    return all(has[need] for need in spec.needs) and (not verb.is_passive or "passive" in spec.needs)


def _tense_fits(spec: PatternSpec, verb: VerbGroup, *, is_lasting: bool) -> bool:
    is_past = verb.is_past or (verb.is_perfect and not verb.is_progressive and not is_lasting)
    if spec.tense == "any":
        return True
    if spec.tense == "past":
        return is_past
    return not is_past and not (spec.tense == "simple" and verb.is_progressive)


def match_right(reading: Reading, pattern: Pattern, clause: Clause, *, either: bool = False) -> Slots | None:
    """Fills the slots right of the verb; None when the frame does not fit."""
    slots: Slots = {}
    end = _match(reading, pattern.right, 0, clause.verb.end, clause.right, slots, either)
    return slots if end is not None else None


def match_left(reading: Reading, pattern: Pattern, clause: Clause) -> Slots | None:
    """Fills the slots of a frame that spells out its subject, `my favourite {key} <be> …`; it must fit whole."""
    if clause.pronoun is not None or len(clause.subject) != 1 or clause.is_relative:
        return None
    phrase = clause.subject[0]
    slots: Slots = {}
    end = _match(reading, pattern.left, 0, phrase.start, phrase.end, slots, False)
    return slots if end == phrase.end else None


def _match(  # noqa: PLR0911, PLR0912, one return a kind of element and outcome
    reading: Reading, elements: tuple[Element, ...], n: int, i: int, stop: int, slots: Slots, either: bool
) -> int | None:
    if n == len(elements):
        return i
    element = elements[n]
    tokens = reading.tokens
    if element.kind == "gap":
        wanted = _word_needed(elements, n + 1)
        for k in range(i, min(stop, i + _MAX_GAP) + 1):
            if k > i and tokens[k - 1].bits & PUNCT and tokens[k - 1].low != ",":
                return None
            if wanted and (k >= stop or not (tokens[k].low in wanted or tokens[k].bits & ADV)):
                continue
            end = _match(reading, elements, n + 1, k, stop, slots, either)
            if end is not None:
                return end
        return None
    if element.kind == "not":
        return (
            None
            if i < stop and tokens[i].low in element.words
            else _match(reading, elements, n + 1, i, stop, slots, either)
        )
    if element.kind == "word":
        at = i
        while (
            at < stop and tokens[at].low not in element.words and tokens[at].bits & ADV and not tokens[at].bits & PREP
        ):
            at += 1
        if at < stop and tokens[at].low in element.words:
            return _match(reading, elements, n + 1, at + 1, stop, slots, either)
        return _match(reading, elements, n + 1, i, stop, slots, either) if element.is_optional else None
    at = i
    while True:
        found = fill_slot(reading, element.words, at, stop, either=either)
        if found is not None:
            slots[element.name] = found[0]
            return _match(reading, elements, n + 1, found[1], stop, slots, either)
        if at >= stop or not tokens[at].bits & ADV or tokens[at].bits & PREP:
            return None
        at += 1


def _word_needed(elements: tuple[Element, ...], n: int) -> frozenset[str]:
    """The words of which one must come next, but for adverbs; empty where none must."""
    if n < len(elements) and elements[n].kind == "word" and not elements[n].is_optional:
        return elements[n].words
    return frozenset()
