"""How far a message is meant as it is worded: praise that mocks, steam let off, and fiction.

No single sign proves mockery or venting; what counts is how many there are. Who says that it is meant (`genuinely`,
`not joking`) is believed. Fiction goes on to the end of the message, or to where the writer says so.
"""

from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.language.en.clauses import Clause, SentenceParse
from em_pipelines.language.en.cues import Cue
from em_pipelines.language.en.lexicon import in_order, words
from em_pipelines.language.en.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.language.en.tokens import FINITE, PUNCT, VERB_FORMS, WEEKDAY, Token, low_at

_OPENINGS = words("sarcasm", "openings")
_PRAISE = words("sarcasm", "praise")
_MORE = words("sarcasm", "more")
_UNLOVED = words("sarcasm", "unloved")
_COMPLAINTS = words("sarcasm", "complaints")
_ALSO_PLAIN = frozenset(in_order("sarcasm", "also_plain"))
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
_MOCKING_FROM = 2
"""Signs from which a sentence mocks."""
_AFTERMATH = 25
"""Words after the sentence in which a complaint still belongs to it."""
_VENTING_FROM = 2
"""Kinds of sign from which a message vents."""
_ABSOLUTES = words("venting", "absolutes")
_BAD = words("venting", "bad")
_FEELINGS = words("nouns", "feelings") | words("venting", "feeling")
_EXCLAMATIONS = words("venting", "exclamations")
_BURDENS = words("venting", "burdens")
_ESCAPES = words("venting", "escapes")
_HATE = frozenset({"hate", "loathe", "despise", "detest"})
_HATING = frozenset(lemma + ending for lemma in _HATE for ending in ("", "s", "es", "d", "ed", "ing")) | {
    "hating",
    "loathing",
    "despising",
}
_SIGNS = _ABSOLUTES | _FEELINGS | _EXCLAMATIONS | _HATING
"""Words without one of which nothing vents; shouting and wishes alone do not."""
_OWN = frozenset({"i", "'m", "me", "my", "am"})
_DESPAIR = words("venting", "despair")
_INTENSE = frozenset({"so", "utterly", "completely", "totally", "absolutely", "beyond"})
_WISHING = frozenset({"want", "wanna", "wish"})
_NEAR = 8
"""Words within which two parts of a sign stand."""
_SHOUTED = 3


def may_mock(tokens: list[Token], cues: list[Cue]) -> bool:
    """Whether any sentence of a message could: most hold no word that judges, and need no closer look."""
    return any(cue.tag == "sarcasm" for cue in cues) or not _MOCKED_WITH.isdisjoint([token.low for token in tokens])


def mark_sarcasm(parse: SentenceParse, text: str, cues: list[Cue], modifiers: list[Modifiers]) -> bool:
    """Notes on the clauses of a sentence whether they mock or may; returns whether the sentence does.

    `cues` are those of the sentence, and one of open mockery (`🙄`) where there is one anywhere in the message.
    One direct sign alone keeps a liking from being read; two signs, not all of them weak, turn it into its opposite.
    """
    tokens, start, stop = parse.tokens, parse.start, parse.stop
    tags = [cue.tag for cue in cues if start <= cue.start <= stop and not _may_be_meant(tokens, cue, stop)]
    lows = [token.low for token in tokens[start:stop]]
    if "sarcasm" not in tags and _EVALUATING.isdisjoint(lows):
        return False
    is_unloved = _loves_unloved(tokens, start, stop)
    direct = _n_direct_signs(tags, cues, lows, is_unloved=is_unloved)
    opens = _opens_mocking(parse, cues)
    weak = opens + _n_weak_signs(parse, text, lows, is_unloved=is_unloved)
    is_mocking = _is_denied_after(parse) or (direct + weak >= _MOCKING_FROM and (direct > 0 or opens))
    for mods in modifiers:
        mods.is_sarcastic = is_mocking
        mods.is_doubtful = direct > 0
    return is_mocking


def _may_be_meant(tokens: list[Token], cue: Cue, stop: int) -> bool:
    """`Who doesn't love marzipan?`: a phrase that mocks only what nobody likes."""
    words_of_cue = " ".join(token.low for token in tokens[cue.start : cue.stop])
    if words_of_cue not in _ALSO_PLAIN:
        return False
    return _UNLOVED.isdisjoint([token.low for token in tokens[cue.stop : stop]])


