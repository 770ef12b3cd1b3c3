"""Requests to forget as earlier versions wrote them: with names, sentences and messages as they were said."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from em_pipelines.language.name_matching import key_of
from em_pipelines.schema.table import Record
from em_pipelines.storage.sealed_texts import sealed_as_before
from em_pipelines.storage.tombstones import EDGE, FACT, MESSAGE, NAME, RECORD, Tombstone

if TYPE_CHECKING:
    from em_pipelines.landing.erasure_requests import Plan, Request, RequestBook

SEPARATOR = "\x1f"
"""Between session and turn of a message's place."""


def is_clear(document: object) -> bool:
    """Whether a document is of the form that held words."""
    return isinstance(document, Mapping) and "version" not in document and "request_id" in document


def sealed_request(document: Mapping[str, Any], book: "RequestBook") -> "Request":
    """The request without a word of what it covers, but for what is left of messages: `left_messages` has that.

    Raises KeyError, TypeError or ValueError for what is no request.
    """
    from em_pipelines.landing.erasure_requests import Scope, ScopeKind  # noqa: PLC0415  (which reads these)

    scope = Scope(ScopeKind(document["kind"]), document["user_id"], document["target"])
    request = book.request(scope, datetime.fromisoformat(document["cutoff"]), document["actor"])
    request = replace(request, request_id=document["request_id"])
    return request if document["plan"] is None else request.with_plan(_plan(document["plan"], request, book))


def left_messages(document: Mapping[str, Any]) -> dict[tuple[str, int], Record]:
    """What is left of each message of the user, by session and turn."""
    said = (document["plan"] or {}).get("messages", {})
    return {(place.split(SEPARATOR)[0], int(place.split(SEPARATOR)[1])): dict(left) for place, left in said.items()}


def _plan(said: Mapping[str, Any], request: "Request", book: "RequestBook") -> "Plan":
    from em_pipelines.landing.erasure_requests import Plan  # noqa: PLC0415

    return Plan(
        stones=tuple(_stones(said, request, book)),
        ids=tuple(said["ids"]),
        edge_ids=tuple(said["edge_ids"]),
        sentences=tuple(sorted(filter(None, (sealed_as_before(text, book.salt) for text in said["texts"])))),
        days=tuple(date.fromisoformat(day) for day in said["days"]),
        is_found=said["is_found"],
        n_edges=len(said["edge_ids"]),
        n_entities=len(said["ids"]),
    )


def _stones(said: Mapping[str, Any], request: "Request", book: "RequestBook") -> list[Tombstone]:
    user, until, of = request.scope.user_id, request.until, book.stones.of
    keys = sorted({key_of(name) for name in said["names"]})
    return [
        *(of(NAME, user, key, until=until, n_words=key.count(" ") + 1) for key in keys),
        *(of(FACT, user, *fact, until=until) for fact in said["facts"]),
        *(of(EDGE, user, edge_id, until=until) for edge_id in said["edge_ids"]),
        *(of(MESSAGE, user, *place.split(SEPARATOR), until=until) for place in said["messages"]),
        *(of(RECORD, kind, record_id, until=until) for kind, record_id in said["records"]),
    ]
