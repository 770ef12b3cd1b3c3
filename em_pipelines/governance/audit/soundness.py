"""Whether a home is sound: every look that `em doctor` and `em repair` take at it. Changes nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import duckdb

from em_pipelines.errors import CorruptLogError, CorruptTableError, EmError, StorageError
from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.audit.dagster_files import LOCK_SECONDS, flaws, locked, lost_events
from em_pipelines.governance.audit.diagnosis import Diagnosis, unread_by_model
from em_pipelines.governance.audit.home_files import inspect_files
from em_pipelines.governance.audit.integrity import RULES, violations_on
from em_pipelines.governance.audit.ledger_witnesses import ledger_problems
from em_pipelines.governance.audit.lost_log import lost
from em_pipelines.governance.audit.nights_trail import nights_problem
from em_pipelines.governance.audit.unmatched_feedback import unmatched_feedback
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.dead_letters import open_letters
from em_pipelines.language.counting import IS, counted
from em_pipelines.lifecycle.consolidation.documents.memory_files import files_of, outdated
from em_pipelines.lifecycle.pool.contributing import n_waiting
from em_pipelines.retrieval import packs
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import CONSOLIDATED
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.serving.metrics.daily import metrics_step
from em_pipelines.serving.projection.noted import GraphNote
from em_pipelines.serving.projection.sync_home import n_erased_since_sync
from em_pipelines.serving.snapshot import LATEST, is_current, newest_day
from em_pipelines.serving.snapshot_file import is_as_written
from em_pipelines.serving.users import stages
from em_pipelines.storage.duckdb_engine import connect
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.log_manifest import ACCEPT

REVOKED = "token.revoke"
"""The act in the ledger."""
N_NAMED = 5


@dataclass(frozen=True, slots=True)
class Damage:
    """A partition that cannot be read, or is not what was written."""

    table: Table
    day: date
    found: str


Look = Callable[[RebuildableHome], Diagnosis | Iterable[Diagnosis]]


class SnapshotState(StrEnum):
    """How the newest snapshot stands."""

    CURRENT = "current"
    DAMAGED = "damaged: it cannot be read to its end"
    OUTDATED = "missing or older than the facts"
    NOTHING = "nothing to publish yet"


def diagnose(home: RebuildableHome) -> list[Diagnosis]:
    """Looks at the home: salt, log, partitions, integrity, days out of date, snapshot, index packs, nights and their
    files, questions, graph database, ledger, tokens, dead letters, feedback, quarantine, runs, pool, left-overs,
    Dagster's databases, every other file; how far memory has come, and what keeps a model from reading."""
    if not home.path.exists():
        return [Diagnosis("home", False, f"{home.path} does not exist", "land something: `em run PATH`")]
    looks: dict[str, Look] = {
        "salt": _salt, "other files": _other_files, "landed log": _log, "partitions": _lake, "index packs": _packs,
        "graph database": _graph, "nights": _nights, "questions and openings": _asking, "memory files": _memory_files,
        "ledger": _ledger, "tokens": _tokens, "dead letters": _dead_letters, "feedback": _feedback, "runs": _runs,
        "pool": _pool, "left-over files": _left_overs, "Dagster's history": _dagster, "cold start": _stages,
        "model": unread_by_model,
    }  # fmt: skip
    return [diagnosis for subject, look in looks.items() for diagnosis in _taken(subject, look, home)]


def _taken(subject: str, look: Look, home: RebuildableHome) -> Iterator[Diagnosis]:
    """A look; where damage of something else stands in its way, that is what it found, and the next one is taken."""
    try:
        found = look(home)
        yield from [found] if isinstance(found, Diagnosis) else found
    except StorageError:
        raise
    except EmError as error:
        sentence, _, advice = str(error).rpartition("; ")
        yield Diagnosis(subject, False, sentence or advice, advice)


def damaged_segments(home: RebuildableHome) -> list[str]:
    """Segments of the landed log that are not what was landed."""
    return [name for step in home.steps.values() if step.log_kind for name in home.store.log.damaged(step.log_kind)]


def lost_segments(home: RebuildableHome) -> list[str]:
    """What of the landed log is lost, one sentence each: segments and days, or the manifest that would tell."""
    try:
        return [f"{one} is lost; {ACCEPT}" for one in lost(home)]
    except CorruptLogError as error:
        return [str(error)]


def damaged_partitions(home: RebuildableHome) -> list[Damage]:
    """Partitions that are damaged, wherever the damage is, or were edited."""
    return [
        Damage(table, day, found)
        for table, day in _partitions(home)
        if (found := _damage(home.store.lake, table, day)) is not None
    ]


