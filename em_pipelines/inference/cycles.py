"""Which arcs of a directed graph lie on a cycle: those whose ends are in one strongly connected component."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def arcs_on_cycles(arcs: Iterable[tuple[T, T]]) -> list[tuple[T, T]]:
    """Returns the arcs that lie on a cycle, in the order given; linear in nodes and arcs."""
    wanted = list(arcs)
    component = _components(wanted)
    return [(start, goal) for start, goal in wanted if component[start] == component[goal]]


def _components(arcs: list[tuple[T, T]]) -> dict[T, int]:
    """The strongly connected component of each node: Tarjan's algorithm (SIAM J. Comput. 1, 1972) on a stack of its
    own, since chains of names may be longer than Python's."""
    onward: dict[T, list[T]] = defaultdict(list)
    for start, goal in arcs:
        onward[start].append(goal)
        onward.setdefault(goal, [])
    number: dict[T, int] = {}
    lowest: dict[T, int] = {}
    component: dict[T, int] = {}
    waiting: list[T] = []
    for root, goals in onward.items():
        if root in number:
            continue
        number[root] = lowest[root] = len(number)
        waiting.append(root)
        work = [(root, iter(goals))]
        while work:
            node, left = work[-1]
            for goal in left:
                if goal not in number:
                    number[goal] = lowest[goal] = len(number)
                    waiting.append(goal)
                    work.append((goal, iter(onward[goal])))
                    break
                if goal not in component:
                    lowest[node] = min(lowest[node], number[goal])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    while True:
                        member = waiting.pop()
                        component[member] = number[node]
                        if member == node:
                            break
    return component
