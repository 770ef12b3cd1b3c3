"""What a correction meets in memory: whether anything that is known fits it, which of its names are new, and whether
names that are to be one thing are of different kinds. Tells; who corrects decides."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from em_pipelines.language.name_keys import name_key
from em_pipelines.redaction.role_names import role_of
from em_pipelines.redaction.veils import Veil
from em_pipelines.schema.vocabulary import USER, EntityType
from em_pipelines.serving.facts import FactRow, Known

MAX_NEAR = 3
NEAR_RATIO = 0.75
"""Ratcliff and Obershelp's similarity (0 to 1) from which a name may have been meant: a letter or two."""


class KnownNames:
    """The names of one user's entities, by their keys, as readers see them; nobody is told of `hidden` ones, nor of
    those that `tells`, where it is given, does not tell."""

    def __init__(
        self, entities: pa.Table, hidden: Sequence[Veil] = (), tells: Callable[[str], bool] | None = None
    ) -> None:
        self._hidden = hidden
        columns = ("entity_id", "canonical_name", "aliases", "entity_type", "merged_into")
        self._rows = {row["entity_id"]: row for row in entities.select(columns).to_pylist()}
        self._ids: dict[str, set[str]] = {}
        self._shown: dict[str, str] = {}
        for entity_id, row in self._rows.items():
            for name in (row["canonical_name"], *row["aliases"]):
                if tells and not tells(name):
                    continue
                self._ids.setdefault(name_key(name), set()).add(self._read_by(entity_id))
                self._shown.setdefault(name_key(name), name)

    def is_known(self, name: str) -> bool:
        """Whether anything bears the name; the remembered person always does."""
        return name_key(name) == USER or name_key(name) in self._ids

    def is_one(self, name: str, other: str) -> bool:
        """Whether both names are read as the same thing."""
        return bool(self._ids.get(name_key(name), set()) & self._ids.get(name_key(other), set()))

    def kinds(self, name: str) -> set[str]:
        """Of which types the things of a name are; what nobody knows more of than its name is of none."""
        found = {self._rows[entity_id]["entity_type"] for entity_id in self._ids.get(name_key(name), ())}
        return found - {EntityType.CONCEPT}

    def in_full(self, role: str) -> list[str]:
        """The names, as worded, that say whose a bare role is which nobody bears: Katya's dad, for dad."""
        if self.is_known(role):
            return []
        named = {
            next(iter(self._ids[key])): self._shown[key] for key in self._ids if self._is_role(key, name_key(role))
        }
        return sorted(named.values())

    def _is_role(self, key: str, role: str) -> bool:
        return name_key(role_of(self._shown[key])) == role and not self._is_hidden(self._shown[key])

    def near(self, name: str) -> list[str]:
        """Names that resemble one that nobody bears, as worded, the nearest first."""
        keys = [key for key in self._ids if key != USER and not self._is_hidden(self._shown[key])]
        return [self._shown[key] for key in get_close_matches(name_key(name), keys, MAX_NEAR, NEAR_RATIO)]

    def _is_hidden(self, name: str) -> bool:
        return any(veil.is_all or veil.names.is_in(name) for veil in self._hidden)

    def _read_by(self, entity_id: str) -> str:
        seen: set[str] = set()
        while entity_id not in seen and (into := self._rows.get(entity_id, {}).get("merged_into")):
            seen.add(entity_id)
            entity_id = into
        return entity_id


@dataclass(frozen=True, slots=True)
class Effect:
    """What a feedback does to what is known: whether it changes or meets a fact that stands."""

    before: Known
    after: Known

    @property
    def has_changed(self) -> bool:
        """Whether a fact that was known stands otherwise."""
        now = {row["edge_id"]: _standing(row) for row in self.after.rows}
        return any(now.get(row["edge_id"]) != _standing(row) for row in self.before.rows)

    @property
    def is_new(self) -> bool:
        """Whether a fact stands that was not known."""
        return not {row["edge_id"] for row in self.after.rows} <= {row["edge_id"] for row in self.before.rows}


def notes_on_names(names: KnownNames, said: Mapping[str, Any]) -> list[str]:
    """Sentences on the names of a correction: a subject that is new, and what is new and resembles what is known."""
    found = []
    for role in ("subject", "object", "new_object"):
        name = said.get(role)
        if not name or names.is_known(str(name)):
            continue
        near = names.near(str(name))
        if role == "subject" or near:
            found.append(f"{name!r:.80} is new{hint(near)}")
    return found


def notes_on_merge(names: KnownNames, name: str, into: str) -> list[str]:
    """Sentences on names that are to be one: new ones, what is one already, and things of different kinds."""
    new = [one for one in (name, into) if not names.is_known(one)]
    found = [f"{one!r:.80} is new{hint(names.near(one))}" for one in new]
    kinds, other_kinds = names.kinds(name), names.kinds(into)
    if not new and names.is_one(name, into):
        found.append(f"{name!r:.80} and {into!r:.80} were one already")
    elif kinds and other_kinds and not kinds & other_kinds:
        found.append(
            f"{name!r:.80} is known as {_named(kinds)} and {into!r:.80} as {_named(other_kinds)}: if they are not one, "
            "`em split` takes them apart"
        )
    return found


def hint(near: Sequence[str]) -> str:
    """What may have been meant, to stand behind a sentence; empty where nothing resembles it."""
    return f"; near it: {', '.join(near)}" if near else ""


def _named(kinds: set[str]) -> str:
    return " or ".join(f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" for kind in sorted(kinds))


def _standing(row: FactRow) -> tuple[object, ...]:
    return row["status"], round(row["confidence"], 6), row["superseded_by"], row["unlearned_at"]
