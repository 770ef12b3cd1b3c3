"""What the columns of a snapshot mean where no declared table says it: those of views and of tables about the file.

A view's column takes the words of the declared column that it is; what is left stands in column_comments.yaml. Comments
on published tables come from their declarations alone.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.tables.catalog import CATALOG

REFERENCE = "="
SETTINGS = "time_rules"
"""The table whose columns are settings, and mean what those say."""


def meanings(relation: str, columns: Iterable[str]) -> dict[str, str]:
    """What these columns of a view or table mean, by name. Raises KeyError for one that nothing tells of."""
    return {column: _meaning(relation, column) for column in columns}


def about(relation: str) -> str:
    """What a table about the file itself is."""
    return str(written()[relation]["about"])


def origin(relation: str, column: str) -> tuple[str, str] | None:
    """The declared table and column whose values these are; None where the view makes them or narrows them."""
    if relation in CATALOG:
        return (relation, column) if column in CATALOG[relation].schema.names else None
    entry = written()[relation]
    said = entry.get("columns", {}).get(column)
    if said is not None:
        return origin(*_split(said)[:2]) if said.startswith(REFERENCE) else None
    for source in entry.get("from", ()):
        if _has(source, column):
            return origin(source, column)
    return None


def _meaning(relation: str, column: str) -> str:
    if relation in CATALOG:
        return next(one.about for one in CATALOG[relation].columns if one.name == column)
    entry = written()[relation]
    said: str | None = entry.get("columns", {}).get(column)
    if said is None and relation == SETTINGS:
        said = DecaySettings.model_fields[column].description
    if said is None:
        source = next((one for one in entry.get("from", ()) if _has(one, column)), None)
        if source is None:
            raise KeyError(f"{relation}.{column}")
        return _meaning(source, column)
    if not said.startswith(REFERENCE):
        return said
    table, name, words = _split(said)
    return words or _meaning(table, name)


def _has(relation: str, column: str) -> bool:
    if relation in CATALOG:
        return column in CATALOG[relation].schema.names
    entry = written()[relation]
    return column in entry.get("columns", {}) or any(_has(one, column) for one in entry.get("from", ()))


def _split(reference: str) -> tuple[str, str, str]:
    """Table, column and, where the view says it in words of its own, those."""
    name, _, words = reference.removeprefix(REFERENCE).partition(" ")
    table, _, column = name.partition(".")
    return table, column, words


@cache
def written() -> Mapping[str, Any]:
    """The entries of the file, by view or table."""
    entries: Mapping[str, Any] = read_yaml(Path(__file__).with_name("column_comments.yaml").read_text(encoding="utf-8"))
    return entries