def broken_rules(lake: Lake, day: date | None = None) -> dict[str, list[str]]:
    """The rules that the state of a day breaks (the last there is), with the ids of the rows that break them.

    Raises CorruptTableError where the state cannot be read.
    """
    day = day or state_day(lake)
    return {rule: rows for rule, rows in violations_on(lake, day).items() if rows} if day else {}


def state_day(lake: Lake) -> date | None:
    """The last day that has a state of facts or entities."""
    return max((*lake.days(EDGES), *lake.days(ENTITIES)), default=None)


def snapshot_state(home: RebuildableHome) -> SnapshotState:
    """Reads the newest snapshot to its end: each block of a DuckDB file carries its own checksum."""
    path = home.snapshots / LATEST
    if path.exists():
        if not is_as_written(path):
            return SnapshotState.DAMAGED
        try:
            with connect(str(path), is_read_only=True) as connection:
                for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                    connection.execute(f'SELECT sum(hash(t)) FROM "{name}" AS t').fetchall()
        except duckdb.Error:
            return SnapshotState.DAMAGED
    elif newest_day(home.store) is None:
        return SnapshotState.NOTHING
    is_fresh = home.is_inferred and is_current(home.store, home.snapshots, home.time_rules, home.nights.history())
    return SnapshotState.CURRENT if is_fresh else SnapshotState.OUTDATED


def _stages(home: RebuildableHome) -> Iterator[Diagnosis]:
    """How many users are at which stage; that a snapshot cannot be read is told where it is looked at."""
    try:
        counts = Counter(one.stage for one in stages(home.snapshots / LATEST))
    except CorruptTableError:
        return
    if counts:
        yield Diagnosis("cold start", True, ", ".join(f"{n} {stage}" for stage, n in sorted(counts.items())))


def _partitions(home: RebuildableHome) -> Iterator[tuple[Table, date]]:
    for step in (*home.steps.values(), home.inference, metrics_step()):
        for table in step.outputs:
            for day in home.store.lake.days(table):
                yield table, day
    yield from ((table, day) for table in CONSOLIDATED for day in home.store.lake.days(table))


def _damage(lake: Lake, table: Table, day: date) -> str | None:
    try:
        return lake.damage(table, day)
    except StorageError:  # nobody knows that it is damaged, and a repair would delete it
        raise
    except EmError as error:
        return str(error)


def _salt(home: RebuildableHome) -> Diagnosis:
    if problem := home.salt.problem():
        return Diagnosis("salt", False, problem, "put HOME/record/salt back from a backup; nothing lands until then")
    if damaged := home.salt.damaged_checks():
        found = f"the salt is sound, and its check value in {damaged[0].relative_to(home.path)} is damaged"
        return Diagnosis("salt", False, found, "`em repair --apply` writes it anew from the salt")
    return Diagnosis("salt", True, "nothing shows another one")


def _log(home: RebuildableHome) -> Diagnosis:
    is_salted = home.salt.problem() is None
    if damaged := damaged_segments(home):
        found = f"{counted(len(damaged), 'segment', IS)} not what was landed, first {damaged[0]}"
        then = "" if is_salted else ", once the salt is back"
        return Diagnosis("landed log", False, found, f"`em restore DIR --lost`, from a backup{then}")
    if not is_salted:
        return Diagnosis("landed log", False, "without its salt nobody can say what is lost", "put the salt back first")
    if missing := lost_segments(home):
        found, advice = missing[0].rsplit("; ", 1)
        return Diagnosis(
            "landed log", False, found if len(missing) == 1 else f"{found}, and {len(missing) - 1} more", advice
        )
    n_records = n_days = 0
    for step in home.steps.values():
        for day in home.store.log.days(step.log_kind) if step.log_kind else ():
            n_days += 1
            n_records += sum(1 for _ in home.store.log.read(str(step.log_kind), day))
    return Diagnosis("landed log", True, f"{counted(n_records, 'record')} in {counted(n_days, 'folder')} of days")


def _lake(home: RebuildableHome) -> Iterator[Diagnosis]:
    """Of damaged partitions nothing else can be asked."""
    if damaged := damaged_partitions(home):
        first = damaged[0]
        which = f"{len(damaged)} damaged or edited: {first.table.name} of {first.day}: {first.found}"
        yield Diagnosis("partitions", False, which, "`em repair --apply`")
        return
    yield Diagnosis("partitions", True, f"{sum(1 for _ in _partitions(home))} files are whole")
    yield from _taken("integrity", _integrity, home)
    yield from _taken("quarantine", _quarantine, home)
    yield from _taken("days", _days, home)
    yield from _taken("snapshot", _snapshot, home)


