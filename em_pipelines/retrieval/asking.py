"""Asking the pack of one user of a home: what every door goes through, so that none can forget what is to be erased."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np

from em_pipelines.erasure.overlay import Veil, hidden, hiding
from em_pipelines.feedback.archived import Place
from em_pipelines.home import Home
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.expansion import expanded
from em_pipelines.retrieval.filters import narrowed
from em_pipelines.retrieval.hits import Hit, hits_of
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.packs import folder_of
from em_pipelines.retrieval.search import Search, held, search
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.tables.graph import EDGES

KEPT_OPEN = 16
"""Packs that a process keeps open; another's opening takes the place of the one that was opened first."""

_open: dict[Path, tuple[tuple[int, int], Pack]] = {}


def opened(home: Home, user_id: str) -> Pack | None:
    """The user's pack, opened once for as long as it is not made anew; None where nothing of them is indexed."""
    folder = folder_of(home, user_id)
    try:
        stat = (folder / "pack.json").stat()
    except FileNotFoundError:
        _open.pop(folder, None)
        return None
    version = (stat.st_ino, stat.st_mtime_ns)
    known = _open.get(folder)
    if known and known[0] == version:
        return known[1]
    while len(_open) >= KEPT_OPEN:
        _open.pop(next(iter(_open)), None)
    _open[folder] = (version, Pack(folder))
    return _open[folder][1]


def ask(home: Home, user_id: str, wanted: Search, n_hops: int = 0) -> list[Hit]:
    """The hits in the memory of one user (`search.search`), then what is up to two hops away from them in the graph.

    What is archived and what pending requests to forget cover is left out. Facts of an earlier day are those that held
    then. Facts that were corrected since the pack was made are told no more; the correction is found once it is folded.

    Nothing is written, and no model is asked. A user of whom nothing is indexed has no hits, nor has an empty question.
    """
    pack = opened(home, user_id)
    if pack is None or not wanted.text.strip():
        return []
    wanted = replace(wanted, standing=_standing(home, user_id, wanted.until))
    veils = hidden(home, user_id)
    archived = home.archived.of(user_id)
    spare = len(archived) if MESSAGE in wanted.kinds else 0
    hits = search(pack, replace(wanted, n_hits=wanted.n_hits + spare), home.settings.retrieval, home.embedder)
    hits = [hit for hit in hits if not _is_covered(veils, hit) and not _is_archived(archived, hit)]
    messages = [hit for hit in hits if hit.kind == MESSAGE]
    found = messages[: wanted.n_hits] + [hit for hit in hits if hit.kind != MESSAGE]
    if n_hops and FACT in wanted.kinds:
        confidence = held(pack, wanted.standing)
        for hit in hits_of(pack, list(pack.numbers.values()), confidence) if veils else []:
            if _is_covered(veils, hit):
                confidence[pack.numbers[hit.edge_id or ""]] = 0
        bounds = replace(wanted, entities=frozenset(), relations=frozenset())
        is_in = np.logical_or(*(narrowed(pack, bounds, kind, confidence) for kind in (MESSAGE, FACT)))
        more = expanded(pack, found, confidence, is_in, n_hops)
        found += [hit for hit in more if not _is_covered(veils, hit) and not _is_archived(archived, hit)]
    return found


def _standing(home: Home, user_id: str, until: date | None) -> dict[str, float] | None:
    """The facts that hold, with their confidence, where the pack cannot know: on an earlier day, or after feedback."""
    waiting = home.waiting(user_id, until or date.max)
    if until is None and not waiting.feedback:
        return None
    as_of = until or home.store.lake.latest(EDGES, date.max) or datetime.now(UTC).date()
    rows = facts(home.store, FactQuery(user_id, as_of), home.settings.decay, waiting, hiding(home, user_id))
    return {row["edge_id"]: row["confidence"] for row in rows}


def _is_archived(archived: frozenset[Place], hit: Hit) -> bool:
    return hit.kind == MESSAGE and (hit.session_id, hit.turn_number) in archived


def _is_covered(veils: Sequence[Veil], hit: Hit) -> bool:
    return any(
        veil.hides_document(session_id=hit.session_id, edge_id=hit.edge_id, text=hit.text, said_on=hit.said_on)
        for veil in veils
    )
