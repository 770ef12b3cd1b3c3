"""Making the index pack of one user, with as much of the one that is there as still holds.

A pack is a folder; it is written beside its place and renamed, so that a reader never meets half of one. What it holds
hangs on the documents alone: one that grew by days has the same bytes as one made at once.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import CorruptTableError
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.pack import (
    VERSION,
    Integers,
    Pack,
    digest_of,
    encode,
    joined,
    runs_of,
    seal_of,
    stems_of,
    summed,
)
from em_pipelines.retrieval.scoring import Vectors
from em_pipelines.retrieval.terms import STOP_WORDS, Floats, signals, stem

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BEFORE = 2
"""Turns of the same conversation that are read with one: those before it, and as many after it."""
DENSE = 200
"""Texts or words up to which the space is fitted exactly: the iterative way fails on few of them."""
MIN_DOCUMENTS = 2
"""A word that stands in one text alone is beside no others."""
REFITTED = 5_000
GROWTH = 1.1
"""Up to so many texts the space is fitted anew with each, from there on whenever there are a tenth more: those behind
are placed in the space that is there. What it is fitted on hangs on the number of texts alone, never on how they came.
"""
MOST_FITTED = 20_000
"""Of more texts so many are taken at even distances: neighbours in a conversation say much the same."""
EPOCH = 719_163
"""1970-01-01, as `date.toordinal` counts."""


@dataclass(frozen=True, slots=True)
class PackOptions:
    """How a pack is made: with how many dimensions of topics; `made_by`, the code and settings, is noted in it."""

    dimensions: int
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """The documents of a pack within a pack, and their vectors, where an embedder is set."""

    documents: pa.Table
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class _Predecessor:
    """The pack in whose place a new one comes, and how many of the first documents are messages with the same text."""

    pack: Pack
    n_same: int


def write(  # noqa: PLR0913  (what a pack is made of)
    folder: Path,
    documents: pa.Table,
    options: PackOptions,
    old: Pack | None = None,
    vectors: Vectors | None = None,
    within: Mapping[str, Part] | None = None,
) -> None:
    """Makes the pack of these documents, messages in order of time and then facts, in the place of the one there.

    `old` is that one, where what it says of the same texts may be taken over. `vectors` are those of the documents,
    where an embedder is set. `within` are the packs to be made within it, by the names of their folders.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    texts = [text or "" for text in documents["text"].to_pylist()]
    before = _Predecessor(old, _n_same(documents, old)) if old else None
    encoded = encode(texts, before.pack.encoded.first(before.n_same) if before else None)
    counts = encoded.counts()
    of_words, stems = stems_of(encoded.words)
    of_runs, runs = runs_of(encoded.words)
    turns, sessions = csr_matrix(counts @ of_words), _sessions(documents)
    around = joined(turns, sessions, BEFORE, BEFORE)
    for name, field, b in (
        ("window", joined(turns, sessions, BEFORE, 0), B),
        ("around", around, B),
        ("session", summed(turns, sessions), SESSION_B),
        ("letters", csr_matrix(counts @ of_runs), B),
    ):
        write_postings(aside / name, field, b)
    terms = _terms(documents, around, stems, options.dimensions, before)
    arrays: dict[str, npt.NDArray[Any]] = {
        "terms": terms,
        "placed": place(around, terms),
        "signals": signals(texts, counts, encoded.words, before.pack.signals[: before.n_same] if before else None),
        "sessions": sessions,
        "tokens": encoded.tokens,
        "starts": encoded.starts,
        **_columns(documents),
        **({"vectors": vectors.rows} if vectors else {}),
    }
    _save(aside, arrays, {"plain": encoded.words, "words": stems, "runs": runs, "speakers": _speakers(documents)})
    _save_documents(aside, documents)
    _write_within(aside, options, within)
    meta: dict[str, object] = {
        "version": VERSION,
        "n_documents": len(texts),
        "dimensions": options.dimensions,
        "made_by": options.made_by,
        "embedder": vectors and vectors.name,
        "sizes": {str(path.relative_to(aside)): path.stat().st_size for path in files_of(aside)},
        "digests": {str(path.relative_to(aside)): digest_of(path) for path in files_of(aside)},
    }
    (aside / "pack.json").write_bytes(orjson.dumps({**meta, "seal": seal_of(meta)}))
    _replace(folder, aside)


def _write_within(folder: Path, options: PackOptions, parts: Mapping[str, Part] | None) -> None:
    for name, part in (parts or {}).items():
        write(folder / name, part.documents, options, vectors=part.vectors)


