"""Praise that is not meant: which sentences mock, and what they mock.

One sign alone proves nothing. Two turn a liking into its opposite; one keeps it from being read at all; and who says
that it is meant (`genuinely`, `not joking`) is believed.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.cues import Cue
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import PUNCT, VERB_FORMS, WEEKDAY

_OPENINGS = words("sarcasm", "openings")
_PRAISE = words("sarcasm", "praise")
_MORE = words("sarcasm", "more")
_UNLOVED = words("sarcasm", "unloved")
_COMPLAINTS = words("sarcasm", "complaints")
_INTENSIFIERS = words("sarcasm", "intensifiers")
_LOVE = frozenset({"love", "adore", "enjoy"})
_EVALUATIVE = _PRAISE | _OPENINGS
_LOVING = frozenset({"love", "adore", "enjoy", "loves", "adores", "enjoys", "loved", "adored", "enjoyed"}) | {
    "loving",
    "adoring",
    "enjoying",
}
_MOCKED_WITH = _EVALUATIVE | _LOVING
_EVALUATING = _EVALUATIVE | {form for form, lemmas in VERB_FORMS.items() if not _LOVE.isdisjoint(lemmas)}
_ENOUGH = 2
_NEAR = 25
"""Words after the sentence in which a complaint still belongs to it."""


def may_mock(tokens: list[Token], cues: list[Cue]) -> bool:
    """Whether any sentence of a message could: most hold no word that judges, and need no closer look."""
    return any(cue.tag == "sarcasm" for cue in cues) or not _MOCKED_WITH.isdisjoint([token.low for token in tokens])


def mark_sarcasm(
    tokens: list[Token], text: str, start: int, stop: int, cues: list[Cue], modifiers: list[Modifiers]
) -> bool:
    """Notes on the clauses of a sentence whether they mock or may; returns whether the sentence does.

    `cues` are those of the sentence, and one of open mockery (`🙄`) where there is one anywhere in the message.
    """
    here = [cue.tag for cue in cues if start <= cue.start <= stop]
    if not ("sarcasm" in here or _is_evaluative(tokens, start, stop)):
        return False
    direct = 2 * here.count("sarcasm") + here.count("irony") + any(cue.tag == "mockery" for cue in cues)
    lows = {token.low for token in tokens[start:stop]}
    if unloved := _loves_unloved(tokens, start, stop):
        direct += 1 + bool(lows & _INTENSIFIERS)
    opens = tokens[start].low in _OPENINGS and not any(cue.start == start and cue.tag == "irony" for cue in cues)
    after = {token.low for token in tokens[start : stop + _NEAR]}
    weak = opens + bool(after & _COMPLAINTS and not unloved) + _is_shouted(tokens, text, start, stop)
    weak += tokens[start].low in _OPENINGS and bool(lows & _MORE)
    is_denied = stop + 1 < len(tokens) and tokens[stop + 1].low == "not" and tokens[-1].low in {"not", ".", "!"}
    is_mocking = is_denied or (direct + weak >= _ENOUGH and (direct > 0 or opens))
    for mods in modifiers:
        mods.is_sarcastic = is_mocking
        mods.is_doubtful = direct > 0
    return is_mocking


def mocked_phrases(
    tokens: list[Token], start: int, stop: int, cues: list[Cue], clauses: list[Clause]
) -> list[NounPhrase]:
    """What a mocking sentence is about, where no verb of liking says so: `Oh great, another fire drill`."""
    found: list[NounPhrase] = []
    first_verb = clauses[0].verb.start if clauses else stop
    for i in range(start, min(first_verb, stop)):
        if tokens[i].low in {"another", "more"}:
            phrase = parse_noun_phrase(tokens, i, first_verb)
            if phrase is not None:
                _take_in_noun(tokens, phrase, first_verb)
            if phrase is not None and (phrase.end >= stop or tokens[phrase.end].bits & PUNCT):
                found.append(phrase)
            break
    for cue in cues:
        if cue.tag == "sarcasm" and start <= cue.start < cue.stop < stop:
            at = cue.stop + (tokens[cue.stop].low == "than")
            phrase = parse_noun_phrase(tokens, at, stop)
            found += [phrase] if phrase is not None else []
    for clause in clauses:
        complement = {token.low for token in tokens[clause.verb.end : clause.right]}
        if "be" in clause.verb.lemmas and clause.subject and not clause.verb.is_negated and complement & _PRAISE:
            found += clause.subject
    return found


def _take_in_noun(tokens: list[Token], phrase: NounPhrase, stop: int) -> None:
    """`another Monday meeting`: a noun after a day belongs to the phrase here, as no date is meant."""
    while tokens[phrase.head].bits & WEEKDAY and phrase.end < stop and not tokens[phrase.end].bits:
        phrase.head, phrase.end = phrase.end, phrase.end + 1


def _is_evaluative(tokens: list[Token], start: int, stop: int) -> bool:
    return not _EVALUATING.isdisjoint([token.low for token in tokens[start:stop]])


def _loves_unloved(tokens: list[Token], start: int, stop: int) -> bool:
    for i in range(start, stop):
        verbs = tokens[i].verbs
        if verbs is not None and not _LOVE.isdisjoint(verbs):
            return any(token.low in _UNLOVED for token in tokens[i + 1 : min(stop, i + 5)])
    return False


def _is_shouted(tokens: list[Token], text: str, start: int, stop: int) -> bool:
    """`I just LOVE it`, `it is AMAZING`: praise in capitals."""
    return any(
        (token.low in _PRAISE or (token.verbs is not None and not _LOVE.isdisjoint(token.verbs)))
        and token.is_capital
        and text[token.start : token.end].isupper()
        for token in tokens[start:stop]
    )
