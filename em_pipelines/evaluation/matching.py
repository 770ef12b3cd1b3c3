"""When a predicted fact is the labelled one. What counts as equal is part of the corpus format, not a matter of taste.

Text is equal up to case, determiners and punctuation, at a token-set similarity (Dice) of 0.85 or more, or where an ISO
date is the beginning of the other.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from em_pipelines.schema.vocabulary import USER

MIN_SIMILARITY = 0.85
_DETERMINERS = frozenset(["a", "an", "the", "my", "our", "his", "her", "their", "your", "some", "this", "that", "its"])
_WORD = re.compile(r"[\w']+")
_ISO_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")


@lru_cache(maxsize=65_536)
def comparable(text: str) -> tuple[str, ...]:
    """The words that are compared: without case, possessive endings and, where others are left, determiners."""
    plain = text.casefold().replace("’", "'").replace("_", " ")
    words = [word.removesuffix("'s") for word in _WORD.findall(plain)]
    return tuple(word for word in words if word not in _DETERMINERS) or tuple(words)


def is_same_text(labelled: object, predicted: object) -> bool:
    """Whether a predicted name or value is the labelled one."""
    labelled, predicted = str(labelled or ""), str(predicted or "")
    one, other = comparable(labelled), comparable(predicted)
    if one == other or (_ISO_DATE.fullmatch(labelled) and predicted.startswith(labelled)):
        return True
    if not one or not other:
        return False
    shared = len(set(one) & set(other))
    return 2 * shared / (len(set(one)) + len(set(other))) >= MIN_SIMILARITY


def is_same_relation(labelled: Mapping[str, Any], predicted: Mapping[str, Any]) -> bool:
    """Whether a predicted relation is the labelled one: ends, polarity, and the relation or one as good (`also`, or
    several divided by a bar). A label without an object takes any."""
    names = {*str(labelled["relation"]).split("|"), *(labelled.get("also") or ())}
    return (
        predicted.get("relation") in names
        and (labelled.get("polarity") or 1) == (predicted.get("polarity") or 1)
        and is_same_text(labelled.get("subject", USER), predicted.get("subject"))
        and (labelled.get("object") is None or is_same_text(labelled["object"], predicted.get("object")))
    )
