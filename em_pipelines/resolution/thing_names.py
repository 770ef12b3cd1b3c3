"""Whether two names can be one thing's, by their wording alone; also where one is the other with more words.

People's names are judged elsewhere.
"""

from collections.abc import Callable

from rapidfuzz import fuzz
from rapidfuzz.distance import DamerauLevenshtein, Indel

from em_pipelines.language.cleaning import is_capital
from em_pipelines.language.name_keys import fold
from em_pipelines.resolution.clusters import (
    ABBREVIATION,
    ACRONYM,
    CONFLICT,
    KNOWN,
    MODEL,
    PART,
    REWORDED,
    REWORDING,
    SPELLING,
    UNLIKE,
    WORD_ORDER,
    Verdict,
)
from em_pipelines.resolution.name_parts import Name
from em_pipelines.resolution.rewordings import is_clipped, likeness
from em_pipelines.resolution.word_lists import homes, words
from em_pipelines.schema.vocabulary import EntityType as T

MIN_FUZZY_LETTERS = 5
MIN_INITIALS = 3
MIN_PLURAL_LETTERS = 4
MIN_TELLING_DIGITS = 3
MIN_SUBSTITUTED_LETTERS = 8
_NUMBERED = frozenset({T.PRODUCT.value, T.VEHICLE.value})
MIN_MODEL_DIGITS = 3
"""`The 265` is the Forerunner 265; a 7 or a 12 may be anything."""


def compare_things(one: Name, other: Name) -> Verdict | None:
    """Returns the verdict of the first way of comparing that has one."""
    if _have_other_numbers(one, other):
        return CONFLICT if _share(one, other) else None
    verdict = _verdict_of_rules(one, other)
    if verdict is not None:
        return verdict
    if reworded := _likeness(one, other):
        return Verdict(REWORDING, reworded)
    short, long = sorted((one, other), key=lambda name: len(name.tokens))
    if set(short.tokens) <= set(long.tokens):
        return compare_part(short, long)
    spelt = similarity(one, other)
    if spelt:
        return Verdict("similarity", spelt)
    return UNLIKE if _share(one, other) else None


def _likeness(one: Name, other: Name) -> float:
    """How much two names say the same in other words, 0 to 1."""
    if is_clipped(one, other):
        return 1.0
    return likeness(one, other) if _is_kind(one) and _is_kind(other) else 0.0


def _is_kind(name: Name) -> bool:
    """Whether it names what is done or a kind of things, and is no title."""
    return name.entity_type in REWORDED and not (name.entity_type == T.WORK and name.is_proper)


def _have_other_numbers(one: Name, other: Name) -> bool:
    are_other = one.digits != other.digits and one.known_as != other.known_as
    return are_other and bool(one.digits and other.digits)


def _verdict_of_rules(one: Name, other: Name) -> Verdict | None:
    for verdict, is_so in _SYMMETRIC:
        if is_so(one, other):
            return verdict
    for verdict, is_so in _DIRECTED:
        if is_so(one, other) or is_so(other, one):
            return verdict
    return None


def _is_in_another_order(one: Name, other: Name) -> bool:
    is_kind = {one.entity_type, other.entity_type} <= REWORDED and not (one.is_proper or other.is_proper)
    # A horse race is no race horse, though a cup of coffee is a coffee cup: of kinds of things, rewordings know.
    return one.entity_type != T.WORK and not is_kind and _telling(one) == _telling(other)


def _is_plural(one: Name, other: Name) -> bool:
    """`tomato`, `tomatoes`: of what is eaten and worked with, one is as good as many."""
    if not {one.entity_type, other.entity_type} <= {T.FOOD, T.MATERIAL} or one.is_proper or other.is_proper:
        return False
    short, long = sorted((one.compact, other.compact), key=len)
    return len(short) >= MIN_PLURAL_LETTERS and long in (f"{short}s", f"{short}es", f"{short[:-1]}ies")


def _telling(name: Name) -> list[str]:
    return sorted(token for token in name.tokens if token not in words("small_words"))


def _share(one: Name, other: Name) -> bool:
    """Whether both have words in common, and words of their own."""
    return bool(set(one.tokens) & set(other.tokens))


def is_acronym(short: Name, long: Name) -> bool:
    """`UCLA` of University of California, Los Angeles: one word of three to six letters that are the first ones of a
    proper name's words.

    Two letters fit too many names: those need a message that introduces both, `Harvey Specter (HS)`, or that speaks of
    `the FT` as of something known. Nor are a common noun's initials its name.
    """
    return len(short.compact) >= MIN_INITIALS and are_initials(short, long)