def _n_direct_signs(tags: list[str], cues: list[Cue], lows: list[str], *, is_unloved: bool) -> int:
    """Signs of mockery: phrases, which are two in one or only one, `🙄`, and love of what nobody loves."""
    n_signs = 2 * tags.count("sarcasm") + tags.count("irony") + any(cue.tag == "mockery" for cue in cues)
    if is_unloved:
        n_signs += 1 + (not _INTENSIFIERS.isdisjoint(lows))
    return n_signs


def _opens_mocking(parse: SentenceParse, cues: list[Cue]) -> bool:
    """`Oh great, …`; a phrase that has been counted opens nothing."""
    is_counted = any(cue.start == parse.start and cue.tag == "irony" for cue in cues)
    return parse.tokens[parse.start].low in _OPENINGS and not is_counted


def _n_weak_signs(parse: SentenceParse, text: str, lows: list[str], *, is_unloved: bool) -> int:
    """Signs that prove no mockery without a direct one: a complaint behind, capitals, `great, more …`."""
    tokens, start, stop = parse.tokens, parse.start, parse.stop
    after = [token.low for token in tokens[start : stop + _AFTERMATH]]
    is_complaint = not is_unloved and not _COMPLAINTS.isdisjoint(after)
    has_more = tokens[start].low in _OPENINGS and not _MORE.isdisjoint(lows)
    return is_complaint + has_more + _is_praise_shouted(tokens, text, start, stop)


def _is_denied_after(parse: SentenceParse) -> bool:
    """`I love it. Not.`"""
    return low_at(parse.tokens, parse.stop + 1, len(parse.tokens)) == "not" and parse.tokens[-1].low in {
        "not",
        ".",
        "!",
    }


def mocked_phrases(parse: SentenceParse, cues: list[Cue]) -> list[NounPhrase]:
    """What a mocking sentence is about, where no verb of liking says so: `Oh great, another fire drill`."""
    tokens = parse.tokens
    phrases = _another(parse)
    for cue in cues:
        if cue.tag == "sarcasm" and parse.start <= cue.start < cue.stop < parse.stop:
            phrase = parse_noun_phrase(tokens, cue.stop + (tokens[cue.stop].low == "than"), parse.stop)
            phrases += [phrase] if phrase is not None else []
    for clause in parse.clauses:
        if "be" in clause.verb.lemmas and not clause.verb.is_negated and _is_praised(clause, tokens):
            phrases += clause.subject
    return phrases


def _another(parse: SentenceParse) -> list[NounPhrase]:
    """The first thing before any verb of which there is `another` or `more`, and nothing else said."""
    tokens = parse.tokens
    stop = parse.clauses[0].verb.start if parse.clauses else parse.stop
    at = next((i for i in range(parse.start, min(stop, parse.stop)) if tokens[i].low in {"another", "more"}), stop)
    phrase = parse_noun_phrase(tokens, at, stop)
    if phrase is None:
        return []
    _take_in_noun(tokens, phrase, stop)
    return [phrase] if phrase.end >= parse.stop or tokens[phrase.end].bits & PUNCT else []


def _is_praised(clause: Clause, tokens: list[Token]) -> bool:
    return not _PRAISE.isdisjoint([token.low for token in tokens[clause.verb.end : clause.right]])


def _take_in_noun(tokens: list[Token], phrase: NounPhrase, stop: int) -> None:
    """`another Monday meeting`: a noun after a day belongs to the phrase here, as no date is meant."""
    while tokens[phrase.head].bits & WEEKDAY and phrase.end < stop and not tokens[phrase.end].bits:
        phrase.head, phrase.end = phrase.end, phrase.end + 1


def _loves_unloved(tokens: list[Token], start: int, stop: int) -> bool:
    for i in range(start, stop):
        verbs = tokens[i].verbs or {}
        if not _LOVE.isdisjoint(verbs) or ("wait" in verbs and low_at(tokens, i + 1, stop) == "for"):
            return any(token.low in _UNLOVED for token in tokens[i + 1 : min(stop, i + 5)])
    return False


