"""Documents by namespace and key, for agents that keep notes of their own: turns of conversations that are named after
the namespace, the newest of a key is what it holds.

They are the agent's words, so they are found and quoted as such and no facts are learned from them. What was replaced
or deleted is archived: told to nobody any more, and still in the log. Secrets are masked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.appending import append, archiving, is_covered
from em_pipelines.interfaces.agents.observations import Sender, tell
from em_pipelines.language.masking import mask_text, mask_value
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import hidden
from em_pipelines.schema.table import Record

Namespace: TypeAlias = tuple[str, ...]
Place: TypeAlias = tuple[Namespace, str]
SEPARATOR = "."
NAME, VALUE, INDEX = "document", "value", "index"


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it stands. `index` names the fields by whose text it is found; None: all, False: none. `turns` are
    those that have held it, the last one holds it."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    index: list[str] | bool | None
    session_id: str
    turns: tuple[int, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """What a key is to hold; deleted where `value` is None."""

    value: Mapping[str, Any] | None
    index: list[str] | bool | None = None


class Documents:
    """The documents of one home, of one kind: `origin` is what the log says they came from, and the root of their
    conversations. Days of the log that did not change are not read again."""

    def __init__(self, home: Pipeline, origin: str) -> None:
        self._home = home
        self._origin = origin
        self._days: dict[date, tuple[str | None, list[Record]]] = {}

    def of(self, user: str) -> dict[Place, Document]:
        """The documents of a user, by namespace and key, in order. What is archived or about to be forgotten is left
        out, and so is one that an erasure has cut."""
        gone, veils = self._home.archived.of(user), hidden(self._home, user)
        found: dict[Place, Document] = {}
        own = [record for record in self._records() if record["user_id"] == user and not is_covered(record, veils)]
        for record in sorted(own, key=lambda record: (record["session_id"], record["turn_number"])):
            document = self._document(record)
            if document is None:
                continue
            place = document.namespace, document.key
            before = found.pop(place, None)
            if (record["session_id"], record["turn_number"]) in gone:
                if before is not None:  # it was replaced by what is gone now, too
                    found.pop(place, None)
                continue
            found[place] = document if before is None else _after(before, document)
        return dict(sorted(found.items()))

    def change(self, sender: Sender, changes: Mapping[Place, Change]) -> None:
        """Makes keys hold something else, or nothing; those of a namespace all or none. What holds it already stays as
        it is. Raises UsageError for what cannot be kept."""
        standing = self.of(sender.user_id)
        by_namespace: dict[Namespace, list[tuple[str, Change]]] = defaultdict(list)
        gone: dict[str, set[int]] = defaultdict(set)
        for (namespace, key), change in changes.items():
            before = standing.get((namespace, key))
            if before is not None:
                if _is_same(before, change):
                    continue
                gone[before.session_id].update(before.turns)
            if change.value is not None:
                by_namespace[namespace].append((key, change))
        for namespace, new in by_namespace.items():
            said = [{"role": "assistant", "content": _content(key, change)} for key, change in new]
            append(self._home, sender, self._session(namespace), said)
        archived = [one for session_id, turns in gone.items() for one in archiving(session_id, turns)]
        if archived:
            tell(self._home, sender, archived)

    def _records(self) -> Iterator[Record]:
        """The turns that hold documents, whoever they are of."""
        log = self._home.store.log
        days = log.days("interactions")
        for day in self._days.keys() - set(days):
            del self._days[day]
        for day in days:
            digest = log.digest("interactions", day)
            if self._days.get(day, (None, []))[0] != digest or digest is None:
                self._days[day] = digest, [*filter(self._is_document, log.read("interactions", day))]
            yield from self._days[day][1]

    def _is_document(self, record: Record) -> bool:
        root = str(record["session_id"]).partition(SEPARATOR)[0]
        return root == self._origin == record.get("source_format") and record["role"] == "assistant"

    def _session(self, namespace: Namespace) -> str:
        return SEPARATOR.join((self._origin, *namespace))

    def _document(self, record: Record) -> Document | None:
        try:
            kept = orjson.loads(record["content"])
            key, value, index = kept[NAME], kept[VALUE], kept.get(INDEX)
        except (orjson.JSONDecodeError, TypeError, KeyError):
            return None
        at = datetime.fromisoformat(record["timestamp"])
        namespace = tuple(record["session_id"].split(SEPARATOR)[1:])
        return Document(namespace, key, value, index, record["session_id"], (record["turn_number"],), at, at)


def _after(before: Document, now: Document) -> Document:
    """A document that has replaced another before that could be archived."""
    turns = (*before.turns, *now.turns)
    at = before.created_at, now.updated_at
    return Document(now.namespace, now.key, now.value, now.index, now.session_id, turns, *at)


def _is_same(before: Document, change: Change) -> bool:
    return change.value is not None and (before.value, before.index) == (mask_value(dict(change.value)), change.index)


def _content(key: str, change: Change) -> str:
    """A document as it lands; raises UsageError where it could not be read again."""
    kept = {NAME: key, VALUE: mask_value(dict(change.value or {}))}
    if change.index is not None:
        kept[INDEX] = change.index
    try:
        content = orjson.dumps(kept).decode()
    except (TypeError, RecursionError) as error:
        raise UsageError(f"keeping {key!r:.80}: its value is no JSON: {error}") from error
    try:
        is_kept = orjson.loads(mask_text(content))[NAME] == key
    except orjson.JSONDecodeError:
        is_kept = False
    if not is_kept:
        raise UsageError(
            "keeping a document: its key or value looks like a secret, which would be masked; name it otherwise"
        )
    return content


def texts_in(value: Any) -> Iterable[str]:
    """All text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_in(one)