def are_initials(short: Name, long: Name) -> bool:
    """Whether a name of two to six letters has the first ones of the words of a proper name."""
    word = short.compact
    if len(short.all_tokens) != 1 or not 2 <= len(word) <= 6 or len(long.all_tokens) < 2:
        return False
    if not (short.is_proper and _is_all_proper(long)):
        return False
    telling = [token for token in long.all_tokens if token not in words("small_words")]
    return word in ("".join(t[0] for t in long.all_tokens), "".join(t[0] for t in telling))


def _is_all_proper(name: Name) -> bool:
    """Whether each of its words that tells anything is written like a name."""
    telling = [word for word in name.text.split() if fold(word) not in words("small_words")]
    return all(is_capital(word) or word[0].isdigit() for word in telling)


def _is_partly_acronym(one: Name, other: Name) -> bool:
    """`NY Times` of New York Times: one word is the initials of words that the other has in its place."""
    short, long = one.tokens, other.tokens
    if not 2 <= len(short) < len(long) or not (one.is_proper and _is_all_proper(other)):
        return False
    for n, word in enumerate(short):
        size = len(long) - len(short) + 1
        is_rest_equal = long[:n] == short[:n] and long[n + size :] == short[n + 1 :]
        if is_rest_equal and word == "".join(token[0] for token in long[n : n + size]):
            return True
    return False


def is_abbreviated(short: Name, long: Name) -> bool:
    """`PS4` of PlayStation 4, `Win 10` of Windows 10: the same numbers behind, and a word shortened before."""
    one, other = short.tokens, long.tokens
    if not (short.digits and len(one) == len(other) == 2 and one[1:] == other[1:]):
        return False
    word, full = one[0], other[0]
    least = 1 if len(one[1]) >= MIN_TELLING_DIGITS else 2
    return len(word) < len(full) and least <= len(word) <= 4 and word[0] == full[0] and _is_in_order(word, full)


def _is_in_order(word: str, full: str) -> bool:
    letters = iter(full)
    return all(letter in letters for letter in word)


def _is_stem(short: Name, long: Name) -> bool:
    """`Rabbit` of RabbitMQ, `Mongo` of MongoDB: what is left of a tool's name without the capitals at its end."""
    if {short.entity_type, long.entity_type} - {T.TOOL, T.PROJECT, T.CONCEPT} or not short.is_proper:
        return False
    stem, rest = long.text[: len(short.text)], long.text[len(short.text) :]
    return stem.casefold() == short.text.casefold() and rest.isalpha() and rest.isupper() and len(rest) > 1


def _is_same_model(one: Name, other: Name) -> bool:
    """`Galaxy A53` and `Samsung A53`: a maker or a family, and the same letters and number behind it."""
    if one.entity_type not in (T.PRODUCT, T.VEHICLE) or len(one.tokens) != len(other.tokens) or len(one.tokens) < 3:
        return False
    return one.tokens[1:] == other.tokens[1:] and bool(one.digits) and one.tokens[-2].isalpha()


def similarity(one: Name, other: Name) -> float:
    """Likeness of two spellings, 0 to 1 (rapidfuzz's ratio); 0 for short names, other numbers, other first letters,
    and where more than a slip of the pen is between them."""
    a, b = one.compact, other.compact
    if min(len(a), len(b)) < MIN_FUZZY_LETTERS or a[0] != b[0] or one.digits != other.digits:
        return 0.0
    if _have_more_slips(a, b) or _have_other_words(one, other):
        return 0.0
    return float(max(fuzz.ratio(a, b) / 100, Indel.normalized_similarity(a, b), 0.85 if _is_transposed(a, b) else 0.0))


def _have_more_slips(one: str, other: str) -> bool:
    """Whether there are more slips of the pen between two spellings than one, or two in long ones."""
    allowed = 1 if min(len(one), len(other)) < 9 else 2
    return DamerauLevenshtein.distance(one, other, score_cutoff=allowed) > allowed


def _have_other_words(one: Name, other: Name) -> bool:
    """Whether a word is more than a slip of the pen from the other's: Cinder Lake is not Cinder Lane, Uno not Nano."""
    if len(one.tokens) != len(other.tokens):
        return " " in one.text and " " in other.text
    return any(a != b and not _is_slip(a, b) for a, b in zip(one.tokens, other.tokens, strict=True))


def _is_slip(one: str, other: str) -> bool:
    """Letters swapped, one too many or too few; another in its place only in a long word."""
    if min(len(one), len(other)) < MIN_FUZZY_LETTERS or DamerauLevenshtein.distance(one, other) > 2:
        return False
    return len(one) != len(other) or len(one) >= MIN_SUBSTITUTED_LETTERS or _is_transposed(one, other)


def _is_transposed(one: str, other: str) -> bool:
    return sorted(one) == sorted(other)


