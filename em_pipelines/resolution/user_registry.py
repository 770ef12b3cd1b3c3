"""The registry of one user while a day is resolved: rows by id, by name and by blocking key, and what changes in them.

Only rows that the names of today can meet are here: names are compared only where they share a blocking key. What names
mean is judged elsewhere; how rows come to be, are joined and taken apart, and that each change is written down, stands
here; and the hand-written alias file (docs/resolution.md), which wins over everything else.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.errors import SettingsError
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import fold, name_key
from em_pipelines.resolution.clusters import FEEDBACK, REWORDED, components, cut, release, settle
from em_pipelines.resolution.name_parts import Name, head_role, parse_name, sounds
from em_pipelines.resolution.qualifiers import AT, MARKS
from em_pipelines.resolution.rewordings import clipped_key, phrase_of
from em_pipelines.resolution.word_lists import full_forms, roles, words
from em_pipelines.schema.ids import content_id, digest, entity_id
from em_pipelines.schema.rows import EntityOpRow, EntityRow, LinkItem
from em_pipelines.schema.vocabulary import USER, EntityType, PrivacyLevel

PREFIX_LETTERS = 3
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


@lru_cache(maxsize=200_000)
def name_keys(text: str, entity_type: str) -> frozenset[str]:
    """The blocking keys of a name: whole, as known, its words, initials, beginning, and what a given name may be short
    for."""
    name = parse_name(text, entity_type)
    keys = {f"={name.compact}", f"={name.known_as}", f"^{name.compact[:PREFIX_LETTERS]}"}
    keys |= {f" {token}" for token in name.all_tokens if token not in words("small_words") or len(name.all_tokens) == 1}
    keys |= _initials(name)
    if name.digits and len(name.tokens) == 2:
        keys.add(f"#{name.tokens[0][0]}{name.tokens[1]}")
    if entity_type in REWORDED and (phrase := phrase_of(text)) is not None:
        keys.add(f"*{phrase.key}")
    if name.person is None and not name.is_proper:
        keys.add(f"={clipped_key(name)}")
    if name.person is not None:
        for given in {name.person.given, name.person.single} - {""}:
            keys |= {f"~{given}", *(f"~{full}" for full in full_forms().get(given, ()))}
            keys |= {f"^{given[:PREFIX_LETTERS]}", f"&{sounds(given)}"}
        if name.person.role:
            keys |= role_keys(name.person.role)
    return frozenset(keys)


def _initials(name: Name) -> set[str]:
    if len(name.all_tokens) == 1:
        return {f"@{name.compact}"} if len(name.compact) <= 6 else set()
    telling = [token for token in name.all_tokens if token not in words("small_words")]
    return {"@" + "".join(t[0] for t in name.all_tokens), "@" + "".join(t[0] for t in telling)}


@lru_cache(maxsize=4096)
def role_keys(role: str) -> frozenset[str]:
    """The blocking keys of a role: its own, and those of the steps of one love."""
    head = head_role(role)
    partners = {member for group in roles().partners if head in group for member in group}
    return frozenset(f"${found}" for found in {role, head, *partners})


def row_keys(canonical_name: str, entity_type: str, qualifiers: list[str]) -> frozenset[str]:
    """The blocking keys of a row of the registry: of its name, and of what its bearer was said to be."""
    keys = name_keys(canonical_name, entity_type)
    for qualifier in qualifiers:
        if not qualifier.startswith((AT, *MARKS)):
            keys |= role_keys(qualifier.partition(" of ")[0])
    return keys


@dataclass(frozen=True, slots=True)
class Cause:
    """What a change came of: a mention or a piece of feedback, by its id."""

    id: str
    timestamp: datetime
    session_id: str
    turn_number: int
    correlation_id: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why two rows are one: how it was found, how surely (0 to 1), and in words that quote no message."""

    method: str
    score: float
    reason: str


TOLD_APART = Grounds(FEEDBACK, 1.0, "somebody said that they are two")


