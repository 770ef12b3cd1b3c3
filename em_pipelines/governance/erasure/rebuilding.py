"""Makes again what was made from records that have changed: partitions, snapshots, cached answers.

Everything comes from the steps, as in any run; what has no input any more is deleted. Days that nothing changed are
found current by their digests and stay as they are.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from em_pipelines.errors import EmError, UsageError
from em_pipelines.extraction.durable import whole_sessions
from em_pipelines.extraction.segmentation import segment_objects
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.lifecycle.consolidation.nights import BOOK_LOCK
from em_pipelines.lifecycle.consolidation.recurring import recurring, windows
from em_pipelines.lifecycle.pool.sharing import shared_ids
from em_pipelines.lifecycle.proactive.offers import LOCK as OFFERS_LOCK
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.phrase_vectors import PhraseVectors
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CONSOLIDATED
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.serving.metrics.daily import measure
from em_pipelines.serving.snapshot import LATEST, publish_home
from em_pipelines.storage.step import Step


@dataclass(slots=True)
class Rebuilt:
    """What was made again: partitions made and deleted, snapshots, answers let go, and steps that could not run."""

    n_partitions: int = 0
    n_deleted: int = 0
    n_snapshots: int = 0
    n_answers: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def stale_log_days(home: RebuildableHome) -> set[date]:
    """Days of which the tables do not hold what the log does: landed since, rewritten, or gone from it."""
    found: set[date] = set()
    for step in home.steps.values():
        if step.log_kind:
            landed = set(home.store.days(step))
            made = {day for table in step.outputs for day in home.store.lake.days(table)}
            found |= {*home.store.stale_days(step), *(made - landed)}
    return found


def remake(home: RebuildableHome, days: Iterable[date]) -> Rebuilt:
    """Makes the days again in every step, and all later days of what folds.

    A step that cannot run, for a model that is not there, leaves no partition of the days behind: what was erased
    may not wait for it. The next run makes them.
    """
    done = Rebuilt()
    wanted = sorted(days)
    if not wanted:
        return done
    quarantine = home.store.quarantine  # what still fails when the days are made again is set aside again
    quarantine.take_out([entry for entry in quarantine.entries() if entry.day in set(wanted)])
    for step in home.steps.values():
        with home.lock(f"step-{step.name}"):
            done.n_deleted += _drop_orphans(home, step)
            todo = _days_of(home, step, wanted)
            try:
                report = home.store.run_days(step, todo)
                done.n_partitions += len(report.made) * len(step.outputs)
            except EmError as error:
                done.failed[step.name] = type(error).__name__
                for day in (day for day in todo if not home.store.is_current(step, day)):
                    for table in step.outputs:
                        home.store.lake.delete(table, day)
                        done.n_deleted += 1
    _infer_anew(home, done)
    _consolidate_anew(home, done)
    _propose_anew(home, done)
    with suppress(EmError):  # the next run counts what nobody could count now
        measure(home)
    return done


def _infer_anew(home: RebuildableHome, done: Rebuilt) -> None:
    """What follows is made from the newest facts alone, so that nothing of it is kept."""
    told_of = {day for table in home.inference.outputs for day in home.store.lake.days(table)}
    for table in home.inference.outputs:
        for day in home.store.lake.days(table):
            home.store.lake.delete(table, day)
            done.n_deleted += 1
    home.note_inferred(sorted(told_of))
    try:
        done.n_partitions += len(home.infer().made)
    except EmError as error:
        done.failed[home.inference.name] = type(error).__name__


def _consolidate_anew(home: RebuildableHome, done: Rebuilt) -> None:
    """What recurs is worked out from what is left; decisions about what nothing is left of go first. Where nobody can
    say what recurs, no decision stays, and no table."""
    known: set[str] = set()
    try:
        if home.nights.has_decisions:
            known = _recurring_ids(home) | shared_ids(home)
    except EmError as error:
        done.failed["consolidation"] = type(error).__name__
    with home.lock(BOOK_LOCK):
        home.nights.forget(lambda experience_id: experience_id not in known)
    try:
        done.n_partitions += len(home.refresh_consolidation(is_forced=True).made)
    except EmError as error:
        done.failed["consolidation"] = type(error).__name__
        for table in CONSOLIDATED:
            for day in home.store.lake.days(table):
                home.store.lake.delete(table, day)
                done.n_deleted += 1


def _propose_anew(home: RebuildableHome, done: Rebuilt) -> None:
    """What would be said is worked out from what is left, and nothing that cannot be is said."""
    try:
        done.n_partitions += sum(len(report.made) for report in home.refresh_proactive(is_forced=True))
    except EmError as error:
        done.failed["proactive"] = type(error).__name__
        for table in (PROBES, STARTERS):
            for day in home.store.lake.days(table):
                home.store.lake.delete(table, day)
                done.n_deleted += 1


def forget_offers(home: RebuildableHome, scope: Scope) -> int:
    """Removes what the book of offers says of a user, or of things and facts of theirs that are gone; returns how many
    lines. What was about nothing in particular stays, for it counts as asked; of a conversation that is erased nothing
    is known there any more."""
    user_id = scope.user_id
    with home.lock(OFFERS_LOCK):
        if scope.kind is ScopeKind.USER:
            return home.offers.forget_user(user_id)
        if scope.kind is ScopeKind.SESSION:
            home.offers.forget_session(user_id, scope.target)
        known: set[str] = set()
        for table in (ENTITIES, EDGES):
            day = home.store.lake.latest(table, date.max)
            if day is not None:
                known.update(home.store.lake.find(table, day, "user_id", [user_id])[table.key[0]].to_pylist())
        return home.offers.forget(user_id, lambda one: one.about is not None and one.about not in known)


def _recurring_ids(home: RebuildableHome) -> set[str]:
    """The ids of all that happened, once or often, as the log is now: up to the last night, or to the last day."""
    looked_over = windows(home.settings.consolidation)
    checkpoint = home.nights.history().checkpoint
    days = [day for window in looked_over for day in home.store.lake.days(window.table)]
    if not days:
        return set()
    inputs = home.store.inputs_of(home.consolidation, checkpoint.as_of if checkpoint else max(days))
    return {cluster.experience_id for cluster in recurring(inputs, home.settings.consolidation)}


def republish(home: RebuildableHome, first: date) -> int:
    """Publishes every snapshot from a day on anew, and removes those that no fact is left for; returns how many."""
    folder, n_snapshots = home.snapshots, 0
    with home.lock("snapshot"):
        _sweep(folder)
        for path in sorted(folder.glob("????-??-??.duckdb")):
            if date.fromisoformat(path.stem) < first:
                continue
            n_snapshots += 1
            try:
                day = date.fromisoformat(path.stem)
                if publish_home(home, day, is_anew=True).path != path:
                    path.unlink()
            except UsageError:  # nothing is known by that day any more
                path.unlink(missing_ok=True)
        if any(folder.glob("????-??-??.duckdb")):
            with suppress(UsageError):
                publish_home(home, is_anew=True)
        else:
            (folder / LATEST).unlink(missing_ok=True)
    return n_snapshots


def forget_answers(home: RebuildableHome, user_id: str, names: NameIndex, *, is_all: bool) -> int:
    """Deletes what models have answered about texts that are no more; returns the number of answers."""
    if not home.answers.exists():
        return 0
    with AnswerStore(home.answers) as store:
        vectors = PhraseVectors(store.database)
        if is_all:
            return store.forget_user(user_id) + vectors.forget(user_id, vectors.phrases(user_id))
        present = _references(home, user_id)
        rows = store.database.rows(
            """SELECT r.reference, a.text AS text FROM answer_references AS r LEFT JOIN answers AS a USING (key)
               WHERE r.user_id = ?1
               UNION ALL SELECT reference, request FROM batch_requests WHERE user_id = ?1
               UNION ALL SELECT reference, '' FROM ladders WHERE user_id = ?1
               UNION ALL SELECT reference, '' FROM batch_errors WHERE user_id = ?1
               UNION ALL SELECT reference, '' FROM calls WHERE user_id = ?1 AND reference IS NOT NULL""",
            user_id,
        )
        gone = {row["reference"] for row in rows if row["reference"] not in present or names.is_in(row["text"] or "")}
        n_answers = sum(store.forget_reference(user_id, reference) for reference in sorted(gone))
        named = _names(home, user_id)
        unsaid = [phrase for phrase in vectors.phrases(user_id) if phrase not in named or names.is_in(phrase)]
        return n_answers + vectors.forget(user_id, unsaid)


def _names(home: RebuildableHome, user_id: str) -> set[str]:
    """The name keys of everything that is known of the user."""
    day = home.store.lake.latest(ENTITIES, date.max)
    return set(home.store.lake.find(ENTITIES, day, "user_id", [user_id])["name_key"].to_pylist()) if day else set()


def _references(home: RebuildableHome, user_id: str) -> set[str]:
    """What a model may be asked about as memory stands: the segments of the user, and whole sessions."""
    found: set[str] = set()
    for day in home.store.lake.days(MESSAGES):
        messages = home.store.lake.read(MESSAGES, day)
        segments = [s for s in segment_objects(messages, home.settings.segmentation) if s.user_id == user_id]
        found.update(segment.segment_id for segment in segments)
        found.update(segment.segment_id for segment in whole_sessions(segments, home.settings.durable))
    return found


def _days_of(home: RebuildableHome, step: Step, wanted: list[date]) -> list[date]:
    """The wanted days; of a step that reads state all later ones, too, for state carries what was said before."""
    reads_state = step.previous or step.latest or any(table.is_state for table in step.inputs)
    if not reads_state:
        return [day for day in home.store.days(step) if day in set(wanted)]
    return [day for day in home.store.days(step) if day >= wanted[0]]


def _drop_orphans(home: RebuildableHome, step: Step) -> int:
    """Deletes partitions of days on which the step has no input any more."""
    days = set(home.store.days(step))
    orphans = [(table, day) for table in step.outputs for day in home.store.lake.days(table) if day not in days]
    for table, day in orphans:
        home.store.lake.delete(table, day)
    return len(orphans)


def _sweep(folder: Path) -> None:
    """Deletes half-written snapshots of processes that are no more: whoever publishes holds the lock that we hold."""
    for path in folder.glob(".*"):
        path.unlink(missing_ok=True)
