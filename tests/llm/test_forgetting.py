"""Forgetting answers: of the days, the model, the task and the user that are named, and of nothing else."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.forgetting import AskedWork, KeptAnswers, drop_answers, kept_answers
from em_pipelines.llm.ladder_state import EXHAUSTED, LadderStore, Place
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from tests.model_server.questions import question

NOW = datetime(2026, 3, 9, tzinfo=UTC)
FIRST = date(2026, 3, 1)
MIDNIGHT = datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC)


def answered(store: AnswerStore, text: str, **changes: Any) -> ChatRequest:
    """A request whose answer is kept; each text is a reference of its own."""
    request = question(text, **{"reference": f"seg_{text}", **changes})
    store.save(request, ChatAnswer(request.key, text, "stop", 4, 1, 5.0, 0.25), NOW)
    return request


def is_kept(store: AnswerStore, request: ChatRequest) -> bool:
    return store.answer(request, NOW) is not None


def test_days_are_those_of_the_messages_in_utc_with_the_last_included(store: AnswerStore) -> None:
    last, next_day = answered(store, "late", at=MIDNIGHT), answered(store, "next", at=MIDNIGHT + timedelta(seconds=1))
    far_west = datetime.fromisoformat("2026-02-28T22:00:00-05:00")
    west = answered(store, "west", at=far_west)
    drop_answers(store.database, AskedWork(FIRST, FIRST))
    assert [is_kept(store, one) for one in (last, next_day, west)] == [False, True, False]
    drop_answers(store.database, AskedWork(FIRST, date.max))
    assert not is_kept(store, next_day)


@pytest.mark.parametrize("narrowed", [{"model": "large"}, {"task": "inference"}, {"user_id": "milo"}])
def test_only_what_is_named_is_dropped(store: AnswerStore, narrowed: dict[str, str]) -> None:
    others, named = answered(store, "others"), answered(store, "named", **narrowed)
    asked = AskedWork(FIRST, FIRST, narrowed.get("model"), narrowed.get("task"), narrowed.get("user_id"))
    kept = kept_answers(store.database, asked)
    assert (kept.n_answers, kept.n_users, kept.references, kept.tasks) == (1, 1, {"seg_named"}, {named.task})
    drop_answers(store.database, asked)
    assert (is_kept(store, others), is_kept(store, named)) == (True, False)


def test_ladders_go_with_the_answers_and_what_calls_cost_stays(store: AnswerStore) -> None:
    first, ladders = answered(store, "first"), LadderStore(store.database)
    other_day = answered(store, "other day", at=MIDNIGHT + timedelta(days=3))
    for request in (first, other_day):
        place = Place(request.user_id, request.task, request.reference, request.key, EXHAUSTED, last_error="X")
        ladders.keep(place, NOW, rejected=request)
    spent = store.spent_in_night(NOW)
    asked = AskedWork(FIRST, FIRST)
    kept = kept_answers(store.database, asked)
    assert (kept.n_answers, kept.n_dead_letters) == (1, 1)
    drop_answers(store.database, asked)
    assert [place.reference for place in ladders.exhausted()] == ["seg_other day"]
    assert (store.spent_in_night(NOW), len(store.calls())) == (spent, 2)
    assert kept_answers(store.database, asked) == KeptAnswers()


def test_an_answer_that_serves_two_segments_puts_both_on_the_list(store: AnswerStore) -> None:
    answered(store, "same", reference="seg_1")
    assert is_kept(store, question("same", reference="seg_2", at=MIDNIGHT + timedelta(days=3)))
    assert kept_answers(store.database, AskedWork(FIRST, FIRST)).references == {"seg_1", "seg_2"}


def test_a_name_that_was_never_asked_is_told_with_those_that_were(store: AnswerStore) -> None:
    assert kept_answers(store.database, AskedWork(FIRST, FIRST, model="tiny")) == KeptAnswers(), "nobody was asked"
    answered(store, "one")
    with pytest.raises(UsageError, match="no model 'tiny' was ever asked; there is small"):
        kept_answers(store.database, AskedWork(FIRST, FIRST, model="tiny"))
    with pytest.raises(UsageError, match="no task 'extract' was ever asked; did you mean 'extraction'"):
        kept_answers(store.database, AskedWork(FIRST, FIRST, task="extract"))


def test_the_first_day_is_not_after_the_last() -> None:
    with pytest.raises(UsageError, match="give the earlier day first"):
        AskedWork(FIRST, date(2026, 2, 28))
