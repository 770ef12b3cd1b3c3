"""What a pool told, beside what a user's own evidence says: a closed form of both, made with every night's tables.

An entry stands at the confidence of its source, with the status `shared`, and is no rule: nobody is told of it. Where
the user's own evidence of the same skill and category passes the same gates as any, it is an experience of their own,
and the entry is not shown beside it. One thing the entry then does: what helped elsewhere counts as a remedy where it
has helped here, too, twice, though not in most cases.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.evidence import FAILURE, PROCEDURE
from em_pipelines.lifecycle.consolidation.nights import History, Said, decided
from em_pipelines.lifecycle.consolidation.safety import SafetyRules
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.pool.books import LOCK, SharedEntry, fingerprint
from em_pipelines.lifecycle.pool.contributing import rows_of
from em_pipelines.lifecycle.pool.pooling_home import PoolingHome
from em_pipelines.lifecycle.pool.public_words import STEP, plain
from em_pipelines.lifecycle.pool.receiving import SHARED, unsafe
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.tables.raw import SKILL_INVOCATIONS

COLD, TEMPLATE = "cold", "template"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sharing:
    """What was taken in for all users of a home, and the confidence at which it stands."""

    entries: tuple[SharedEntry, ...]
    confidence: float

    @classmethod
    def of(cls, entries: Iterable[SharedEntry], confidence: float) -> "Sharing":
        """Entries in order; of one that several pools have that with the most contributors."""
        ordered = sorted(entries, key=lambda one: (one.user_id, one.entry_id, -one.n_contributors, one.pool))
        first = (next(group) for _, group in groupby(ordered, key=lambda one: (one.user_id, one.entry_id)))
        return cls(tuple(first), confidence)

    @property
    def digest(self) -> str:
        """Changes with what it makes."""
        return f"{self.confidence} {fingerprint(self.entries)}"

    def helped(self, invocations: Sequence[Row]) -> dict[tuple[str, str, str], frozenset[str]]:
        """What has helped elsewhere, by user, words of the skill and category of its failure; by the user's own names
        for it, where the user has it at all."""
        own = _own_names(invocations) if self.entries else {}
        told = {
            (one.user_id, one.component, one.category): own.get((one.user_id, one.mitigation))
            for one in self.entries
            if one.kind == FAILURE and one.mitigation
        }
        return {place: frozenset({name}) for place, name in told.items() if name}

    def rows(
        self,
        own: Iterable[Row],
        invocations: Sequence[Row],
        history: History,
        rules: SafetyRules,
        settings: ConsolidationSettings,
    ) -> list[dict[str, Any]]:
        """Rows of experiences, of what the user's own evidence does not tell and nobody has turned away. `own` are the
        rows that do. None before the first night."""
        if history.checkpoint is None or not self.entries:
            return []
        names = _own_names(invocations)
        taken = {row["experience_id"] for row in own} | _turned_away(history)
        adapted = (_adapted(one, names) for one in self.entries)
        made = (self._row(one) for one in adapted if unsafe(one, rules, settings, one.user_id) is None)
        return list({row["experience_id"]: row for row in made if row["experience_id"] not in taken}.values())

    def _row(self, one: SharedEntry) -> dict[str, Any]:
        seen_at = datetime(int(one.month[:4]), int(one.month[5:]), 1, tzinfo=UTC)
        return {
            "experience_id": _experience_id(one),
            "user_id": one.user_id,
            "kind": one.kind,
            "component": one.component,
            "category": one.category,
            "text": _text(one),
            "trigger": one.trigger,
            "mitigation": one.mitigation,
            "consolidates": [],
            "n_occurrences": 0,
            "n_sources": 0,
            "confidence": self.confidence,
            "strength": 0.0,
            "source": SHARED,
            "context_tags": [one.domain],
            "first_seen": seen_at,
            "last_seen": seen_at,
            "tier": COLD,
            "revision": 0,
            "method": TEMPLATE,
            "model": None,
            "consolidation_id": None,
            "promoted_at": None,
            "status": SHARED,
        }


def forget_shared(home: PoolingHome, user_id: str) -> int:
    """Removes what an erased user was given by pools; returns how much. For whoever makes the tables anew afterwards;
    does nothing in a home that has taken nothing."""
    if not home.pool_book.has_shared:
        return 0
    with home.lock(LOCK):
        return home.pool_book.forget_user(user_id)


def shared_ids(home: PoolingHome) -> set[str]:
    """The ids under which what was taken stands among experiences, or stood before somebody turned it away."""
    entries = home.pool_book.shared()
    users = {one.user_id for one in entries}
    names = _own_names(row for user_id in users for row in rows_of(home, SKILL_INVOCATIONS, user_id))
    return {_experience_id(_adapted(one, names)) for one in entries}


def _experience_id(one: SharedEntry) -> str:
    """That of the user's own experience of the same."""
    return content_id("exp", one.user_id, one.kind, one.component, one.category)


def _turned_away(history: History) -> set[str]:
    return {target for target, said in decided(history.effective).items() if said is Said.REJECT}


def _own_names(invocations: Iterable[Row]) -> dict[tuple[str, str], str]:
    """By user and plain words what the user calls a skill: of several spellings the most frequent."""
    counts = Counter((row["user_id"], row["skill_name"]) for row in invocations)
    ordered = sorted(counts.items(), key=lambda item: (item[1], item[0][1]))
    return {(user_id, plain(name)): name for (user_id, name), _ in ordered}


def _adapted(one: SharedEntry, names: Mapping[tuple[str, str], str]) -> SharedEntry:
    """The entry with the user's own names for the skills that they have."""

    def own(name: str) -> str:
        return names.get((one.user_id, name), name)

    steps = STEP.join(map(own, one.category.split(STEP))) if one.kind == PROCEDURE else one.category
    help_ = own(one.mitigation) if one.mitigation else None
    return replace(one, component=own(one.component), category=steps, mitigation=help_)


def _text(one: SharedEntry) -> str:
    said = f": {one.trigger}" if one.kind == FAILURE and one.trigger else ""
    by_kind = {
        FAILURE: f"{one.component} fails with {one.category}{said}",
        PROCEDURE: f"{', then '.join(one.category.split(STEP))}: came to a good end",
    }
    when = f" {one.trigger}" if one.trigger else ""
    told = by_kind.get(one.kind, f"{one.component} takes far longer than usual{when}")
    told = f"Elsewhere {told} ({counted(one.n_contributors, 'contributor')}, {one.count} times, {one.month})."
    return f"{told} After {one.mitigation} it worked again." if one.mitigation else told
