"""What steers landing. Nothing here reads a file or the environment: the caller composes and hands over."""

from datetime import date
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator

MIB = 1024 * 1024
FIRST_PARTITION = date(2010, 1, 1)
"""The first daily partition there is: nothing older can land."""
DateOrder = Literal["dmy", "mdy", "ymd"]


class LandingSettings(BaseModel):
    """Limits that input is held to, and how much of it is held in memory at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_line_bytes: int = Field(default=4 * MIB, ge=1024, description="longer lines become dead letters, unread")
    max_letter_bytes: int = Field(
        default=64 * 1024, ge=1024, description="of an over-long line, kept in its dead letter"
    )
    max_document_bytes: int = Field(
        default=1024 * MIB, ge=1024, description="larger JSON documents that are no list become dead letters"
    )
    max_conversation_bytes: int = Field(
        default=64 * MIB, ge=1024, description="larger elements of a JSON list become dead letters; a list has no limit"
    )
    max_unpack_ratio: int = Field(
        default=500,
        ge=1,
        description="a member of a ZIP that unpacks to more than so many times its size, and 100 MiB, is not unpacked"
        " (deflate ends at 1,032; logs stay below 100)",
    )
    max_future_skew_minutes: int = Field(default=60, ge=0, description="how far a clock may run ahead of `now`")
    earliest_day: date = Field(
        default=FIRST_PARTITION, ge=FIRST_PARTITION, description="older timestamps are taken for mistakes"
    )
    max_buffer_records: int = Field(default=50_000, ge=1, description="records held before they are written")
    max_buffer_bytes: int = Field(default=64 * MIB, ge=1, description="input bytes held before they are written")
    speakers: tuple[str, ...] = Field(
        default=(), description="names under which the user writes in chats among people, as the exports show them"
    )
    keeps_tool_calls: bool = Field(
        default=False,
        description="whether what coding agents call (Claude Code) lands as skill invocations, too: what fails again "
        "and again is then learned from",
    )
    time_zone: str = Field(
        default="UTC",
        description="time zone of chat exports that name none (WhatsApp), such as Europe/Oslo",
    )
    date_order: DateOrder | None = Field(
        default=None,
        description="order of dates in chat exports that leave it open (WhatsApp): dmy, mdy or ymd; unless set, it is "
        "read off the whole file",
    )

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(
                f"{value!r} is no time zone; give one as the IANA names them, such as Europe/Oslo"
            ) from error
        return value
