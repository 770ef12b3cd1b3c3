"""One user's graph in pages: facts as edges, what they join as nodes, then names that no fact stands for yet.

What readers see and nothing else: feedback that waits is laid over it, what is about to be erased is left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from em_pipelines.governance.audit.rows import Row, World
from em_pipelines.language.name_keys import name_key
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import hidden
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.schema.vocabulary import STORED_AS_VALUE, PrivacyLevel

MAX_PAGE_ITEMS = 500


@dataclass(frozen=True, slots=True)
class GraphPage:
    """A page: edges, and the nodes at their ends; `next_offset` is where the next one begins, None after the last.

    `n_items` counts all edges and all names without one. A node is known by its name; `entity_id` is None where no run
    has met the name yet.
    """

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    n_items: int
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """Which page: from `offset` on, of `n_items` items at most."""

    offset: int
    n_items: int


def graph_page(
    home: Pipeline, user_id: str, facts: list[dict[str, Any]], part: Part, view: DomainView | None = None
) -> GraphPage:
    """A page; the same memory gives the same pages.

    `facts` are those of `serving.facts`, of this user, as the `view` tells them; of things it tells the names that fell
    in its domain, and not how often.
    """
    offset, n_items = part.offset, part.n_items
    edges = sorted(facts, key=lambda fact: fact["edge_id"])
    names = dict.fromkeys(name for edge in edges for name in _ends(edge))
    known = {name_key(row["canonical_name"]): row for row in _shown(home, user_id, view)}
    alone = sorted(
        {row["canonical_name"] for row in known.values()} - {*names}, key=lambda name: (name_key(name), name)
    )
    here = edges[offset : offset + n_items]
    rest = max(0, offset - len(edges)), max(0, offset + n_items - len(edges))
    shown = sorted({*(name for edge in here for name in _ends(edge)), *alone[rest[0] : rest[1]]})
    total = len(edges) + len(alone)
    return GraphPage(
        nodes=[_node(name, known.get(name_key(name))) for name in shown],
        edges=[_edge(edge) for edge in here],
        n_items=total,
        next_offset=offset + n_items if offset + n_items < total else None,
    )


def _shown(home: Pipeline, user_id: str, view: DomainView | None) -> Iterator[Row]:
    """The entities by which names are read, but for what is never surfaced, what is about to be erased, and what only
    other domains name."""
    veils = hidden(home, user_id)
    for row in World(home.store.lake, user_id).entities.values():
        is_closed = row["requires_verification"] or row["privacy_level"] == PrivacyLevel.PRIVILEGED
        names = (row["canonical_name"], *row["aliases"])
        is_covered = any(veil.is_all or any(veil.names.is_in(name) for name in names) for veil in veils)
        if row["merged_into"] is not None or is_closed or is_covered:
            continue
        if view is None:
            yield row
        elif (name := view.name(row["entity_id"], row["canonical_name"])) is not None:
            aliases = [alias for alias in row["aliases"] if view.says(alias) and alias != name]
            yield {**row, "canonical_name": name, "aliases": aliases, "mention_count": None}


def _ends(fact: dict[str, Any]) -> tuple[str, ...]:
    """The names at the ends of a fact; a literal is none."""
    return (fact["subject"],) if fact["relation"] in STORED_AS_VALUE else (fact["subject"], fact["object"])


def _node(name: str, row: Row | None) -> dict[str, Any]:
    if row is None:
        return {"name": name, "entity_id": None, "entity_type": None, "aliases": [], "n_mentions": 0}
    return {
        "name": name,
        "entity_id": row["entity_id"],
        "entity_type": row["entity_type"],
        "aliases": list(row["aliases"]),
        "n_mentions": row["mention_count"],
    }


def _edge(fact: dict[str, Any]) -> dict[str, Any]:
    carried = (
        "edge_id", "subject", "relation", "object", "statement", "polarity", "confidence", "status", "valid_from",
        "valid_to",
    )  # fmt: skip
    return {**{name: fact[name] for name in carried}, "is_literal": fact["relation"] in STORED_AS_VALUE}
