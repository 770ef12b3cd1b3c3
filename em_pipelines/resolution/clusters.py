"""Groups of base entities that are one: a pure function of the links between them; and what links come of: verdicts.

Every row keeps the links that were made from it, so a group can be taken apart again exactly: whatever else is said of
a group (who represents it, since when, by which names) follows from its links.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from em_pipelines.schema.rows import EntityRow
from em_pipelines.schema.vocabulary import USER
from em_pipelines.schema.vocabulary import EntityType as T

Link = tuple[datetime, str, str, str]
"""When, from, to, method."""
FEEDBACK = "feedback"


def links_of(rows: Iterable[EntityRow]) -> list[Link]:
    """All links made from these rows, oldest first."""
    return sorted(
        (link["linked_at"], row["entity_id"], link["entity_id"], link["method"])
        for row in rows
        for link in row["links"]
    )


def components(rows: Iterable[EntityRow]) -> list[list[EntityRow]]:
    """The rows, divided into groups that their links hold together; groups and rows in the order given."""
    from scipy.sparse import coo_array  # noqa: PLC0415  (a third of a second, and only splits need it)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    held = list(rows)
    place = {row["entity_id"]: n for n, row in enumerate(held)}
    pairs = [(place[one], place[other]) for _, one, other, _ in links_of(held) if other in place]
    ends = [one for one, _ in pairs], [other for _, other in pairs]
    _, labels = connected_components(coo_array(([True] * len(pairs), ends), shape=(len(held),) * 2), directed=False)
    groups: dict[int, list[EntityRow]] = {}
    for row, label in zip(held, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(row)
    return list(groups.values())


def settle(rows: list[EntityRow], rank: Callable[[EntityRow], int]) -> None:
    """Writes into the rows of one group who represents it, since when each is one with that, and all their names.

    The representative is the remembered person, else the name in the alias file, else the name that people merged into
    last, else the row of the lowest `rank`, else the one met first.
    """
    links = links_of(rows)
    merged = [(when, target) for when, _, target, method in links if method == FEEDBACK]
    chosen = max(merged)[1] if merged else None
    best = min(rows, key=lambda row: _order(row, rank(row), chosen))
    for row in rows:
        row.update({"merged_into": None, "merged_at": None, "status": "active", "aliases": [], "alias_keys": []})
    if len(rows) == 1:
        return
    since = _joined_since(best["entity_id"], links)
    names: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row["first_seen"], row["entity_id"])):
        if row is best:
            continue
        name = row["entity_id"]
        row.update({"merged_into": best["entity_id"], "merged_at": since[name], "status": "merged"})
        if row["name_key"] != best["name_key"]:
            names.setdefault(row["name_key"], row["canonical_name"])
    best.update({"aliases": list(names.values()), "alias_keys": list(names)})


def _order(row: EntityRow, rank: int, chosen: str | None) -> tuple[object, ...]:
    is_user = row["name_key"] == USER
    is_chosen = row["entity_id"] == chosen and rank > 0
    return (
        0 if is_user else 1,
        rank if rank <= 0 else (1 if is_chosen else rank + 2),
        row["first_seen"],
        -len(row["canonical_name"]),
        row["entity_id"],
    )


def _joined_since(best: str, links: list[Link]) -> dict[str, datetime]:
    """When each became one with the representative: links are added oldest first, until they meet."""
    parts: dict[str, set[str]] = {}
    since: dict[str, datetime] = {}
    for when, one, other, _ in links:
        left, right = parts.get(one, {one}), parts.get(other, {other})
        if left is right:
            continue
        joined = left | right
        if best in joined:
            for name in joined - (left if best in left else right):
                since[name] = when
        for name in joined:
            parts[name] = joined
    return since


def cut(rows: list[EntityRow], one: str, other: str) -> None:
    """Takes away links until nothing holds the two together: their own first, then those nearest to the first."""
    by_id = {row["entity_id"]: row for row in rows}
    _drop(by_id, {(one, other), (other, one)})
    while path := _path(rows, one, other):
        _drop(by_id, {(path[0], path[1]), (path[1], path[0])})


def release(rows: list[EntityRow], one: str) -> None:
    """Takes away every link from and to a row."""
    for row in rows:
        if row["entity_id"] == one:
            row["links"] = []
        else:
            row["links"] = [link for link in row["links"] if link["entity_id"] != one]


def _drop(by_id: dict[str, EntityRow], pairs: set[tuple[str, str]]) -> None:
    for one, other in pairs:
        if one in by_id:
            row = by_id[one]
            row["links"] = [link for link in row["links"] if link["entity_id"] != other]


def _path(rows: list[EntityRow], one: str, other: str) -> list[str]:
    """The shortest chain of links between two rows, or none."""
    near: dict[str, set[str]] = {}
    for _, a, b, _ in links_of(rows):
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    paths = [[one]]
    seen = {one}
    for path in paths:
        if path[-1] == other:
            return path
        for name in sorted(near.get(path[-1], set()) - seen):
            seen.add(name)
            paths.append([*path, name])
    return []


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
MEANING = "meaning"
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
