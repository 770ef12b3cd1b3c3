"""Reading labelled corpora: JSON Lines, one message or one user's mentions a line. `em_pipelines/evaluation/corpora`
holds the project's own, with invented people."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError

SHIPPED = Path(__file__).with_name("corpora")


class Kind(StrEnum):
    """Kinds of corpora: what an extractor reads, what it must not, and which names are one."""

    EXTRACTION = "extraction"
    RESOLUTION = "resolution"
    ATTACKS = "attacks"

    @property
    def label(self) -> str:
        """The key that every row of such a corpus has."""
        return {Kind.EXTRACTION: "gold", Kind.RESOLUTION: "clusters", Kind.ATTACKS: "kind"}[self]


def read_corpus(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the rows of one file; raises UsageError naming the line that is none."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"reading {path}: {error.strerror}; give a JSON Lines file") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"reading {path}, line {number}: {error}; each line is one JSON object") from error
        if not isinstance(row, dict) or "id" not in row:
            raise UsageError(f"reading {path}, line {number}: no `id`; each line is one JSON object with an id")
        if "message" not in row and "mentions" not in row:
            raise UsageError(
                f"reading {path}, line {number}: neither `message` nor `mentions`; is it a labelled corpus?"
            )
        yield row


def read_labelled(paths: Iterable[Path], label: str) -> list[dict[str, Any]]:
    """All rows of several files; raises UsageError for a row without the label (`gold`, `kind`) or with an id twice."""
    rows: dict[str, dict[str, Any]] = {}
    for path in paths:
        for row in read_corpus(path):
            if label not in row:
                raise UsageError(f"reading {path}: row {row['id']} has no `{label}`; is it a corpus of another kind?")
            if row["id"] in rows:
                raise UsageError(f"reading {path}: the id {row['id']} stands twice; ids tell rows apart")
            rows[row["id"]] = row
    return list(rows.values())
