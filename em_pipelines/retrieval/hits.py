"""What a search finds: documents with their score, why they have it, and what stands around them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from em_pipelines.retrieval.documents import MESSAGE
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.settings import Weights
from em_pipelines.retrieval.topics import Floats


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn beside one that was found."""

    session_id: str
    turn_number: int
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    `components` are the weighed shares of its score by name; `conflicts_with` the facts that cannot hold beside it;
    `neighbours` the turns before and after it; `path` how expansion came to it: documents and names, from what the
    question found to this. `sources` are the turns (conversation, number) that state a fact.
    """

    kind: str
    session_id: str | None
    turn_number: int | None
    edge_id: str | None
    text: str
    score: float
    said_on: date
    speaker: str | None
    components: dict[str, float]
    conflicts_with: tuple[str, ...] = ()
    neighbours: tuple[Turn, ...] = ()
    sources: tuple[tuple[str, int], ...] = ()
    path: tuple[str, ...] = ()


def hits_of(
    pack: Pack,
    numbers: Sequence[int],
    total: Floats | Mapping[int, float],
    found: Mapping[str, Floats] = MappingProxyType({}),
    weights: Weights | None = None,
    n_neighbours: int = 0,
) -> list[Hit]:
    """The documents of these numbers as hits; `found` are the components of their score, before they are weighed."""
    rows = pack.documents.take(list(numbers)).to_pylist() if numbers else []
    return [
        Hit(
            kind=row["kind"],
            session_id=row["session_id"],
            turn_number=row["turn_number"],
            edge_id=row["edge_id"],
            text=row["text"],
            score=round(float(total[n]), 6),
            said_on=row["said_at"].date(),
            speaker=row["speaker"],
            components={
                name: round(getattr(weights, name, 1.0) * float(values[n]), 6)
                for name, values in found.items()
                if values[n]
            },
            conflicts_with=pack.conflicts.get(n, ()),
            neighbours=_around(pack, n, n_neighbours) if row["kind"] == MESSAGE else (),
            sources=tuple((source["session_id"], source["turn_number"]) for source in row["sources"] or ()),
        )
        for n, row in zip(numbers, rows, strict=True)
    ]


def _around(pack: Pack, number: int, n_neighbours: int) -> tuple[Turn, ...]:
    own = pack.sessions[number]
    near = [
        n
        for n in range(max(0, number - n_neighbours), min(len(pack.days), number + n_neighbours + 1))
        if n != number and pack.sessions[n] == own
    ]
    rows = pack.documents.take(near).to_pylist() if near else []
    return tuple(Turn(row["session_id"], row["turn_number"], row["speaker"], row["text"]) for row in rows)