K1 = 1.2
B = 0.75
SESSION_B = 0.5
"""BM25's normalisation by length, for whole conversations: less than the usual 0.75, as long ones are no worse."""


def write_postings(folder: Path, counts: "csr_matrix", b: float) -> None:
    """Writes what `bm25s.BM25.load` reads: the score of every word in every text (texts × words).

    As Lucene has it (Kamphuis et al., 2020): ln(1 + (N - n + 0.5) / (n + 0.5)) · tf / (k1 (1 - b + b l / l̄) + tf).
    """
    import bm25s  # noqa: PLC0415
    from scipy.sparse import csc_matrix  # noqa: PLC0415

    n_texts = counts.shape[0]
    columns = csc_matrix(counts, dtype=np.float32)
    columns.sort_indices()
    frequency = np.diff(columns.indptr)
    rarity = np.log1p((n_texts - frequency + 0.5) / (frequency + 0.5))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    damping = K1 * (1 - b + b * lengths / max(float(lengths.mean()) if n_texts else 0.0, 1e-9))
    said = columns.data
    shares = np.repeat(rarity, frequency) * said / (damping[columns.indices] + said)
    index = bm25s.BM25(method="lucene", k1=K1, b=b)
    index.scores = {
        "data": shares.astype(np.float32),
        "indices": columns.indices.astype(np.int32),
        "indptr": columns.indptr.astype(np.int32),
        "num_docs": n_texts,
    }
    index.vocab_dict, index.nonoccurrence_array = {}, None
    index.save(folder)


