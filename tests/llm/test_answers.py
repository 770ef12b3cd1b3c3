"""The store of answers: nothing is paid twice, nothing is lost to a kill, nobody's data is left behind."""

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.errors import CorruptTableError, ModelUnavailableError
from em_pipelines.llm.answers import AnswerStore, Spend, reject_answer
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.database import SCHEMA_VERSION
from em_pipelines.llm.ladder_state import LadderStore, Place
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from tests.llm.answer_files import write_file_of_version
from tests.model_server.questions import question

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)


def answer(request: ChatRequest, text: str = '{"likes": "plums"}', **changes: object) -> ChatAnswer:
    figures = {"prompt_tokens": 40, "completion_tokens": 10, "latency_ms": 5.0, "cost_usd": 0.25, **changes}
    return ChatAnswer(request.key, text, "stop", **figures)  # type: ignore[arg-type]


def test_an_answer_is_kept_as_it_was_and_given_as_a_hit(store: AnswerStore) -> None:
    request = question()
    assert store.answer(request, NOW) is None
    store.save(request, answer(request), NOW)
    found = store.answer(request, NOW)
    assert found == answer(request, is_cache_hit=True)


def test_an_answer_of_one_user_is_no_answer_for_another(store: AnswerStore) -> None:
    store.save(question(), answer(question()), NOW)
    assert store.answer(question(user_id="milo"), NOW) is None


def test_every_call_is_a_record_and_a_hit_is_one_once_a_reference(store: AnswerStore) -> None:
    request, again = question(), question(reference="seg_2")
    store.note_failure(request, ModelUnavailableError("asking: HTTP 500; try again"), 7.0, NOW)
    store.save(request, answer(request), NOW + timedelta(seconds=1))
    for _ in range(3):
        store.answer(again, NOW + timedelta(seconds=2))
    calls = sorted(store.calls("ines"), key=lambda call: call.called_at)
    assert [(c.outcome, c.error_type, c.segment_id, c.is_cache_hit, c.prompt_tokens, c.cost_usd) for c in calls] == [
        ("failed", "ModelUnavailableError", "seg_1", False, 0, 0.0),
        ("ok", None, "seg_1", False, 40, 0.25),
        ("ok", None, "seg_2", True, 0, 0.0),
    ]
    assert len({call.call_id for call in calls}) == 3
    assert calls[0].timestamp == request.at
    assert store.calls("milo") == []


def test_a_reading_is_marked_at_the_call_that_was_read(store: AnswerStore) -> None:
    request = question()
    store.save(request, answer(request), NOW)
    store.mark(request.key, "repaired")
    assert [call.outcome for call in store.calls()] == ["repaired"]


def test_a_refused_answer_counts_as_none_once(store: AnswerStore) -> None:
    request = question()
    for is_kept in (False, True, True):
        if store.answer(request, NOW) is None:
            store.save(request, answer(request), NOW)
        store.refuse(request.key)
        assert (store.answer(request, NOW) is not None) is is_kept
    asked = [call.outcome for call in store.calls() if not call.is_cache_hit]
    assert asked == ["refused", "refused"]


def test_a_rejected_answer_can_be_asked_again_and_stays_paid(store: AnswerStore) -> None:
    request = question()
    store.save(request, answer(request, "{"), NOW)
    with store.database.transaction() as execute:
        reject_answer(execute, request.key, "UnusableAnswerError")
    assert store.answer(request, NOW) is None
    store.save(request, answer(request), NOW)
    assert store.answer(request, NOW) is not None
    assert sorted(call.outcome for call in store.calls()) == ["failed", "ok", "ok"]
    assert store.spent_on_day("small", NOW) == Spend(2, 100, 0.5)


def test_spend_is_counted_by_day_and_model_and_by_night_from_noon_to_noon(store: AnswerStore) -> None:
    evening, morning, noon = (datetime(2026, 1, day, hour, tzinfo=UTC) for day, hour in ((1, 23), (2, 2), (2, 12)))
    for at, model in ((evening, "small"), (morning, "small"), (morning, "large"), (noon, "small")):
        request = question(str((at, model)), model=model)
        store.save(request, answer(request), at)
    assert store.spent_on_day("small", morning) == Spend(2, 100, 0.5)
    assert store.spent_on_day("large", morning) == Spend(1, 50, 0.25)
    assert store.spent_in_night(morning) == Spend(3, 150, 0.75)
    assert store.spent_in_night(noon) == Spend(1, 50, 0.25)
    assert store.n_answered("small") == 3


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def fill(store: AnswerStore, request: ChatRequest, text: str) -> None:
    """Leaves a trace of a request in every table."""
    store.save(request, answer(request, text), NOW)
    LadderStore(store.database).keep(Place(request.user_id, request.task, request.reference, request.key), NOW)
    queue = BatchQueue(store.database)
    failed, waits = (question(f"{text} {n}", user_id=request.user_id, reference=request.reference) for n in (1, 2))
    queue.add(failed)
    queue.failed(failed, "ModelUnavailableError", NOW)
    queue.add(waits)