@dataclass
class Registry:
    """The rows of one user that today's names can meet, and the operations on them."""

    user_id: str
    aliases: dict[str, AliasEntry] = field(default_factory=dict)
    rows: dict[str, EntityRow] = field(default_factory=dict)
    ops: list[EntityOpRow] = field(default_factory=list)
    meant: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Name keys of phrases that mean the same, with the cosine of their vectors."""
    _by_key: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _blocks: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _members: dict[str, list[str]] = field(default_factory=dict)

    def load(self, rows: Iterable[EntityRow]) -> None:
        """Takes rows as they stood, groups whole."""
        for row in rows:
            self._add(row)
        for row in self.rows.values():
            if row["merged_into"] is not None:
                self._members[row["merged_into"]].append(row["entity_id"])

    def _add(self, row: EntityRow) -> None:
        name = row["entity_id"]
        self.rows[name] = row
        self._by_key[row["name_key"]].append(name)
        self._members[name] = [name]
        self.reindex(row)

    def reindex(self, row: EntityRow) -> None:
        """Makes a row findable by what it holds now."""
        for key in row_keys(row["canonical_name"], row["entity_type"], row["qualifiers"]):
            self._blocks[key].add(row["entity_id"])

    def named(self, key: str) -> list[EntityRow]:
        """The rows of a name key, those met first before others."""
        found = [self.rows[name] for name in self._by_key.get(key, ())]
        return sorted(found, key=lambda row: (row["first_seen"], row["entity_id"]))

    def near(self, keys: Iterable[str]) -> list[EntityRow]:
        """Rows that share a blocking key, in order of their ids."""
        names = {name for key in keys for name in self._blocks.get(key, ())}
        return [self.rows[name] for name in sorted(names)]

    def alike(self, text: str, entity_type: str) -> list[EntityRow]:
        """Rows whose names can be compared with a name."""
        return self.near(name_keys(text, entity_type))

    def comparable(self, row: EntityRow) -> list[EntityRow]:
        """Rows whose names can be compared with a row's, by their wording or their meaning, in order of their ids."""
        alike = self.alike(row["canonical_name"], row["entity_type"])
        meant = [other for key in self.meant.get(row["name_key"], ()) for other in self.named(key)]
        found = {other["entity_id"]: other for other in (*alike, *meant)}
        return [found[name] for name in sorted(found)] if meant else alike

    def group(self, row: EntityRow) -> list[EntityRow]:
        """All rows that are one with a row, itself among them."""
        return [self.rows[name] for name in self._members[row["merged_into"] or row["entity_id"]]]

    def representative(self, row: EntityRow) -> EntityRow:
        """The row by which a row is read."""
        return self.rows[row["merged_into"]] if row["merged_into"] else row

    def are_one(self, one: EntityRow, other: EntityRow) -> bool:
        """Whether both are names of one thing."""
        return self.representative(one) is self.representative(other)

    def create(self, text: str, entity_type: str, discriminator: str, cause: Cause, method: str = "new") -> EntityRow:
        """Makes the row of a name; one that stands already is returned as it is."""
        key = name_key(text)
        made = entity_id(self.user_id, key, discriminator)
        if made in self.rows:
            return self.rows[made]
        row: EntityRow = {
            "entity_id": made,
            "user_id": self.user_id,
            "canonical_name": text,
            "name_key": key,
            "discriminator": discriminator,
            "aliases": [],
            "alias_keys": [],
            "entity_type": entity_type,
            "first_seen": cause.timestamp,
            "last_referenced": cause.timestamp,
            "mention_count": 0,
            "importance": 0.0,
            "certainty": 0.0,
            "privacy_level": PrivacyLevel.PERSONAL.value,
            "requires_verification": False,
            "qualifiers": [],
            "links": [],
            "merged_into": None,
            "merged_at": None,
            "distinct_from": [],
            "status": "active",
        }
        self._add(row)
        self._note("CREATE", row, None, Grounds(method, 1.0, "the name was not known"), cause)
        return row

    def qualify(self, row: EntityRow, qualifier: str) -> None:
        """Keeps what a bearer of a name was said to be."""
        if qualifier and qualifier not in row["qualifiers"]:
            row["qualifiers"] = [*row["qualifiers"], qualifier]
            self.reindex(row)

    def join(self, row: EntityRow, other: EntityRow, grounds: Grounds, cause: Cause) -> None:
        """Makes two rows one, on the grounds given; those that are one already only when people say so."""
        is_one = self.are_one(row, other)
        if row is other or (is_one and grounds.method != FEEDBACK):
            return
        link: LinkItem = {
            "entity_id": other["entity_id"], "method": grounds.method, "score": grounds.score,
            "linked_at": cause.timestamp,
        }  # fmt: skip
        if link in row["links"]:
            return
        row["links"] = [*row["links"], link]
        self._settle([*self.group(row), *([] if is_one else self.group(other))])
        merged, into = (other, row) if self.representative(row) is row else (row, self.representative(row))
        self._note("MERGE", merged, into, grounds, cause)

    def split(self, row: EntityRow, other: EntityRow | None, cause: Cause) -> None:
        """Takes a row out of its group: apart from another row, or from all. Heuristics never join them again."""
        group = self.group(row)
        apart = [other] if other is not None else [member for member in group if member is not row]
        if other is None:
            release(group, row["entity_id"])
        elif other in group:
            cut(group, row["entity_id"], other["entity_id"])
        for part in components(group):
            self._settle(part)
        for one in apart:
            self.set_apart(row, one)
            self._note("SPLIT", row, one, TOLD_APART, cause)

    def set_apart(self, row: EntityRow, other: EntityRow) -> None:
        """Notes that two rows are two things."""
        for one, another in ((row, other), (other, row)):
            if another["entity_id"] not in one["distinct_from"]:
                one["distinct_from"] = sorted([*one["distinct_from"], another["entity_id"]])

    def reconcile(self, row: EntityRow, other: EntityRow) -> None:
        """Takes back that two rows are two things."""
        for one, another in ((row, other), (other, row)):
            one["distinct_from"] = [name for name in one["distinct_from"] if name != another["entity_id"]]

    def _settle(self, rows: list[EntityRow]) -> None:
        settle(rows, self._rank)
        for row in rows:
            self._members[row["entity_id"]] = [row["entity_id"]]
        for row in sorted(rows, key=lambda row: row["entity_id"]):
            if row["merged_into"]:
                self._members[row["merged_into"]].append(row["entity_id"])

    def _rank(self, row: EntityRow) -> int:
        """Proper names before role nouns before pronouns; the name in the alias file before all."""
        entry = self.aliases.get(row["name_key"])
        if entry is not None and name_key(entry.name) == row["name_key"]:
            return 0
        name = parsed(row)
        if fold(name.text) in words("nothing"):
            return 3
        if english.is_statement(name.text) or english.is_verb_phrase(
            name.text
        ):  # a thing is not called after what is said of it
            return 3
        is_role = name.person is not None and name.person.is_role
        return 1 if name.is_proper and not is_role else 2

    def _note(self, operation: str, row: EntityRow, other: EntityRow | None, grounds: Grounds, cause: Cause) -> None:
        other_id = other["entity_id"] if other else None
        self.ops.append(
            {
                "op_id": content_id("eop", operation, row["entity_id"], other_id, grounds.method, cause.id),
                "user_id": self.user_id,
                "operation": operation,
                "entity_id": row["entity_id"],
                "other_id": other_id,
                "method": grounds.method,
                "score": grounds.score,
                "reason": grounds.reason,
                "timestamp": cause.timestamp,
                "session_id": cause.session_id,
                "turn_number": cause.turn_number,
                "correlation_id": cause.correlation_id,
            }
        )


def parsed(row: EntityRow) -> Name:
    """The name of a row, taken apart; whose role it is, its qualifiers say."""
    owner = next((q.removeprefix("of ") for q in row["qualifiers"] if q.startswith("of ")), "")
    return parse_name(row["canonical_name"], row["entity_type"], owner)


def is_user(row: EntityRow) -> bool:
    """The remembered person's own row."""
    return bool(row["name_key"] == USER)
