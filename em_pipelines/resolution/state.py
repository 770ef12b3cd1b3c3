"""One user's registry while a day is resolved: rows by id, by name and by blocking key, and what is changed in them.

Only rows that today's names can meet are here. What names mean is judged elsewhere; how rows come to be, are joined and
taken apart, and that each change is written down, stands here.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from em_pipelines.ids import content_id, entity_id
from em_pipelines.resolution.aliases import AliasEntry
from em_pipelines.resolution.blocking import name_keys, row_keys
from em_pipelines.resolution.lexicon import words
from em_pipelines.resolution.naming import Name, parse_name
from em_pipelines.resolution.normalization import fold, name_key
from em_pipelines.resolution.stars import components, cut, release, settle
from em_pipelines.vocabulary import USER, PrivacyLevel

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """What a change came of: a mention or a piece of feedback, by its id."""

    id: str
    timestamp: datetime
    session_id: str
    turn_number: int
    correlation_id: str


@dataclass
class Registry:
    """The rows of one user that today's names can meet, and the operations on them."""

    user_id: str
    aliases: dict[str, AliasEntry] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    ops: list[Row] = field(default_factory=list)
    _by_key: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _blocks: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _members: dict[str, list[str]] = field(default_factory=dict)

    def load(self, rows: Iterable[Row]) -> None:
        """Takes rows as they stood, groups whole."""
        for row in rows:
            self._add(row)
        for row in self.rows.values():
            if row["merged_into"] is not None:
                self._members[row["merged_into"]].append(row["entity_id"])

    def _add(self, row: Row) -> None:
        name = row["entity_id"]
        self.rows[name] = row
        self._by_key[row["name_key"]].append(name)
        self._members[name] = [name]
        self.reindex(row)

    def reindex(self, row: Row) -> None:
        """Makes a row findable by what it holds now."""
        for key in row_keys(row["canonical_name"], row["entity_type"], row["qualifiers"]):
            self._blocks[key].add(row["entity_id"])

    def named(self, key: str) -> list[Row]:
        """The rows of a name key, those met first before others."""
        found = [self.rows[name] for name in self._by_key.get(key, ())]
        return sorted(found, key=lambda row: (row["first_seen"], row["entity_id"]))

    def near(self, keys: Iterable[str]) -> list[Row]:
        """Rows that share a blocking key, in order of their ids."""
        names = {name for key in keys for name in self._blocks.get(key, ())}
        return [self.rows[name] for name in sorted(names)]

    def alike(self, text: str, entity_type: str) -> list[Row]:
        """Rows whose names can be compared with a name."""
        return self.near(name_keys(text, entity_type))

    def group(self, row: Row) -> list[Row]:
        """All rows that are one with a row, itself among them."""
        return [self.rows[name] for name in self._members[row["merged_into"] or row["entity_id"]]]

    def representative(self, row: Row) -> Row:
        """The row by which a row is read."""
        return self.rows[row["merged_into"]] if row["merged_into"] else row

    def are_one(self, one: Row, other: Row) -> bool:
        """Whether both are names of one thing."""
        return self.representative(one) is self.representative(other)

    def create(self, text: str, entity_type: str, discriminator: str, cause: Cause, method: str = "new") -> Row:
        """Makes the row of a name; one that stands already is returned as it is."""
        key = name_key(text)
        made = entity_id(self.user_id, key, discriminator)
        if made in self.rows:
            return self.rows[made]
        row: Row = {
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
        self._note("CREATE", row, None, method, 1.0, "the name was not known", cause)
        return row

    def qualify(self, row: Row, qualifier: str) -> None:
        """Keeps what a bearer of a name was said to be."""
        if qualifier and qualifier not in row["qualifiers"]:
            row["qualifiers"] = [*row["qualifiers"], qualifier]
            self.reindex(row)

    def join(self, row: Row, other: Row, method: str, score: float, reason: str, cause: Cause) -> None:
        """Makes two rows one, on the grounds given; those that are one already only when people say so."""
        is_one = self.are_one(row, other)
        if row is other or (is_one and method != "feedback"):
            return
        link = {"entity_id": other["entity_id"], "method": method, "score": score, "linked_at": cause.timestamp}
        if link in row["links"]:
            return
        row["links"] = [*row["links"], link]
        self._settle([*self.group(row), *([] if is_one else self.group(other))])
        merged, into = (other, row) if self.representative(row) is row else (row, self.representative(row))
        self._note("MERGE", merged, into, method, score, reason, cause)

    def split(self, row: Row, other: Row | None, cause: Cause) -> None:
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
            self._note("SPLIT", row, one, "feedback", 1.0, "somebody said that they are two", cause)

    def set_apart(self, row: Row, other: Row) -> None:
        """Notes that two rows are two things."""
        for one, another in ((row, other), (other, row)):
            if another["entity_id"] not in one["distinct_from"]:
                one["distinct_from"] = sorted([*one["distinct_from"], another["entity_id"]])

    def reconcile(self, row: Row, other: Row) -> None:
        """Takes back that two rows are two things."""
        for one, another in ((row, other), (other, row)):
            one["distinct_from"] = [name for name in one["distinct_from"] if name != another["entity_id"]]

    def _settle(self, rows: list[Row]) -> None:
        settle(rows, self._rank)
        for row in rows:
            self._members[row["entity_id"]] = [row["entity_id"]]
        for row in sorted(rows, key=lambda row: row["entity_id"]):
            if row["merged_into"]:
                self._members[row["merged_into"]].append(row["entity_id"])

    def _rank(self, row: Row) -> int:
        """Proper names before role nouns before pronouns; the name in the alias file before all."""
        entry = self.aliases.get(row["name_key"])
        if entry is not None and name_key(entry.name) == row["name_key"]:
            return 0
        name = parsed(row)
        if fold(name.text) in words("nothing"):
            return 3
        is_role = name.person is not None and name.person.is_role
        return 1 if name.is_proper and not is_role else 2

    def _note(
        self, operation: str, row: Row, other: Row | None, method: str, score: float, reason: str, cause: Cause
    ) -> None:
        other_id = other["entity_id"] if other else None
        self.ops.append(
            {
                "op_id": content_id("eop", operation, row["entity_id"], other_id, method, cause.id),
                "user_id": self.user_id,
                "operation": operation,
                "entity_id": row["entity_id"],
                "other_id": other_id,
                "method": method,
                "score": score,
                "reason": reason,
                "timestamp": cause.timestamp,
                "session_id": cause.session_id,
                "turn_number": cause.turn_number,
                "correlation_id": cause.correlation_id,
            }
        )


def parsed(row: Row) -> Name:
    """The name of a row, taken apart; whose role it is, its qualifiers say."""
    owner = next((q.removeprefix("of ") for q in row["qualifiers"] if q.startswith("of ")), "")
    return parse_name(row["canonical_name"], row["entity_type"], owner)


def is_user(row: Row) -> bool:
    """The remembered person's own row."""
    return bool(row["name_key"] == USER)
