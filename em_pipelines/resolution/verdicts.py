"""What a comparison of two names comes to, and how surely each way of comparing makes them one.

The scores rank the ways among each other; `resolution.min_score` says which of them are good enough. Also which entity
types one thing can be given, by people and extractors who call it different things.
"""

from dataclasses import dataclass

from em_pipelines.schema.vocabulary import EntityType as T


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score` 0 to 1: how surely the names are one; 0 says that they cannot be, below any other evidence."""

    method: str
    score: float

    @property
    def is_conflict(self) -> bool:
        """The names are of two things."""
        return self.score == 0.0


CONFLICT = Verdict("conflict", 0.0)
UNLIKE = Verdict("unlike", 0.0)
"""Some words are the same, and each name has its own: two things, unless one of them has two such names."""
SPELLING = Verdict("spelling", 1.0)
KNOWN = Verdict("known", 0.98)
WORD_ORDER = Verdict("word_order", 0.96)
ACRONYM = Verdict("acronym", 0.95)
ABBREVIATION = Verdict("abbreviation", 0.92)
INITIALS = Verdict("initials", 0.92)
NICKNAME = Verdict("nickname", 0.88)
IN_FULL = 0.94
PART = Verdict("part", 0.9)
MODEL = Verdict("model", 0.88)
REWORDING = "rewording"
REWORDED = frozenset({T.ACTIVITY.value, T.CONCEPT.value, T.EVENT.value, T.FOOD.value, T.MATERIAL.value, T.WORK.value})
"""Types of which one wording is as good as another, where it is no title. Of products, places or animals there may be
several of a kind."""
SHORT_FORM = Verdict("short_form", 0.86)

STRONG = frozenset({"spelling", "word_order", "known", "acronym", "abbreviation"})
"""They hold whatever else is known of the bearers."""
WEAK = frozenset({"nickname", "short_form", "similarity"})
"""They may be a namesake's as well."""
FAMILIAR = frozenset({"nickname", "short_form"})


_NEAR = (
    {T.TOOL, T.PRODUCT},
    {T.PRODUCT, T.VEHICLE},
    {T.PRODUCT, T.FOOD},
    {T.PRODUCT, T.MATERIAL},
    {T.FOOD, T.MATERIAL},
    {T.EVENT, T.ACTIVITY},
    {T.WORK, T.PRODUCT},
)
_NEAR_BY_LONG_NAMES = (
    {T.ORGANIZATION, T.PLACE},
    {T.ORGANIZATION, T.PROJECT},
    {T.ORGANIZATION, T.PRODUCT},
    {T.ORGANIZATION, T.EVENT},
    {T.PLACE, T.EVENT},
    {T.PROJECT, T.TOOL},
    {T.PROJECT, T.PRODUCT},
    {T.PROJECT, T.WORK},
)


def is_same_kind(one: str, other: str) -> bool:
    """Whether names of these types may be compared at all: equal types, or a `concept`, which is anything."""
    return one == other or T.CONCEPT in (one, other)


def is_one_under_one_name(one: str, other: str, n_tokens: int) -> bool:
    """Whether two mentions by the very same name can be one thing although their types differ.

    A club and a village share a short name easily, hardly one of two words; a tool and a product are told apart by
    taste.
    """
    if is_same_kind(one, other):
        return True
    pair = {one, other}
    return any(pair <= near for near in _NEAR) or (n_tokens > 1 and any(pair <= near for near in _NEAR_BY_LONG_NAMES))
