"""A graph as a drawing: where each name stands, and what joins them. The same graph is drawn the same way.

Names stand around the one that is looked at, each step away further out, those that hang on one another side by side
(a radial tree: Eades, Drawing free trees, 1992). Forces crowd what is mostly a star.
"""

import math
from dataclasses import dataclass
from typing import Any

import networkx as nx

WIDTH, HEIGHT, MARGIN = 1000, 640, 70
LONGEST_NAME = 26
INNERMOST, SECOND = 0.35, 0.72
"""Of the way to the rim: where the first step would stand if there were none, and what every second end stands at."""
_DOWN = HEIGHT / 2 - 10
NEARER = 0.68


@dataclass(frozen=True, slots=True)
class Node:
    """A name and where it stands; `kind` chooses its colour, `is_centre` says that the drawing is about it."""

    name: str
    label: str
    kind: str
    x: float
    y: float
    is_centre: bool

    @property
    def label_y(self) -> float:
        """Where its label stands, down: away from the middle, where the lines come from."""
        return round(self.y + (-14 if self.y < _DOWN else 22), 1)


@dataclass(frozen=True, slots=True)
class Arc:
    """A fact from one place to another; `sure` (0 to 1) is how strongly it is drawn. Its label stands nearer to the
    second end, where around a name with many facts there is room."""

    edge_id: str
    label: str
    is_denied: bool
    sure: float
    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def label_x(self) -> float:
        """Where its label stands, across."""
        return round(self.x1 + NEARER * (self.x2 - self.x1), 1)

    @property
    def label_y(self) -> float:
        """Where its label stands, down."""
        return round(self.y1 + NEARER * (self.y2 - self.y1) - 4, 1)


@dataclass(frozen=True, slots=True)
class Drawing:
    """What an SVG of WIDTH by HEIGHT shows."""

    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]
    width: int = WIDTH
    height: int = HEIGHT


def drawn(facts: list[dict[str, Any]], kinds: dict[str, str], about: str) -> Drawing:
    """The facts as a drawing; `kinds` are the types of names, as far as they are known."""
    graph = nx.Graph()
    for fact in sorted(facts, key=lambda one: str(one["edge_id"])):
        graph.add_edge(fact["subject"], str(fact["object"]))
    if not graph:
        return Drawing((), ())
    at = _around(graph, about)
    nodes = tuple(
        Node(name, _label(name), kinds.get(name, "value"), *at[name], is_centre=name.casefold() == about.casefold())
        for name in graph
    )
    arcs = tuple(
        Arc(
            fact["edge_id"], fact["relation"].replace("_", " "), fact["polarity"] < 0, fact["confidence"],
            *at[fact["subject"]], *at[str(fact["object"])],
        )
        for fact in facts
    )  # fmt: skip
    return Drawing(nodes, arcs)


def _around(graph: "nx.Graph[str]", about: str) -> dict[str, tuple[float, float]]:
    """Where each name stands. Each that nothing hangs on gets an equal part of the round, every second one nearer, so
    that their words do not meet; the others stand before what hangs on them."""
    centre = next((name for name in graph if name.casefold() == about.casefold()), max(graph, key=graph.degree))
    tree = nx.bfs_tree(graph, centre, sort_neighbors=sorted)
    steps = nx.shortest_path_length(tree, centre)
    ends = [name for name in nx.dfs_preorder_nodes(tree, centre) if not tree.out_degree(name)]
    turn = _turns(tree, centre, ends)
    furthest, rim = max(1, *steps.values()), dict.fromkeys(ends[::2], 1.0) | dict.fromkeys(ends[1::2], SECOND)
    places = {centre: (WIDTH / 2, _DOWN)}
    for name, n_steps in steps.items():
        before = INNERMOST + (1 - INNERMOST) * n_steps / (furthest + 1)
        if name != centre:
            out = max(before, rim.get(name, before))
            across, down = out * math.cos(turn[name]), out * math.sin(turn[name])
            place = (WIDTH / 2 + across * (WIDTH / 2 - MARGIN), _DOWN + down * (_DOWN - MARGIN / 2))
            places[name] = (round(place[0], 1), round(place[1], 1))
    return places


def _turns(tree: "nx.DiGraph[str]", centre: str, ends: list[str]) -> dict[str, float]:
    """In which direction each name stands, in radians: the ends by equal parts, the others in the middle of theirs."""
    turn = {name: 2 * math.pi * (n + 0.5) / len(ends) for n, name in enumerate(ends)}
    for name in nx.dfs_postorder_nodes(tree, centre):
        if name not in turn:
            hanging = [turn[child] for child in tree.successors(name)]
            turn[name] = sum(hanging) / len(hanging)
    return turn


def _label(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
