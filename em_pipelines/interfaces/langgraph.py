"""LangGraph's store over memory (extra `langgraph`): documents that agents put, and the facts that memory has learned.

    store = MemoryStore("my-memory")
    store.put(("nora", "notes"), "tone", {"text": "Likes short answers."})
    store.search(("nora", "em", "facts"), query="Where does Dana live?")

The first label of a namespace is the user, unless the store is opened for one. What can be meant by the operations of a
store over an append-only log that memory learns from: docs/decisions/2026-11-22-sessions-and-stores.md.
"""

import asyncio
import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.governance.corrections import Fact
from em_pipelines.interfaces.agents.documents import Change, Document, Documents, Namespace, Place, texts_in
from em_pipelines.interfaces.agents.observations import Sender
from em_pipelines.interfaces.agents.opening import open_home
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.documents import FACT
from em_pipelines.retrieval.terms import question_stems, stems

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )
    from langgraph.store.base import InvalidNamespaceError as WrongNamespace
except ImportError as error:
    raise ImportError("opening a store for LangGraph: install the extra langgraph") from error

ORIGIN = "langgraph"
FACTS = ("em", "facts")
"""Below the user: the facts that memory has learned, by the ids of their edges. They are read, and retracted by
deletion; documents stand in all other namespaces."""
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq, "$ne": operator.ne, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt,
    "$lte": operator.le,
}  # fmt: skip


class MemoryStore(BaseStore):
    """A LangGraph store in one home, for all of its users, or, with `user`, for one; safe for threads and tasks.

    Search ranks documents by the words of the query (BM25), those without any of them last with the score 0; facts as
    `Memory.search` does. TTL is not supported. Wrong namespaces raise LangGraph's InvalidNamespaceError, what cannot be
    kept UsageError; facts of somebody whom no run has read yet NotMadeError.
    """

    def __init__(self, home: Pipeline | Path | str, user: str | None = None) -> None:
        self._home = home.another() if isinstance(home, Pipeline) else open_home(home)
        self._user = user
        self._documents = Documents(self._home, ORIGIN)
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(1, "memory-store")

    def __repr__(self) -> str:
        return f"MemoryStore({str(self._home.path)!r}{f', {self._user!r}' if self._user else ''})"

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does all that reads, then all that writes: readers see what stood before the batch, and of several writes to
        one key the last one counts."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        with self._lock:
            results = [self._read(op) for op in asked]
            self._write([op for op in asked if isinstance(op, PutOp)])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, off the loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                _check_writable(op, self._placed(op.namespace)[1])
                return None
        raise TypeError(f"unknown operation: {type(op).__name__}")

    def _write(self, ops: Sequence[PutOp]) -> None:
        changes: dict[str, dict[Place, Change]] = {}
        for op in ops:
            user, namespace = self._placed(op.namespace)
            if namespace == FACTS:
                self._memory(user).retract(edge_id=op.key)
                continue
            changes.setdefault(user, {})[namespace, op.key] = Change(op.value, op.index)
        for user, wanted in changes.items():
            self._documents.change(Sender(self._memory(user).user, ORIGIN, datetime.now(UTC)), wanted)

    def _get(self, op: GetOp) -> Item | None:
        user, namespace = self._placed(op.namespace)
        if namespace == FACTS:
            return next((_of_fact(fact, op.namespace) for fact in self._facts(user) if fact["edge_id"] == op.key), None)
        found = self._documents.of(user).get((namespace, op.key))
        return Item(**_as_item(found, op.namespace)) if found else None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        user, prefix = self._placed(op.namespace_prefix)
        shown = op.namespace_prefix[: len(op.namespace_prefix) - len(prefix)]
        if prefix == FACTS:
            found = self._found_facts(user, op)
        else:
            documents = [d for d in self._documents.of(user).values() if d.namespace[: len(prefix)] == prefix]
            ranked = _ranked(documents, op.query)
            found = [SearchItem(**_as_item(one, (*shown, *one.namespace)), score=score) for one, score in ranked]
        kept = [item for item in found if _fits(item.value, op.filter or {})]
        return kept[op.offset : op.offset + op.limit]

    def _found_facts(self, user: str, op: SearchOp) -> list[SearchItem]:
        facts = {fact["edge_id"]: fact for fact in self._facts(user)}
        scores: dict[str, float | None] = dict.fromkeys(facts)
        if op.query and facts:
            hits = self._memory(user).search(op.query, kinds=[FACT], k=len(facts))
            scores = {hit.edge_id: hit.score for hit in hits if hit.edge_id and hit.edge_id in facts}
        return [_of_fact(facts[edge_id], op.namespace_prefix, score) for edge_id, score in scores.items()]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """Namespaces of documents: of the store's user, or of the one whom a prefix names."""
        prefixes = [one.path for one in op.match_conditions or () if one.match_type == "prefix" and one.path]
        user = self._user or next((path[0] for path in prefixes if path[0] != "*"), None)
        if user is None:
            raise WrongNamespace("This store is of many users: list the namespaces of one, prefix=(user, …).")
        own = {namespace for namespace, _ in self._documents.of(user)}
        shown = {namespace if self._user else (user, *namespace) for namespace in own}
        kept = {namespace for namespace in shown if all(_matches(one, namespace) for one in op.match_conditions or ())}
        cut = {namespace[: op.max_depth] for namespace in kept}
        return sorted(cut)[op.offset : op.offset + op.limit]

    def _placed(self, namespace: Namespace) -> tuple[str, Namespace]:
        """Whose a namespace is, and what it is below them."""
        if self._user is not None:
            return self._user, namespace
        if not namespace:
            raise WrongNamespace("This store is of many users: the first label of a namespace is the user.")
        return namespace[0], tuple(namespace[1:])

    def _memory(self, user: str) -> Memory:
        return Memory(self._home, user, actor="agent", origin=ORIGIN)

    def _facts(self, user: str) -> list[Fact]:
        return self._memory(user).facts()


