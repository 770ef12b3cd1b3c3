"""What may be said to a user now: what waits, each with the decision about it, and what is noted of that."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from em_pipelines.lifecycle.proactive.delivery import (
    Decision,
    Outcome,
    Situation,
    decide,
    worth,
)
from em_pipelines.lifecycle.proactive.offering_home import OfferingHome
from em_pipelines.lifecycle.proactive.offers import LOCK, OFFERED, Entry
from em_pipelines.lifecycle.proactive.outcomes import feedback_of, outcomes_of
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS

MayBeTold = Callable[[Mapping[str, Any]], bool]
"""Whether a row may be told where it is asked for: of a domain, and beside what waits to be erased."""
OPEN = frozenset({"queued", "delivered", "ignored", "deflected"})
"""What may be said, now or later: what is ignored or turned away may be asked again after its cooldown."""
ZONE_KEYS = ("timezone", "time zone", "time_zone")
"""Attributes by which a user's time zone is known."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Rows that may be said now, worth most first, and what was decided about each that waits, in the same order."""

    rows: tuple[dict[str, Any], ...]
    decisions: tuple[Decision, ...]


def offer_probes(  # noqa: PLR0913  (who asks, when, for whom, how many)
    home: OfferingHome,
    user_id: str,
    situation: Situation,
    may_be_told: MayBeTold,
    limit: int = 1,
    *,
    is_noted: bool,
) -> Offered:
    """The user's probes that may be asked now, at most `limit`. With `is_noted` what is offered and what is kept back
    goes into the book: what was handed out counts as asked, for nobody knows what an agent did with it.

    `situation_of` puts a situation into the user's time zone.
    """
    return _offer(home, PROBES, user_id, situation, may_be_told, limit, is_noted=is_noted)


def offer_starters(  # noqa: PLR0913
    home: OfferingHome,
    user_id: str,
    situation: Situation,
    may_be_told: MayBeTold,
    limit: int = 1,
    *,
    is_noted: bool,
) -> Offered:
    """The same of starters; those whose time has not come wait without a decision."""
    return _offer(home, STARTERS, user_id, situation, may_be_told, limit, is_noted=is_noted)


def history(home: OfferingHome, user_id: str, now: datetime, session_id: str | None = None) -> list[Outcome]:
    """Everything that is known of what was said to a user and of what came of it: feedback, landed or folded, and
    offers. `session_id` is the conversation at hand: the book knows others by their hashes alone."""
    waiting = {row[_key(table)]: row for table in (PROBES, STARTERS) for row in _rows(home, table, user_id)}
    n_days = max(home.settings.proactive.prior_days, int(home.settings.proactive.deflected_cooldown_days))
    book = home.offers.of(user_id)
    known = {one.target: {"kind": one.kind, "entity_id": one.about} for one in book} | waiting
    told = list(outcomes_of(feedback_of(home.store, user_id, now.astimezone(UTC).date(), n_days), known))
    names = {home.offers.session(one): one for one in {session_id, *(one.session_id for one in told)} if one}
    offered = (
        Outcome(one.target, one.kind, OFFERED, one.at, names.get(one.session, one.session), one.about)
        for one in book
        if one.said == OFFERED
    )
    return [*told, *offered]


def time_zone_of(home: OfferingHome, user_id: str) -> str:
    """The IANA name of the user's time zone: by a fact about them, by the settings, or the one for everybody else."""
    day = home.store.lake.latest(CURRENT_EDGES, date.max)
    if day is not None:
        rows = home.store.lake.find(CURRENT_EDGES, day, "user_id", [user_id])
        known = rows.filter(pc.and_(pc.equal(rows["relation"], "has_attribute"), pc.equal(rows["status"], "active")))
        for row in sorted(known.to_pylist(), key=lambda row: row["learned_at"], reverse=True):
            if row["attribute"] in ZONE_KEYS and _is_zone(row["value"] or ""):
                return str(row["value"])
    chosen = home.settings.proactive
    return chosen.time_zones.get(user_id, chosen.time_zone)


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError; a path raises the others
        return False
    return True


def _offer(  # noqa: PLR0913
    home: OfferingHome,
    table: Table,
    user_id: str,
    situation: Situation,
    may_be_told: MayBeTold,
    limit: int,
    *,
    is_noted: bool,
) -> Offered:
    settings = home.settings.proactive
    waiting = [
        row
        for row in _rows(home, table, user_id)
        if row["status"] in OPEN and row["generated_at"] <= situation.now and may_be_told(row)
    ]
    if not waiting or not settings.is_enabled:
        return Offered((), ())
    with home.lock(LOCK) if is_noted else nullcontext():
        known = history(home, user_id, situation.now, situation.session_id)
        ranked = sorted(waiting, key=lambda row: (-worth(row, known, settings), row[_key(table)]))
        chosen, decisions = _chosen(ranked, situation, known, settings, limit)
        if is_noted:
            home.offers.note(user_id, _entries(home, ranked, decisions, situation), situation.now)
    return Offered(tuple(chosen), tuple(decisions))


def _chosen(
    ranked: Sequence[dict[str, Any]],
    situation: Situation,
    known: Sequence[Outcome],
    settings: ProactiveSettings,
    limit: int,
) -> tuple[list[dict[str, Any]], list[Decision]]:
    """Each is decided as if those before it had been said: so no more are handed out at once than may be asked."""
    chosen: list[dict[str, Any]] = []
    decisions = []
    so_far = list(known)
    for row in ranked:
        decision = decide(row, situation, so_far, settings)
        if decision.is_said and len(chosen) < limit:
            chosen.append(row)
            about = row.get("entity_id") or row.get("edge_id")
            so_far.append(Outcome(decision.target, row["kind"], OFFERED, situation.now, situation.session_id, about))
            decisions.append(decision)
        elif not decision.is_said:
            decisions.append(decision)
    return chosen, decisions


def _entries(
    home: OfferingHome, ranked: Sequence[dict[str, Any]], decisions: Sequence[Decision], situation: Situation
) -> list[Entry]:
    rows = {row.get("probe_id") or row.get("starter_id"): row for row in ranked}
    session = home.offers.session(situation.session_id)
    found = []
    for one in decisions:
        row = rows[one.target]
        said = OFFERED if one.why_not is None else one.why_not.value
        about = row.get("entity_id") or row.get("edge_id")
        found.append(Entry(situation.now, one.target, row["kind"], said, session, about))
    return found


def _key(table: Table) -> str:
    return table.key[0]


def _rows(home: OfferingHome, table: Table, user_id: str) -> list[dict[str, Any]]:
    day = home.store.lake.latest(table, date.max)
    return [] if day is None else list(rows_of(home.store.lake.find(table, day, "user_id", [user_id])))


def situation_of(home: OfferingHome, user_id: str, situation: Situation) -> Situation:
    """The situation in the user's own time zone."""
    return replace(situation, time_zone=time_zone_of(home, user_id))