def files_of(folder: Path) -> list[Path]:
    """The files of a pack, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def is_whole(folder: Path) -> bool:
    """Whether there is a pack with all of its files, each as long as it was written."""
    try:
        sizes = Pack(folder).meta["sizes"]
        assert isinstance(sizes, dict)
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, CorruptTableError, KeyError):
        return False


def is_unchanged(folder: Path) -> bool:
    """Whether there is a pack with all of its files, each as it was written, byte for byte."""
    try:
        Pack(folder).check()
    except CorruptTableError:
        return False
    return is_whole(folder)


def _n_same(documents: pa.Table, old: Pack) -> int:
    """How many of the first documents are messages with the text that they had in the old pack."""
    size = min(_n_messages(documents), _n_messages(old.documents))
    same = pc.equal(*(table["text"].slice(0, size).combine_chunks() for table in (documents, old.documents)))
    first_other = pc.index(same, False).as_py()
    return size if first_other < 0 else int(first_other)


def _n_messages(documents: pa.Table) -> int:
    return int(pc.sum(pc.equal(documents["kind"], MESSAGE)).as_py() or 0)


def _terms(
    documents: pa.Table, around: "csr_matrix", stems: list[str], dimensions: int, before: _Predecessor | None
) -> Floats:
    """The space of topics: that of the old pack, where it was fitted on the very texts that it would be fitted on."""
    n_messages = _n_messages(documents)
    size = n_fitted(n_messages - BEFORE) if n_messages > REFITTED else n_messages or len(documents)
    if before and _is_same_space(before, size, dimensions):
        known = before.pack.topics.terms
        return np.vstack([known[: len(stems)], np.zeros((max(0, len(stems) - len(known)), known.shape[1]), np.float32)])
    silent = {stem(word) for word in STOP_WORDS}
    return fit(around[:size], dimensions, [n for n, own in enumerate(stems) if own in silent])


def _is_same_space(before: _Predecessor, size: int, dimensions: int) -> bool:
    """Whether the old space was fitted on just the first `size` documents, and they and their windows are the same."""
    old = before.pack
    return bool(
        old.meta["dimensions"] == dimensions
        and size + BEFORE <= before.n_same
        and size == n_fitted(_n_messages(old.documents) - BEFORE)
    )


def _sessions(documents: pa.Table) -> Integers:
    """The conversation of each document by number; a fact is one of its own, for nothing was said around it."""
    n_messages = _n_messages(documents)
    named = documents["session_id"].slice(0, n_messages).combine_chunks().dictionary_encode().indices
    numbers: Integers = np.arange(len(documents), dtype=np.int32)
    numbers[:n_messages] = named.to_numpy(zero_copy_only=False)
    numbers[n_messages:] += int(numbers[:n_messages].max(initial=-1)) + 1 - n_messages
    return numbers


def _speakers(documents: pa.Table) -> list[str]:
    return [name or "" for name in dict.fromkeys(documents["speaker"].to_pylist())]


def _days_said(documents: pa.Table) -> pa.Array:
    """The day of each document by the clock of who said it, as date32."""
    minutes = pc.fill_null(documents["utc_offset_minutes"], 0)
    ahead = pc.cast(pc.multiply(minutes, 60_000_000), pa.duration("us"))
    return pc.cast(pc.add(documents["said_at"], ahead), pa.date32())


def _columns(documents: pa.Table) -> dict[str, npt.NDArray[Any]]:
    """What is asked of every document at once."""
    days = pc.cast(_days_said(documents), pa.int32()).to_numpy()
    speakers = documents["speaker"].combine_chunks().dictionary_encode(null_encoding="encode").indices
    return {
        "days": (days + EPOCH).astype(np.int32),
        "kinds": pc.equal(documents["kind"], FACT).to_numpy(),
        "confidence": documents["confidence"].to_numpy(),
        "said_by": speakers.to_numpy(zero_copy_only=False).astype(np.int32),
    }


def _save(folder: Path, arrays: Mapping[str, npt.NDArray[Any]], lists: Mapping[str, list[str]]) -> None:
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    for name, listed in lists.items():
        (folder / f"{name}.json").write_bytes(orjson.dumps(listed))


def _save_documents(folder: Path, documents: pa.Table) -> None:
    with pa.OSFile(str(folder / "documents.arrow"), "wb") as sink, pa.ipc.new_file(sink, documents.schema) as out:
        out.write_table(documents.combine_chunks())


def _replace(folder: Path, aside: Path) -> None:
    """A folder cannot be renamed over another: the old one steps aside first, open maps of it stay valid."""
    old = folder.with_name(f".{folder.name}.old.tmp")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def n_fitted(n_texts: int) -> int:
    """How many of the first texts the space is fitted on."""
    if n_texts <= REFITTED:
        return n_texts
    size = float(REFITTED)
    while size * GROWTH <= n_texts:
        size *= GROWTH
    return int(size)


def fit(counts: "csr_matrix", dimensions: int, silent: Sequence[int] = ()) -> Floats:
    """What each word weighs (words × dimensions), fitted on texts × words; of few texts there are fewer dimensions.

    Words whose numbers are `silent` weigh nothing.
    """
    n_words = int(counts.indices.max(initial=-1)) + 1  # what is said later must not change a bit of it
    n_behind = counts.shape[1] - n_words
    counts = counts[:: -(-counts.shape[0] // MOST_FITTED) or 1, :n_words]
    n_texts = counts.shape[0]
    frequency = np.bincount(counts.indices, minlength=n_words)
    weight = np.where(frequency >= MIN_DOCUMENTS, np.log(max(1, n_texts) / np.maximum(1, frequency)), 0.0)
    weight[[word for word in silent if word < n_words]] = 0
    matrix = _weighed(counts, weight)
    size = min(dimensions, min(matrix.shape) - 1)
    if size < 1 or matrix.nnz == 0:
        return np.zeros((n_words + n_behind, 1), np.float32)
    right = _directions(matrix, size)
    terms = np.ascontiguousarray(right.T * weight[:, None], dtype=np.float32)
    found: Floats = np.pad(terms, ((0, n_behind), (0, 0)))
    return found


def _directions(matrix: "csr_matrix", size: int) -> npt.NDArray[np.float64]:
    """The `size` directions along which texts differ most, directions × words.

    In one thread: on matrices like these, threads of BLAS wait for each other for ten times as long as one works.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  (a third of a second, and only writers need them)

    with threadpool_limits(1, "blas"):
        if min(matrix.shape) <= DENSE:
            return np.linalg.svd(matrix.toarray(), full_matrices=False)[2][:size]
        from scipy.sparse.linalg import svds  # noqa: PLC0415

        found: npt.NDArray[np.float64] = svds(matrix, k=size, random_state=0)[2]
        return found


def place(counts: "csr_matrix", terms: Floats) -> Floats:
    """Where texts stand in the space: texts × dimensions, of length 1 or 0."""
    said = counts.astype(np.float32)
    said.data = 1 + np.log(said.data)
    placed = said @ terms
    length = np.linalg.norm(placed, axis=1, keepdims=True)
    found: Floats = (placed / np.where(length == 0, 1, length)).astype(np.float32)
    return found


def _weighed(counts: "csr_matrix", weight: npt.NDArray[np.float64]) -> "csr_matrix":
    from scipy.sparse import csr_matrix, diags  # noqa: PLC0415

    said = counts.astype(np.float64)
    said.data = 1 + np.log(said.data)
    matrix = csr_matrix(said @ diags(weight))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = csr_matrix(diags(1 / np.where(lengths == 0, 1, lengths)) @ matrix)
    matrix.eliminate_zeros()
    return matrix
