"""The hand-written alias file: which names are one, by user. It wins over everything else.

Loading and looking up alone; docs/resolution.md has the form.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.errors import SettingsError
from em_pipelines.language.name_keys import name_key
from em_pipelines.schema.ids import digest
from em_pipelines.schema.vocabulary import EntityType

EVERYBODY = "*"


class AliasEntry(BaseModel):
    """One thing: the name it is read by, its type where it matters, and its other names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    type: EntityType | None = None
    aliases: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Aliases:
    """Entries by user; those of "*" hold for everybody, after the user's own."""

    by_user: dict[str, tuple[AliasEntry, ...]]

    @cached_property
    def digest(self) -> str:
        """Changes whenever the file says something else."""
        return digest(
            f"{user} {entry.model_dump_json()}" for user in sorted(self.by_user) for entry in self.by_user[user]
        )

    def of(self, user_id: str) -> dict[str, AliasEntry]:
        """The entry of each name key of a user."""
        found: dict[str, AliasEntry] = {}
        for entry in (*self.by_user.get(user_id, ()), *self.by_user.get(EVERYBODY, ())):
            for name in (entry.name, *entry.aliases):
                found.setdefault(name_key(name), entry)
        return found


NO_ALIASES = Aliases({})


def load_aliases(path: Path | None, home: Path) -> Aliases:
    """Reads the alias file: `path`, or HOME/aliases.yaml if there. Raises SettingsError naming the entry at fault."""
    chosen = path or home / "aliases.yaml"
    if path is None and not chosen.exists():
        return NO_ALIASES
    try:
        data = yaml.safe_load(chosen.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"reading the alias file {chosen}: {_line(error)}; see docs/resolution.md") from error
    if data is None:
        return NO_ALIASES
    if not isinstance(data, dict):
        raise SettingsError(f"reading the alias file {chosen}: no users with entries; see docs/resolution.md")
    return Aliases({str(user): _entries(chosen, str(user), entries) for user, entries in data.items()})


def _entries(path: Path, user: str, entries: Any) -> tuple[AliasEntry, ...]:
    if not isinstance(entries, list):
        raise SettingsError(f"reading the alias file {path}: {user}: not a list of entries; see docs/resolution.md")
    found: list[AliasEntry] = []
    owners: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        where = f"reading the alias file {path}: {user}, entry {number}"
        try:
            found.append(AliasEntry.model_validate(entry))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or "entry"
            raise SettingsError(f"{where}: {field}: {first['msg']}; see docs/resolution.md") from error
        for name in {name_key(n) for n in (found[-1].name, *found[-1].aliases)}:
            if owners.setdefault(name, number) != number:
                raise SettingsError(f"{where}: {name!r} stands in entry {owners[name]}, too; a name is one thing")
    return tuple(found)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
