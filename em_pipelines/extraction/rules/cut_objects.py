"""Whether the object of a claim is cut: it ends where what it says goes on.

`a special | meaning`, `turn the barn | into a shop`.
"""

from em_pipelines.extraction.rules.worth import OPINIONS, TASTES, WISHES, Stated
from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.tokens import ADV, BASE, NUMBER, OBJECT, PREP, PUNCT, RELATIVE, Token
from em_pipelines.language.en.verb_groups import is_ing
from em_pipelines.schema.vocabulary import LITERAL_OBJECT

_ADJECTIVES = words("worth", "adjectives")
_COMPLETED = words("worth", "completed")
_HARMLESS = words("worth", "harmless_adverbs")
_KINDS_WITH_THE = words("worth", "kinds_with_the")
_UNITS = words("worth", "units")
_TOO_FEW = frozenset({"enough", "more", "less", "much", "most"})
_GOING_ON = words("words", "possessives") | {"a", "an", "the", "up", "out", "down", "each", "there", "here"}
"""Words after an -ing that begin what it is done to."""
_TIMES = words("words", "time_heads") | words("words", "time_units") | {"morning", "evening", "afternoon", "month"}
_TIME_STARTS = frozenset({"last", "next", "past", "this", "each", "every", "ago", "all"})
_QUOTES = frozenset({'"', "“", "”", "‘"})
_COMPLETING = frozenset({"into", "to", "as", "onto", "off", "up", "out", "away", "over", "down", "with"})
_DESCRIBING = LITERAL_OBJECT | {"has_nationality", "follows", "feels", "is_a", "made_of", "speaks", "has_name"}
"""What these take is said by adjectives, names and numbers."""


def is_cut(stated: Stated) -> bool:
    """Whether the object ends where what it says goes on, or with a word that only describes."""
    if stated.relation in _DESCRIBING:
        return False
    last = stated.said[-1]
    if last.low == "back" or last.low in _TOO_FEW or _is_without_number(stated) or _is_round_the_corner(stated):
        return True
    if _is_how_often(stated):
        return True
    if (last.low in _ADJECTIVES and not last.is_capital and not _is_adjective_named(stated)) or _is_old_one(stated):
        return True
    return (_ends_frame(stated) and _goes_on(stated, last)) or (stated.is_doing and _is_doing_cut(stated))


def _is_old_one(stated: Stated) -> bool:
    """`I gave my old | desk to a student`: mostly there is a new one."""
    phrase = stated.phrase
    is_gone = stated.relation == "owns" and stated.match.pattern.spec.polarity < 0
    return is_gone and phrase is not None and any(t.low == "old" for t in stated.tokens[phrase.start : phrase.head])


def _is_how_often(stated: Stated) -> bool:
    """`I study every | evening`: when, and not what."""
    phrase = stated.phrase
    return phrase is not None and phrase.det in {"each", "every"} and stated.said[-1].low in _TIMES


def _is_round_the_corner(stated: Stated) -> bool:
    """`the school round | the corner`: where something is, taken for a part of its name."""
    following = stated.tokens[stated.fill.end : stated.fill.end + 1]
    return stated.said[-1].low == "round" and len(stated.said) > 1 and any(t.low in _GOING_ON for t in following)


def _is_without_number(stated: Stated) -> bool:
    """`200 | watt panels`, `two | inch nails`, `eighty | centimetres`: the number belongs to the unit."""
    phrase, tokens = stated.phrase, stated.tokens
    if phrase is None or phrase.first == 0:
        return False
    if phrase.end == phrase.first + 1 and stated.relation != "owns":
        return False
    return tokens[phrase.first].low.rstrip("s") in _UNITS and bool(tokens[phrase.first - 1].bits & NUMBER)


def _is_adjective_named(stated: Stated) -> bool:
    """`the cold`: an adjective that stands for a thing."""
    phrase = stated.phrase
    return phrase is not None and phrase.det == "the" and stated.said[-1].low in _KINDS_WITH_THE


def _ends_frame(stated: Stated) -> bool:
    """Whether the frame has nothing behind its object: in `find operetta dull` the word behind belongs to the frame."""
    right = [element for element in stated.match.pattern.right if element.kind != "not"]
    return bool(right) and right[-1].kind == "slot"


def _goes_on(stated: Stated, last: Token) -> bool:
    """`a special | meaning`, `improving | my area`, `reading | "Kim"`, `furniture | that looks great`."""
    tokens, end = stated.tokens, stated.fill.end
    if end >= len(tokens):
        return False
    following = tokens[end]
    if following.bits & RELATIVE:
        return stated.relation in (OPINIONS if following.low == "that" else TASTES)
    if following.low in _QUOTES:
        return stated.is_doing
    if following.low == "than" and stated.relation == "prefers":  # "I'd rather eat my hat than go back"
        return end + 1 < len(tokens) and bool(tokens[end + 1].forms & BASE)
    if is_ing(last) and not last.is_capital and following.low in _GOING_ON:
        return True
    is_apart = following.bits or following.low in _TIME_STARTS or (last.is_capital and is_ing(following))
    return not is_apart and _is_part_of_phrase(following)


def _is_part_of_phrase(token: Token) -> bool:
    """Whether a word right behind a phrase can only belong to it: no verb of its own, no name that begins anew."""
    return (token.verbs is None or is_ing(token)) and not token.is_capital and token.low[0].isalpha()


def _is_doing_cut(stated: Stated) -> bool:
    """`put | in`, `turn the barn | into a shop`, `live | openly`, `to openly | live`, `name | it`."""
    tokens, fill = stated.tokens, stated.fill
    before = [t.low for t in tokens[max(stated.match.clause.verb.end, fill.start - 2) : fill.start]]
    if stated.said[-1].low == "next":  # "I start next | Wednesday"
        return True
    if any(low.endswith("ly") and low not in _HARMLESS for low in before):
        return True
    return fill.end < len(tokens) and (_is_said_how(stated, tokens[fill.end]) or _is_open(stated, tokens[fill.end]))


def _is_said_how(stated: Stated, following: Token) -> bool:
    """`live | openly`, what is done to `it`, and a wish to `swap | for an evening`."""
    is_done_to = following.bits & OBJECT or _is_alone_her(stated)
    if len(stated.said) == 1 and (is_done_to or (following.bits & PREP and stated.relation in WISHES)):
        return True
    is_manner = following.low.endswith("ly") and following.bits & ADV and following.low not in _HARMLESS
    return bool(is_manner) and len(stated.said) < 3


def _is_alone_her(stated: Stated) -> bool:
    """`visit | her in June`: whom, and not whose."""
    tokens, end = stated.tokens, stated.fill.end
    after = tokens[end + 1].bits if end + 1 < len(tokens) else PUNCT
    return tokens[end].low == "her" and bool(after & (PUNCT | PREP | ADV))


def _is_open(stated: Stated, following: Token) -> bool:
    """`turn the barn | into a shop`, `hiking to the gym` of `prefer hiking to the gym`."""
    if stated.relation == "prefers" and is_ing(stated.said[0]) and any(token.low == "to" for token in stated.said):
        return True
    if following.low == "of":  # "sell the British part | of my stamps"
        return True
    verbs = stated.said[0].verbs or {}
    is_open = following.low in _COMPLETING or following.low in _ADJECTIVES or bool(following.forms & BASE)
    return not _COMPLETED.isdisjoint(verbs) and (is_open or ("put" in verbs and bool(following.bits & PREP)))
