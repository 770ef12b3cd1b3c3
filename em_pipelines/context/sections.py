"""What a block is made of: sections of lines, and how they share its budget.

A section that a later part of memory fills, experiences or probes, is one more function that gives a Section; its place
is in `ORDER`. Whoever makes lines writes them with `markup`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from em_pipelines.context.markup import opening
from em_pipelines.context.tokens import count_tokens

ORDER = ("facts", "experiences", "related", "probes", "reminders", "distant", "said")
"""Sections as they stand in a block: what is known of what is named, what was learned of such tasks, what is known one
fact away, what to ask, what is due, what is known two facts away; at the end, what was said."""


LEAST_LINE = 12
"""Tokens that no line is below: with less room nothing more is looked at."""


@dataclass(frozen=True, slots=True)
class Line:
    """Something that is in the block as a whole, or not at all. `entity` is what it is about."""

    text: str
    entity: str = ""
    edge_ids: tuple[str, ...] = ()
    turns: tuple[tuple[str, int], ...] = ()

    @property
    def n_tokens(self) -> int:
        """What it costs."""
        return count_tokens(self.text)


@dataclass(frozen=True, slots=True)
class Section:
    """Lines in the order in which they are wanted. Those of a section that `is_kept` have their room before others."""

    name: str
    lines: Iterable[Line]
    is_kept: bool = False


@dataclass
class Filling:
    """Sections as they fill up, and what is left of the budget."""

    n_left: int
    lines: dict[str, list[Line]] = field(default_factory=dict)

    def add(self, section: Section, n_tokens: int | None = None) -> int:
        """Takes the lines that fit into what is left, and into `n_tokens` of it where that is given; returns what they
        cost. Once an entity's first line does not fit, less wanted entities do not come in."""
        room = self.n_left if n_tokens is None else min(n_tokens, self.n_left)
        before = self.n_left
        taken = self.lines.setdefault(section.name, [])
        is_in = {line.entity for line in taken}
        is_full = False
        for line in section.lines:
            if room < LEAST_LINE:
                break
            if line in taken or (is_full and line.entity not in is_in):
                continue
            cost = line.n_tokens + (0 if taken else _frame(section.name))
            if cost > room:
                is_full = True
                continue
            taken.append(line)
            is_in.add(line.entity)
            room -= cost
            self.n_left -= cost
        return before - self.n_left

    def render(self) -> str:
        """The sections that hold anything, in order."""
        return "".join(
            f"{opening(name)}\n{''.join(line.text for line in self.lines[name])}</{name}>\n"
            for name in ORDER
            if self.lines.get(name)
        )

    def chosen(self) -> Iterable[Line]:
        """All lines, in the order of the block."""
        return (line for name in ORDER for line in self.lines.get(name, ()))


def _frame(name: str) -> int:
    return count_tokens(f"{opening(name)}\n</{name}>\n")
