"""Vectors of texts by a model that the settings name: made once for each text, kept in the pack of whose text it is."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from em_pipelines.errors import CorruptTableError, ModelError
from em_pipelines.retrieval.encoding import Integers
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.topics import Floats

BATCH = 256
NEAR = 2
"""Turns of the same conversation on either side."""

_LOGGER = logging.getLogger(__name__)


class Embedder(Protocol):
    """A model that places texts in a space in which those of like meaning are near."""

    name: str
    """Vectors of one name are comparable; another model has another."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1; raises ModelError where the model gives none."""
        ...


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of documents, by the embedder of that name, and whether each document with words has one."""

    name: str
    rows: Floats
    is_whole: bool


def known_vectors(folder: Path, name: str) -> dict[str, Floats]:
    """The vectors that a pack has of the embedder of that name, by text; none where there is no pack, or of another."""
    pack = Pack(folder)
    try:
        if pack.meta.get("embedder") != name or pack.vectors is None:
            return {}
        texts = pack.documents["text"].to_pylist()
    except (CorruptTableError, OSError, ValueError):
        return {}
    return {text: np.array(own) for text, own in zip(texts, pack.vectors, strict=True) if own.any()}


def vectors_of(embedder: Embedder, texts: Sequence[str], known: Mapping[str, Floats]) -> Vectors:
    """The vectors of texts, of which some are known. Where the model fails the rest have none, of length 0."""
    made = dict(known)
    missing = sorted({text for text in texts if text.strip()} - made.keys())
    try:
        for start in range(0, len(missing), BATCH):
            some = missing[start : start + BATCH]
            made.update(zip(some, embedder.embed(some), strict=True))
    except ModelError as error:
        _LOGGER.warning("embedding texts: %s; they are found by their words until the next run", error)
    size = next((len(own) for own in made.values()), 1)
    none = np.zeros(size, np.float32)
    found = np.array([made.get(text, none) for text in texts], np.float32).reshape(len(texts), size)
    return Vectors(embedder.name, found, all(text in made for text in missing))


def asked(embedder: Embedder | None, pack: Pack, text: str) -> Floats | None:
    """The vector of a question; None without an embedder, for a pack of another, and where the model fails."""
    if embedder is None or pack.vectors is None or pack.meta.get("embedder") != embedder.name:
        return None
    try:
        found: Floats = embedder.embed([text])[0]
    except ModelError as error:
        _LOGGER.warning("embedding a question: %s; it is answered by words alone", error)
        return None
    return found if len(found) == pack.vectors.shape[1] else None


def around(likeness: Floats, sessions: Integers) -> Floats:
    """Of each document the mean likeness of its neighbours in the same conversation."""
    total, n_near = np.zeros_like(likeness), np.zeros_like(likeness)
    for offset in (*range(-NEAR, 0), *range(1, NEAR + 1)):
        own = np.arange(max(0, -offset), min(len(likeness), len(likeness) - offset))
        own = own[sessions[own] == sessions[own + offset]]
        total[own] += likeness[own + offset]
        n_near[own] += 1
    found: Floats = (total / np.maximum(1, n_near)).astype(np.float32)
    return found
