"""The figures that rules look at, read from what a home has on its disk; nothing is written and nobody is asked.

Cheap enough for once a minute, but for `damage_of_all`, which reads the home to its last byte. Each raises what its
reading raises; `looking` sees to it that one that cannot be read keeps none of the others back.
"""

import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from em_pipelines.extraction.unread_segments import unread_segments
from em_pipelines.governance.alerts.rules import Answered, Behind, Finding, Lot, Pending, Refused
from em_pipelines.governance.audit.lost_log import lost
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.lifecycle.proactive.outcomes import UNNAMED
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.schema.readings import PENDING, UNSUPPORTED
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS
from em_pipelines.serving.projection.batch_times import batch_times
from em_pipelines.serving.projection.noted import GraphNote
from em_pipelines.serving.projection.sync_home import NOTE, OPEN_SECONDS
from em_pipelines.storage.files import last_held
from em_pipelines.storage.landed_log import lost_error
from em_pipelines.storage.outage import OutageNote
from em_pipelines.storage.step import Step

if TYPE_CHECKING:
    from em_pipelines.llm.budget import BudgetUse

HOUR = timedelta(hours=1)
PROBE_TOLD = ("probe_delivered", "probe_accepted", "probe_ignored", "probe_deflected")
UNWELCOME = frozenset({"probe_ignored", "probe_deflected"})
DAMAGED_SUBJECTS = frozenset(
    {
        "salt",
        "landed log",
        "partitions",
        "integrity",
        "index packs",
        "nights",
        "ledger",
        "tokens",
        "Dagster's history",
        "other files",
    }
)
"""What `em doctor` looks at for damage; what else it finds is work that waits."""


def pending(home: RebuildableHome, llm: LlmSettings) -> Pending | None:
    """What has landed and was not read; None of a log that lies elsewhere, whose files tell no times.

    By the times of files first, which is cheap, then by digests: of a home that was copied without its times all are
    new.
    """
    root = home.store.log.local_root
    if root is None:
        return None
    first, reading = home.steps[INTERACTIONS.name], home.steps["extraction"]
    in_batch = llm.mode == "batch" and bool(_open_batches(home))
    lots: list[Lot] = []
    for day in home.store.log.days(INTERACTIONS.name):
        segments = list(_segments(Path(root, INTERACTIONS.name, day.isoformat())))
        read_at = home.store.lake.modified_at(EXTRACTION_ISSUES, day)
        unread = [(path, at) for path, at in segments if read_at is None or at > read_at]
        if unread and not all(home.store.is_current(step, day) for step in (first, reading)):
            lots += [Lot(path.read_bytes().count(b"\n"), at) for path, at in unread]
        elif segments and not in_batch and home.store.is_incomplete(reading, day):
            n_messages = sum(one.n_messages for one in unread_segments(home.store.lake, [day]) if one.status == PENDING)
            lots.append(Lot(n_messages, max(at for _, at in segments), was_tried=True))
    steps = _until_read(home)
    is_at_work = any(home.is_at_work(f"step-{step.name}") for step in steps)
    return Pending(tuple(lots), _moved_at(home, steps), last_held(home.path, f"step-{first.name}"), is_at_work)


def most_refused(home: RebuildableHome, since: datetime) -> Refused | None:
    """The most items that were refused within an hour of event time as no turn says them, on days that were read since
    an instant; None where nothing was."""
    lake = home.store.lake
    instants: list[datetime] = []
    for day in lake.days(EXTRACTION_ISSUES):
        read_at = lake.modified_at(EXTRACTION_ISSUES, day)
        if read_at is not None and read_at >= since:
            ask = partial(_refused_on, home, day)
            instants += lake.once(("alerts.refused", day), [EXTRACTION_ISSUES], [day], ask)
    instants.sort()
    most, begin = None, 0
    for end, at in enumerate(instants):
        while instants[begin] <= at - HOUR:
            begin += 1
        n_items = end - begin + 1
        if most is None or n_items > most.n_items:
            most = Refused(n_items, at.astimezone(UTC).date())
    return most


def graph_seconds(home: RebuildableHome, since: datetime) -> list[float]:
    """What batches of the graph database have taken since an instant."""
    return [one.seconds for one in batch_times(home.path) if one.at >= since]


def graph_down_since(home: RebuildableHome) -> datetime | None:
    """When the graph database gave no answer; None where it did when it was asked last."""
    return OutageNote(home.path / "locks" / NOTE, OPEN_SECONDS).noted_at


def budget_uses(home: RebuildableHome, llm: LlmSettings, now: datetime) -> "list[BudgetUse]":
    """Every budget of the models of the settings."""
    if not home.answers.exists():
        return []
    from em_pipelines.llm.answers import AnswerStore  # noqa: PLC0415  (SQLite is for homes that have asked a model)
    from em_pipelines.llm.budget import Budget  # noqa: PLC0415

    with AnswerStore(home.answers) as store:
        budget = Budget(store, llm.budget, ManualClock(now))
        return [use for model in {llm.model_of("small"), llm.model_of("large")} for use in budget.uses(model)]


