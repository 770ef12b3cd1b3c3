"""The errors that callers can tell apart; every leaf is either worth a retry or not.

    EmError
    ├── TransientError      worth a retry: exit code 3
    │   ├── LockedError         another run holds the home
    │   └── RunFailedError      a materialization failed half way; what was done is kept
    └── PermanentError      a retry gives the same again: exit code 2
        ├── UsageError          wrong path, option or value
        ├── SettingsError       em.yaml or an EM_ variable cannot be read
        ├── PatternError        a pattern file breaks the pattern grammar
        └── CorruptTableError   a table's file does not match its declared schema

A message has three parts: what was attempted, what was found, what to do. Errors in single lines of input are no
exceptions: they are dead letters (`em_pipelines.landing`).
"""


class EmError(Exception):
    """Base of everything this package raises on purpose."""

    exit_code = 2


class TransientError(EmError):
    """Worth a retry."""

    exit_code = 3


class PermanentError(EmError):
    """A retry gives the same again."""


class LockedError(TransientError):
    """Another process holds the lock of this home."""


class RunFailedError(TransientError):
    """A Dagster run ended without success; finished partitions are kept and the next run goes on from them."""


class UsageError(PermanentError):
    """A path, option or value that cannot be used."""


class SettingsError(PermanentError):
    """em.yaml or an environment variable cannot be read as settings."""


class PatternError(PermanentError):
    """A pattern file breaks the pattern grammar."""


class CorruptTableError(PermanentError):
    """A table's file does not match its declared schema."""
