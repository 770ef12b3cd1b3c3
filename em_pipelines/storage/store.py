"""Which days of a step are out of date, and making those again.

A step makes its tables of one day from other tables of that day, and from the state of the day before where it folds.
Whether a partition is current is a comparison of digests: that of the inputs it was made from, which stands in its
footer, with that of the inputs as they are. So a crash, late data, a changed rule or setting all come to the same
thing: some partitions are out of date, and making them again gives what an undisturbed run would have given.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import STATE_DAYS, Records, Table, Tables
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.storage.duckdb_engine import ParquetRows
from em_pipelines.storage.isolation import DayOfStep, is_of_rows
from em_pipelines.storage.lake import IN_MEMORY_ROWS, Lake
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.quarantine import RAISED, Quarantine, SetAside
from em_pipelines.storage.session_marks import KIND as MARKED
from em_pipelines.storage.session_marks import SessionMarks
from em_pipelines.storage.staleness import INCOMPLETE, Judged, Settled
from em_pipelines.storage.step import Step, StepReport, Window

SETTLED = ".current.json"
"""Beside the tables: which days were found current. It spares reading their footers again, and may be deleted."""
DAYS_AT_ONCE = 31
"""Days that a step is told of before it makes them, or makes at once: a month's texts fit into memory."""
ROWS_AT_ONCE = IN_MEMORY_ROWS
"""Rows that the days read which a step makes at once. A day with a state that is handed over unread has more, and so
is made alone."""
Watch = Callable[[str, Sequence[date]], AbstractContextManager[object]]
"""(step, days) → entered while the step makes these days, and left when it has; without days: the step as a whole."""