def answered(home: RebuildableHome, since: datetime, until: datetime) -> Answered:
    """Probes that were put to anybody between two instants, once a conversation, and how many were not welcome there.
    One that was accepted in the end was."""
    told: dict[tuple[str, ...], set[str]] = {}
    for day in home.store.lake.days(FEEDBACK):
        if since.date() <= day <= until.date():
            for row in rows_of(home.store.lake.find(FEEDBACK, day, "type", PROBE_TOLD)):
                if since < row["timestamp"] <= until:
                    named = orjson.loads(row["payload"]).get("probe_id")
                    about = str(named) if named else f"{UNNAMED} {row['feedback_id']}"
                    told.setdefault((row["user_id"], row["session_id"] or "", about), set()).add(row["type"])
    unwelcome = [said for said in told.values() if said & UNWELCOME and "probe_accepted" not in said]
    return Answered(len(told), len(unwelcome))


def behind(home: RebuildableHome, *, is_graph_set: bool) -> list[Behind]:
    """What goes out and is behind its cause, with the instant of the first cause that it has missed."""
    found = [*_steps_behind(home)]
    if is_graph_set and (noted := GraphNote(home.record).read()) and (since := _first_change(home, noted.synced_at)):
        found.append(Behind("the graph database", since, "Call `em sync-graph`, or look at the job `project`."))
    if batches := _open_batches(home):
        advice = "See at the endpoint what became of it, and that the sensor `batches` runs, or call `em run`."
        found.append(Behind("a batch of a model", batches[0], advice))
    return found


def used_share(home: RebuildableHome) -> float:
    """The share of the home's disk in use, of what its owner may use, as `df` tells it."""
    usage = shutil.disk_usage(home.path)
    return usage.used / max(1, usage.used + usage.free)


def damage_at_a_glance(home: RebuildableHome) -> list[Finding]:
    """Damage that shows without reading any content: the salt, and what of the log is lost. Raises CorruptLogError."""
    if problem := home.salt.problem():
        return [Finding(f"The salt of the home: {problem}", "put HOME/record/salt back from a backup")]
    return [finding_of(str(lost_error(missing)))] if (missing := lost(home)) else []


def damage_of_all(home: RebuildableHome) -> list[Finding]:
    """Every damage that `em doctor` finds."""
    from em_pipelines.governance.audit.soundness import SnapshotState, diagnose  # noqa: PLC0415  (seldom, and much)

    return [
        Finding(f"{one.subject}: {one.found}", one.advice)
        for one in diagnose(home)
        if not one.is_well
        and (one.subject in DAMAGED_SUBJECTS or (one.subject, one.found) == ("snapshot", SnapshotState.DAMAGED))
    ]


def is_busy(home: RebuildableHome) -> bool:
    """Whether tables are being made, and need not fit together."""
    steps = (*home.steps.values(), home.inference, *home.proactive)
    names = ["landing", "run", "snapshot", "packs", *(f"step-{step.name}" for step in steps)]
    return any(map(home.is_at_work, names))


def finding_of(sentence: str) -> Finding:
    """What a sentence of an error comes to, whose last part says what to do."""
    found, _, advice = " ".join(sentence.split()).rpartition("; ")
    return Finding(found or advice, advice if found else "")


def _segments(folder: Path) -> Iterator[tuple[Path, datetime]]:
    """The segments of a day with the instant at which each landed."""
    for path in folder.glob("*.jsonl"):
        try:
            yield path, datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except FileNotFoundError:  # an erasure has replaced it meanwhile
            continue


def _until_read(home: RebuildableHome) -> list[Step]:
    """The steps that a message passes until it is read; of a large log each takes its time."""
    names = [*home.steps]
    return [home.steps[name] for name in names[: names.index("extraction") + 1]]


def _moved_at(home: RebuildableHome, steps: Iterable[Step]) -> datetime | None:
    """When one of the steps made a day last: a file that is put into a folder changes its time."""
    root = home.store.lake.local_root
    folders = [Path(root, table.name) for step in steps for table in step.outputs] if root else []
    times = [folder.stat().st_mtime for folder in folders if folder.exists()]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def _refused_on(home: RebuildableHome, day: date) -> list[datetime]:
    rows = home.store.lake.find(EXTRACTION_ISSUES, day, "issue", UNSUPPORTED)
    return [at for at in rows["timestamp"].to_pylist() if at is not None]


def _steps_behind(home: RebuildableHome) -> Iterator[Behind]:
    day, lake = home.store.lake.latest(CURRENT_EDGES, date.max), home.store.lake
    if day is None or home.is_proactive_current:
        return
    for step in home.proactive:
        days = {table.name: lake.days(table) for table in step.outputs}
        if all(found == [day] for found in days.values()) and home.store.is_current(step, day):
            continue
        made = [at for table in step.outputs for one in days[table.name] if (at := lake.modified_at(table, one))]
        since = _first_change(home, max(made, default=datetime.min.replace(tzinfo=UTC)))
        if since is not None:
            yield Behind(step.name, since, "Call `em run`, or look at the job `proactive`.")


def _first_change(home: RebuildableHome, since: datetime) -> datetime | None:
    """When the facts changed first after an instant; None where they did not."""
    found = None
    for day in reversed(home.store.lake.days(CURRENT_EDGES)):
        at = home.store.lake.modified_at(CURRENT_EDGES, day)
        if at is None or at <= since:
            break
        found = min(at, found or at)
    return found


def _open_batches(home: RebuildableHome) -> list[datetime]:
    """When the batches were made that have not ended, oldest first."""
    if not home.answers.exists():
        return []
    from em_pipelines.llm.answers import AnswerStore  # noqa: PLC0415  (as above)
    from em_pipelines.llm.batch_queue import BatchQueue  # noqa: PLC0415

    with AnswerStore(home.answers) as store:
        return [one.made_at for one in BatchQueue(store.database).open_batches()]
