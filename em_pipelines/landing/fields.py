"""The types of single fields of landed records. Strict: nothing is coerced, so that a wrong log is seen as wrong."""

import re
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from em_pipelines.safety.masking import mask_text

MAX_ID_CHARACTERS = 256
MAX_TAG_CHARACTERS = 64
MAX_TAGS = 32
MAX_INT = 2**63 - 1
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


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


def iso_instant(moment: datetime) -> str:
    """An aware datetime as landed: UTC, microseconds, +00:00."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _parse_day(value: object) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value)
    raise PydanticCustomError("day_type", "expected a date as text, YYYY-MM-DD")


def _check_id(value: str) -> str:
    if not value.strip():
        raise ValueError("it is blank")
    if _CONTROL.search(value):
        raise ValueError("it holds control characters")
    return value


def _check_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise PydanticCustomError("text_unicode", "it holds half a character (a lone surrogate)") from error
    return value


def _as_kept(tags: list[str]) -> list[str]:
    """Tags as they are compared: masked, in small letters, sorted, each once."""
    return sorted({mask_text(tag).strip().casefold() for tag in tags})


Text = Annotated[str, AfterValidator(_check_text)]
Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS), AfterValidator(_check_id)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS), AfterValidator(_check_id)]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARACTERS), AfterValidator(_check_id)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(_as_kept)]
Instant = Annotated[datetime, BeforeValidator(parse_instant)]
Day = Annotated[date, BeforeValidator(_parse_day)]
Count = Annotated[int, Field(ge=0, le=MAX_INT)]
Integer = Annotated[int, Field(ge=-MAX_INT, le=MAX_INT)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
