"""A graph as a drawing: where each name stands, and what joins them. The same graph is drawn the same way."""

from dataclasses import dataclass
from typing import Any

import networkx as nx
from threadpoolctl import threadpool_limits

WIDTH, HEIGHT, MARGIN = 1000, 640, 70
SEED = 7
LONGEST_NAME = 26
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
    first = nx.spring_layout(graph, seed=SEED, iterations=30, weight=None)
    with threadpool_limits(1):  # for so few places more threads take ten times as long
        places = nx.kamada_kawai_layout(graph, pos=first, weight=None)
    at = _spread(places)
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


def _spread(places: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Where each name stands, so that the drawing is filled in both directions."""
    across = _stretched([float(place[0]) for place in places.values()], MARGIN, WIDTH - MARGIN)
    down = _stretched([float(place[1]) for place in places.values()], MARGIN / 2, HEIGHT - MARGIN)
    return dict(zip(places, zip(across, down, strict=True), strict=True))


def _stretched(values: list[float], low: float, high: float) -> list[float]:
    least, span = min(values), max(values) - min(values)
    return [round(low + (value - least) / span * (high - low) if span else (low + high) / 2, 1) for value in values]


def _label(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