def _is_praise_shouted(tokens: list[Token], text: str, start: int, stop: int) -> bool:
    """`I just LOVE it`, `it is AMAZING`: praise in capitals."""
    return any(
        (token.low in _PRAISE or (token.verbs is not None and not _LOVE.isdisjoint(token.verbs)))
        and token.is_capital
        and text[token.start : token.end].isupper()
        for token in tokens[start:stop]
    )


def is_venting(tokens: list[Token], text: str, cues: list[Cue]) -> bool:
    """Whether the message as a whole lets off steam."""
    if any(cue.tag == "venting" for cue in cues):
        return True
    if _SIGNS.isdisjoint([token.low for token in tokens]) and "aa" not in text.lower():
        return False
    signs = _signs(tokens)
    if signs and _is_anger_shouted(tokens, text):
        signs.add("shouting")
    return _is_unhappy(signs) and len(signs) >= _VENTING_FROM


def _signs(tokens: list[Token]) -> set[str]:
    """The kinds of sign in the words of a message."""
    signs: set[str | None] = set()
    for i, token in enumerate(tokens):
        mood = _mood_at(tokens, i)
        if mood is None and token.low in _WISHING and "feeling" in signs and _is_intense(tokens):
            mood = "wish"
        signs |= {mood, _outburst_at(tokens, i)}
    return {sign for sign in signs if sign is not None}


def _mood_at(tokens: list[Token], i: int) -> str | None:
    """The kind of sign that the word at token i is of how somebody is."""
    low = tokens[i].low
    if low in _EXCLAMATIONS or (low.startswith("aa") and low.endswith("h")):
        return "exclamation"
    if low in _ABSOLUTES and _is_judged(tokens, i):
        return "absolute"
    return "feeling" if low in _FEELINGS and _lows(tokens, i - 4, i) & _OWN else None


def _outburst_at(tokens: list[Token], i: int) -> str | None:
    """The kind of sign that what begins at token i is: the wish to be out of it, hatred, `!!`."""
    token = tokens[i]
    if token.low == "want" and _lows(tokens, i + 1, i + 5) & _ESCAPES:
        return "escape"
    if token.verbs and not _HATE.isdisjoint(token.verbs) and _lows(tokens, i - 3, i) & _OWN:
        return "hatred" if _lows(tokens, i + 1, i + 5) & (_BURDENS | _ABSOLUTES) else "dislike"
    return "shouting" if token.low == "!" and low_at(tokens, i + 1, len(tokens)) == "!" else None


def _is_unhappy(signs: set[str]) -> bool:
    """Whether the signs are of more than excitement."""
    if not signs.isdisjoint({"absolute", "feeling", "hatred"}):
        return True
    return "exclamation" in signs and not signs.isdisjoint({"escape", "dislike"})


def _is_intense(tokens: list[Token]) -> bool:
    """`I'm so angry`, `I feel utterly useless`: what is wished in such a state is of the hour."""
    return any(
        token.low in _DESPAIR and _lows(tokens, i - 2, i) & _INTENSE and _lows(tokens, i - 4, i) & _OWN
        for i, token in enumerate(tokens)
    )


def _lows(tokens: list[Token], start: int, stop: int) -> set[str]:
    return {token.low for token in tokens[max(0, start) : stop]}


def _is_judged(tokens: list[Token], i: int) -> bool:
    """`everything is terrible`, `nobody ever helps`, `nothing works`: the absolute with a judgement or a verb."""
    stop = next((k for k in range(i, min(len(tokens), i + _NEAR)) if tokens[k].bits & PUNCT), i + _NEAR)
    after = tokens[i + 1 : stop]
    if any(token.low in _BAD for token in after):
        return True
    if tokens[i].low not in {"nobody", "nothing", "no-one"}:
        return False
    return any(k & FINITE for token in after[:3] for k in (token.verbs or {}).values())


def _is_anger_shouted(tokens: list[Token], text: str) -> bool:
    shouted = [t for t in tokens if t.is_capital and t.end - t.start >= _SHOUTED and text[t.start : t.end].isupper()]
    return 0 < len(shouted) <= len(tokens) // 2 and any(t.low in _ABSOLUTES | _BAD | {"again"} for t in shouted)
