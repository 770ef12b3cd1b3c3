"""Which arcs of a directed graph lie on a cycle: those whose ends are in one strongly connected component."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def arcs_on_cycles(arcs: Iterable[tuple[T, T]]) -> list[tuple[T, T]]:
    """Returns the arcs that lie on a cycle, in the order given; linear in nodes and arcs."""
    import numpy as np  # noqa: PLC0415
    from scipy.sparse import csr_array  # noqa: PLC0415  (a third of a second, and whoever only reads needs none of it)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    wanted = list(arcs)
    number: dict[T, int] = {}
    for arc in wanted:
        for node in arc:
            number.setdefault(node, len(number))
    if not number:
        return []
    starts = np.array([number[start] for start, _ in wanted])
    goals = np.array([number[goal] for _, goal in wanted])
    graph = csr_array((np.ones(len(wanted)), (starts, goals)), shape=(len(number), len(number)))
    _, component = connected_components(graph, directed=True, connection="strong")
    return [arc for arc, is_within in zip(wanted, component[starts] == component[goals], strict=True) if is_within]
