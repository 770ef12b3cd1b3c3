"""Forgetting, from the request to the certificate.

    asked       HOME/record/pending/ID.json stands: from now on it is carried out, whatever happens
    planned     what every record becomes is written into the request
    barred      tombstones stand: what is erased cannot land again
    rewritten   the log and the inbox hold it no more; of a whole user, tokens are revoked
    rebuilt     tables, snapshots and caches hold it no more
    searched    the whole home was looked through
    certified   the certificate stands, the request is gone

Each step can be done twice, so a process that was killed is taken over by the next one, from the beginning. A request
that is still found somewhere after all stays pending, and the error says where.
"""

import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime
from shlex import quote
from typing import Any

from em_pipelines.errors import ErasureIncompleteError, UnknownUserError, UsageError
from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.audit.lost_log import check
from em_pipelines.governance.erasure.certificate import CarriedOut, Certificate, certificate_of
from em_pipelines.governance.erasure.known_names import is_written, users_in
from em_pipelines.governance.erasure.owners import Owners
from em_pipelines.governance.erasure.rebuilding import (
    Rebuilt,
    forget_answers,
    forget_offers,
    remake,
    republish,
    stale_log_days,
)
from em_pipelines.governance.erasure.rewriting import Done, clear_inbox, note_erasure, rewrite_log
from em_pipelines.governance.erasure.search import search
from em_pipelines.governance.erasure.terms import Terms
from em_pipelines.governance.erasure.traces import scrub_dagster, scrub_memory_files
from em_pipelines.governance.judging import forget_judged
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.erasure_requests import Plan, Request, Scope, ScopeKind
from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.documents.memory_files import render
from em_pipelines.lifecycle.pool import contributing
from em_pipelines.lifecycle.pool.sharing import forget_shared
from em_pipelines.redaction.clear_requests import seal_clear_requests
from em_pipelines.redaction.planning import Preview, plan, target_of, tombstones_of
from em_pipelines.redaction.targets import KnownWorld
from em_pipelines.retrieval.packs import remake as remake_pack
from em_pipelines.schema.near_names import hint as meant_by
from em_pipelines.serving.projection.noted import GraphNote
from em_pipelines.storage.ledger_entries import Act

MAX_PATHS = 5
ERASE = "erase"


def forget(home: RebuildableHome, scope: Scope, *, actor: str = "user", now: datetime | None = None) -> Certificate:
    """Erases a scope, as it has landed until now, and returns the certificate.

    The cutoff is now, or the latest time that the user's log says, where a clock ran ahead.
    Raises UsageError where memory knows nothing of it, ErasureIncompleteError where it is still found afterwards, and
    LockedError where another process holds the home for too long; then the request stays, and `carry_out` ends it.
    """
    with home.lock("run"):
        catch_up(home)
        sealed = home.book.request(scope, now or datetime.now(UTC), actor).scope
        begun = [request.request_id for request in home.book.pending() if request.scope == sealed]
        ended = {done.certificate_id: done for done in carry_out(home)} if begun else {}
        try:
            last_said_at = check_known(home, scope)
        except UsageError:
            if begun:  # a process that was killed had begun it, and nothing of it is left
                return ended[begun[-1]]
            raise
        request = home.book.request(scope, max(now or datetime.now(UTC), last_said_at), actor)
        with home.lock("landing"):
            home.book.put(request)
        return next(c for c in carry_out(home) if c.certificate_id == request.request_id)


def ask_to_forget(home: RebuildableHome, scope: Scope, *, actor: str, now: datetime) -> Request:
    """Notes that a scope is to be forgotten, and returns the request: hidden from now on, carried out by the next run.

    Raises UsageError where memory knows nothing of it.
    """
    request = home.book.request(scope, max(now, check_known(home, scope)), actor)
    with home.lock("landing"):
        home.book.put(request)
    return request


