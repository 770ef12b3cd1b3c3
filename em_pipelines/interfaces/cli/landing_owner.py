"""Whose messages the files of a landing are, where they do not say it.

At a terminal it is asked. Else a chat is refused before anything lands. Other files without a user are no wrong use:
they land, and what is in them waits as one dead letter a file. Only the first messages of each file are inspected.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import ask
from em_pipelines.interfaces.cli.landing_summary import are, named_files

if TYPE_CHECKING:
    from em_pipelines.landing.report import LandingReport
    from em_pipelines.landing.settings import LandingSettings

_MAX_NAMES_OFFERED = 8


@dataclass(frozen=True, slots=True)
class Given:
    """What was given to land: paths, the name of a format or auto, the user and the columns of a CSV."""

    paths: list[Path]
    format: str
    user_id: str | None
    mapping: dict[str, str] | None

    def looked_at(self, settings: "LandingSettings") -> "LandingReport":
        """What landing the first messages of each file would give."""
        from em_pipelines.landing.looking import looked_at

        return looked_at(self.paths, settings, str(self.format), self.user_id, self.mapping)


def with_owner(given: Given, settings: "LandingSettings", *, may_ask: bool) -> tuple["LandingSettings", str | None]:
    """The settings with the names of the user in chats, and the user id; both asked for at a terminal if need be.

    Raises UsageError for a chat of which it is not known who of its speakers is the user.
    """
    from em_pipelines.landing.looking import may_hold_chats

    may_ask = may_ask and sys.stdin.isatty() and sys.stdout.isatty()
    if may_hold_chats(given.paths, settings, str(given.format)):
        settings = _with_speaker(given, settings, may_ask=may_ask)
    if given.user_id is not None or not may_ask:
        return settings, given.user_id
    nobodys = given.looked_at(settings).n_nobodys
    if not nobodys:
        return settings, None
    question = "Whose messages are these? (a name)"
    return settings, ask(f"{named_files(nobodys)} {are(len(nobodys))} nobody's by what is in there. {question}")


def _with_speaker(given: Given, settings: "LandingSettings", *, may_ask: bool) -> "LandingSettings":
    chats = given.looked_at(settings).speakers
    if chats and may_ask:
        name = ask(f"{_written_by(chats)}. Which of these names is the user's?")
        if name:
            settings = settings.model_copy(update={"speakers": (*settings.speakers, name)})
            chats = given.looked_at(settings).speakers
    if not chats:
        return settings
    names = _names(chats)
    said = f"{', '.join(settings.speakers)} is none of them; " if settings.speakers else ""
    options = " or ".join(f'--speaker "{name}"' for name in names[:2])
    raise UsageError(
        f"landing {named_files(chats)}: {_written_by(chats)}, and nothing says who of them is the user; {said}nothing "
        f"has landed; give {options}"
    )


def _names(chats: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Who speaks in the chats, who writes most first; one that is in most of the chats before others."""
    n_chats: Counter[str] = Counter(name for counts in chats.values() for name in counts)
    n_messages: Counter[str] = Counter()
    for counts in chats.values():
        n_messages.update(counts)
    return sorted(n_chats, key=lambda name: (-n_chats[name], -n_messages[name], name))


def _written_by(chats: Mapping[str, Mapping[str, int]]) -> str:
    counts: Counter[str] = Counter()
    for one in chats.values():
        counts.update(one)
    names = _names(chats)
    listed = ", ".join(f"{name} ({counts[name]})" for name in names[:_MAX_NAMES_OFFERED])
    more = f" and {len(names) - _MAX_NAMES_OFFERED} more" if len(names) > _MAX_NAMES_OFFERED else ""
    return f"{'it was' if len(chats) == 1 else 'they were'} written by {listed}{more}"
