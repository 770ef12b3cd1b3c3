"""The environment of the process: the one place where it is read, and settings by pydantic-settings beside it.

What stands there and is no setting is a secret, or an address with one in it: no command shows it, no file keeps it.
Whoever needs one is handed it.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType


def environment() -> Mapping[str, str]:
    """The environment as it is now, to read from."""
    return MappingProxyType(os.environ)


def take(name: str) -> str | None:
    """A variable, which is taken out of the environment: no process that is started from here sees it."""
    return os.environ.pop(name, None)


def silence_libraries() -> None:
    """Switches off what libraries would tell their makers, unless somebody has said otherwise."""
    for name, value in (("DAGSTER_DISABLE_TELEMETRY", "1"), ("GX_ANALYTICS_ENABLED", "false")):
        os.environ.setdefault(name, value)


def batch_events() -> None:
    """Has Dagster hand over the events of a run's partitions together, unless somebody has said otherwise; here and in
    processes that are started from here."""
    os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", "1000")
