"""What search finds of what answers questions, and weights that are fitted to it."""

import random
from pathlib import Path

import numpy as np
import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.retrieval import Asked, fit, held_out, left_out, measure, read
from em_pipelines.retrieval.scoring import replies
from em_pipelines.retrieval.settings import RetrievalSettings, Weights
from tests.evaluation.test_context import LOCOMO, TURNS, conversation
from tests.interfaces.cli.conftest import ROOT, call_here

N_TURNS = 60


def asked(rng: random.Random, *, is_told: bool = True) -> Asked:
    """A question whose answer `window` tells and `letters` half the time, while `topic` is noise."""
    answer = rng.randrange(N_TURNS)
    noise = {name: np.array([rng.random() for _ in range(N_TURNS)], np.float32) for name in ("window", "topic")}
    noise["window"][answer] = 1.2 if is_told else noise["window"][answer]
    if rng.random() < 0.5:
        noise["letters"] = np.array([rng.random() for _ in range(N_TURNS)], np.float32)
        noise["letters"][answer] = 1.0
    return Asked("single-hop", frozenset({answer}), noise)


def test_weights_are_fitted_to_what_tells_the_answers() -> None:
    rng = random.Random(1)
    weights = fit([asked(rng) for _ in range(80)])
    assert weights.window == 1.0
    assert 0 < weights.letters < 1
    assert weights.topic < 0.1
    assert weights.meaning == Weights().meaning, "what no question has keeps its weight"
    assert fit([]) == Weights()


def test_fitted_weights_are_measured_on_what_they_were_not_fitted_to() -> None:
    rng = random.Random(2)
    told = [[asked(rng) for _ in range(30)] for _ in range(3)]
    untold = [[asked(rng, is_told=False) for _ in range(30)] for _ in range(2)]
    assert held_out(told) > 0.95
    noise = [[Asked(one.category, one.answers, {"topic": one.components["topic"]}) for one in file] for file in untold]
    assert held_out(noise) < 0.4, "10 of 60 turns are shown, and nothing tells which"
    assert held_out([]) == 0.0


def test_a_turn_is_a_reply_where_the_one_before_it_asks() -> None:
    asks = np.array([1.0, 0.0, 0.5, 0.25], np.float32)
    assert replies(asks, np.array([0, 0, 0, 1], np.int32)).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert replies(np.zeros(0, np.float32), np.zeros(0, np.int32)).tolist() == []


def test_the_answer_to_a_question_of_the_other_is_found_by_it(tmp_path: Path) -> None:
    turns = ["Here I am.", "Hello, hello!", "Any news of the boat, Piet?", "It is on the canal.", "Good, the boat."]
    said = [{"speaker": ("Ida", "Piet")[n % 2], "dia_id": f"D1:{n + 1}", "text": t} for n, t in enumerate(turns)]
    question = {"question": "What is the news of the boat?", "evidence": ["D1:4"], "category": 4}
    [one] = read(conversation(tmp_path, session_1=said, qa=[question]), RetrievalSettings())
    assert one.components["reply"].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
    assert measure([one], Weights()).all.mrr > measure([one], Weights(reply=0.0)).all.mrr


@pytest.mark.parametrize("text", ["", "[]", "{}", "no JSON", '{"qa": 3}'])
def test_what_is_no_conversation_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "talk.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"talk\.json"):
        read(path, RetrievalSettings())


def test_the_command_fits_and_measures(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    turns = [{"speaker": "Ida", "dia_id": f"D1:{n + 1}", "text": text} for n, text in enumerate(TURNS)]
    paths = [conversation(tmp_path / "one"), conversation(tmp_path / "two", session_1=turns)]
    words = ["evaluate", "retrieval", *map(str, paths), "--fit", "--json", "--home", str(tmp_path / "home")]
    done = call_here(words, ROOT, {})
    assert done.returncode == 0, done.stderr
    report = orjson.loads(done.stdout)
    assert report["all"]["n_questions"] == 4
    assert report["fitted"]["held_out_recall_at_10"] == 1.0
    assert max(value for name, value in report["fitted"]["weights"].items() if name != "answers") >= 1.0


@pytest.mark.slow
def test_search_finds_on_conversations_what_it_is_said_to_find() -> None:
    if not LOCOMO.is_dir():
        pytest.skip("the conversations of LoCoMo are not at hand")
    settings = RetrievalSettings()
    files = [read(LOCOMO / f"{number}.json", settings) for number in (26, 30, 41)]
    questions = [question for file in files for question in file]
    assert measure(questions, settings.weights).all.recall_at_10 >= 0.83
    assert held_out(files) >= 0.825


def test_a_log_with_questions_beside_it_is_read_and_measured_by_kind(tmp_path: Path) -> None:
    log = tmp_path / "boats-1.jsonl"
    texts = ["I painted the boat in linseed oil.", "Use two coats.", "My sister Ida lives in Hull.", "How nice."]
    rows = [
        {
            "user_id": "piet", "session_id": "s1", "turn_number": n, "role": ("user", "assistant")[n % 2],
            "content": text, "timestamp": f"2026-03-02T10:0{n}:00Z", "source_id": str(n),
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip
    log.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    beside = tmp_path / "boats-1.questions.json"
    question = {"question": "What did I paint the boat with?", "category": "fact", "evidence": [["s1", 0]]}
    never = {"question": "What is my shoe size?", "category": "never", "evidence": []}
    beside.write_bytes(orjson.dumps([question, never]))
    (asked_once,) = read(log, RetrievalSettings())
    assert (asked_once.kind, asked_once.category, asked_once.answers) == ("boats", "fact", {0})
    assert measure([asked_once], Weights()).by_kind["boats"].recall_at_10 == 1
    beside.write_bytes(orjson.dumps({"fact": [{"question": "Where does Ida live?", "source_chat_ids": {"a": [[2]]}}]}))
    assert [one.answers for one in read(log, RetrievalSettings())] == [{2}]
    beside.write_bytes(b'[{"question": "What?"}]')
    with pytest.raises(UsageError, match=r"boats-1\.questions\.json: not as docs/retrieval\.md"):
        read(log, RetrievalSettings())
    beside.unlink()
    with pytest.raises(UsageError, match="give the questions about a log"):
        read(log, RetrievalSettings())


def test_each_kind_is_measured_by_weights_that_were_fitted_without_it() -> None:
    rng = random.Random(3)
    kinds = [Asked(one.category, one.answers, one.components, kind) for kind in "ab" for one in (asked(rng),) * 20]
    assert left_out(kinds) == {"a": 1.0, "b": 1.0}
    assert left_out(kinds[:20]) == {}
