"""What a search looks for after an erasure, and how it is recognised in a row, a line or a text.

Rows tell whose they are and when they were said: those of other users, and what was said after the cutoff, are
nobody's business here.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from em_pipelines.landing.erasure_gate import unescaped
from em_pipelines.landing.erasure_requests import Plan, Request, ScopeKind
from em_pipelines.text.fact_keys import strings_in
from em_pipelines.text.name_matching import NameIndex
from em_pipelines.text.values import iso_instant

KEYS = frozenset({"user_id", "session_id", "correlation_id", "source_id", "message_id", "dead_letter_id", "agent_id"})
"""What a record is known by is no text about anybody, unless it is the user or session that is erased."""
TIMES = ("timestamp", "learned_at", "first_seen", "started_at", "promoted_at", "generated_at", "at", "answered_at")


@dataclass(frozen=True, slots=True)
class Terms:
    """What may not be found: of a user all of it, of a session its rows, else names, ids and pieces of text."""

    kind: ScopeKind
    user_id: str
    target: str
    until: str
    names: tuple[str, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, request: Request, plan: Plan) -> "Terms":
        """The terms of a plan."""
        scope = request.scope
        ids = (*plan.ids, *plan.edge_ids)
        return cls(scope.kind, scope.user_id, scope.target, request.until, plan.names, ids, plan.texts)

    @property
    def index(self) -> NameIndex:
        """The names to look for."""
        return NameIndex.of(self.names)

    def is_in_row(self, row: Mapping[str, Any], index: NameIndex) -> bool:
        """Whether a row of a table, or a record of the log, holds what may not be there."""
        owner = row.get("user_id")
        if owner is None:
            return self.is_in_text("\n".join(_texts(row)), index)
        if owner != self.user_id or _said_at(row) > self.until:
            return False
        if self.kind is ScopeKind.USER:
            return True
        if self.kind is ScopeKind.SESSION and row.get("session_id") == self.target:
            return True
        return any(self._is_in(text, index) for text in _texts({k: v for k, v in row.items() if k not in KEYS}))

    def is_in_text(self, text: str, index: NameIndex) -> bool:
        """Whether a text that says nothing of whose it is holds it: names count only where the user is named, too."""
        if any(term in text for term in (*self.ids, *self.texts)):
            return True
        if f'"{self.user_id}"' not in text:
            return False
        if self.kind is ScopeKind.USER:
            return True
        return (self.kind is ScopeKind.SESSION and f'"{self.target}"' in text) or index.is_in(text)

    def _is_in(self, text: str, index: NameIndex) -> bool:
        return index.is_in(text) or any(term in text for term in (*self.ids, *self.texts))


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