def carry_out(home: RebuildableHome) -> list[Certificate]:
    """Carries out every pending request, in the order in which they were asked; returns their certificates.

    Who is to be forgotten whole comes first, for that takes the place of what else was asked about them. The caller
    holds the home's run lock. Raises as `forget` does; requests that came first are done by then.
    """
    home.sweep()
    with home.lock("landing"):
        seal_clear_requests(home)
    waiting = sorted(home.book.pending(), key=lambda request: request.scope.kind is not ScopeKind.USER)
    certificates = [_carry_out_one(home, request) for request in waiting if home.book.is_pending(request)]
    contributing.retry(home)
    return certificates


def preview(home: RebuildableHome, scope: Scope, now: datetime | None = None) -> Preview:
    """What forgetting a scope would take away; changes nothing. Raises UsageError where memory knows nothing of it."""
    cutoff = max(now or datetime.now(UTC), check_known(home, scope))
    return plan(home, home.book.request(scope, cutoff, "user"))[1]


def catch_up(home: RebuildableHome) -> None:
    """Makes the days that landed since the last run, so that it is known what is said on them.

    Raises CorruptLogError where the log has lost something: what was made of it would go, too.
    """
    check(home)
    if days := stale_log_days(home):
        remake(home, days)


def check_known(home: RebuildableHome, scope: Scope) -> datetime:
    """When its user last said something. Raises UsageError, naming what resembles it, where neither memory nor log
    knows the scope."""
    users = users_in(home.store.log)
    wish = "nothing was changed"
    if scope.user_id not in users:
        raise UnknownUserError(
            f"forgetting: nobody is called {scope.user_id!r} here; {wish}; see `em users` for who is"
        )
    if scope.kind is ScopeKind.SESSION and scope.target not in users[scope.user_id].sessions:
        meant = meant_by(scope.target, users[scope.user_id].sessions)
        raise UsageError(
            f"forgetting: {scope.user_id!r} has no session {scope.target!r}; {wish}{f'; {meant}' if meant else ''}"
        )
    last_said_at = users[scope.user_id].last_said_at or "0001-01-01T00:00:00+00:00"
    request = home.book.request(scope, datetime.now(UTC), "user")
    if scope.kind in (ScopeKind.SESSION, ScopeKind.USER) or target_of(home, request) is not None:
        return datetime.fromisoformat(last_said_at)
    if scope.kind is ScopeKind.FACT:
        raise UsageError(
            f"forgetting: {scope.user_id!r} has no fact {scope.target!r}, or several; {wish}; see "
            f"`em facts --user {quote(scope.user_id)} --json`"
        )
    if not is_written(home.store.log, scope.user_id, scope.target):
        near = KnownWorld(home.store, scope.user_id).near(scope.target)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise UsageError(f"forgetting: {scope.user_id!r} knows no {scope.target!r}; {wish}{hint}")
    return datetime.fromisoformat(last_said_at)