def compare_part(short: Name, long: Name) -> Verdict | None:
    """A name and the same with more words: `Norrby` and `FC Norrby`, `New York` and `New York City`."""
    size = len(short.tokens)
    is_front = long.tokens[:size] == short.tokens
    is_back = long.tokens[-size:] == short.tokens
    if not (is_front or is_back):
        return None
    extra = [token for token in long.tokens if token not in short.tokens]
    kind = short.entity_type if short.entity_type != T.CONCEPT else long.entity_type
    if all(token.isdigit() for token in short.tokens):
        return _number_part(short, kind, is_back=is_back)
    if kind == T.PLACE:
        return _place_part(short, long, extra, is_front=is_front)
    if short.is_legal:
        return CONFLICT
    return _PARTS.get(kind, _common_part)(short, long, extra, is_front)


def _number_part(number: Name, kind: str, *, is_back: bool) -> Verdict | None:
    return PART if is_back and kind in _NUMBERED and len(number.compact) >= MIN_MODEL_DIGITS else None


def _place_part(short: Name, long: Name, extra: list[str], *, is_front: bool) -> Verdict | None:
    """`Paris, France` is Paris, `Paris, Texas` is not; `York` is no part of New York."""
    if not is_front or set(extra) & words("far_kinds"):
        return CONFLICT
    if "," in long.text:
        return PART if _is_home(short, extra) else CONFLICT
    if short.compact in homes() and extra[0] not in words("small_words"):
        return CONFLICT
    return PART if extra[0] in words("small_words") or set(extra) <= words("place_nouns") else None


def _is_home(place: Name, land: list[str]) -> bool:
    """Whether a place may lie in a land: one that everybody knows lies in its own."""
    known = homes().get(place.compact)
    return known is None or "".join(land) in known or land[-1] in known


def _version_part(short: Name, _: Name, extra: list[str], is_front: bool) -> Verdict | None:
    """`Python 3` is Python; `React Native` is not React; `Excel` is Microsoft Excel."""
    if is_front:
        return PART if all(_is_version(token) for token in extra) else CONFLICT
    return PART if short.is_proper and len(extra) <= 2 else None


def _product_part(short: Name, long: Name, extra: list[str], is_front: bool) -> Verdict | None:
    """`S23` is the Galaxy S23, `Zaptec` may be the Zaptec Go; an iPhone 12 is no iPhone 12 mini, and a soil probe of
    two kinds are two."""
    if not (short.is_proper or long.is_proper):
        return None
    if is_front and short.digits and set(extra) & words("variants"):
        return CONFLICT
    return PART


def _project_part(_: Name, __: Name, extra: list[str], is_front: bool) -> Verdict | None:
    if set(extra) & words("variants"):
        return CONFLICT
    return PART if is_front and len(extra) <= 2 else None


def _organization_part(short: Name, long: Name, extra: list[str], is_front: bool) -> Verdict | None:
    """`Norrby` is FC Norrby; AC Milan is no Inter Milan, and a foundation not whom it is named after."""
    if set(extra) & {"foundation", "museum", "hospital"} or not set(short.all_tokens) <= set(long.all_tokens):
        return CONFLICT
    return PART if is_front or len(extra) == 1 else None


def _work_part(short: Name, long: Name, extra: list[str], is_front: bool) -> Verdict | None:
    """A title may lack its subtitle or its end, if enough is left; one word of a longer title may be a title itself,
    and a part or a season is not the whole."""
    if set(extra) & words("instalments") or any(token.isdigit() for token in extra):
        return CONFLICT
    if is_front and (":" in long.text or len(short.tokens) > 2):
        return PART
    return CONFLICT if is_front else None


def _common_part(short: Name, long: Name, _: list[str], __: bool) -> Verdict | None:
    """Common nouns: red wine is no wine that somebody else had; what a definite article makes of it is judged where
    the message is known."""
    is_whole = set(short.all_tokens) <= set(long.all_tokens)  # a Tartu regatta is no Tartu book fair
    return PART if is_whole and short.is_proper and long.is_proper and short.entity_type != T.CONCEPT else None


_PARTS = {
    T.TOOL.value: _version_part,
    T.PRODUCT.value: _product_part,
    T.VEHICLE.value: _product_part,
    T.PROJECT.value: _project_part,
    T.ORGANIZATION.value: _organization_part,
    T.WORK.value: _work_part,
}


def _is_version(token: str) -> bool:
    return token == "v" or token[0].isdigit()


_SYMMETRIC: tuple[tuple[Verdict, Callable[[Name, Name], bool]], ...] = (
    (KNOWN, lambda one, other: one.known_as == other.known_as),
    (SPELLING, lambda one, other: one.tokens == other.tokens),
    (SPELLING, _is_plural),
    (WORD_ORDER, _is_in_another_order),
    (MODEL, _is_same_model),
)
_DIRECTED: tuple[tuple[Verdict, Callable[[Name, Name], bool]], ...] = (
    (ACRONYM, is_acronym),
    (ABBREVIATION, _is_partly_acronym),
    (ABBREVIATION, is_abbreviated),
    (PART, _is_stem),
)