def _integrity(home: RebuildableHome) -> Diagnosis:
    broken = broken_rules(home.store.lake)
    if not broken:
        return Diagnosis("integrity", True, f"{len(RULES)} rules hold")
    advice = next((rule.advice for rule in RULES if rule.name in broken), "")
    names = ", ".join(f"{rule} ({counted(len(rows), 'row')})" for rule, rows in broken.items())
    return Diagnosis("integrity", False, f"broken: {names}", advice)


def _quarantine(home: RebuildableHome) -> Diagnosis:
    entries = list(home.store.quarantine.entries())
    users = {entry.user_id for entry in entries}
    found = f"{len(entries)} set aside, of {counted(len(users), 'user')}" if entries else "nothing set aside"
    return Diagnosis("quarantine", not entries, found, "`em quarantine list`" if entries else "")


def _days(home: RebuildableHome) -> Diagnosis:
    stale = [f"{step.name} ({len(days)})" for step in home.steps.values() if (days := home.store.stale_days(step))]
    found = f"out of date: {', '.join(stale)}" if stale else "all current"
    return Diagnosis("days", not stale, found, "`em run`" if stale else "")


def _snapshot(home: RebuildableHome) -> Diagnosis:
    state = snapshot_state(home)
    advice = {SnapshotState.OUTDATED: "`em snapshot`", SnapshotState.DAMAGED: "`em repair --apply`"}.get(state, "")
    return Diagnosis("snapshot", not advice, state.value, advice)


def _packs(home: RebuildableHome) -> Diagnosis:
    """How old they are is seen by the next run; what is lost of them would only be missed."""
    n_packs, n_unfit = len(packs.folders(home)), len(packs.unfit(home, is_checked=True))
    found = f"{n_unfit} of {n_packs} are lost or damaged" if n_unfit else f"{n_packs} are whole"
    return Diagnosis("index packs", not n_unfit, found, "`em repair --apply`" if n_unfit else "")


def _nights(home: RebuildableHome) -> Diagnosis:
    """The book of nights, and whether what stands is what they come to."""
    if problem := nights_problem(home):
        found, _, advice = problem.partition("; ")
        return Diagnosis("nights", False, found, advice)
    checkpoint = home.nights.history().checkpoint
    if checkpoint is None:
        return Diagnosis("nights", True, "none stands")
    if not home.store.is_current(home.consolidation, checkpoint.as_of):
        return Diagnosis("nights", False, "what stands is not what they come to", "`em run`")
    n_standing = len(home.nights.history().standing)
    return Diagnosis(
        "nights", True, f"{counted(n_standing, 'night', ('stands', 'stand'))}, the last {checkpoint.target}"
    )


def _asking(home: RebuildableHome) -> Diagnosis:
    """Whether what waits to be said is what would be made now, and the book of what was said can be read."""
    subject = "questions and openings"
    if unread := home.offers.damaged():
        found = f"{counted(len(unread), 'file')} of record/offers with lines that nobody can read: {unread[0]}"
        return Diagnosis(subject, False, found, "put it back from a backup, or delete it: its limits begin anew")
    if not any(home.store.lake.days(table) for step in home.proactive for table in step.outputs):
        return Diagnosis(subject, True, "none were made yet")
    if not home.is_proactive_current:
        return Diagnosis(subject, False, "what waits is not what would be made now", "`em run`")
    return Diagnosis(subject, True, "as they would be made now")


def _memory_files(home: RebuildableHome) -> Iterator[Diagnosis]:
    """MEMORY.md and SKILL.md: those that nobody can write, and those that are not what the tables come to."""
    found = outdated(home)
    if found.refused:
        reason, _, advice = found.refused[0].reason.partition("; ")
        yield Diagnosis("memory files", False, reason, advice)
    elif not found.is_current:
        n_stale = counted(len(found.written) + len(found.removed), "file", IS)
        yield Diagnosis("memory files", False, f"{n_stale} not what the tables come to", "`em run`")
    else:
        yield Diagnosis("memory files", True, f"{len(files_of(home))} are current")


def _graph(home: RebuildableHome) -> Iterator[Diagnosis]:
    """Nothing of a home that no graph database was ever synced with."""
    if not GraphNote(home.record).is_there:
        return
    try:
        n_erased = n_erased_since_sync(home)
    except EmError as error:
        yield Diagnosis("graph database", False, str(error), "delete HOME/record/graph.json, then `em sync-graph`")
        return
    found = f"may hold what {counted(n_erased, 'erasure')} took away" if n_erased else "no erasure since its last sync"
    yield Diagnosis("graph database", not n_erased, found, "`em sync-graph`" if n_erased else "")


