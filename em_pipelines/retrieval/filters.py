"""What of a pack counts for a search: by kind, time, conversation, tag, entity, relation, domain and confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.resolution.normalization import name_key
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.topics import Floats
from em_pipelines.retrieval.words import plain_words

if TYPE_CHECKING:
    from em_pipelines.retrieval.search import Search

Mask = npt.NDArray[np.bool_]


def narrowed(pack: Pack, wanted: Search, kind: str, confidence: Floats) -> Mask:
    """Which documents of a kind the search is about."""
    table = pack.documents
    found: Mask = pack.kinds == (kind == FACT)
    if kind == FACT:
        found = found & (confidence > 0) & (confidence >= wanted.min_confidence)
    if wanted.until:
        found &= pack.days <= wanted.until.toordinal()
    if wanted.since:
        found &= pack.days >= wanted.since.toordinal()
    if wanted.sessions:
        found &= _mask(pc.is_in(table["session_id"], pa.array(sorted(wanted.sessions))))
    if wanted.domain:
        found &= _mask(pc.fill_null(pc.equal(table["domain"], wanted.domain), True))
    if wanted.tags:
        found &= _holding(table["tags"], wanted.tags)
    if wanted.relations:
        found &= _told(
            pack, _mask(pc.fill_null(pc.is_in(table["relation"], pa.array(sorted(wanted.relations))), False))
        )
    if wanted.entities:
        keys = frozenset(name_key(name) for name in wanted.entities)
        about = _told(pack, _holding(table["names"], keys))
        found &= about | _named(pack, wanted.entities) if kind == MESSAGE else about
    return found


def _told(pack: Pack, facts: Mask) -> Mask:
    """These facts, and the messages that state them."""
    found = facts.copy()
    for n in np.flatnonzero(facts & pack.kinds):
        found[pack.sources(int(n))] = True
    return found


def _named(pack: Pack, names: frozenset[str]) -> Mask:
    """Messages in which all words of one of the names are said."""
    counts = pack.encoded
    numbers = {word: n for n, word in enumerate(counts.words)}
    found = np.zeros(counts.n_texts, bool)
    texts = np.repeat(np.arange(counts.n_texts), np.diff(counts.starts))
    for name in names:
        words = [numbers.get(word, -1) for word in plain_words(name)]
        if words:
            found |= np.logical_and.reduce(
                [np.bincount(texts[counts.tokens == n], minlength=len(found)) > 0 for n in words]
            )
    return found


def _holding(lists: pa.ChunkedArray, wanted: frozenset[str]) -> Mask:
    """Whether a list holds one of the words."""
    found = np.zeros(len(lists), bool)
    parents, values = pc.list_parent_indices(lists), pc.list_flatten(lists)
    found[_numbers(parents)[_mask(pc.is_in(values, pa.array(sorted(wanted), pa.string())))]] = True
    return found


def _mask(values: pa.ChunkedArray) -> Mask:
    found: Mask = values.to_numpy().astype(bool)
    return found


def _numbers(values: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = values.to_numpy()
    return found
