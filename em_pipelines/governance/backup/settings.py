"""Settings of backups."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class BackupSettings(BaseModel):
    """How backups are authenticated. They change no table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key_file: Path | None = Field(
        default=None,
        description="a file with the key that authenticates the list of each backup; unset: a plain digest",
    )
