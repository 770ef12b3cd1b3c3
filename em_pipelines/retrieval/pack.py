"""The index pack of one user: documents, postings, topics and signals as files that are mapped, not read.

A pack is a folder; it is written beside its place and renamed, so that a reader never meets half of one.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import bm25s
import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
from bm25s.tokenization import Tokenized

from em_pipelines.errors import CorruptTableError
from em_pipelines.retrieval import topics
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.signals import signals
from em_pipelines.retrieval.topics import Floats, Topics
from em_pipelines.retrieval.words import STOP_WORDS, letter_runs, plain_words, stems

Integers = npt.NDArray[np.int32]
VERSION = 1
FIELDS = ("turn", "window", "around", "session", "letters")
BEFORE = 2
"""Turns of the same conversation that are read with one: those before it, and as many after it."""
SESSION_B = 0.5
"""BM25's normalisation by length, for whole conversations: less than the usual 0.75, as long ones are no worse."""


@dataclass
class Pack:
    """An open pack. Nothing of it is in memory before it is asked for."""

    folder: Path

    @cached_property
    def meta(self) -> dict[str, object]:
        """What `pack.json` says; raises CorruptTableError where that cannot be read."""
        try:
            found: dict[str, object] = orjson.loads((self.folder / "pack.json").read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise CorruptTableError(
                f"opening the index pack {self.folder}: {error}; `em run` makes it again"
            ) from error
        return found

    @cached_property
    def documents(self) -> pa.Table:
        """One row a document, in `documents.SCHEMA`."""
        with pa.memory_map(str(self.folder / "documents.arrow")) as source:
            return pa.ipc.open_file(source).read_all()

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """The number of each stem."""
        return _numbered(self.folder / "words.json")

    @cached_property
    def runs(self) -> dict[str, int]:
        """The number of each run of letters."""
        return _numbered(self.folder / "runs.json")

    @cached_property
    def sessions(self) -> Integers:
        """Which conversation a document is of, by number."""
        found: Integers = np.load(self.folder / "sessions.npy", mmap_mode="r")
        return found

    @cached_property
    def signals(self) -> Floats:
        """Documents × `signals.NAMES`."""
        found: Floats = np.load(self.folder / "signals.npy", mmap_mode="r")
        return found

    @cached_property
    def days(self) -> Integers:
        """The day of each document, since 1970."""
        found: Integers = np.load(self.folder / "days.npy", mmap_mode="r")
        return found

    @cached_property
    def kinds(self) -> npt.NDArray[np.bool_]:
        """Whether each document is a fact; else it is a message."""
        found: npt.NDArray[np.bool_] = np.load(self.folder / "kinds.npy", mmap_mode="r")
        return found

    @cached_property
    def confidence(self) -> Floats:
        """Of each document, 0 to 1."""
        found: Floats = np.load(self.folder / "confidence.npy", mmap_mode="r")
        return found

    @cached_property
    def speakers(self) -> list[str]:
        """Who speaks, in order of number: names, or roles where a log names nobody."""
        found: list[str] = orjson.loads((self.folder / "speakers.json").read_bytes())
        return found

    def said_by(self, name: str) -> Floats:
        """1 for the documents of speakers of that name, in lower case; else 0."""
        numbers = [n for n, speaker in enumerate(self.speakers) if speaker.casefold() == name]
        found = np.zeros(len(self.days), np.float32)
        for number in numbers:
            found[self._said_by == number] = 1
        return found

    @cached_property
    def _said_by(self) -> Integers:
        found: Integers = np.load(self.folder / "said_by.npy", mmap_mode="r")
        return found

    @cached_property
    def topics(self) -> Topics:
        """The space of topics."""
        return Topics(*(np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in ("terms", "placed")))

    def scores(self, field: str, numbers: list[int]) -> Floats:
        """BM25 of every document (of the field `session`: of every conversation) for words given by number."""
        index = self._indexes.get(field) or self._indexes.setdefault(
            field, bm25s.BM25.load(self.folder / field, mmap=True, load_vocab=False)
        )
        found: Floats = index.get_scores(numbers)
        return found

    @cached_property
    def _indexes(self) -> dict[str, bm25s.BM25]:
        return {}


def write(folder: Path, documents: pa.Table, dimensions: int) -> None:
    """Makes the pack of these documents, which stand in order of time, in the place of the one that is there."""
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    texts = [text or "" for text in documents["text"].to_pylist()]
    sessions = _numbers(_conversations(documents))
    words, vocabulary = _encoded([stems(text) for text in texts])
    runs, letters = _encoded([letter_runs(plain_words(text)) for text in texts])
    around = [_joined(words, sessions, n, BEFORE, BEFORE) for n in range(len(texts))]
    of_sessions: list[list[int]] = [[] for _ in range(max(sessions, default=-1) + 1)]
    for session, own in zip(sessions, words, strict=True):
        of_sessions[session] += own
    fields = {
        "turn": words,
        "window": [_joined(words, sessions, n, BEFORE, 0) for n in range(len(texts))],
        "around": around,
        "session": of_sessions,
        "letters": runs,
    }
    for name, encoded in fields.items():
        _index(
            aside / name,
            encoded,
            letters if name == "letters" else vocabulary,
            SESSION_B if name == "session" else 0.75,
        )
    silent = {vocabulary[word] for stop in STOP_WORDS for word in stems(stop) if word in vocabulary}
    fitted = topics.fit([[w for w in text if w not in silent] for text in around], len(vocabulary), dimensions)
    np.save(aside / "terms.npy", fitted.terms)
    np.save(aside / "placed.npy", fitted.documents)
    np.save(aside / "signals.npy", signals(texts))
    np.save(aside / "sessions.npy", np.array(sessions, dtype=np.int32))
    np.save(aside / "kinds.npy", np.array([kind == FACT for kind in documents["kind"].to_pylist()], dtype=bool))
    np.save(aside / "confidence.npy", np.array(documents["confidence"].to_pylist(), dtype=np.float32))
    speakers = documents["speaker"].to_pylist()
    np.save(aside / "said_by.npy", np.array(_numbers(speakers), dtype=np.int32))
    (aside / "speakers.json").write_bytes(orjson.dumps([name or "" for name in dict.fromkeys(speakers)]))
    np.save(aside / "days.npy", np.array([at.toordinal() for at in documents["said_at"].to_pylist()], dtype=np.int32))
    for name, numbered in (("words", vocabulary), ("runs", letters)):
        (aside / f"{name}.json").write_bytes(orjson.dumps(list(numbered)))
    with pa.OSFile(str(aside / "documents.arrow"), "wb") as sink, pa.ipc.new_file(sink, documents.schema) as out:
        out.write_table(documents.combine_chunks())
    meta = {"version": VERSION, "n_documents": len(texts), "n_words": len(vocabulary)}
    (aside / "pack.json").write_bytes(orjson.dumps(meta))
    _replace(folder, aside)


def _replace(folder: Path, aside: Path) -> None:
    """A folder cannot be renamed over another: the old one steps aside first, open maps of it stay valid."""
    old = folder.with_name(f".{folder.name}.old.tmp")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _index(folder: Path, encoded: Sequence[list[int]], vocabulary: dict[str, int], b: float) -> None:
    index = bm25s.BM25(method="lucene", k1=1.2, b=b)
    corpus = Tokenized(ids=[own or [0] for own in encoded] or [[0]], vocab=vocabulary)
    index.index(corpus, show_progress=False, create_empty_token=False)
    index.save(folder)


def _joined(words: Sequence[list[int]], sessions: Sequence[int], n: int, before: int, after: int) -> list[int]:
    """The words of a document with those of its neighbours in the same conversation."""
    near = range(max(0, n - before), min(len(words), n + after + 1))
    return [word for k in near if sessions[k] == sessions[n] for word in words[k]]


def _conversations(documents: pa.Table) -> list[str]:
    """The conversation of each document; a fact is one of its own, for nothing that was said stands around it."""
    pairs = zip(documents["kind"].to_pylist(), documents["session_id"].to_pylist(), strict=True)
    return [f"{FACT} {n}" if kind == FACT else f"{MESSAGE} {session}" for n, (kind, session) in enumerate(pairs)]


def _numbers(names: Sequence[str | None]) -> list[int]:
    known: dict[str | None, int] = {}
    return [known.setdefault(name, len(known)) for name in names]


def _encoded(texts: Sequence[list[str]]) -> tuple[list[list[int]], dict[str, int]]:
    """Words by number; 0 is none, which a text without words is taken to hold."""
    known = {"": 0}
    return [[known.setdefault(word, len(known)) for word in text] for text in texts], known


def _numbered(path: Path) -> dict[str, int]:
    return {word: n for n, word in enumerate(orjson.loads(path.read_bytes()))}
