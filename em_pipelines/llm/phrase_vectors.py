"""Vectors of phrases by user, model and phrase: kept beside the answers, so that none is asked for twice.

Phrases are names out of messages, free of secrets like those. What a user has forgotten goes from here, too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from em_pipelines.llm.database import Database

Floats = npt.NDArray[np.float32]
AT_ONCE = 500
"""Phrases of one query: SQLite takes so many values in every build."""


class TextEmbedder(Protocol):
    """A model that places texts in a space in which those of like meaning are near."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1; raises ModelError where the model gives none."""
        ...


class PhraseVectors:
    """The table `vectors` of the file; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, user_id: str, model: str, phrases: Iterable[str]) -> dict[str, Floats]:
        """The vectors that are kept, by phrase."""
        wanted = sorted(set(phrases))
        found: dict[str, Floats] = {}
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT phrase, vector FROM vectors WHERE user_id = ? AND model = ? AND phrase IN ({marks})"
            rows = self._database.rows(query, user_id, model, *some)
            found |= {row["phrase"]: np.frombuffer(row["vector"], "<f4") for row in rows}
        return found

    def save(self, user_id: str, model: str, vectors: Mapping[str, Floats]) -> None:
        """Keeps vectors that were just given, by phrase."""
        with self._database.transaction() as execute:
            for phrase, vector in sorted(vectors.items()):
                data = np.asarray(vector, "<f4").tobytes()
                execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", (user_id, model, phrase, data))

    def phrases(self, user_id: str) -> list[str]:
        """Every phrase of a user that has a vector, in order."""
        rows = self._database.rows("SELECT DISTINCT phrase FROM vectors WHERE user_id = ? ORDER BY phrase", user_id)
        return [row["phrase"] for row in rows]

    def forget(self, user_id: str, phrases: Collection[str]) -> int:
        """Deletes the vectors of these phrases of a user; returns how many phrases those were."""
        with self._database.transaction() as execute:
            for phrase in phrases:
                execute("DELETE FROM vectors WHERE user_id = ? AND phrase = ?", (user_id, phrase))
        self._database.shrink_log()
        return len(phrases)
