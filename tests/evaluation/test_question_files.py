"""Questions of benchmarks as they are published, and intervals of shares."""

from datetime import date
from pathlib import Path

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.answers import interval
from em_pipelines.evaluation.question_files import Question, read_questions


def written(path: Path, document: object) -> Path:
    path.write_bytes(orjson.dumps(document))
    return path


def test_of_beam_the_rubric_is_the_answer(tmp_path: Path) -> None:
    item = {"question": "Which oil?", "rubric": ["linseed", "two coats"], "source_chat_ids": [3]}
    path = written(tmp_path / "1.questions.json", {"knowledge_update": [item, "broken"], "other": {}})
    assert read_questions(path, "piet") == [
        Question("1.questions-1", "piet", "Which oil?", "linseed; two coats", "knowledge_update")
    ]
    with pytest.raises(UsageError, match="name one by --user"):
        read_questions(path)


def test_of_longmemeval_a_question_is_asked_on_its_day(tmp_path: Path) -> None:
    item = {
        "question_id": "q7", "question_type": "temporal-reasoning", "question": "When?", "answer": 3,
        "question_date": "2023/05/20 (Sat) 02:21", "haystack_sessions": [],
    }  # fmt: skip
    (found,) = read_questions(written(tmp_path / "oracle.json", [item, {"question": "No answer?"}]), "u")
    assert found == Question("q7", "u", "When?", "3", "temporal-reasoning", date(2023, 5, 20))
    with pytest.raises(UsageError, match="as_of is no day"):
        read_questions(written(tmp_path / "odd.json", [{**item, "question_date": "in May"}]), "u")


def test_of_halumem_each_line_is_a_person(tmp_path: Path) -> None:
    asked = {"question": "Where?", "answer": "Hull", "question_type": "basic"}
    person = {"uuid": "p1", "sessions": [{"questions": [asked, 5, {"question": "?"}]}, {"dialogue": []}]}
    path = tmp_path / "medium.jsonl"
    path.write_bytes(orjson.dumps(person) + b"\n" + orjson.dumps({**person, "uuid": "p2"}))
    assert [(one.user_id, one.text, one.category) for one in read_questions(path)] == [
        ("p1", "Where?", "basic"),
        ("p2", "Where?", "basic"),
    ]
    path.write_bytes(orjson.dumps({"sessions": []}))
    with pytest.raises(UsageError, match="names no user"):
        read_questions(path)


@pytest.mark.parametrize("document", [[], {}, [1, 2], {"a": "b"}])
def test_a_file_without_questions_is_wrong_use(tmp_path: Path, document: object) -> None:
    with pytest.raises(UsageError):
        read_questions(written(tmp_path / "none.json", document), "u")


@pytest.mark.parametrize(
    ("n_right", "n", "least", "most"), [(8, 10, 0.490, 0.943), (0, 5, 0.0, 0.434), (5, 5, 0.566, 1.0)]
)
def test_intervals_are_those_of_wilson(n_right: int, n: int, least: float, most: float) -> None:
    assert interval(n_right, n) == (pytest.approx(least, abs=1e-3), pytest.approx(most, abs=1e-3))
