"""The index pack of one user, open: documents, postings, topics and signals as files that are mapped, not read.

Texts are counts of words, stems and runs of letters: sparse matrices, one row a text. Words are numbered as they first
appear, so that the numbers of what is known stay when texts are added behind. Of counts bm25s keeps and scores the
postings; its way of counting words one by one is passed over.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import CorruptTableError
from em_pipelines.retrieval.terms import Floats, Topics, letter_runs, plain_words, stem
from em_pipelines.schema.vocabulary import ASSISTANT
from em_pipelines.serving.facts import SHOWN

if TYPE_CHECKING:
    import bm25s
    from scipy.sparse import csr_matrix

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Texts by the numbers of their words: those of text n are `tokens[starts[n]:starts[n + 1]]`."""

    words: list[str]
    tokens: Integers
    starts: npt.NDArray[np.int64]

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return len(self.starts) - 1

    def counts(self) -> "csr_matrix":
        """Texts × words: how often each is said."""
        return counted(self.tokens, self.starts, len(self.words))

    def first(self, n_texts: int) -> "Encoded":
        """The first texts alone, with the words that they brought along."""
        starts = self.starts[: n_texts + 1]
        tokens = self.tokens[: starts[-1]]
        return Encoded(self.words[: int(tokens.max(initial=-1)) + 1], tokens, starts)


def encode(texts: Sequence[str], known: Encoded | None = None) -> Encoded:
    """The texts; `known` are the first of them where they were encoded before."""
    old = known or Encoded([], np.empty(0, np.int32), np.zeros(1, np.int64))
    numbers = {word: n for n, word in enumerate(old.words)}
    tokens: list[int] = []
    ends: list[int] = []
    for text in texts[old.n_texts :]:
        tokens += [numbers.setdefault(word, len(numbers)) for word in plain_words(text)]
        ends.append(len(tokens))
    starts = np.concatenate([old.starts, len(old.tokens) + np.array(ends, np.int64)])
    return Encoded(list(numbers), np.concatenate([old.tokens, np.array(tokens, np.int32)]), starts)


def counted(tokens: Integers, starts: npt.NDArray[np.int64], n_words: int) -> "csr_matrix":
    """Rows of numbers as a matrix of counts."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  (a third of a second, and only writers need it)

    found = csr_matrix(
        (np.ones(len(tokens), np.float32), tokens, starts), shape=(len(starts) - 1, max(1, n_words)), copy=True
    )
    found.sum_duplicates()
    return found


def parts(words: Sequence[str], of: Callable[[str], list[str]]) -> "tuple[csr_matrix, list[str]]":
    """Words × parts, how often a word has each, and the parts in order of their numbers."""
    numbers: dict[str, int] = {}
    each = [[numbers.setdefault(part, len(numbers)) for part in of(word)] for word in words or [""]]
    starts = np.cumsum([0, *map(len, each)], dtype=np.int64)
    tokens = np.array([number for own in each for number in own], np.int32)
    return counted(tokens, starts, len(numbers)), list(numbers)


def stems_of(words: Sequence[str]) -> "tuple[csr_matrix, list[str]]":
    """Words × stems: 1 for the one stem of each."""
    return parts(words, lambda word: [stem(word)])


def runs_of(words: Sequence[str]) -> "tuple[csr_matrix, list[str]]":
    """Words × runs of letters."""
    return parts(words, letter_runs)


def joined(counts: "csr_matrix", sessions: Integers, before: int, after: int) -> "csr_matrix":
    """The counts of each text with those of its neighbours in the same conversation."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    n_texts = len(sessions)
    rows, columns = [], []
    for offset in range(-before, after + 1):
        own = np.arange(max(0, -offset), min(n_texts, n_texts - offset), dtype=np.int64)
        own = own[sessions[own] == sessions[own + offset]]
        rows.append(own)
        columns.append(own + offset)
    places = (np.concatenate(rows), np.concatenate(columns))
    near = csr_matrix((np.ones(len(places[0]), np.float32), places), shape=(n_texts, n_texts))
    return csr_matrix(near @ counts)


