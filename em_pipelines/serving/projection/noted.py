"""What a home remembers of its graph database: when it was last made to hold what memory holds, and what that was.

HOME/record/graph.json. By it an erasure knows that something outside the home holds what was erased until the next
sync, and a sync that nothing differs. Nothing of anybody stands in it. Deleting it costs one full comparison; what was
erased since is then not known to be there still.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from em_pipelines.errors import CorruptTableError
from em_pipelines.storage.files import write_atomically

FILE = "graph.json"


@dataclass(frozen=True, slots=True)
class Noted:
    """A sync after which both sides agreed."""

    synced_at: datetime
    """When it began: what was erased later may have been read before."""
    content: str
    """Digest of what memory held; empty where that changed meanwhile."""
    checksum: str
    """Of what the graph then held, as `store.checksum` gives it."""


class GraphNote:
    """The note of one home. Whoever writes it holds the home's graph lock."""

    def __init__(self, record: Path) -> None:
        self._path = record / FILE

    @property
    def is_there(self) -> bool:
        """Whether a graph database was ever synced with this home; no matter whether the note can be read."""
        return self._path.exists()

    def read(self) -> Noted | None:
        """The last sync; None where there was none. Raises CorruptTableError for a file that is no note."""
        try:
            found = orjson.loads(self._path.read_bytes())
            return Noted(datetime.fromisoformat(found["synced_at"]), str(found["content"]), str(found["checksum"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptTableError(
                f"reading {self._path}: it is no note of a sync ({type(error).__name__}); delete it and run "
                "`em sync-graph`"
            ) from error

    def put(self, noted: Noted) -> None:
        """Replaces the note."""
        document = {"synced_at": noted.synced_at.isoformat(), "content": noted.content, "checksum": noted.checksum}
        write_atomically(self._path, orjson.dumps(document, option=orjson.OPT_SORT_KEYS) + b"\n")
