"""What can be forgotten, and a request to do so as it is kept until it is carried out.

A request is a file of its own, HOME/record/pending/ID.json, which only its owner can read. It is the one place where
the names of what is to be erased stand after the erasure has begun, and it goes when the erasure has ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from em_pipelines.erasure.names import key_of
from em_pipelines.errors import UsageError
from em_pipelines.feedback.payloads import read_payload
from em_pipelines.landing.fields import iso_instant


class ScopeKind(StrEnum):
    """How much is forgotten."""

    FACT = "fact"
    ENTITY = "entity"
    SESSION = "session"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be forgotten of one user: a fact by its id, an entity by one of its names, a session, or all."""

    kind: ScopeKind
    user_id: str
    target: str = ""

    @classmethod
    def named(
        cls, user_id: str, *, fact: str | None, entity: str | None, session: str | None, is_all: bool = False
    ) -> "Scope":
        """The one scope that is named; raises UsageError for none or several, or a name without a word."""
        kinds = {ScopeKind.FACT: fact, ScopeKind.ENTITY: entity, ScopeKind.SESSION: session}
        found = [cls(kind, user_id, target.strip()) for kind, target in kinds.items() if target is not None]
        found += [cls(ScopeKind.USER, user_id)] if is_all else []
        if len(found) != 1 or not (found[0].target or is_all):
            raise UsageError(
                "forgetting: name exactly one of a fact by its id (--fact), an entity by a name (--entity), a session "
                "(--session) and everything (--all)"
            )
        return found[0]

    @classmethod
    def of_payload(cls, user_id: str, session_id: str | None, payload: Mapping[str, Any]) -> "Scope":
        """The scope that a `forget` feedback names; its own session where it names nothing else.

        Raises ValueError where it names nothing, or more than one thing.
        """
        said = read_payload("forget", payload)
        found = [
            cls(kind, user_id, target)
            for kind, target in (
                (ScopeKind.FACT, said.edge_id),
                (ScopeKind.ENTITY, said.entity),
                (ScopeKind.SESSION, said.session),
                (ScopeKind.USER, "" if said.all else None),
            )
            if target is not None
        ]
        if not found and session_id is not None:
            found = [cls(ScopeKind.SESSION, user_id, session_id)]
        if len(found) != 1:
            raise ValueError("forget: name one of edge_id, entity, session and all")
        if found[0].kind is ScopeKind.ENTITY and not key_of(found[0].target):
            raise ValueError("forget.entity: it holds no word")
        return found[0]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request comes to, written down before anything is changed, so that a killed erasure ends as it began.

    `names` are proper names as worded, `facts` keys of facts, `ids` those of entities that go, `edge_ids` of facts.
    `messages` maps `message_place` to the record that takes the message's place, `records` are (kind, id) of others
    that go or change. `texts` are pieces of what goes, to search for. `days` have records that change.
    """

    names: tuple[str, ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()
    ids: tuple[str, ...] = ()
    edge_ids: tuple[str, ...] = ()
    messages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    records: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = ()
    days: tuple[date, ...] = ()
    is_found: bool = True


def message_place(session_id: str, turn_number: int) -> str:
    """Where a message of a user stands, as one text."""
    return f"{session_id}\x1f{turn_number}"


@dataclass(frozen=True, slots=True)
class Request:
    """A scope with its cutoff: what was said until then goes, what is said later is new knowledge.

    `actor` is who asked: user for the command line, feedback for a log. `plan` is None before it is begun.
    """

    request_id: str
    scope: Scope
    cutoff: datetime
    actor: str = "user"
    plan: Plan | None = None

    @property
    def until(self) -> str:
        """The cutoff as landed timestamps are written, so that it compares with them as text."""
        return iso_instant(self.cutoff)

    def with_plan(self, plan: Plan) -> "Request":
        """The request once it is known what it comes to."""
        return replace(self, plan=plan)


def as_document(request: Request) -> dict[str, Any]:
    """The request as JSON-able dict."""
    plan = request.plan
    return {
        "request_id": request.request_id,
        "kind": request.scope.kind.value,
        "user_id": request.scope.user_id,
        "target": request.scope.target,
        "cutoff": request.until,
        "actor": request.actor,
        "plan": None
        if plan is None
        else {
            "names": list(plan.names),
            "facts": [list(fact) for fact in plan.facts],
            "ids": list(plan.ids),
            "edge_ids": list(plan.edge_ids),
            "messages": {key: dict(record) for key, record in plan.messages.items()},
            "records": [list(record) for record in plan.records],
            "texts": list(plan.texts),
            "days": [day.isoformat() for day in plan.days],
            "is_found": plan.is_found,
        },
    }


def of_document(document: Mapping[str, Any]) -> Request:
    """The request of what `as_document` gave; raises KeyError, TypeError or ValueError for anything else."""
    said = document["plan"]
    plan = said and Plan(
        names=tuple(said["names"]),
        facts=tuple(tuple(fact) for fact in said["facts"]),
        ids=tuple(said["ids"]),
        edge_ids=tuple(said["edge_ids"]),
        messages=said["messages"],
        records=tuple((kind, record_id) for kind, record_id in said["records"]),
        texts=tuple(said["texts"]),
        days=tuple(date.fromisoformat(day) for day in said["days"]),
        is_found=said["is_found"],
    )
    return Request(
        document["request_id"],
        Scope(ScopeKind(document["kind"]), document["user_id"], document["target"]),
        datetime.fromisoformat(document["cutoff"]),
        document["actor"],
        plan,
    )
