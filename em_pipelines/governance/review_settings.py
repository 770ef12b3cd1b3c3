"""What steers the review of imported facts."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SourceKind = Literal["contacts", "calendar", "notes"]


class ReviewSettings(BaseModel):
    """Which imports count without anybody looking at each of their facts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trusted_kinds: tuple[SourceKind, ...] = Field(
        default=(), description="kinds of imports that are accepted as they land: contacts, calendar, notes"
    )
