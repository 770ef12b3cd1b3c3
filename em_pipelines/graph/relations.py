"""Relations as the fold compares them: which say the same the other way round, and which cannot hold together."""

from functools import cache

import pyarrow as pa

from em_pipelines.vocabulary import FUNCTIONAL, RELATIONS, SYMMETRIC

PREFERENCE = "preference"
"""The family of relations that speak for or against one thing, and so can contradict each other."""
TONES: dict[str, tuple[int, int]] = {
    "likes": (1, -1),
    "prefers": (1, 0),
    "interested_in": (1, 0),
    "might_be_interested_in": (0, 0),
    "dislikes": (-1, 0),
}
"""Whether a relation speaks for (1) or against (-1) its object, stated and denied: who no longer prefers a thing, or
does not dislike it, says neither."""
KEPT_DIRECTION = {"child_of": "parent_of", "has_part": "part_of", "manages": "reports_to"}
"""Inverse relations, and the one that stands for both when facts are compared; the functional one where one is."""
ACYCLIC = frozenset({"part_of", "parent_of", "reports_to", "located_in"})
"""Relations (of those that are kept) in which nothing can be above itself."""
TAKEN_BACK_TOGETHER: tuple[frozenset[str], ...] = (
    frozenset({"likes", "prefers", "interested_in", "might_be_interested_in"}),
    frozenset({"wants", "needs", "plans", "decided"}),
    frozenset({"owns", "uses", "has_pet"}),
    frozenset({"did", "attended", "visited"}),
    frozenset({"knows", "friend_of", "colleague_of", "relates_to"}),
    frozenset({"is_a", "works_as"}),
)
"""Relations between which extractors differ for one sentence: who takes one of them back means the sentence."""


def kept(relation: str) -> str:
    """The relation under which a fact is compared."""
    return KEPT_DIRECTION.get(relation, relation)


def taken_back_with(relation: str) -> frozenset[str]:
    """Relations that go when a fact of this one is taken back."""
    return next((group for group in TAKEN_BACK_TOGETHER if relation in group), frozenset({relation}))


@cache
def relation_kinds() -> pa.Table:
    """One row a relation: how SQL is to compare it."""
    rows = [
        {
            "relation": relation,
            "relation_key": kept(relation),
            "family": PREFERENCE if relation in TONES else kept(relation),
            "is_functional": kept(relation) in FUNCTIONAL,
            "is_inverse": relation in KEPT_DIRECTION,
            "is_symmetric": relation in SYMMETRIC,
            "tone": TONES.get(relation, (0, 0))[0],
            "tone_denied": TONES.get(relation, (0, 0))[1],
        }
        for relation in sorted(RELATIONS)
    ]
    return pa.Table.from_pylist(rows)
