"""What a search looks for after an erasure, and how it is recognised in a row, a line or a text.

Rows tell whose they are and when they were said: those of other users, and what was said after the cutoff, are
nobody's business here.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any

from em_pipelines.landing.erasure_gate import named_users, unescaped
from em_pipelines.landing.erasure_requests import Plan, Request, RequestBook, ScopeKind
from em_pipelines.language.fact_keys import strings_in
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.expectations import ROLES
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.storage.sealed_texts import SentenceIndex

KEYS = frozenset({"user_id", "session_id", "correlation_id", "source_id", "message_id", "dead_letter_id", "agent_id"})
"""What a record is known by is no text about anybody, unless it is the user or session that is erased."""
PLACES = frozenset(
    {
        "log",
        "alerts",
        "lake",
        "snapshots",
        "evaluations",
        "quality",
        "packs",
        "pool",
        "dagster",
        "llm",
        "record",
        "tmp",
        "locks",
        "latest",
        "memory",
        "skills",
    }
)
OWN_WORDS = frozenset(
    {*PLACES, *ROLES, *CATALOG, *(column.name for table in CATALOG.values() for column in table.columns)}
)
"""Names of folders, tables, columns and roles: nobody is meant by them who is called so."""
TIMES = ("timestamp", "learned_at", "first_seen", "started_at", "promoted_at", "generated_at", "at", "answered_at")


class Whose(Enum):
    """Whose bytes are, as far as they or their place say so."""

    THEIRS = "theirs"
    ANOTHERS = "anothers"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Terms:
    """What may not be found: of a user all of it, of a session its rows, else names, ids and sentences, by hashes."""

    kind: ScopeKind
    user_id: str
    target: str
    until: str
    names: NameIndex
    ids: tuple[str, ...]
    sentences: SentenceIndex

    @classmethod
    def of(cls, request: Request, plan: Plan, book: RequestBook) -> "Terms":
        """The terms of a plan."""
        scope, planned = request.scope, request.with_plan(plan)
        ids = (*plan.ids, *plan.edge_ids)
        names, sentences = book.names(planned), book.sentences(planned)
        return cls(scope.kind, scope.user_id, scope.target, request.until, names, ids, sentences)

    def is_in_row(self, row: Mapping[str, Any], whose: Whose = Whose.UNKNOWN) -> bool:
        """Whether a row of a table, or a record of the log, holds what may not be there.

        A row that names no user is of whom its dead letter names, else of `whose` its file is.
        """
        owner = row.get("user_id")
        if owner is None:
            return self.is_in_text("\n".join(_texts(row)), self._whose_letter(row) or whose)
        if owner != self.user_id or _said_at(row) > self.until:
            return False
        if self.kind is ScopeKind.USER:
            return True
        if self.kind is ScopeKind.SESSION and row.get("session_id") == self.target:
            return True
        return any(self._is_in(text) for text in _texts({k: v for k, v in row.items() if k not in KEYS}))

    def is_in_text(self, text: str, whose: Whose = Whose.UNKNOWN) -> bool:
        """Whether a text holds it. Of a text that says nothing of whose it is names count only where the user is
        named, too; what is another's is no trace, whatever it says."""
        if whose is Whose.ANOTHERS:
            return False
        if whose is Whose.THEIRS and self.kind is ScopeKind.USER:
            return True
        if any(term in text for term in self.ids) or self.sentences.is_in(text):
            return True
        if whose is Whose.UNKNOWN and not self.names_user(text):
            return False
        if self.kind is ScopeKind.USER or (whose is Whose.THEIRS and self.sentences.is_in_part(text)):
            return True
        return (self.kind is ScopeKind.SESSION and f'"{self.target}"' in text) or self.names.is_in(text)

    @property
    def is_own_word(self) -> bool:
        """Whether the user is called as we call something ourselves: `messages`, say, which tables and logs are full
        of. Then only what says whose it is names them."""
        return self.user_id in OWN_WORDS

    def names_user(self, text: str) -> bool:
        """Whether a text names the user who is asked about, as JSON does."""
        return self.user_id in named_users(text.encode()) if self.is_own_word else f'"{self.user_id}"' in text

    def _whose_letter(self, row: Mapping[str, Any]) -> Whose | None:
        """Whose a dead letter is that was taken in for nobody: of those that its raw bytes name."""
        raw = row.get("raw")
        if "dead_letter_id" not in row or raw is None:
            return None
        users = named_users(raw if isinstance(raw, bytes) else base64.b64decode(raw))
        if not users:
            return None
        return Whose.THEIRS if self.user_id in users else Whose.ANOTHERS

    def _is_in(self, text: str) -> bool:
        return any(term in text for term in self.ids) or self.names.is_in(text) or self.sentences.is_in_part(text)


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    """Every text of a row, bytes and base64 decoded."""
    for name, value in row.items():
        if isinstance(value, bytes):
            yield unescaped(value)
        elif name == "raw" and isinstance(value, str):
            yield unescaped(base64.b64decode(value))
        elif name in {"payload", "request"} and isinstance(value, str):
            yield unescaped(value.encode("utf-8", "replace"))
        else:
            yield from strings_in(value)


def _said_at(row: Mapping[str, Any]) -> str:
    """When a row was said; rows that do not tell count as said before."""
    for name in TIMES:
        value = row.get(name)
        if isinstance(value, datetime):
            return iso_instant(value if value.tzinfo else value.replace(tzinfo=UTC))
        if isinstance(value, str) and value[:4].isdigit():
            return value
        if isinstance(value, date):
            return value.isoformat()
    return ""