def _check_writable(op: PutOp, namespace: Namespace) -> None:
    if op.ttl is not None:
        raise NotImplementedError("MemoryStore knows no TTL: what is no longer wanted is deleted, or forgotten.")
    if namespace == FACTS and op.value is not None:
        raise WrongNamespace(
            f"{op.namespace} holds what memory has learned: add facts with Memory.add(facts=…), or delete to retract."
        )
    if not isinstance(op.key, str) or not op.key:
        raise UsageError(f"keeping a document: a key is text, found {op.key!r:.80}")


def _as_item(document: Document, namespace: Namespace) -> dict[str, Any]:
    at = {"created_at": document.created_at, "updated_at": document.updated_at}
    return {"namespace": namespace, "key": document.key, "value": document.value, **at}


def _of_fact(fact: Fact, namespace: Namespace, score: float | None = None) -> SearchItem:
    """A fact as an item: its value is the fact as `em facts --json` has it, with `content` in words."""
    words = fact["statement"] or f"{fact['subject']} {fact['relation'].replace('_', ' ')} {fact['object']}"
    created_at, updated_at = (datetime.fromisoformat(fact[name]) for name in ("learned_at", "last_reinforced"))
    return SearchItem(tuple(namespace), fact["edge_id"], {"content": words, **fact}, created_at, updated_at, score)


def _ranked(documents: Sequence[Document], query: str | None) -> list[tuple[Document, float | None]]:
    """Documents, best first. Without a query the newest first, without scores."""
    newest = sorted(documents, key=lambda one: one.updated_at, reverse=True)
    wanted = question_stems(query, frozenset()) if query else []
    if not query:
        return [(one, None) for one in newest]
    words = [[stem for text in _texts(one) for stem in stems(text)] for one in newest]
    if not wanted or not any(words):
        return [(one, 0.0) for one in newest]
    import bm25s  # noqa: PLC0415  (a quarter of a second)

    index = bm25s.BM25(method="lucene")
    index.index(words, show_progress=False)
    known = {stem for text in words for stem in text}
    scores = (
        index.get_scores([stem for stem in wanted if stem in known]) if known & set(wanted) else [0.0] * len(newest)
    )
    by_score = sorted(enumerate(scores), key=lambda scored: -scored[1])  # of equal ones the newest first
    return [(newest[place], float(score)) for place, score in by_score]


def _texts(document: Document) -> Iterable[str]:
    if document.index is False:
        return ()
    if not isinstance(document.index, list):
        return texts_in(document.value)
    return [text for path in document.index for text in get_text_at_path(document.value, path)]


def _fits(value: Any, wanted: Mapping[str, Any]) -> bool:
    """Whether a value has what a filter wants: equal parts, or what an operator says of them."""
    return all(_has(value.get(name) if isinstance(value, Mapping) else None, one) for name, one in wanted.items())


def _has(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(found == wanted)
    if not any(str(name).startswith("$") for name in wanted):
        return isinstance(found, Mapping) and _fits(found, wanted)
    if unknown := wanted.keys() - _OPERATORS.keys():
        raise UsageError(
            f"searching: unknown operators {', '.join(sorted(unknown))}; there are {', '.join(_OPERATORS)}"
        )
    try:
        return all(_OPERATORS[name](found, one) for name, one in wanted.items())
    except TypeError:  # text is neither less nor more than a number
        return False


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    part = (
        namespace[: len(path)] if condition.match_type == "prefix" else namespace[max(0, len(namespace) - len(path)) :]
    )
    return len(part) == len(path) and all(one in ("*", label) for one, label in zip(path, part, strict=True))
