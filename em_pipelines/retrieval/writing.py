"""Making the index pack of one user, with as much of the one that is there as still holds.

A pack is a folder; it is written beside its place and renamed, so that a reader never meets half of one. What it holds
hangs on the documents alone: one that grew by days has the same bytes as one made at once.
"""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_matrix

from em_pipelines.retrieval import topics
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.encoding import Integers, encode, joined, runs_of, stems_of, summed
from em_pipelines.retrieval.pack import VERSION, Pack
from em_pipelines.retrieval.postings import SESSION_B, B, write_postings
from em_pipelines.retrieval.signals import signals
from em_pipelines.retrieval.topics import Floats
from em_pipelines.retrieval.vectors import Vectors
from em_pipelines.retrieval.words import STOP_WORDS, stem

BEFORE = 2
"""Turns of the same conversation that are read with one: those before it, and as many after it."""
EPOCH = 719_163
"""1970-01-01, as `date.toordinal` counts."""


def write(
    folder: Path,
    documents: pa.Table,
    dimensions: int,
    old: Pack | None = None,
    made_by: str = "",
    vectors: Vectors | None = None,
) -> None:
    """Makes the pack of these documents, messages in order of time and then facts, in the place of the one there.

    `old` is that one, where what it says of the same texts may be taken over; `made_by` is noted in it. `vectors`
    are those of the documents, where an embedder is set.
    """
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    texts = [text or "" for text in documents["text"].to_pylist()]
    n_same = _n_same(documents, old) if old else 0
    encoded = encode(texts, old.encoded.first(n_same) if old else None)
    counts = encoded.counts()
    of_words, stems = stems_of(encoded.words)
    of_runs, runs = runs_of(encoded.words)
    turns, sessions = csr_matrix(counts @ of_words), _sessions(documents)
    around = joined(turns, sessions, BEFORE, BEFORE)
    for name, field, b in (
        ("turn", turns, B),
        ("window", joined(turns, sessions, BEFORE, 0), B),
        ("around", around, B),
        ("session", summed(turns, sessions), SESSION_B),
        ("letters", csr_matrix(counts @ of_runs), B),
    ):
        write_postings(aside / name, field, b)
    terms = _terms(documents, around, stems, dimensions, old, n_same)
    arrays: dict[str, npt.NDArray[Any]] = {
        "terms": terms,
        "placed": topics.place(around, terms),
        "signals": signals(texts, counts, encoded.words, old.signals[:n_same] if old else None),
        "sessions": sessions,
        "tokens": encoded.tokens,
        "starts": encoded.starts,
        **_columns(documents),
        **({"vectors": vectors.rows} if vectors else {}),
    }
    for name, values in arrays.items():
        np.save(aside / f"{name}.npy", values)
    speakers = list(dict.fromkeys(documents["speaker"].to_pylist()))
    numbered = {"plain": encoded.words, "words": stems, "runs": runs, "speakers": [name or "" for name in speakers]}
    for name, listed in numbered.items():
        (aside / f"{name}.json").write_bytes(orjson.dumps(listed))
    with pa.OSFile(str(aside / "documents.arrow"), "wb") as sink, pa.ipc.new_file(sink, documents.schema) as out:
        out.write_table(documents.combine_chunks())
    meta = {
        "version": VERSION,
        "n_documents": len(texts),
        "dimensions": dimensions,
        "made_by": made_by,
        "embedder": vectors and vectors.name,
        "sizes": {str(path.relative_to(aside)): path.stat().st_size for path in files_of(aside)},
    }
    (aside / "pack.json").write_bytes(orjson.dumps(meta))
    _replace(folder, aside)


def files_of(folder: Path) -> list[Path]:
    """The files of a pack, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def is_whole(folder: Path) -> bool:
    """Whether there is a pack with all of its files, each as long as it was written."""
    try:
        sizes = orjson.loads((folder / "pack.json").read_bytes())["sizes"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, orjson.JSONDecodeError, KeyError):
        return False


def _n_same(documents: pa.Table, old: Pack) -> int:
    """How many of the first documents are messages with the text that they had in the old pack."""
    size = min(_n_messages(documents), _n_messages(old.documents))
    same = pc.equal(*(table["text"].slice(0, size).combine_chunks() for table in (documents, old.documents)))
    first_other = pc.index(same, False).as_py()
    return size if first_other < 0 else int(first_other)


def _n_messages(documents: pa.Table) -> int:
    return int(pc.sum(pc.equal(documents["kind"], MESSAGE)).as_py() or 0)


def _terms(
    documents: pa.Table, around: csr_matrix, stems: list[str], dimensions: int, old: Pack | None, n_same: int
) -> Floats:
    """The space of topics: that of the old pack, where it was fitted on the very texts that it would be fitted on."""
    n_messages = _n_messages(documents)
    size = topics.n_fitted(n_messages - BEFORE) if n_messages > topics.REFITTED else n_messages or len(documents)
    is_same_space = old is not None and old.meta["dimensions"] == dimensions
    if (
        old
        and is_same_space
        and size + BEFORE <= n_same
        and size == topics.n_fitted(_n_messages(old.documents) - BEFORE)
    ):
        known = old.topics.terms
        return np.vstack([known[: len(stems)], np.zeros((max(0, len(stems) - len(known)), known.shape[1]), np.float32)])
    silent = {stem(word) for word in STOP_WORDS}
    return topics.fit(around[:size], dimensions, [n for n, own in enumerate(stems) if own in silent])


def _sessions(documents: pa.Table) -> Integers:
    """The conversation of each document by number; a fact is one of its own, for nothing was said around it."""
    n_messages = _n_messages(documents)
    named = documents["session_id"].slice(0, n_messages).combine_chunks().dictionary_encode().indices
    found: Integers = np.arange(len(documents), dtype=np.int32)
    found[:n_messages] = named.to_numpy(zero_copy_only=False)
    found[n_messages:] += int(found[:n_messages].max(initial=-1)) + 1 - n_messages
    return found


def _columns(documents: pa.Table) -> dict[str, npt.NDArray[Any]]:
    """What is asked of every document at once."""
    days = pc.cast(pc.cast(documents["said_at"], pa.date32()), pa.int32()).to_numpy()
    speakers = documents["speaker"].combine_chunks().dictionary_encode(null_encoding="encode").indices
    return {
        "days": (days + EPOCH).astype(np.int32),
        "kinds": pc.equal(documents["kind"], FACT).to_numpy(),
        "confidence": documents["confidence"].to_numpy(),
        "said_by": speakers.to_numpy(zero_copy_only=False).astype(np.int32),
    }


def _replace(folder: Path, aside: Path) -> None:
    """A folder cannot be renamed over another: the old one steps aside first, open maps of it stay valid."""
    old = folder.with_name(f".{folder.name}.old.tmp")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
