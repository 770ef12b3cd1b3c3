"""Asking models again: what they answered about some days is dropped, and what was made of it put out of date, so that
the next run asks anew for that and nothing else. What people said of facts is in the log and stays."""

from datetime import date

from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.home import COLLECTED
from em_pipelines.lifecycle.inference.llm.proposer import TASK as INFERENCE
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.forgetting import AskedWork, KeptAnswers, drop_answers
from em_pipelines.llm.forgetting import kept_answers as kept_in
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.extraction import LLM_CALLS

WAITS_SECONDS = 10
"""For a run that is at work: it may read for hours, and whoever forgets answers can do it later as well."""


def kept_answers(home: RebuildableHome, asked: AskedWork) -> KeptAnswers:
    """What is kept of the answers about some work. Raises UsageError for a model or a task that was never asked."""
    if not home.answers.exists():
        return KeptAnswers()
    with AnswerStore(home.answers) as store:
        return kept_in(store.database, asked)


def forget_answers(home: RebuildableHome, asked: AskedWork) -> KeptAnswers:
    """Drops the answers about some work, with its dead letters; returns what was kept. Raises UsageError as
    `kept_answers` does, LockedError while a run is at work.

    Days first: after a crash in between the answers are still there, and dropped when it is called again.
    """
    if not kept_answers(home, asked).work:
        return KeptAnswers()
    with home.lock("run", timeout_seconds=WAITS_SECONDS), home.lock("step-extraction", timeout_seconds=WAITS_SECONDS):
        kept = kept_answers(home, asked)
        for day in _days_read_of(home, kept.references):
            home.store.reopen(home.steps["extraction"], day)
        inferred = home.store.lake.latest(INFERRED_EDGES, date.max)
        if inferred is not None and INFERENCE in kept.tasks:
            home.store.reopen(home.inference, inferred)
        with AnswerStore(home.answers) as store:
            drop_answers(store.database, asked)
    (home.path / COLLECTED).touch()
    return kept


def _days_read_of(home: RebuildableHome, references: frozenset[str]) -> list[date]:
    """The days whose extraction has asked about one of the segments."""
    lake = home.store.lake
    return [day for day in lake.days(LLM_CALLS) if lake.find(LLM_CALLS, day, "segment_id", references).num_rows]