def test_forgetting_a_user_leaves_nothing_but_what_calls_cost(store: AnswerStore) -> None:
    gone, stays = question(user_id="milo-the-cat", correlation_id="cor_milo"), question()
    fill(store, gone, "the secret of Milo")
    fill(store, stays, "plums")
    spent = store.spent_in_night(NOW)
    assert store.forget_user("milo-the-cat") == 1
    left = everything_in(store.database.path.parent)
    assert not [trace for trace in (b"milo", b"secret of Milo", gone.key.encode()) if trace in left]
    assert store.spent_in_night(NOW) == spent
    assert store.answer(stays, NOW) is not None
    assert len([call for call in store.calls() if call.user_id is None]) == 2


def test_forgetting_a_reference_leaves_the_users_others(store: AnswerStore) -> None:
    gone, stays = question(reference="seg_gone"), question("Ines likes figs.")
    fill(store, gone, "something said in confidence")
    fill(store, stays, "figs")
    assert store.forget_reference("ines", "seg_gone") == 1
    left = everything_in(store.database.path.parent)
    assert not [trace for trace in (b"seg_gone", b"in confidence", gone.key.encode()) if trace in left]
    assert store.answer(stays, NOW) is not None


def test_a_question_of_an_erased_text_can_be_asked_and_kept_again(store: AnswerStore) -> None:
    request = question()
    store.save(request, answer(request), NOW)
    store.forget_user("ines")
    store.save(request, answer(request), NOW)
    assert len(store.calls()) == 2


def test_a_file_that_is_no_database_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at as if it were one" * 20)
    with pytest.raises(CorruptTableError, match=r"opening .*answers\.sqlite: .*; move the file away"):
        AnswerStore(path)


def test_a_file_of_another_version_is_refused(store: AnswerStore) -> None:
    store.database.rows("PRAGMA user_version = 99")
    with pytest.raises(CorruptTableError, match="version 99"):
        AnswerStore(store.database.path)


def test_only_its_owner_may_read_the_file(store: AnswerStore) -> None:
    assert store.database.path.stat().st_mode & 0o777 == 0o600


KILLED = """
import os, signal, sys
from pathlib import Path
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.protocol import ChatAnswer
from tests.llm.answer_files import write_file_of_version
from tests.model_server.questions import question
from datetime import UTC, datetime
store = AnswerStore(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    request = question(f"text {number}")
    store.save(request, ChatAnswer(request.key, str(number), "stop", 1, 1, 1.0, 0.0), datetime.now(UTC))
with store.database.transaction() as execute:
    execute("DELETE FROM answers")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_saved_outlives_a_kill_and_what_was_not_committed_never_was(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), "25"], cwd=ROOT, check=False)
    assert done.returncode == -9
    with AnswerStore(path) as store:
        kept = [store.answer(question(f"text {number}"), NOW) for number in range(26)]
        assert [found.text if found else None for found in kept] == [*map(str, range(25)), None]
        assert store.database.rows("PRAGMA integrity_check")[0][0] == "ok"


WRITING = """
import sys
from pathlib import Path
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.protocol import ChatAnswer
from tests.llm.answer_files import write_file_of_version
from tests.model_server.questions import question
from datetime import UTC, datetime
with AnswerStore(Path(sys.argv[1])) as store:
    for number in range(60):
        request = question(f"text {number}", user_id=sys.argv[2])
        store.save(request, ChatAnswer(request.key, str(number), "stop", 1, 1, 1.0, 0.0), datetime.now(UTC))
"""


def test_two_processes_may_make_the_file_and_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    both = [subprocess.Popen([sys.executable, "-c", WRITING, str(path), user], cwd=ROOT) for user in ("a", "b")]
    assert [process.wait() for process in both] == [0, 0]
    with AnswerStore(path) as store:
        assert store.n_answered("small") == 120
        assert len(store.calls("a")) == len(store.calls("b")) == 60


def test_an_error_inside_a_transaction_takes_all_of_it_back(store: AnswerStore) -> None:
    with pytest.raises(sqlite3.IntegrityError), store.database.transaction() as execute:
        execute("INSERT INTO answer_references VALUES ('u', 'r', 'k')")
        execute("INSERT INTO answer_references VALUES ('u', 'r', 'k')")
    assert store.database.rows("SELECT * FROM answer_references") == []


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_a_file_of_any_earlier_version_is_brought_to_this_one(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.sqlite"
    write_file_of_version(path, version)
    with AnswerStore(path) as store:
        assert not store.has_usable("small")
        store.note_usable("small", NOW)
    with AnswerStore(path) as store, AnswerStore(path, "http://127.0.0.1/v1") as other:
        assert store.has_usable("small")
        assert not other.has_usable("small"), "what one endpoint answers says nothing of another"
