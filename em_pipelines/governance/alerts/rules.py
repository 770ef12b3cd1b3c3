"""The rules: each from a figure of the home to an alert, or None where all is well. Pure; nothing is read here.

Where thresholds come from: 50 messages for five minutes, five refused items an hour, a second at P99, 90 % of a budget,
a day for what goes out and 80 % of a disk are the service levels of this project (docs/operations.md, Alerts). Half an
hour for `extraction_stopped` is two of the sensor's tries (`llm.retry_minutes`). 60 % of at least ten probes: where
every second is welcome, as is taken of people unknown (`proactive.prior_accepted`), seven or more of ten are not in one
case of six. At 95 % of a disk a run of the size of the last may not fit any more.

Add a rule here, its figure in `figures`, and a line in `looking`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from em_pipelines.governance.alerts.alert import Alert, Severity
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.llm.budget import BudgetUse

EXTRACTION_STALLED, EXTRACTION_STOPPED = "extraction_stalled", "extraction_stopped"
HALLUCINATION_SPIKE = "hallucination_spike"
GRAPH_SLOW, GRAPH_DOWN = "graph_slow", "graph_down"
MODEL_BUDGET, PROBE_ANNOYANCE, CORRUPTION = "model_budget", "probe_annoyance", "corruption"
STALE_OUTGOING, DISK_FULL = "stale_outgoing", "disk_full"
FAILED_CHECK, FAILED_RUN = "failed_check", "failed_run"
"""Names of the rules; the last two are of whoever drives Dagster (`sensors.alerts`)."""
NAMES = (
    EXTRACTION_STALLED, EXTRACTION_STOPPED, HALLUCINATION_SPIKE, GRAPH_SLOW, GRAPH_DOWN, MODEL_BUDGET, PROBE_ANNOYANCE,
    CORRUPTION, STALE_OUTGOING, DISK_FULL, FAILED_CHECK, FAILED_RUN,
)  # fmt: skip
P99 = 0.99


@dataclass(frozen=True, slots=True)
class Lot:
    """Messages that landed together and were not read: how many, when they landed, and whether a run has had them and
    left them for a model."""

    n_messages: int
    landed_at: datetime
    was_tried: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """What waits to be read; when a step on the way there made anything last, when a run began last, and whether one is
    at work."""

    lots: tuple[Lot, ...] = ()
    moved_at: datetime | None = None
    tried_at: datetime | None = None
    is_at_work: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The most items that were refused within an hour of event time, and the UTC day of the last of them."""

    n_items: int
    day: date


@dataclass(frozen=True, slots=True)
class Answered:
    """Probes that were put to somebody, and those of them that were ignored or deflected."""

    n_probes: int
    n_unwelcome: int


