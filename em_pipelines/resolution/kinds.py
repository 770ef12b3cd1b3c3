"""Which entity types one thing can be given, by people and extractors who call it different things."""

from em_pipelines.vocabulary import EntityType as T

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
