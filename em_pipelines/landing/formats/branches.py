"""Trees of messages: which branch of a conversation stands, where answers were asked for again and questions changed.

What stands is the branch that ends at the current message. Exports have gaps: a parent that is not there, or a loop.
What no link ties to that branch is no other way to go on from it: it stands as well, each piece with its last branch.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """One message of a tree: whom it follows, as it says and as others say, and when it was written, in seconds."""

    parent: str | None = None
    children: tuple[str, ...] = ()
    at: float | None = None


def standing(nodes: Mapping[str, Node], current: object) -> list[str]:
    """The ids of all that stands, in order. Without a current one the leaf that was written last is it, and of those
    without a time the last."""
    parents = _parents(nodes)
    pieces: list[list[str]] = []
    for piece in _pieces(nodes, parents):
        leaf = current if isinstance(current, str) and current in piece else _last_leaf(piece, nodes, parents)
        pieces.append([name for name in _up(leaf, parents) if name in nodes][::-1])
    times = [next((at for name in piece if (at := nodes[name].at) is not None), None) for piece in pieces]
    if None not in times:
        pieces = [piece for _, piece in sorted(zip(times, pieces, strict=True), key=lambda pair: pair[0] or 0.0)]
    return [name for piece in pieces for name in piece]


def _parents(nodes: Mapping[str, Node]) -> dict[str, str]:
    """Whom each follows: whom it names, else who names it as a child. Those that follow one that is not there are still
    tied together by it."""
    named = {child: name for name, node in nodes.items() for child in node.children if child in nodes}
    found = {
        name: node.parent if node.parent in nodes else named.get(name, node.parent) for name, node in nodes.items()
    }
    return {name: parent for name, parent in found.items() if parent is not None and parent != name}


def _pieces(nodes: Mapping[str, Node], parents: Mapping[str, str]) -> list[list[str]]:
    """The nodes in groups that no link ties together, in their order."""
    roots: dict[str, str] = {}
    for name in nodes:
        way = []
        while name not in roots and name not in way:
            way.append(name)
            name = parents.get(name, name)  # noqa: PLW2901  (up the tree)
        root = roots.get(name, name)
        roots.update(dict.fromkeys(way, root))
    groups: dict[str, list[str]] = {}
    for name in nodes:
        groups.setdefault(roots[name], []).append(name)
    return list(groups.values())


def _last_leaf(piece: Collection[str], nodes: Mapping[str, Node], parents: Mapping[str, str]) -> str:
    followed = {parents[name] for name in piece if name in parents}
    leaves = [name for name in piece if name not in followed] or list(piece)
    places = {name: place for place, name in enumerate(leaves)}
    return max(leaves, key=lambda name: (nodes[name].at or 0.0, places[name]))


def _up(name: str, parents: Mapping[str, str]) -> Iterator[str]:
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        yield name
        name = parents.get(name, name)
