"""What can be forgotten, and the book of requests to do so: those that wait or are at work, and the certificates of
those that are done.

HOME/record/pending/ID.json       a request, until it is carried out; only its owner can read it
HOME/record/certificates/ID.json  what was done about it, without anything that was erased

A request is the one place where the names of what is to be erased stand after the erasure has begun, and it goes when
the erasure has ended. An id is a salted hash of what is asked, so a request that is landed again is recognised.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import CorruptTableError, UsageError
from em_pipelines.schema.feedback_payloads import read_payload
from em_pipelines.storage.files import write_atomically
from em_pipelines.storage.salt import Salt
from em_pipelines.text.name_matching import key_of
from em_pipelines.text.values import iso_instant


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


PENDING = "pending"
CERTIFICATES = "certificates"
ID_DIGITS = 20


class RequestBook:
    """Requests and certificates of one home. Whoever changes it holds the home's landing lock."""

    def __init__(self, record: Path, salt: Salt) -> None:
        self.pending_folder = record / PENDING
        self.certificates_folder = record / CERTIFICATES
        self._salt = salt

    def request(self, scope: Scope, cutoff: datetime, actor: str) -> Request:
        """The request for a scope; equal requests have equal ids."""
        target = key_of(scope.target) if scope.kind is ScopeKind.ENTITY else scope.target
        asked = self._salt.hash("request", scope.kind, scope.user_id, target, iso_instant(cutoff))
        return Request(f"erase_{asked[:ID_DIGITS]}", scope, cutoff, actor)

    def is_known(self, request: Request) -> bool:
        """Whether it waits already or has been carried out."""
        name = f"{request.request_id}.json"
        return (self.pending_folder / name).exists() or (self.certificates_folder / name).exists()

    def is_pending(self, request: Request) -> bool:
        """Whether it waits still."""
        return (self.pending_folder / f"{request.request_id}.json").exists()

    def put(self, request: Request) -> None:
        """Keeps a request, or what is now known of it: durable when this returns."""
        path = self.pending_folder / f"{request.request_id}.json"
        write_atomically(path, orjson.dumps(as_document(request), option=orjson.OPT_SORT_KEYS))

    def pending(self) -> list[Request]:
        """Requests that are not carried out, in the order in which they were asked.

        Raises CorruptTableError for a file that is none: a request is never passed over.
        """
        found = []
        for path in sorted(self.pending_folder.glob("[!.]*.json")):
            try:
                found.append(of_document(orjson.loads(path.read_bytes())))
            except FileNotFoundError:  # carried out a moment ago
                continue
            except (ValueError, KeyError, TypeError) as error:
                raise CorruptTableError(
                    f"reading {path}: it is no request ({type(error).__name__}); move it away and ask again"
                ) from error
        return sorted(found, key=lambda r: (r.cutoff, r.request_id))

    def close(self, request: Request, certificate: dict[str, Any]) -> None:
        """Writes the certificate, then lets go of the request; a crash in between leaves both, which is well."""
        path = self.certificates_folder / f"{request.request_id}.json"
        write_atomically(path, orjson.dumps(certificate, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
        self.drop(request)

    def drop(self, request: Request) -> None:
        """Lets go of a request."""
        (self.pending_folder / f"{request.request_id}.json").unlink(missing_ok=True)

    def certificate(self, request_id: str) -> dict[str, Any] | None:
        """The certificate of a request that is done."""
        path = self.certificates_folder / f"{request_id}.json"
        return orjson.loads(path.read_bytes()) if path.exists() else None