def _carry_out_one(home: RebuildableHome, request: Request) -> Certificate:
    with home.lock("landing"):
        request = request if request.plan else request.with_plan(_plan_of(home, request))
        made = request.plan
        assert made is not None
        home.book.put(request)
        home.tombstones.add(tombstones_of(home.tombstones, request, made))
        done = rewrite_log(home, request, made)
        terms, owners = Terms.of(request, made, home.book), Owners.of(home, request.scope.user_id)
        done.n_files = clear_inbox(home, terms, owners, datetime.now(UTC))
        if made.is_found:
            note_erasure(home, request, made, datetime.now(UTC))
        _drop_others(home, request)
        if request.scope.kind is ScopeKind.USER:
            TokenBook(home.record, home.salt).forget_user(request.scope.user_id)
        else:
            TokenBook(home.record, home.salt).forget_domains(request.scope.user_id, home.book.names(request))
    n_memory_files = scrub_memory_files(home, terms)
    rebuilt = _rebuild(home, request, made, done)
    render(home)
    try:
        n_other_files = n_memory_files + scrub_dagster(home.dagster_home, terms)
    except sqlite3.OperationalError as error:
        raise ErasureIncompleteError(
            f"forgetting: Dagster's storage is locked ({error}); the request waits, run `em run` or `em forget` again"
        ) from error
    searched = search(home.path, terms, owners)
    if searched.found:
        shown = ", ".join(str(path.relative_to(home.path)) for path in searched.found[:MAX_PATHS])
        raise ErasureIncompleteError(
            f"forgetting: {counted(len(searched.found), 'file', ('holds', 'hold'))} it still: {shown}; "
            "the request waits, "
            "remove them or let their writer end, then run `em run` or `em forget` again"
        )
    work = CarriedOut(
        is_found=made.is_found,
        done=done,
        rebuilt=rebuilt,
        n_other_files=n_other_files,
        n_searched=searched.n_files,
        waits_for_a_sync=made.is_found and GraphNote(home.record).is_there,
    )
    certificate = certificate_of(request, work, home.salt, datetime.now(UTC))
    with home.lock("landing"):
        _enter(home, request, certificate)
        if head := home.ledger.head():
            certificate = replace(certificate, n_ledger_entries=head.count, ledger_hash=head.hash)
        home.book.close(request, certificate.as_document())
    return certificate


def _enter(home: RebuildableHome, request: Request, certificate: Certificate) -> None:
    """Enters the erasure into the ledger, once: after a crash it is carried out again, and ended before."""
    if any(entry.certificate_id == certificate.certificate_id for entry in home.ledger.entries()):
        return
    act = Act(
        ERASE,
        user_id=request.scope.user_id,
        target=request.scope.target or request.scope.user_id,
        at=datetime.now(UTC),
        actor=request.actor,
        certificate_id=certificate.certificate_id,
    )
    home.ledger.append(act)


def _plan_of(home: RebuildableHome, request: Request) -> Plan:
    try:
        return plan(home, request)[0]
    except UsageError:  # a log asked to forget the remembered person by name: nobody is there to be told
        return Plan(is_found=False)


def _rebuild(home: RebuildableHome, request: Request, made: Plan, done: Done) -> Rebuilt:
    """Makes again what the erasure touched. Its days are noted as unchecked, so that the next run checks them."""
    days = sorted({*made.days, *done.days, *stale_log_days(home)})
    home.note_unchecked(days)
    is_all = request.scope.kind is ScopeKind.USER
    if is_all:
        forget_shared(home, request.scope.user_id)
    rebuilt = remake(home, days)
    names = home.book.names(request.with_plan(made))
    rebuilt.n_answers = forget_answers(home, request.scope.user_id, names, is_all=is_all)
    if rebuilt.n_answers:
        home.refresh_consolidation()  # rules in a model's words rest on its answers
    forget_offers(home, request.scope)
    forget_judged(home, request.scope)
    home.store.lake.forget_footers()
    home.store.lake.settle()
    rebuilt.n_snapshots = republish(home, days[0] if days else date.max)
    remake_pack(home, request.scope.user_id)
    contributing.after_erasure(home, request.scope.user_id, is_all=is_all)
    # It quotes nobody, but in its own words: a user who is called `table` would seem to be in it for ever.
    shutil.rmtree(home.data_docs, ignore_errors=True)
    return rebuilt


def _drop_others(home: RebuildableHome, request: Request) -> None:
    """Who is erased as a whole has nothing else to be forgotten that was said until then."""
    if request.scope.kind is ScopeKind.USER:
        for other in home.book.pending():
            is_theirs = other.scope.user_id == request.scope.user_id and other.cutoff <= request.cutoff
            if is_theirs and other.request_id != request.request_id:
                home.book.drop(other)


def as_document(found: Preview) -> dict[str, Any]:
    """A preview as JSON-able dict."""
    return {"facts": list(found.facts), "n_cut": found.n_cut, "n_removed": dict(found.n_removed)}