def _pool(home: RebuildableHome) -> Iterator[Diagnosis]:
    """Nothing of a home that has given nothing to any."""
    if not home.pool_book.has_given:
        return
    n = n_waiting(home)
    found = f"{counted(n, 'withdrawal')} could not be told to it yet" if n else "all withdrawals were told"
    yield Diagnosis("pool", not n, found, "make the pool reachable; `em run` tells it" if n else "")


def _ledger(home: RebuildableHome) -> Diagnosis:
    if home.salt.problem():
        return Diagnosis("ledger", False, "without its salt no seal can be checked", "put the salt back first")
    problems = ledger_problems(home)
    if not problems:
        return Diagnosis("ledger", True, "nothing shows an edit")
    advice = "find out who edited HOME/record, and restore it from a backup"
    return Diagnosis("ledger", False, f"line {problems[0].line or '(head)'}: {problems[0].found}", advice)


def _tokens(home: RebuildableHome) -> Diagnosis:
    """Lines that this home has not written so, and tokens that are there again after the ledger has them revoked."""
    if home.salt.problem():
        return Diagnosis("tokens", False, "without its salt no token is known", "put the salt back first")
    book = TokenBook(home.record, home.salt)
    sound = book.all()
    if edited := book.edited():
        found = f"{len(edited)} were edited and let nobody in, first line {edited[0]} of record/tokens.jsonl"
        return Diagnosis("tokens", False, found, "`em token revoke ID`, or remove the line")
    try:
        revoked = {entry.target for entry in home.ledger.entries() if entry.action == REVOKED}
    except EmError:  # of which the ledger tells
        revoked = set()
    back = [token for token in sound if revoked and home.ledger.mark_of(token.token_id, token.user_id) in revoked]
    if back:
        found = f"{len(back)} that were revoked are there again, first {back[0].token_id}"
        return Diagnosis("tokens", False, found, f"`em token revoke {back[0].token_id}`")
    return Diagnosis("tokens", True, f"{len(sound)} are as they were made" if sound else "none")


def _dead_letters(home: RebuildableHome) -> Diagnosis:
    n_open = len(open_letters(home.store.log))
    return Diagnosis("dead letters", not n_open, f"{n_open} open", "`em dead-letters list`" if n_open else "")


def _feedback(home: RebuildableHome) -> Diagnosis:
    """What was said of facts that are not known: it breaks nothing, and somebody may want to say it again."""
    unmatched = unmatched_feedback(home.store.lake)
    return Diagnosis("feedback", True, "; ".join([f"{len(unmatched)} fitted no fact", *unmatched[:N_NAMED]]))


def _runs(home: RebuildableHome) -> Diagnosis:
    """Whether what was begun has ended."""
    if home.is_broken_off("run"):
        return Diagnosis("runs", False, "the last one broke off; what is published is of before", "em run")
    return Diagnosis("runs", True, "one is at work" if home.is_at_work("run") else "ended")


def _left_overs(home: RebuildableHome) -> Diagnosis:
    if not (left := home.left_overs()):
        return Diagnosis("left-over files", True, "none")
    found = f"{counted(len(left), 'temporary file')} of runs that were killed"
    return Diagnosis("left-over files", False, found, f"`em repair --apply` deletes them, like {left[0]}")


def _other_files(home: RebuildableHome) -> Iterator[Diagnosis]:
    """Every file that no other inspection reads, the damaged ones by name; before the others, which may mend a note."""
    found = inspect_files(home.path)
    yield from (Diagnosis("other files", False, f"{one.path}: {one.found}", one.advice) for one in found.flaws)
    if not found.flaws:
        yield Diagnosis("other files", True, f"{counted(found.n_sound, 'file')} can be read{found.left}")


def _dagster(home: RebuildableHome) -> Diagnosis:
    """Its history alone: of memory nothing lies there."""
    subject, repair = "Dagster's history", "`em repair --apply` sets it aside; memory needs none of it"
    if damaged := flaws(home.dagster_home):
        first = f"first {damaged[0].path.relative_to(home.dagster_home)}: {damaged[0].found}"
        return Diagnosis(subject, False, f"{counted(len(damaged), 'database', IS)} damaged, {first}", repair)
    if lost := lost_events(home.dagster_home):
        return Diagnosis(subject, False, f"the events of {counted(len(lost), 'run')} are gone, first {lost[0]}", repair)
    if held := locked(home.dagster_home, LOCK_SECONDS):
        return Diagnosis(subject, False, f"another process keeps {held[0].name} locked", "end that process")
    return Diagnosis(subject, True, "can be read")