class Store:
    """The log and the lake of one home, as steps see them."""

    def __init__(self, log: LandedLog, lake: Lake) -> None:
        self.log = log
        self.lake = lake
        self.watch: Watch = lambda _, __: nullcontext()
        """Who measures and tells of the work of steps: nobody, unless somebody is put here."""

    @cached_property
    def quarantine(self) -> Quarantine:
        """What is set aside."""
        return Quarantine(self.lake)

    def days(self, step: Step) -> list[date]:
        """The days on which the step has anything to do: those on which one of its inputs exists.

        A step that reads the newest state also has those on which it was run without one of that day: what it made
        there is out of date when the state before it changes.
        """
        if step.log_kind:
            return self.log.days(step.log_kind)
        return sorted({day for table in _dated_by(step) for day in self.lake.days(table)})

    def inputs_digest(self, step: Step, day: date) -> str:
        """Digest of everything that determines the step's outputs of a day."""
        parts = [step.code_version]
        if step.log_kind:
            parts.append(f"log {step.log_kind} {self.log.digest(step.log_kind, day)}")
        if step.log_kind == MARKED and self._marks and (said := self._marks.digest(day)):
            parts.append(f"other days of its conversations {said}")
        for table in step.inputs:
            info = self.lake.info(table, day)
            parts.append(f"input {table.name} {info.content_digest if info else None}")
        for table, found in self._states(step, day):
            info = self.lake.info(table, found) if found else None
            dated = f" {found}" if step.is_dated else ""
            parts.append(f"state {table.name} {info.content_digest if info else None}{dated}")
        for window in step.windows:
            infos = (self.lake.info(window.table, found) for found in self._days_in(window, day))
            parts += [f"window {window.table.name} {info.content_digest}" for info in infos if info]
        return digest(parts)

    def is_current(self, step: Step, day: date) -> bool:
        """Whether all outputs of the day stand and were made from the inputs as they are."""
        wanted = self.inputs_digest(step, day)
        infos = [self.lake.info(table, day) for table in step.outputs]
        return all(info is not None and info.inputs_digest == wanted for info in infos)

    def is_incomplete(self, step: Step, day: date) -> bool:
        """Whether the day was made, and something in it is still to come."""
        infos = (self.lake.info(table, day) for table in step.outputs)
        return any(info is not None and info.inputs_digest == INCOMPLETE for info in infos)

    def look(self) -> Settled:
        """What is known to be current without reading footers; for one pass of planning."""
        self.__dict__.pop("_marks", None)
        return Settled(Path(self.lake.local_root, SETTLED) if self.lake.local_root and self.log.local_root else None)

    def stale_days(self, step: Step, look: Settled | None = None) -> list[date]:
        """Days to make again, judged by what stands now; for a fold also every later day on which it has work.

        Whether those later days really change shows when the days before them have been made: `run_days` then finds
        them current and leaves them. A `look` is shared by steps that are asked about one after the other.
        """
        look = look or self.look()
        judged = self._opened(step, look)
        days = self.days(step)
        stale = [day for day in look.unsettled(judged, days) if not self.is_current(step, day)]
        look.note(judged, days, stale)
        if step.is_fold and stale:
            return [day for day in days if day >= stale[0]]
        return stale

    def outdated(self, step: Step, days: Sequence[date], look: Settled) -> set[date]:
        """Those of the days that are not current, as `is_current` says, but without reading what is known to be."""
        judged = self._opened(step, look)
        return {day for day in look.unsettled(judged, days) if not self.is_current(step, day)}

    def run_days(
        self,
        step: Step,
        days: Sequence[date],
        *,
        is_forced: bool = False,
        on_days: Callable[[str, int], None] = lambda _, __: None,
    ) -> StepReport:
        """Makes the step's partitions of those of the days that are out of date, in order of time.

        Days without input are passed over, but for a single day asked for by itself: state stands on every day. Users
        of whom a day cannot be made are set aside (`em_pipelines.storage.isolation`): the others have theirs.
        Raises CorruptLogError for a day whose log has lost something.
        """
        with self.watch(step.name, ()):
            return self._run_days(step, days, is_forced, on_days)

    def _run_days(
        self, step: Step, days: Sequence[date], is_forced: bool, on_days: Callable[[str, int], None]
    ) -> StepReport:
        made: list[date] = []
        current: list[date] = []
        n_rows = Counter({table.name: 0 for table in step.outputs})
        for days_at_once in self._chunks(step, days):
            stale = [day for day in days_at_once if is_forced or not self.is_current(step, day)]
            if step.log_kind:
                self.log.check(step.log_kind, stale)
            self._prepare(step, stale)
            for day in (day for day in days_at_once if day not in stale):
                on_days(step.name, 1)
                current.append(day)
            for some in self._batches(step, stale):
                for day, rows in self._run_batch(step, some):
                    on_days(step.name, 1)
                    n_rows.update(rows)
                    made.append(day)
        self.lake.settle()
        return StepReport(tuple(made), tuple(current), dict(n_rows))

    def _prepare(self, step: Step, days: Sequence[date]) -> None:
        if step.prepare and days:
            step.prepare(self._inputs(step, day) for day in days)

    def _chunks(self, step: Step, days: Sequence[date]) -> Iterator[list[date]]:
        """The days for which the step has anything to read, in order, as many at once as it can be told of."""
        todo = self._with_input(step, days)
        if len(days) == 1 and self._has_past(step, days[0]):
            todo = list(days)
        # Only a step whose days do not depend on each other can be told of many at once.
        chunk = DAYS_AT_ONCE if step.prepare or step.run_many else 1
        return (todo[n : n + chunk] for n in range(0, len(todo), chunk))

    def _has_past(self, step: Step, day: date) -> bool:
        """Whether a step that looks back has anything to look at, whatever happened on the day itself."""
        states = self._states(step, day) if step.latest else []
        return any(found for _, found in states) or any(self._days_in(window, day) for window in step.windows)

    def _days_in(self, window: Window, day: date) -> list[date]:
        first = day - timedelta(days=window.n_days - 1)
        return [found for found in self.lake.days(window.table) if first <= found <= day]

    def _looked_over(self, window: Window, day: date) -> pa.Table:
        table, days = window.table, self._days_in(window, day)
        if window.column is None:
            return self.lake.read_days(table, days)
        found = (self.lake.find(table, one, window.column, window.values) for one in days)
        return pa.concat_tables([table.empty(), *found])

    def _batches(self, step: Step, days: Sequence[date]) -> Iterator[list[date]]:
        """The days in order, as many at once as the step makes at once and memory has room for."""
        batch: list[date] = []
        n_rows = 0
        for day in days:
            n_own = self._n_read(step, day) if step.run_many else ROWS_AT_ONCE
            if batch and n_rows + n_own > ROWS_AT_ONCE:
                yield batch
                batch, n_rows = [], 0
            batch.append(day)
            n_rows += n_own
        if batch:
            yield batch

    def _n_read(self, step: Step, day: date) -> int:
        read = [*((table, day) for table in step.inputs), *self._states(step, day)]
        infos = (self.lake.info(table, found) for table, found in read if found)
        return sum(info.n_rows for info in infos if info)

    def reopen(self, step: Step, day: date) -> None:
        """Puts a day that stands out of date, so that the next run makes it again. Its rows stay until then."""
        for table in step.outputs:
            self.lake.write(table, day, self.lake.read(table, day), INCOMPLETE)

    def _with_input(self, step: Step, days: Iterable[date]) -> list[date]:
        """Those of the days, in order, that are `days` of the step. Asks for no others."""
        landed, tables = (set(self.log.days(step.log_kind)), ()) if step.log_kind else ((), _dated_by(step))
        return [day for day in sorted(set(days)) if day in landed or any(self.lake.has(t, day) for t in tables)]

    def _opened(self, step: Step, look: Settled) -> Judged:
        lake, log = self.lake.local_root, self.log.local_root
        read = [f"{lake}/{table.name}" for table in (*step.inputs, *step.outputs)]
        states = [f"{lake}/{table.name}" for table in (*step.previous, *step.latest)]
        landed = [f"{log}/{step.log_kind}"] if step.log_kind else []
        version = step.code_version
        if step.log_kind == MARKED and self._marks:
            version += self._marks.digest_of_all()
        judged = Judged(step.name, version, (*landed, *read), tuple(states))
        look.open(judged)
        return judged

    def _states(self, step: Step, day: date) -> list[tuple[Table, date | None]]:
        """The state tables that a step reads for a day, and the day of each that it reads."""
        before = day - timedelta(days=1)
        return [
            *((table, self.lake.latest(table, before)) for table in step.previous),
            *((table, self.lake.latest(table, day)) for table in step.latest),
        ]

    def _inputs(self, step: Step, day: date) -> Tables:
        tables = {table.name: self._rows(step, table, day) for table in step.inputs}
        for table, found in self._states(step, day):
            tables[f"state_{table.name}"] = self._rows(step, table, found) if found else table.empty()
        for window in step.windows:
            tables[window.table.name] = self._looked_over(window, day)
        if step.is_dated:
            known = {table.name: found for table, found in self._states(step, day) if found}
            columns = {"table_name": pa.array(known.keys(), pa.string()), "day": pa.array(known.values(), pa.date32())}
            tables[STATE_DAYS] = pa.table(columns)
        return tables

    def _rows(self, step: Step, table: Table, day: date) -> Any:
        return self.lake.scan(table, day) if table in step.scanned else self.lake.read(table, day)

    def _run_batch(self, step: Step, days: Sequence[date]) -> Iterator[tuple[date, dict[str, int]]]:
        """Makes the days; gives each with its rows by table when they are written."""
        if len(days) == 1 or step.run_many is None:
            for day in days:
                with self.watch(step.name, [day]):
                    n_rows = self._run_day(step, day)
                yield day, n_rows
            return
        digests = {day: self.inputs_digest(step, day) for day in days}
        try:
            with self.watch(step.name, days):
                made = step.run_many({day: self._inputs(step, day) for day in days})
        except Exception as error:
            if not is_of_rows(error):
                raise
            for day in days:
                yield day, self._run_day(step, day)
            return
        for day in days:
            self._clear(step, day)
            yield day, self._write(step, day, made[day], digests[day])

    def _run_day(self, step: Step, day: date) -> dict[str, int]:
        inputs_digest = self.inputs_digest(step, day)
        entries = self.quarantine.of(step.name, day, inputs_digest) if self.lake.has(QUARANTINE, day) else []
        try:
            if not entries:
                records = self._records(step, day)
                n_rows = self._write(step, day, step.run(day, self._inputs(step, day), records), inputs_digest)
                self._clear(step, day)
                return n_rows
            made = self._made_without(step, day, entries)
        except Exception as error:
            if not is_of_rows(error):
                raise
            entries = [*entries, *self._not_made_for(step, day, inputs_digest)]
            made = self._made_without(step, day, entries)
        self.quarantine.put(step.name, day, entries)
        return self._write(step, day, made, inputs_digest)

    def _clear(self, step: Step, day: date) -> None:
        """Forgets what was set aside of a day that could be made whole."""
        if self.lake.has(QUARANTINE, day):
            self.quarantine.put(step.name, day, ())

    def _made_without(self, step: Step, day: date, entries: Sequence[SetAside]) -> Tables:
        users = {entry.user_id for entry in entries if entry.claim_id is None}
        claims = {entry.claim_id for entry in entries if entry.claim_id is not None}
        return self.day_of(step, day).without(users, claims)

    def _not_made_for(self, step: Step, day: date, inputs_digest: str) -> list[SetAside]:
        culprits = self.day_of(step, day).culprits()
        return [SetAside(user, day, step.name, RAISED, said, inputs_digest) for user, said in culprits.items()]

    def inputs_of(self, step: Step, day: date) -> Tables:
        """The tables that a step is given for a day."""
        return self._inputs(step, day)

    def day_of(self, step: Step, day: date) -> DayOfStep:
        """A day of a step with all that it is made from, in memory, to be made for some users alone."""
        inputs = self._inputs(step, day)
        for name, rows in inputs.items():
            if isinstance(rows, ParquetRows):
                inputs[name] = pq.read_table(rows.path)
        records = tuple(self._records(step, day))
        before: Tables = {}
        for table in step.outputs:
            found = self.lake.latest(table, day - timedelta(days=1)) if table.is_state else None
            if found:
                before[table.name] = self.lake.read(table, found)
        return DayOfStep(step, day, inputs, records, before)

    @cached_property
    def _marks(self) -> SessionMarks | None:
        """What the days of a conversation say of each other, for one pass of planning and what it makes; None in a log
        of one day."""
        return SessionMarks(self.log) if len(self.log.days(MARKED)) > 1 else None

    def _records(self, step: Step, day: date) -> Records:
        if step.log_kind is None:
            return ()
        records = self.log.read(step.log_kind, day)
        return self._marks.marked(day, records) if step.log_kind == MARKED and self._marks else records

    def _write(self, step: Step, day: date, made: Tables, inputs_digest: str) -> dict[str, int]:
        if not step.is_complete(made):
            inputs_digest = INCOMPLETE  # no inputs have this digest, so the day is made again
        return {
            table.name: self.lake.write(table, day, made[table.name], inputs_digest).n_rows for table in step.outputs
        }


def _dated_by(step: Step) -> tuple[Table, ...]:
    return (*step.inputs, *step.latest, *(step.outputs if step.latest else ()))
