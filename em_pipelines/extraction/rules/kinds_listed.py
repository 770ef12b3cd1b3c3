"""Kinds of phrase that are a matter of words: the head noun is in a list, or in none (`lexicon/kinds.yaml`)."""

from collections.abc import Callable

from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.noun_phrases import KIN, KIN_MODIFIERS, PETS, NounPhrase

Test = Callable[[Reading, NounPhrase], bool]


def _heads(names: list[str]) -> frozenset[str]:
    return frozenset().union(*(_list(name) for name in names))


def _list(name: str) -> frozenset[str]:
    file, key, *rest = name.split(".")
    return frozenset(str(load_lexicon(file)[key][rest[0]]).split()) if rest else words(file, key)


LISTED = {
    kind: (_heads(rule["heads"]) if "heads" in rule else None, _heads(rule.get("except", [])))
    for kind, rule in load_lexicon("kinds").items()
}


def listed(kind: str) -> Test:
    heads, excluded = LISTED[kind]

    def test(reading: Reading, phrase: NounPhrase) -> bool:
        low = reading.tokens[phrase.head].low
        return low in heads if heads is not None else low not in excluded

    return test


def kin_noun(reading: Reading, phrase: NounPhrase) -> int | None:
    """The token of the kin or pet noun of `my best friend Jonne`; None when the phrase is no kin phrase."""
    tokens = reading.tokens
    i = phrase.first
    while i < phrase.end and tokens[i].low in KIN_MODIFIERS:
        if tokens[i].low in KIN and not (i + 1 < phrase.end and tokens[i + 1].low in KIN):
            break
        i += 1
    return i if i < phrase.end and (tokens[i].low in KIN or tokens[i].low in PETS) else None


is_thing = listed("thing")
is_possession = listed("possession")
