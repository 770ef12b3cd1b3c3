"""What a classifier made of sentences, by user and the digest of a sentence: kept beside the answers, so that none is
asked about twice.

No sentence stands here. Whoever knows one can tell whether it was said, though, so that what is kept of a user goes
with whatever of theirs is erased.
"""

import hashlib
from collections.abc import Iterable, Mapping

from em_pipelines.llm.database import Database
from em_pipelines.llm.phrase_vectors import AT_ONCE


class Judgements:
    """The table `judgements` of the file; every method is one transaction. `judge` names who judged: what another made
    of a user's sentences is no longer kept once this one's is."""

    def __init__(self, database: Database, judge: str) -> None:
        self._database = database
        self._judge = judge

    def known(self, user_id: str, sentences: Iterable[str]) -> dict[str, bool]:
        """Whether sentences were told, for those that were judged."""
        by_key = {_key(user_id, sentence): sentence for sentence in sentences}
        wanted, found = sorted(by_key), dict[str, bool]()
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, is_told FROM judgements WHERE user_id = ? AND judge = ? AND key IN ({marks})"
            rows = self._database.rows(query, user_id, self._judge, *some)
            found |= {by_key[row["key"]]: bool(row["is_told"]) for row in rows}
        return found

    def save(self, user_id: str, told: Mapping[str, bool]) -> None:
        """Keeps what was just judged, by sentence."""
        with self._database.transaction() as execute:
            execute("DELETE FROM judgements WHERE user_id = ? AND judge <> ?", (user_id, self._judge))
            for sentence, is_told in sorted(told.items()):
                row = (user_id, self._judge, _key(user_id, sentence), int(is_told))
                execute("INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?)", row)


def forget_judgements(database: Database, user_id: str) -> int:
    """Deletes what any judge made of a user's sentences; returns of how many."""
    with database.transaction() as execute:
        n_gone: int = execute("DELETE FROM judgements WHERE user_id = ?", (user_id,)).rowcount
    database.shrink_log()
    return n_gone


def _key(user_id: str, sentence: str) -> str:
    return hashlib.sha256(f"{user_id}\0{sentence}".encode("utf-8", "surrogatepass")).hexdigest()
