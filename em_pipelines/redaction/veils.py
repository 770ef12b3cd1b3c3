"""What a pending request covers is hidden from reads at once, before it is carried out; and which messages are
archived, kept and not to be found any more.

What is archived is read from the landed feedback, so at once; the last word on a message counts. Facts that were
learned from it stay: whoever wants those gone retracts or forgets.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, partial
from typing import TypedDict

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.home import Home
from em_pipelines.landing.erasure_requests import Request, ScopeKind
from em_pipelines.language.name_matching import NameIndex, key_of
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.feedback_payloads import Archive, read_payload
from em_pipelines.schema.rows import ProvenanceItem
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.tombstones import EDGE, SESSION, USER, Tombstones


class ToldFact(TypedDict):
    """What has to be known of a row of facts to say whether it is covered; `end_keys` are all names of its ends."""

    edge_id: str
    statement: str | None
    end_keys: list[str]
    provenance: list[ProvenanceItem]
    learned_at: datetime


class OwnedFact(ToldFact):
    """The same of a fact of any user."""

    user_id: str


NO_NAMES = NameIndex.of(())


@dataclass(frozen=True, slots=True)
class Veil:
    """What one pending request covers, said up to `cutoff`; `names` are those it covers."""

    cutoff: datetime
    is_all: bool = False
    names: NameIndex = NO_NAMES
    edge_ids: frozenset[str] = frozenset()
    session_id: str | None = None

    def hides(self, row: ToldFact) -> bool:
        """Whether a fact is covered: by its id, a name of an end or in its statement, or where it was said.

        What was learned after the cutoff is new knowledge. A fact that other sessions state as well stays.
        """
        if row["learned_at"] > self.cutoff:
            return False
        said_in = {source["session_id"] for source in row["provenance"]}
        return (
            self.is_all
            or row["edge_id"] in self.edge_ids
            or any(self.names.is_name(key_of(name)) for name in row["end_keys"])
            or self.names.is_in(row["statement"] or "")
            or (self.session_id is not None and said_in == {self.session_id})
        )

    def hides_document(self, *, session_id: str | None, edge_id: str | None, text: str, said_on: date) -> bool:
        """Whether something that was found is covered: where it was said, which fact it is, or a name in its text."""
        if said_on > self.cutoff.date():
            return False
        is_named = self.is_all or edge_id in self.edge_ids or session_id == self.session_id is not None
        return is_named or self.names.is_in(text)


def hidden(home: Home, user_id: str) -> tuple[Veil, ...]:
    """What pending requests of a user cover; empty, at the cost of one look into a folder, where none is pending."""
    return tuple(_veil(home, request) for request in home.book.pending() if request.scope.user_id == user_id)


def hiding(home: Home, user_id: str) -> Callable[[ToldFact], bool]:
    """What says of a row of facts, with `end_keys` and `provenance`, whether a pending request covers it."""
    veils = hidden(home, user_id)

    def is_hidden(row: ToldFact) -> bool:
        return any(veil.hides(row) for veil in veils)

    return is_hidden


def _veil(home: Home, request: Request) -> Veil:
    scope, cutoff = request.scope, request.cutoff
    if scope.kind is ScopeKind.USER:
        return Veil(cutoff, is_all=True)
    if scope.kind is ScopeKind.SESSION:
        return Veil(cutoff, session_id=scope.target)
    names = home.book.asked_name(request)
    edge_ids = {scope.target} if scope.kind is ScopeKind.FACT else set()
    if request.plan is not None:
        names |= home.book.names(request)
        edge_ids |= set(request.plan.edge_ids)
    else:
        from em_pipelines.redaction.planning import target_of  # noqa: PLC0415  (50 ms, and requests are few)

        try:
            target = target_of(home, request)
        except UsageError:  # a log named the remembered person: the request comes to nothing
            return Veil(cutoff)
        if target is not None:
            names |= NameIndex.of(target.names)
            edge_ids |= target.edge_ids
    return Veil(cutoff, names=names, edge_ids=frozenset(edge_ids))


def untellable(home: Home) -> Callable[[OwnedFact], bool]:
    """What says of a row of facts of any user, as `hiding` takes it and with `user_id`, that nothing may be told of it:
    it was erased, though some file still holds it, or a pending request covers it."""
    veils = cache(partial(hiding, home))

    def is_untellable(row: OwnedFact) -> bool:
        return _is_buried(home.tombstones, row) or veils(row["user_id"])(row)

    return is_untellable


def _is_buried(tombstones: Tombstones, row: OwnedFact) -> bool:
    if tombstones.is_empty:
        return False
    user_id, said_at = row["user_id"], iso_instant(row["learned_at"])
    sessions = {source["session_id"] for source in row["provenance"]}
    names = tombstones.names_of(user_id, said_at)
    return (
        tombstones.covers(USER, user_id, said_at=said_at)
        or tombstones.covers(EDGE, user_id, row["edge_id"], said_at=said_at)
        or any(names.is_in(text) for text in (*row["end_keys"], row["statement"] or ""))
        or (bool(sessions) and all(tombstones.covers(SESSION, user_id, s, said_at=said_at) for s in sessions))
    )


ARCHIVE = "archive"
Place = tuple[str, int]
"""Session and turn."""


class Archived:
    """What is archived in one log. A day's feedback is read again only when its segments have changed."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._days: dict[date, tuple[str | None, tuple[Record, ...]]] = {}
        self._lock = threading.Lock()

    def of(self, user_id: str) -> frozenset[Place]:
        """The places of a user's messages that are archived now."""
        said = sorted(
            (record for record in self._said() if record["user_id"] == user_id),
            key=lambda record: (record["timestamp"], record["feedback_id"]),
        )
        last: dict[Place, bool] = {}
        for record in said:
            form: Archive = read_payload(
                ARCHIVE, {"session_id": record["session_id"], **orjson.loads(record["payload"])}
            )
            last[form.session_id, form.turn_number] = form.is_archived
        return frozenset(place for place, is_archived in last.items() if is_archived)

    def _said(self) -> Iterator[Record]:
        with self._lock:
            days = self._log.days("feedback")
            for day in self._days.keys() - set(days):
                del self._days[day]
            for day in days:
                digest = self._log.digest("feedback", day)
                if day not in self._days or self._days[day][0] != digest:
                    records = tuple(r for r in self._log.read("feedback", day) if r["type"] == ARCHIVE)
                    self._days[day] = (digest, records)
            return iter([record for _, records in self._days.values() for record in records])
