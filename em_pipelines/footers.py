"""What stands in the footer of a partition's file: digests of its rows and of what it was made from."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

CONTENT_KEY = b"em.content_digest"
INPUTS_KEY = b"em.inputs_digest"
THINNED_KEY = b"em.thinned_rows"
"""How many rows a partition had that were given up because they can be made again."""


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """What a partition's footer says: digests of its rows and inputs, and its number of rows.

    The rows of one that is thinned are not there; all else that is said of them still holds.
    """

    content_digest: str
    inputs_digest: str
    n_rows: int
    is_thinned: bool = False


class Footers:
    """Reads footers; a local one once for as long as its file stays the same, for planning asks for each many times."""

    def __init__(self, fs: Any, *, is_local: bool) -> None:
        self._fs = fs
        self._is_local = is_local
        self.known: dict[str, tuple[tuple[int, int, int], PartitionInfo]] = {}

    def read(self, path: str) -> PartitionInfo | None:
        """What the footer of a file says, or None where there is no file; digests are empty where nobody wrote any."""
        try:
            version = self._version(path)
            known = self.known.get(path)
            if known and known[0] == version:
                return known[1]
            with self._fs.open(path, "rb") as handle:
                meta = pq.read_metadata(handle)
        except FileNotFoundError:
            return None
        keys = meta.metadata or {}
        n_rows = int(keys.get(THINNED_KEY, meta.num_rows))
        digests = [keys.get(key, b"").decode() for key in (CONTENT_KEY, INPUTS_KEY)]
        found = PartitionInfo(digests[0], digests[1], n_rows, THINNED_KEY in keys)
        if version:
            self.known[path] = (version, found)
        return found

    def _version(self, path: str) -> tuple[int, int, int] | None:
        """Differs between any two files that a path has named: replacing a file gives it another inode and time."""
        if not self._is_local:
            return None
        stat = Path(path).stat()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def footer_alone(schema: pa.Schema, info: PartitionInfo) -> bytes:
    """A file without rows that says what one with them said."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema) as writer:
        kept = {CONTENT_KEY: info.content_digest, INPUTS_KEY: info.inputs_digest, THINNED_KEY: str(info.n_rows)}
        writer.add_key_value_metadata(kept)
    return buffer.getvalue()
