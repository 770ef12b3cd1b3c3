"""One night of revision: what is due is asked, and each outcome is appended to the log before the next is asked.

So a night that is killed goes on where it stopped, and one that is run again asks nothing twice: what has an outcome
in the log is not due, and what was answered and not yet appended is in the answer store.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from em_pipelines.errors import (
    BreakerOpenError,
    BudgetSpentError,
    ModelError,
    PermanentError,
    RateLimitedError,
    RequestRefusedError,
    UsageError,
)
from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.revision.model import (
    NO_USABLE_ANSWER,
    FactQuestion,
    Finding,
    NullVerifier,
    Outcome,
    Verifier,
)
from em_pipelines.lifecycle.revision.outcomes import append, asked_before, record_of
from em_pipelines.lifecycle.revision.revisable_home import OpenVerifier, RevisableHome
from em_pipelines.lifecycle.revision.selection import Selection, select
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.schema.table import Record
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.storage.duckdb_engine import connect
from em_pipelines.storage.store import Store

Write = Callable[[date, Sequence[Record]], None]

MAX_FRUITLESS = 3
"""Questions in a row of which nothing comes, before it is taken for the endpoint's fault and not for theirs."""
BUDGET, FRUITLESS = "budget", "fruitless"
_NO_USE = (BudgetSpentError, BreakerOpenError, RateLimitedError)
"""Errors after which the rest of the night is put off."""


@dataclass(slots=True)
class NightReport:
    """What a night did: n_asked = verified + changed + unknown, each with an outcome in the log of `asked_on`.

    `n_due` counts what the night began with, `n_deferred` what of it has no outcome; `put_off` says why, a sentence
    by name of the error. `n_withheld` facts were due, too, and have words that may not leave the house.
    """

    as_of: date
    verifier: str = NullVerifier.name
    n_due: int = 0
    n_withheld: int = 0
    n_asked: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    n_deferred: int = 0
    cost_usd: float = 0.0
    put_off: dict[str, str] = field(default_factory=dict)
    note: str | None = None

    @property
    def asked_on(self) -> date:
        """The day whose fold takes the outcomes."""
        return self.as_of + timedelta(days=1)

    def count(self, finding: Finding) -> None:
        """Takes one outcome in."""
        self.n_asked += 1
        self.outcomes[finding.outcome.value] += 1
        if finding.outcome is Outcome.UNKNOWN:
            self.reasons[finding.reason] += 1

    def figures(self) -> dict[str, int | float]:
        """The figures of the night, by name."""
        by_outcome = {outcome.value: self.outcomes[outcome] for outcome in Outcome}
        return {
            "due": self.n_due, "withheld": self.n_withheld, "asked": self.n_asked, **by_outcome,
            "deferred": self.n_deferred, "cost_usd": round(self.cost_usd, 6),
        }  # fmt: skip


def night_before(now: datetime) -> date:
    """The day that has ended last, UTC: that of the night at `now`."""
    return now.date() - timedelta(days=1)


def due(store: Store, as_of: date, settings: RevisionSettings) -> Selection:
    """What is due in the night after `as_of`, judged by the newest state up to then."""
    day = store.lake.latest(CURRENT_EDGES, as_of)
    if day is None:
        return Selection()
    known = store.lake.latest(ENTITIES, day)
    entities = store.lake.read(ENTITIES, known) if known else ENTITIES.empty()
    asked_on = as_of + timedelta(days=1)
    asked = asked_before(store.log, asked_on, max(settings.stale_days, settings.retry_days))
    with connect() as connection:
        return select(
            store.lake.read(CURRENT_EDGES, day),
            entities,
            asked,
            asked_on=asked_on,
            settings=settings,
            connection=connection,
        )


def allowed(store: Store, as_of: date, settings: RevisionSettings) -> int:
    """How many outcomes the night may still have."""
    asked_on = as_of + timedelta(days=1)
    return max(0, settings.max_calls_per_night - len(asked_before(store.log, asked_on, 1)))


async def revise(
    store: Store, verifier: Verifier, as_of: date, settings: RevisionSettings, write: Write
) -> NightReport:
    """Asks about what is due after `as_of` and hands each outcome to `write(day, records)` at once.

    Raises what the verifier raises where somebody has to mend the settings; outcomes until then are kept.
    """
    report = NightReport(as_of, verifier.name)
    if isinstance(verifier, NullVerifier):
        report.note = verifier.note
        return report
    found = due(store, as_of, settings)
    report.n_due, report.n_withheld = len(found.questions), found.n_withheld
    n_allowed = allowed(store, as_of, settings)
    if n_allowed < len(found.questions):
        report.put_off[BUDGET] = (
            f"at most {counted(settings.max_calls_per_night, 'fact')} a night (max_calls_per_night)"
        )
    await _ask(found.questions[:n_allowed], verifier, report, write)
    report.n_deferred = report.n_due - report.n_asked
    report.cost_usd = verifier.cost_usd
    return report


async def _ask(questions: Sequence[FactQuestion], verifier: Verifier, report: NightReport, write: Write) -> None:
    n_fruitless = 0
    for question in questions:
        try:
            finding = await verifier.verify(question)
        except ModelError as error:
            if isinstance(error, PermanentError) and not isinstance(error, RequestRefusedError):
                raise
            report.put_off[type(error).__name__] = str(error)
            if isinstance(error, _NO_USE):
                return
            n_fruitless += isinstance(error, RequestRefusedError)
        else:
            write(report.asked_on, [record_of(question, finding, verifier.name)])
            report.count(finding)
            n_fruitless = n_fruitless + 1 if finding.reason == NO_USABLE_ANSWER else 0
        if n_fruitless >= MAX_FRUITLESS:
            report.put_off[FRUITLESS] = (
                f"{n_fruitless} questions in a row were refused or got no usable answer; "
                "check revision.api, revision.model and revision.base_url"
            )
            return


def run_night(
    home: RevisableHome, open_verifier: OpenVerifier, now: datetime, as_of: date | None = None
) -> NightReport:
    """Runs the night after `as_of`, that before `now` where none is named, under the home's locks.

    Raises UsageError for a night that has not come, SettingsError where the verifier has no key, LockedError where
    another process is at it.
    """
    as_of = as_of or night_before(now)
    if as_of > night_before(now):
        raise UsageError(f"revising {as_of}: the day has not ended; give an earlier one, or leave it out")

    def write(day: date, records: Sequence[Record]) -> None:
        with home.lock("landing"):
            append(home.store.log, day, records)

    async def working() -> NightReport:
        async with open_verifier(home) as verifier:
            return await revise(home.store, verifier, as_of, home.settings.revision, write)

    with home.lock("revision"):
        return asyncio.run(working())
