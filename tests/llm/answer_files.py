"""Files of answers as earlier versions of the program wrote them."""

import sqlite3
from contextlib import closing
from itertools import chain
from pathlib import Path

from em_pipelines.llm.database import CHANGES


def write_file_of_version(path: Path, version: int) -> None:
    """Writes an empty file of answers with the schema of a version."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in chain.from_iterable(CHANGES[: version + 1]):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
