"""What can be forgotten, and the book of requests to do so: those that wait or are at work, and the certificates of
those that are done.

HOME/record/pending/ID.json       a request, until it is carried out; only its owner can read it
HOME/record/certificates/ID.json  what was done about it, without anything that was erased

A request may wait for long, so it says nothing of what it takes away: names, sentences and messages stand in it as
salted hashes and places, beside ids. Its own id is a salted hash of what is asked, so a request that is landed again is
recognised. What earlier versions wrote held names and sentences; whoever reads such a one gets it sealed, and the next
erasure or run writes it anew (`em_pipelines.redaction.clear_requests`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import CorruptTableError, UsageError
from em_pipelines.landing.clear_requests import is_clear, sealed_request
from em_pipelines.landing.planned_cuts import Cut
from em_pipelines.language.name_matching import NameIndex, key_of
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.feedback_payloads import read_payload
from em_pipelines.storage.files import write_atomically
from em_pipelines.storage.salt import Salt
from em_pipelines.storage.sealed_texts import SealedRun, SealedSentence, SentenceIndex
from em_pipelines.storage.tombstones import NAME, Tombstone, Tombstones


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

    `stones` are the tombstones of names, facts, edges, messages and other records that go or change. `ids` are those of
    entities that go, `edge_ids` of facts. `cuts` maps the key of a message's tombstone to what is left of the message.
    `sentences` are of what goes, to search for, and `runs` of words of them, to find what is left of one. `days` have
    records that change.
    `n_edges` and `n_entities` are how many facts and entities go.
    """

    stones: tuple[Tombstone, ...] = ()
    ids: tuple[str, ...] = ()
    edge_ids: tuple[str, ...] = ()
    cuts: Mapping[str, Cut] = field(default_factory=dict)
    sentences: tuple[SealedSentence, ...] = ()
    runs: tuple[SealedRun, ...] = ()
    days: tuple[date, ...] = ()
    is_found: bool = True
    n_edges: int = 0
    n_entities: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A scope with its cutoff: what was said until then goes, what is said later is new knowledge.

    The target of an entity is the key of its name's tombstone, and `n_words` how many words the name has. `actor` is
    who asked: user for the command line, feedback for a log. `plan` is None before it is begun.
    """

    request_id: str
    scope: Scope
    cutoff: datetime
    actor: str = "user"
    plan: Plan | None = None
    n_words: int = 0

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
        "version": VERSION,
        "request_id": request.request_id,
        "kind": request.scope.kind.value,
        "user_id": request.scope.user_id,
        "target": request.scope.target,
        "n_words": request.n_words,
        "cutoff": request.until,
        "actor": request.actor,
        "plan": None
        if plan is None
        else {
            "stones": [asdict(stone) for stone in plan.stones],
            "ids": list(plan.ids),
            "edge_ids": list(plan.edge_ids),
            "cuts": {key: cut.as_document() for key, cut in plan.cuts.items()},
            "sentences": [asdict(sentence) for sentence in plan.sentences],
            "runs": [asdict(run) for run in plan.runs],
            "days": [day.isoformat() for day in plan.days],
            "is_found": plan.is_found,
            "n_edges": plan.n_edges,
            "n_entities": plan.n_entities,
        },
    }


def of_document(document: Mapping[str, Any]) -> Request:
    """The request of what `as_document` gave; raises KeyError, TypeError or ValueError for anything else."""
    if document["version"] not in (VERSION, BY_CHARACTERS):
        raise ValueError(f"it has version {document['version']}, and {BY_CHARACTERS} and {VERSION} are known")
    said = document["plan"]
    plan = said and Plan(
        stones=tuple(Tombstone(**stone) for stone in said["stones"]),
        ids=tuple(said["ids"]),
        edge_ids=tuple(said["edge_ids"]),
        cuts={key: Cut.of_document(cut) for key, cut in said["cuts"].items()},
        sentences=tuple(SealedSentence(**sentence) for sentence in said["sentences"]),
        runs=tuple(SealedRun(**run) for run in said.get("runs", ())),
        days=tuple(date.fromisoformat(day) for day in said["days"]),
        is_found=said["is_found"],
        n_edges=said["n_edges"],
        n_entities=said["n_entities"],
    )
    return Request(
        document["request_id"],
        Scope(ScopeKind(document["kind"]), document["user_id"], document["target"]),
        datetime.fromisoformat(document["cutoff"]),
        document["actor"],
        plan,
        document["n_words"],
    )


VERSION = 3
"""Of the form of a request. The first had no number, and held names, sentences and messages as they were said."""
BY_CHARACTERS = 2
"""The second hashed sentences character by character, up to where the splitter of then ended them. They are recognised
as they were written, and what is written from now on is of VERSION."""
PENDING = "pending"
CERTIFICATES = "certificates"
ID_DIGITS = 20
_EDGE_ID = re.compile(r"edge_[0-9a-z]{0,40}")


class RequestBook:
    """Requests and certificates of one home. Whoever changes it holds the home's landing lock."""

    def __init__(self, record: Path, salt: Salt) -> None:
        self.pending_folder = record / PENDING
        self.certificates_folder = record / CERTIFICATES
        self.salt = salt
        self.stones = Tombstones(record / "tombstones.jsonl", salt)

    def request(self, scope: Scope, cutoff: datetime, actor: str) -> Request:
        """The request for a scope, sealed; equal requests have equal ids."""
        target = key_of(scope.target) if scope.kind is ScopeKind.ENTITY else scope.target
        asked = self.salt.hash("request", scope.kind, scope.user_id, target, iso_instant(cutoff))
        n_words = target.count(" ") + 1 if scope.kind is ScopeKind.ENTITY else 0
        return Request(f"erase_{asked[:ID_DIGITS]}", self._sealed(scope), cutoff, actor, None, n_words)

    def _sealed(self, scope: Scope) -> Scope:
        if scope.kind is ScopeKind.ENTITY:
            return replace(scope, target=self.stones.of(NAME, scope.user_id, key_of(scope.target), until="").key)
        if scope.kind is ScopeKind.FACT and not _EDGE_ID.fullmatch(scope.target):
            return replace(scope, target=self.salt.hash("target", scope.target))  # whatever it is, no fact has that id
        return scope

    def asked_name(self, request: Request) -> NameIndex:
        """The name by which an entity is asked to be forgotten; of another scope none."""
        if request.scope.kind is not ScopeKind.ENTITY:
            return NameIndex.of(())
        return self._names(request.scope.user_id, {request.scope.target}, {request.n_words})

    def names(self, request: Request) -> NameIndex:
        """The names that the plan of a request covers."""
        stones = [stone for stone in request.plan.stones if stone.kind == NAME] if request.plan else []
        return self._names(request.scope.user_id, {s.key for s in stones}, {s.n_words for s in stones})

    def _names(self, user_id: str, keys: set[str], lengths: set[int]) -> NameIndex:
        return NameIndex(lambda key: self.stones.of(NAME, user_id, key, until="").key in keys, frozenset(lengths))

    def sentences(self, request: Request) -> SentenceIndex:
        """The sentences that go."""
        plan = request.plan or Plan()
        return SentenceIndex(plan.sentences, self.salt, plan.runs)

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
        return sorted((request for request, _ in self._read()), key=lambda r: (r.cutoff, r.request_id))

    def clear_documents(self) -> list[dict[str, Any]]:
        """Pending requests of the first form, as they stand. Raises as `pending` does."""
        return [document for _, document in self._read() if is_clear(document)]

    def _read(self) -> Iterator[tuple[Request, dict[str, Any]]]:
        for path in sorted(self.pending_folder.glob("[!.]*.json")):
            try:
                document = orjson.loads(path.read_bytes())
                request = sealed_request(document, self) if is_clear(document) else of_document(document)
            except FileNotFoundError:  # carried out a moment ago
                continue
            except (ValueError, KeyError, TypeError) as error:
                raise CorruptTableError(
                    f"reading {path}: it is no request ({type(error).__name__}); move it away and ask again"
                ) from error
            yield request, document

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
