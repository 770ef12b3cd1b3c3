"""Setting aside what a check that blocks would stop everybody for.

After a step has made its days they are asked what the checks will ask: the contract of each table, and the rules of
integrity of the newest state. What breaks one is looked for: the first day that does, whose rows they are, and of facts
the claims without which the rule holds. Those claims, or all that the day brought of the user, go to quarantine; the
days are made again, and everybody else has all of theirs. What stays broken after that is damage of the store, and
stops the run as before.
"""

import logging
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.governance.audit.contracts import check_days, check_rows
from em_pipelines.governance.audit.integrity import RULES, known_sessions, violations, violations_on
from em_pipelines.schema.table import Table, Tables
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.storage.isolation import DayOfStep, is_of_rows
from em_pipelines.storage.quarantine import SetAside
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

MAX_ROUNDS = 8
"""What is set aside on one day may show what a later day breaks; after so many the check says the rest."""
IDS = {EDGES.name: "edge_id", ENTITIES.name: "entity_id"}

log = logging.getLogger(__name__)


def settle(store: Store, step: Step, days: Collection[date]) -> list[SetAside]:
    """Sets aside what breaks a check in what the step has made of these days, and makes them again without it.

    Returns what was set aside. The caller holds the lock of the step. Raises CorruptTableError where a partition
    cannot be read.
    """
    aside: list[SetAside] = []
    for _ in range(MAX_ROUNDS):
        broken = sorted(_broken(store, step, days))
        if not broken:
            break
        found = [entry for day, user in broken for entry in _Broken(store, step, day, user).entries()]
        first = broken[0][0]
        log.warning("%s: %d users break a check, first on %s", step.name, len({u for _, u in broken}), first)
        store.quarantine.add(found)
        aside += found
        store.run_days(step, [day for day, _ in broken], is_forced=True)
        store.run_days(step, [day for day in store.days(step) if day > first])
    return aside


def _broken(store: Store, step: Step, days: Collection[date]) -> set[tuple[date, str]]:
    """Whose rows break a check, each with the first day of which they do."""
    found: set[tuple[date, str]] = set()
    for table in step.outputs:
        there = [day for day in store.lake.days(table) if day in days]
        shown = there[-1:] if table.is_state else there
        if shown and not check_days(store.lake, table, shown).is_success:
            found.update(_misfitting(store, table, shown))
        if shown and table.name in IDS:
            found.update(_unsound(store, table, shown[-1]))
    return found


def _misfitting(store: Store, table: Table, days: Sequence[date]) -> Iterator[tuple[date, str]]:
    """Whose rows break the contract of a table; of a state the first day of which they do."""

    def is_broken(user: str, day: date) -> bool:
        return not check_rows(table, _of_user(store.lake.read(table, day), user)).is_success

    for day in days:
        if check_days(store.lake, table, [day]).is_success:
            continue
        for user in pc.unique(store.lake.read(table, day)["user_id"]).drop_null().to_pylist():
            if is_broken(user, day):
                first = _first(store.lake.days(table), day, partial(is_broken, user)) if table.is_state else day
                yield first, user


def _unsound(store: Store, table: Table, day: date) -> Iterator[tuple[date, str]]:
    """Whose facts or entities break a rule at the end of a day, with the first day at whose end they do."""
    rules = [rule for rule in RULES if rule.table is table]
    ids = {row for rows in violations_on(store.lake, day, rules).values() for row in rows}
    if not ids:
        return
    rows = store.lake.find(table, day, IDS[table.name], ids)

    def is_broken(user: str, then: date) -> bool:
        broken = {row for rows in violations_on(store.lake, then, rules).values() for row in rows}
        return user in store.lake.find(table, then, IDS[table.name], broken)["user_id"].to_pylist()

    for user in pc.unique(rows["user_id"]).to_pylist():
        yield _first(store.lake.days(table), day, partial(is_broken, user)), user


def _first(days: Sequence[date], last: date, is_broken: Callable[[date], bool]) -> date:
    """The first of the days up to the last at whose end something is broken: once broken, a state stays so."""
    until = days[: days.index(last) + 1]
    return until[bisect_left(until[:-1], True, key=is_broken)]


@dataclass(frozen=True)
class _Broken:
    """A day of a step that breaks a check for a user."""

    store: Store
    step: Step
    day: date
    user: str

    @cached_property
    def _day(self) -> DayOfStep:
        return self.store.day_of(self.step, self.day)

    def entries(self) -> list[SetAside]:
        """What is to be set aside so that it breaks none. Nothing, where the step makes a sound day of it as it is:
        then what stands was not made by the step, and is made again."""
        rules = self._rules_broken(())
        if not rules:
            return []
        claims = self._claims()
        found: Sequence[str | None] = [None]
        if claims and not self._rules_broken(claims):
            found = self._least(claims)
        rule = rules[0]
        reason = "the check " + ", ".join(rules) + " fails with it"
        inputs = self.store.inputs_digest(self.step, self.day)
        return [SetAside(self.user, self.day, self.step.name, rule, reason, inputs, claim) for claim in found]

    def _claims(self) -> list[str]:
        """What the user said that the step reads, in the order in which it was said."""
        rows = self._day.tables.get(CLAIMS.name, CLAIMS.empty())
        own: list[str] = _of_user(rows, self.user)["claim_id"].to_pylist()
        return own

    def _least(self, claims: Sequence[str]) -> list[str]:
        """Claims without which no rule is broken, as few as taking them back one group after the other leaves."""
        without = list(claims)
        size = len(claims)
        while size:
            for start in range(0, len(claims), size):
                group = set(claims[start : start + size])
                fewer = [claim for claim in without if claim not in group]
                if len(fewer) < len(without) and not self._rules_broken(fewer):
                    without = fewer
            size //= 2
        return without

    def _rules_broken(self, without: Collection[str]) -> list[str]:
        """The names of the checks that the day breaks for the user, made without some claims."""
        try:
            made = self._day.of([self.user], without)
        except Exception as error:
            if not is_of_rows(error):
                raise
            return [type(error).__name__]
        misfits = [t.name for t in self.step.outputs if not check_rows(t, made[t.name]).is_success]
        return [f"table_contract on {name}" for name in misfits] + self._integrity_broken(made)

    def _integrity_broken(self, made: Tables) -> list[str]:
        rules = [rule for rule in RULES if rule.table in self.step.outputs]
        if not rules:
            return []
        entities = made.get(ENTITIES.name, _of_user(self._day.tables.get(ENTITIES.name, ENTITIES.empty()), self.user))
        sessions = _of_user(known_sessions(self.store.lake, self.day), self.user)
        found = violations(made.get(EDGES.name, EDGES.empty()), entities, sessions, rules)
        return [rule for rule, rows in found.items() if rows]


def _of_user(rows: pa.Table, user: str) -> pa.Table:
    return rows.filter(pc.equal(rows["user_id"], user))
