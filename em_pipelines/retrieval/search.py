"""Answering a question from one user's pack: scored whole, narrowed by filters, spread by how much hits repeat."""

from dataclasses import dataclass, field
from datetime import date

import numpy as np

from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.scoring import components, score
from em_pipelines.retrieval.settings import RetrievalSettings
from em_pipelines.retrieval.signals import NAMES
from em_pipelines.retrieval.topics import Floats

CANDIDATES = 5
"""How many times as many documents as are wanted are looked at for repetition."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for. `kinds` are message and fact; `until` leaves out what was said after a day; `sessions` and
    `tags`, where they are given, are those that count; `min_confidence` (0 to 1) is for facts."""

    text: str
    n_hits: int
    today: date
    kinds: frozenset[str] = frozenset({MESSAGE, FACT})
    until: date | None = None
    sessions: frozenset[str] = field(default_factory=frozenset)
    tags: frozenset[str] = field(default_factory=frozenset)
    min_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found. `components` are the weighed shares of its score by name."""

    kind: str
    session_id: str | None
    turn_number: int | None
    edge_id: str | None
    text: str
    score: float
    said_on: date
    speaker: str | None
    components: dict[str, float]


def search(pack: Pack, wanted: Search, settings: RetrievalSettings) -> list[Hit]:
    """The best documents, best first: messages up to `n_hits`, then facts up to as many as the settings say, where
    both kinds are wanted; of one kind alone up to `n_hits`. What shares neither words, topic, time nor speaker with the
    question is no hit, so of little that is known there are fewer, or none."""
    weights = settings.weights
    found = components(pack, wanted.text, wanted.today, weights)
    telling = score({name: values for name, values in found.items() if name not in NAMES}, weights)
    rest = score({name: values for name, values in found.items() if name in NAMES}, weights)
    total = np.where(telling > 0, (telling + rest) * pack.confidence, np.float32(0))
    hits: list[int] = []
    for kind in (MESSAGE, FACT):
        if kind in wanted.kinds:
            is_beside = kind == FACT and MESSAGE in wanted.kinds
            n_hits = min(settings.n_facts, wanted.n_hits) if is_beside else wanted.n_hits
            hits += _best(pack, _narrowed(pack, total, wanted, kind), n_hits, settings.mmr_lambda)
    return [
        _hit(pack, n, float(total[n]), {k: getattr(weights, k) * float(v[n]) for k, v in found.items()}) for n in hits
    ]


def _narrowed(pack: Pack, total: Floats, wanted: Search, kind: str) -> Floats:
    """Scores with those of documents that are not wanted below all others."""
    is_in = pack.kinds == (kind == FACT)
    if wanted.until:
        is_in &= pack.days <= wanted.until.toordinal()
    if wanted.sessions:
        is_in &= np.isin(pack.documents["session_id"].to_pylist(), list(wanted.sessions))
    if wanted.tags:
        is_in &= np.array([not wanted.tags.isdisjoint(tags or ()) for tags in pack.documents["tags"].to_pylist()])
    if wanted.min_confidence:
        is_in &= pack.confidence >= wanted.min_confidence
    return np.where(is_in, total, np.float32(-np.inf)).astype(np.float32)


def _best(pack: Pack, total: Floats, n_hits: int, mmr_lambda: float) -> list[int]:
    """The numbers of the best documents (Carbonell and Goldstein, 1998, where λ is below 1)."""
    n_known = int(np.isfinite(total).sum())
    size = min(n_hits * (CANDIDATES if mmr_lambda < 1 else 1), n_known)
    if size == 0:
        return []
    near = np.argpartition(-total, size - 1)[:size]
    ordered = [int(n) for n in near[np.lexsort((near, -total[near]))] if total[n] > 0]
    if mmr_lambda == 1:
        return ordered[:n_hits]
    chosen: list[int] = []
    likeness = pack.topics.documents[ordered] @ pack.topics.documents[ordered].T
    best = max(float(total[ordered[0]]), 1e-9) if ordered else 1.0
    left = list(range(len(ordered)))
    while left and len(chosen) < n_hits:
        repeats = likeness[:, chosen].max(axis=1) if chosen else np.zeros(len(ordered))
        top = max(
            left, key=lambda k: mmr_lambda * float(total[ordered[k]]) / best - (1 - mmr_lambda) * float(repeats[k])
        )
        chosen.append(top)
        left.remove(top)
    return [ordered[k] for k in chosen]


def _hit(pack: Pack, n: int, total: float, shares: dict[str, float]) -> Hit:
    row = pack.documents.slice(n, 1).to_pylist()[0]
    return Hit(
        kind=row["kind"],
        session_id=row["session_id"],
        turn_number=row["turn_number"],
        edge_id=row["edge_id"],
        text=row["text"],
        score=round(total, 6),
        said_on=row["said_at"].date(),
        speaker=row["speaker"],
        components={name: round(share, 6) for name, share in shares.items() if share},
    )