@dataclass(frozen=True, slots=True)
class Behind:
    """What goes out and is not what its cause asks for, since when."""

    what: str
    since: datetime
    todo: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of damage, and what mends it."""

    found: str
    advice: str


def extraction_stalled(pending: Pending, now: datetime, settings: AlertSettings) -> Alert | None:
    """More messages wait than may, for longer than they may, and nothing on the way to reading them was done in that
    time."""
    since = now - timedelta(minutes=settings.stalled_minutes)
    is_moving = pending.moved_at is not None and pending.moved_at > since
    n_messages = sum(
        lot.n_messages for lot in pending.lots if lot.landed_at <= since and (lot.was_tried or not is_moving)
    )
    if n_messages <= settings.stalled_messages:
        return None
    waits = counted(n_messages, "message", ("has", "have"))
    return Alert(
        EXTRACTION_STALLED,
        Severity.WARNING,
        "extraction has stalled",
        f"{waits} waited to be read for more than {counted_minutes(settings.stalled_minutes)}.",
        "See that Dagster's daemon runs, or call `em run`; where a model reads, see that it answers.",
    )


def extraction_stopped(pending: Pending, now: datetime, settings: AlertSettings) -> Alert | None:
    """Messages that a run was there for are not read after all, for longer than any run takes to get to them."""
    since = now - timedelta(minutes=settings.stopped_minutes)
    if pending.is_at_work and pending.moved_at is not None and pending.moved_at > since:
        return None
    tried_at = pending.tried_at
    left = [
        lot
        for lot in pending.lots
        if lot.landed_at <= since and (lot.was_tried or (tried_at is not None and tried_at >= lot.landed_at))
    ]
    if not left:
        return None
    n_messages = sum(lot.n_messages for lot in left)
    waiting = counted(n_messages, "message", ("is", "are"))
    return Alert(
        EXTRACTION_STOPPED,
        Severity.ERROR,
        "extraction has stopped",
        f"{waiting} not read although a run was there for them more than {counted_minutes(settings.stopped_minutes)} "
        "after they landed.",
        "Call `em run` and mend what it says; `em status` tells what waits.",
    )


def hallucination_spike(most: Refused | None, settings: AlertSettings) -> Alert | None:
    """More items than may be were refused within an hour of event time, for no turn says them."""
    if most is None or most.n_items <= settings.refused_per_hour:
        return None
    refused = counted(most.n_items, "item", ("was", "were"))
    return Alert(
        HALLUCINATION_SPIKE,
        Severity.WARNING,
        "the model makes things up",
        f"{refused} refused within an hour of conversation, for no turn says them.",
        "Look at its answers in the table extraction_issues before more are asked for, then at prompt and model; if it "
        f"was bad on that day, `em llm forget --from {most.day} --to {most.day}`, then `em run` asks it again.",
    )


def graph_slow(seconds: Sequence[float], settings: AlertSettings) -> Alert | None:
    """One of a hundred batches, by the nearest rank, takes longer than it may; `seconds` of each of late."""
    if len(seconds) < settings.graph_min_batches:
        return None
    slowest = sorted(seconds)[math.ceil(P99 * len(seconds)) - 1]
    if slowest <= settings.graph_p99_seconds:
        return None
    return Alert(
        GRAPH_SLOW,
        Severity.WARNING,
        "the graph database is slow",
        f"Of {counted(len(seconds), 'batch')} of late one in a hundred took {slowest:.1f} s or longer, where "
        f"{settings.graph_p99_seconds:g} s are wanted.",
        "Look at the memory and the disk of its server; `em sync-graph` measures anew.",
    )


def graph_down(down_since: datetime | None) -> Alert | None:
    """The graph database did not answer when it was asked last."""
    if down_since is None:
        return None
    return Alert(
        GRAPH_DOWN,
        Severity.ERROR,
        "the graph database is down",
        f"It gave no answer at {down_since:%Y-%m-%d %H:%M} UTC, and nobody has reached it since.",
        "Start its server or mend NEO4J_URI, then call `em sync-graph`; memory itself needs none of it.",
    )


def model_budget(uses: "Sequence[BudgetUse]", warning_share: float) -> Alert | None:
    """A budget of models is nearly used, or used up."""
    use = max(uses, key=lambda one: one.share, default=None)
    if use is None or use.share < warning_share:
        return None
    is_spent = use.share >= 1
    return Alert(
        MODEL_BUDGET,
        Severity.ERROR if is_spent else Severity.WARNING,
        "the budget of models is spent" if is_spent else "the budget of models is nearly spent",
        f"Of {use.limit:g} {use.name} {use.used:g} are used ({use.period}).",
        "Wait for the next day or night, for what is left is deferred, or raise `llm.budget`.",
    )


def probe_annoyance(answered: Answered, settings: AlertSettings) -> Alert | None:
    """Of enough probes too many were ignored or deflected."""
    n_probes, n_unwelcome = answered.n_probes, answered.n_unwelcome
    if n_probes < settings.annoyed_min_probes or n_unwelcome <= settings.annoyed_share * n_probes:
        return None
    return Alert(
        PROBE_ANNOYANCE,
        Severity.WARNING,
        "questions annoy",
        f"Of {counted(n_probes, 'question')} within {settings.annoyed_days:g} days {n_unwelcome} were ignored or "
        "deflected.",
        "Look at what is asked with `em probes`, then lower `proactive.max_per_week` or raise `proactive.min_value`.",
    )


def corruption(findings: Sequence[Finding]) -> Alert | None:
    """Something of the home is damaged."""
    if not findings:
        return None
    first, n_more = findings[0], len(findings) - 1
    more = f" And {counted(n_more, 'finding')} more." if n_more else ""
    return Alert(
        CORRUPTION,
        Severity.ERROR,
        "the home is damaged",
        f"{first.found.rstrip('.')}.{more}",
        f"Look with `em doctor`, then: {first.advice}." if first.advice else "Look with `em doctor`.",
    )


def stale_outgoing(behind: Sequence[Behind], now: datetime, settings: AlertSettings) -> Alert | None:
    """Something that goes out is behind its cause for longer than it may."""
    until = now - timedelta(hours=settings.outgoing_hours)
    late = [one for one in behind if one.since <= until]
    if not late:
        return None
    told = "; ".join(f"{one.what} (since {one.since:%Y-%m-%d %H:%M} UTC)" for one in late)
    return Alert(
        STALE_OUTGOING, Severity.WARNING, "what goes out is out of date", f"Behind its cause: {told}.", late[0].todo
    )


def disk_full(used_share: float, settings: AlertSettings) -> Alert | None:
    """Too much of the home's disk is in use."""
    if used_share <= settings.disk_share:
        return None
    is_error = used_share > settings.disk_error_share
    return Alert(
        DISK_FULL,
        Severity.ERROR if is_error else Severity.WARNING,
        "the disk is nearly full",
        f"The disk that the home lies on is used to {used_share:.0%}.",
        "Make room: old snapshots and backups first; a run that finds none left ends, and goes on once there is.",
    )


def counted_minutes(minutes: float) -> str:
    """`5 minutes`, `1 minute`, `2.5 minutes`."""
    return counted(int(minutes), "minute") if minutes == int(minutes) else f"{minutes:g} minutes"
