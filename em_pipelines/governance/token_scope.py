"""How far a token reaches and for how many days. Apart from the tokens themselves, so that naming it costs nothing."""

from enum import IntEnum

from em_pipelines.errors import UsageError

DEFAULT_DAYS = 90
MAX_DAYS = 3650


class TokenScope(IntEnum):
    """How far a token reaches; each scope holds those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3

    @classmethod
    def named(cls, name: str) -> "TokenScope":
        """The scope of a name; raises UsageError."""
        try:
            return cls[name.strip().upper()]
        except KeyError as error:
            raise UsageError(f"reading the scope: found {name!r:.40}; give read, write or admin") from error

    @property
    def label(self) -> str:
        """Its name in small letters."""
        return self.name.lower()
