"""Tables that this process wrote lately, so that the step that reads one next need not read the file.

Each is known by its file as it stood when it was written (inode, time of change, size): once anybody has replaced,
thinned or edited that, the table is forgotten and the file is read.
"""

import threading
from collections import OrderedDict

import pyarrow as pa

from em_pipelines.storage.footer_notes import Version

KEPT_BYTES = 256_000_000
"""Of all tables together; the longest ago written goes first. A table of more than an eighth is not kept."""


class RecentTables:
    """Tables by the path of their file. Threads may share one."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._n_bytes = 0
        self._tables: OrderedDict[str, tuple[Version, pa.Table]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, path: str, version: Version, table: pa.Table) -> None:
        """Remembers what was written to a file."""
        with self._lock:
            self._forget(path)
            if table.nbytes * 8 > self._kept_bytes:
                return
            self._tables[path] = version, table
            self._n_bytes += table.nbytes
            while self._n_bytes > self._kept_bytes:
                self._forget(next(iter(self._tables)))

    def of(self, path: str, version: Version) -> pa.Table | None:
        """What the file holds, if it is known and the file is still the one that was written."""
        with self._lock:
            found = self._tables.get(path)
            if found is None:
                return None
            if found[0] == version:
                return found[1]
            self._forget(path)
            return None

    def _forget(self, path: str) -> None:
        found = self._tables.pop(path, None)
        if found is not None:
            self._n_bytes -= found[1].nbytes
