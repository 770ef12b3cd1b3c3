"""Drawings of graphs: every name in the frame, none on another, whatever hangs on what."""

from itertools import combinations, pairwise
from math import dist

import pytest

from em_pipelines.interfaces.ui.drawing import HEIGHT, WIDTH, drawn

STAR = [("user", f"thing {n}") for n in range(60)]
CHAIN = list(pairwise(["user", "ada", "bo", "cy", "di", "ed", "flo"]))
GRAPHS = {
    "star": STAR,
    "chain": CHAIN,
    "circle": [*CHAIN, ("flo", "user")],
    "both": STAR[:20] + CHAIN + [("bo", f"pet {n}") for n in range(9)],
    "itself": [("user", "user")],
    "pair": [("user", "ada"), ("ada", "user")],
}


def facts(pairs: list[tuple[str, str]]) -> list[dict[str, object]]:
    return [
        {"edge_id": f"e{n}", "subject": one, "relation": "knows", "object": other, "polarity": 1, "confidence": 0.9}
        for n, (one, other) in enumerate(pairs)
    ]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("about", ["user", "USER", "bo", "nobody"])
def test_names_stand_apart_and_in_the_frame(name: str, about: str) -> None:
    made = drawn(facts(GRAPHS[name]), {}, about)
    names = {one for pair in GRAPHS[name] for one in pair}
    assert {node.name for node in made.nodes} == names
    assert all(0 < node.x < WIDTH and 0 < node.y < HEIGHT and 0 < node.label_y < HEIGHT for node in made.nodes)
    places = [(node.x, node.y) for node in made.nodes]
    assert min((dist(one, other) for one, other in combinations(places, 2)), default=99) > 18
    assert len(made.arcs) == len(GRAPHS[name])


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawn([], {}, "user").nodes == ()
