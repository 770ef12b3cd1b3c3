"""Texts that stand for values: instants, which are all written in one way so that they compare as text, YAML, and keys
of attributes as they are compared."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import yaml
from pydantic_core import PydanticCustomError


def parse_instant(value: object) -> datetime:
    """Reads an ISO 8601 timestamp with an offset as UTC; digits beyond microseconds are cut.

    Raises ValueError (or its kin PydanticCustomError, for what is no text) for what is no timestamp, has no offset,
    or leaves the years 1–9999.
    """
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, str):
        found = datetime.fromisoformat(value.strip())
    else:
        raise PydanticCustomError("instant_type", "expected a timestamp as ISO 8601 text")
    if found.tzinfo is None:
        raise ValueError("the offset is missing: add Z or +HH:MM")
    try:
        return found.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the year is out of range") from error


def local_instant(moment: datetime, offset_minutes: int | None) -> datetime:
    """An aware datetime by a clock that is so many minutes ahead of UTC; of one that is not known, UTC."""
    return moment.astimezone(timezone(timedelta(minutes=offset_minutes))) if offset_minutes else moment


def offset_minutes(moment: datetime) -> int:
    """How many minutes the clock of an aware datetime is ahead of UTC."""
    return int((moment.utcoffset() or timedelta()).total_seconds()) // 60


def local_day(moment: datetime) -> date | None:
    """The day of an aware datetime by its own clock; None where that shows UTC."""
    return moment.date() if moment.utcoffset() else None


def iso_local(moment: datetime) -> str:
    """An aware datetime with the offset that it has, for what keeps it: microseconds, +HH:MM."""
    return moment.isoformat(timespec="microseconds")


def iso_instant(moment: datetime) -> str:
    """An aware datetime as landed: UTC, microseconds, +00:00."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """The document of a text; raises yaml.YAMLError."""
    return yaml.load(text, Loader=_LOADER)


_SPELLINGS = (
    ("_", " "), ("our", "or"), ("s", "z"), ("nce", "nze"), ("ogue", "og"), ("ll", "l"), ("tre", "ter"), ("ae", "e"),
    ("oe", "e"),
)  # fmt: skip
"""What is spelled in two ways in Britain and America, in this order; to compare by alone: other words change, too."""


def attribute_key(attribute: str | None) -> str:
    """An attribute's key as it is compared: `favourite colour`, `favorite_color` and `Favorite color` are equal.

    `graph/sql/macros.sql` has the same function for SQL.
    """
    text = attribute or ""
    text = text.lower() if text.isascii() else "".join(letter.lower()[0] for letter in text)
    for written, key in _SPELLINGS:
        text = text.replace(written, key)
    return text
