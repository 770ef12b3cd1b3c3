"""Hints that name a command, as commands that work when copied: where the home was given by an option, they have it.

Whoever set EM_HOME, or works beside `.em`, needs no option. Every sentence of ours goes through `runnable` on its way
out; a command in it stands in backticks.
"""

import re
from pathlib import Path
from shlex import quote

WITHOUT_HOME = frozenset({"prompt"})
"""Commands that look into no home."""
_COMMAND = re.compile(r"`(em (?P<name>[a-z]+(?:-[a-z]+)*)[^`]*)`")


def runnable(sentence: str, home: Path | None) -> str:
    """A sentence whose commands in backticks name the home, where it was given; help is the same for every home."""
    return sentence if home is None else _COMMAND.sub(lambda found: f"`{_named(found, home)}`", sentence)


def with_home(command: str, home: Path | None) -> str:
    """A command, to be shown by itself."""
    return command if home is None else f"{command} --home {quote(str(home))}"


def _named(found: re.Match[str], home: Path) -> str:
    command = found[1]
    is_whole = found["name"] in WITHOUT_HOME or "--home" in command or command.endswith("--help")
    return command if is_whole else with_home(command, home)