def summed(counts: "csr_matrix", groups: Integers) -> "csr_matrix":
    """The counts of each group of texts, in order of the numbers of groups."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    n_groups = int(groups.max(initial=-1)) + 1
    places = (groups, np.arange(len(groups)))
    belongs = csr_matrix((np.ones(len(groups), np.float32), places), shape=(n_groups, len(groups)))
    return csr_matrix(belongs @ counts)


VERSION = 6
EXPERIENCES = "experiences"
"""The folder of a pack within a pack."""


@dataclass
class Pack:
    """An open pack. Nothing of it is in memory before it is asked for."""

    folder: Path

    @cached_property
    def meta(self) -> dict[str, object]:
        """What `pack.json` says; raises CorruptTableError where that is not what was written."""
        try:
            found: dict[str, object] = orjson.loads((self.folder / "pack.json").read_bytes())
            is_whole = found.get("seal") in (None, seal_of(found))  # packs from before had none
        except (OSError, orjson.JSONDecodeError, AttributeError) as error:
            raise self._corrupt("pack.json") from error
        if not is_whole:
            raise self._corrupt("pack.json")
        return found

    def check(self) -> None:
        """Raises CorruptTableError where any file of the pack is lost, or not as it was written."""
        for name in self._digests:
            self._file(name)

    @cached_property
    def _digests(self) -> dict[str, str]:
        digests = self.meta.get("digests", {})
        assert isinstance(digests, dict)
        return digests

    @cached_property
    def _found_whole(self) -> set[str]:
        return set()

    def _file(self, name: str) -> Path:
        """The path of a file, which is as it was written: held against its digest before anything of it is believed,
        once. Raises CorruptTableError."""
        path = self.folder / name
        if name not in self._found_whole:
            try:
                is_whole = self._digests.get(name) in (None, digest_of(path))
            except OSError as error:
                raise self._corrupt(name) from error
            if not is_whole:
                raise self._corrupt(name)
            self._found_whole.add(name)
        return path

    def _corrupt(self, name: str) -> CorruptTableError:
        return CorruptTableError(
            f"reading the index pack {self.folder}: {name} is lost, or is not as it was written; `em repair --apply` "
            "makes it again"
        )

    @cached_property
    def experiences(self) -> "Pack | None":
        """The experiences, a pack of their own within this one, so that they weigh nothing among messages and facts;
        None without any."""
        return Pack(self.folder / EXPERIENCES) if f"{EXPERIENCES}/pack.json" in self._digests else None

    @cached_property
    def documents(self) -> pa.Table:
        """One row a document, in `documents.SCHEMA`."""
        with pa.memory_map(str(self._file("documents.arrow"))) as source:
            return pa.ipc.open_file(source).read_all()

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """The number of each stem."""
        return _numbered(self._file("words.json"))

    @cached_property
    def runs(self) -> dict[str, int]:
        """The number of each run of letters."""
        return _numbered(self._file("runs.json"))

    @cached_property
    def sessions(self) -> Integers:
        """Which conversation a document is of, by number."""
        found: Integers = np.load(self._file("sessions.npy"), mmap_mode="r")
        return found

    @cached_property
    def signals(self) -> Floats:
        """Documents × `signals.NAMES`, as `signals.signals` has them."""
        found: Floats = np.load(self._file("signals.npy"), mmap_mode="r")
        return found

    @cached_property
    def days(self) -> Integers:
        """The day of each document, as `date.toordinal` counts."""
        found: Integers = np.load(self._file("days.npy"), mmap_mode="r")
        return found

    @cached_property
    def kinds(self) -> npt.NDArray[np.bool_]:
        """Whether each document is a fact; else it is a message."""
        found: npt.NDArray[np.bool_] = np.load(self._file("kinds.npy"), mmap_mode="r")
        return found

    @cached_property
    def is_shown(self) -> npt.NDArray[np.bool_]:
        """Whether a document is one that readers see: a message, or a fact that holds."""
        found = np.ones(len(self.kinds), bool)
        found[self.n_messages :] = [row["status"] in SHOWN for row in self.facts]
        return found

    @cached_property
    def confidence(self) -> Floats:
        """Of each document, 0 to 1."""
        found: Floats = np.load(self._file("confidence.npy"), mmap_mode="r")
        return found

    @cached_property
    def speakers(self) -> list[str]:
        """Who speaks, in order of number: names, or roles where a log names nobody."""
        return list(orjson.loads(self._file("speakers.json").read_bytes()))

    def said_by(self, name: str) -> Floats:
        """1 for the documents of speakers of that name, in lower case; else 0."""
        numbers = [n for n, speaker in enumerate(self.speakers) if speaker.casefold() == name]
        found = np.zeros(len(self.days), np.float32)
        for number in numbers:
            found[self._said_by == number] = 1
        return found

    @cached_property
    def is_of_assistant(self) -> npt.NDArray[np.bool_]:
        """Whether each document is a message of an assistant."""
        return np.asarray(pc.fill_null(pc.equal(self.documents["role"], ASSISTANT), False).to_numpy(), bool)

    @cached_property
    def _said_by(self) -> Integers:
        found: Integers = np.load(self._file("said_by.npy"), mmap_mode="r")
        return found

    @cached_property
    def topics(self) -> Topics:
        """The space of topics."""
        return Topics(*(np.load(self._file(f"{name}.npy"), mmap_mode="r") for name in ("terms", "placed")))

    def scores(self, field: str, numbers: list[int]) -> Floats:
        """BM25 of every document (of the field `session`: of every conversation) for words given by number."""
        import bm25s  # noqa: PLC0415  (a quarter of a second, and many who open a pack ask it nothing)

        index = self._indexes.get(field)
        if index is None:
            for name in self._digests:
                if name.startswith(f"{field}/"):
                    self._file(name)
            index = self._indexes[field] = bm25s.BM25.load(self.folder / field, mmap=True, load_vocab=False)
        found: Floats = index.get_scores(numbers)
        return found

    @cached_property
    def encoded(self) -> Encoded:
        """The texts by numbers of words: of use to who makes the next pack."""
        words = orjson.loads(self._file("plain.json").read_bytes())
        return Encoded(words, *(np.load(self._file(f"{name}.npy"), mmap_mode="r") for name in ("tokens", "starts")))

    @cached_property
    def vectors(self) -> Floats | None:
        """Documents × dimensions, each of length 1, or 0 where the embedder gave none; None without an embedder."""
        if "vectors.npy" not in self._digests and not (self.folder / "vectors.npy").exists():
            return None
        found: Floats = np.load(self._file("vectors.npy"), mmap_mode="r")
        return found

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """The facts as rows of `documents.SCHEMA`; they stand behind all messages."""
        return list(self.documents.slice(self.n_messages).to_pylist())

    @cached_property
    def n_messages(self) -> int:
        """How many documents are messages."""
        return int(np.count_nonzero(~self.kinds))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of the document of each fact, by its edge."""
        return {row["edge_id"]: n for n, row in enumerate(self.facts, start=self.n_messages)}

    @cached_property
    def withdrawn(self) -> list[dict[str, Any]]:
        """The facts that people took back or corrected."""
        return [row for row in self.facts if row["is_withdrawn"]]

    @cached_property
    def conflicts(self) -> dict[int, tuple[str, ...]]:
        """The edges that cannot hold beside a fact, by its number."""
        rows = enumerate(self.facts, start=self.n_messages)
        return {n: tuple(row["conflicts"]) for n, row in rows if row["conflicts"]}

    def sources(self, number: int) -> list[int]:
        """The numbers of the messages that state a fact."""
        row = self.facts[number - self.n_messages]
        stated = (self._turns.get((source["session_id"], source["turn_number"])) for source in row["sources"] or ())
        return [n for n in stated if n is not None]

    def stated_by(self, number: int) -> list[int]:
        """The numbers of the facts that a message states."""
        return self._stated.get(number, [])

    def about(self, key: str) -> list[int]:
        """The numbers of the facts that have a thing of that name (`name_key`) at an end."""
        return self._about.get(key, [])

    def of_relations(self, relations: Iterable[str]) -> list[int]:
        """The numbers of the facts of these relations."""
        return [number for relation in sorted(relations) for number in self._of_relation.get(relation, ())]

    @cached_property
    def _of_relation(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, row in enumerate(self.facts, start=self.n_messages):
            found[row["relation"]].append(number)
        return dict(found)

    def turn(self, session_id: str, turn_number: int) -> int | None:
        """The number of a message."""
        said = self.documents.slice(0, self.n_messages)
        places = pc.and_(pc.equal(said["session_id"], session_id), pc.equal(said["turn_number"], turn_number))
        found = int(pc.index(places, True).as_py())
        return found if found >= 0 else None

    @cached_property
    def _about(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, row in enumerate(self.facts, start=self.n_messages):
            for key in dict.fromkeys(row["names"] or ()):
                found[key].append(number)
        return dict(found)

    @cached_property
    def _stated(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for number in self.numbers.values():
            for said in self.sources(number):
                found[said].append(number)
        return dict(found)

    @cached_property
    def _turns(self) -> dict[tuple[str, int], int]:
        stated = {(s["session_id"], s["turn_number"]) for row in self.facts for s in row["sources"] or ()}
        said = self.documents.select(["session_id", "turn_number"]).slice(0, self.n_messages)
        wanted = pc.is_in(said["session_id"], pa.array(sorted({session for session, _ in stated}), pa.string()))
        places = np.flatnonzero(wanted.to_numpy())
        rows = said.take(places).to_pylist()
        return {(row["session_id"], row["turn_number"]): int(n) for n, row in zip(places, rows, strict=True)}

    @cached_property
    def _indexes(self) -> "dict[str, bm25s.BM25]":
        return {}


def digest_of(path: Path) -> str:
    """SHA-256 (hex) of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def seal_of(meta: Mapping[str, object]) -> str:
    """The digest of all that `pack.json` says but this."""
    said = {name: value for name, value in meta.items() if name != "seal"}
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _numbered(path: Path) -> dict[str, int]:
    return {word: n for n, word in enumerate(orjson.loads(path.read_bytes()))}
