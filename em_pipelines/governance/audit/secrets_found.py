"""Secrets that stand in a table after all: what masking knows is looked for once more, in every column of text.

Everything is masked before it lands (`language.masking`), so what is found here came in on another way: an editor, a
model's own words, a pattern that was learned since. Found is told by table, column and day, and never quoted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.governance.audit.looks import Due
from em_pipelines.language.masking import mask_bytes, mask_text, mask_value, secret_kinds
from em_pipelines.schema.table import BYTES, TEXT, TEXTS
from em_pipelines.storage.lake import Lake

ID_ENDINGS = ("_id", "_ids", "_hash", "_digest", "object_key", "premises", "consolidates")
"""Of columns that hold identifiers: forms of digits alone are no secrets there, as when they land."""
BYTES_A_MEGABYTE = 1_000_000


@dataclass(slots=True)
class Secrets:
    """What a look came to: how many different values hold a secret, by table, day and column; what was looked at, in
    the order in which it was due, and how many characters that were."""

    found: Counter[tuple[str, date, str]] = field(default_factory=Counter)
    looked: list[Due] = field(default_factory=list)
    n_characters: int = 0
    n_left: int = 0


def look_for_secrets(lake: Lake, due: Sequence[Due], max_megabytes: int) -> Secrets:
    """Looks at partitions in their order until that many megabytes of different values were seen; at least at one.

    Raises CorruptTableError for a file that cannot be read.
    """
    secrets = Secrets()
    for one in due:
        if secrets.n_characters > max_megabytes * BYTES_A_MEGABYTE:
            break
        rows = lake.read(one.table, one.day)
        for name, values in _texts(rows):
            secrets.n_characters += sum(map(len, values))
            if n := sum(_holds_secret(name, value) for value in values):
                secrets.found[one.table.name, one.day, name] = n
        secrets.looked.append(one)
    secrets.n_left = len(due) - len(secrets.looked)
    return secrets


def _texts(rows: pa.Table) -> Iterator[tuple[str, list[str | bytes]]]:
    """By column of text the values that there are, each once."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        texts = pc.list_flatten(column) if column.type == TEXTS else column
        if texts.type in (TEXT, BYTES):
            yield name, [value for value in pc.unique(texts).to_pylist() if value]


def _holds_secret(column: str, value: str | bytes) -> bool:
    if isinstance(value, bytes):
        return mask_bytes(value) != value
    if column.endswith(ID_ENDINGS) or column == "id":
        return bool(secret_kinds(value))
    if value[:1] in "{[":
        try:
            parsed = orjson.loads(value)
            return bool(mask_value(parsed) != parsed)
        except (orjson.JSONDecodeError, RecursionError):
            pass  # no JSON after all
    return mask_text(value) != value
