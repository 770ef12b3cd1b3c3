"""What it means that one name of a thing is the other with more words, by the kind of thing."""

from em_pipelines.resolution.lexicon import homes, words
from em_pipelines.resolution.naming import Name
from em_pipelines.resolution.verdicts import CONFLICT, PART, Verdict
from em_pipelines.vocabulary import EntityType as T

_NUMBERED = frozenset({T.PRODUCT.value, T.VEHICLE.value})
MIN_MODEL_DIGITS = 3
"""`The 265` is the Forerunner 265; a 7 or a 12 may be anything."""


def compare_part(short: Name, long: Name) -> Verdict | None:
    """A name and the same with more words: `Norrby` and `FC Norrby`, `New York` and `New York City`."""
    size = len(short.tokens)
    is_front = long.tokens[:size] == short.tokens
    is_back = long.tokens[-size:] == short.tokens
    extra = [token for token in long.tokens if token not in short.tokens]
    kind = short.entity_type if short.entity_type != T.CONCEPT else long.entity_type
    if not (is_front or is_back):
        return None
    if all(token.isdigit() for token in short.tokens):
        return PART if kind in _NUMBERED and is_back and len(short.compact) >= MIN_MODEL_DIGITS else None
    if kind == T.PLACE:
        return _place_part(short, long, extra, is_front=is_front)
    if short.is_legal:
        return CONFLICT
    return _PARTS.get(kind, _common_part)(short, long, extra, is_front)


def _place_part(short: Name, long: Name, extra: list[str], *, is_front: bool) -> Verdict | None:
    """`Paris, France` is Paris, `Paris, Texas` is not; `York` is no part of New York."""
    if not is_front or set(extra) & words("far_kinds"):
        return CONFLICT
    if "," in long.text:
        known = homes().get(short.compact)
        if known is None:
            return PART
        return PART if "".join(extra) in known or extra[-1] in known else CONFLICT
    if short.compact in homes() and extra[0] not in words("small_words"):
        return CONFLICT
    return PART if extra[0] in words("small_words") or set(extra) <= words("place_nouns") else None


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
    return PART if short.is_proper and long.is_proper and short.entity_type != T.CONCEPT else None


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
