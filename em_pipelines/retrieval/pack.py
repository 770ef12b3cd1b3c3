"""The index pack of one user, open: documents, postings, topics and signals as files that are mapped, not read."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import bm25s
import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from em_pipelines.errors import CorruptTableError
from em_pipelines.retrieval.encoding import Encoded, Integers
from em_pipelines.retrieval.topics import Floats, Topics

VERSION = 2


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
        """Documents × `signals.NAMES`, as `signals.signals` has them."""
        found: Floats = np.load(self.folder / "signals.npy", mmap_mode="r")
        return found

    @cached_property
    def days(self) -> Integers:
        """The day of each document, as `date.toordinal` counts."""
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
    def encoded(self) -> Encoded:
        """The texts by numbers of words: of use to who makes the next pack."""
        words = orjson.loads((self.folder / "plain.json").read_bytes())
        return Encoded(words, *(np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in ("tokens", "starts")))

    @cached_property
    def _indexes(self) -> dict[str, bm25s.BM25]:
        return {}


def _numbered(path: Path) -> dict[str, int]:
    return {word: n for n, word in enumerate(orjson.loads(path.read_bytes()))}
