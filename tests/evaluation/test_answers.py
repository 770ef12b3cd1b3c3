"""Answers read from the context block by one model and judged by another, over a server that speaks their language."""

import json
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.answers import prompt_version
from em_pipelines.evaluation.question_files import read_questions
from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server.script import Call, Step, answer, failed, malformed
from tests.model_server.server import ModelServer

KEY = "sk-test-1234567890abcdef"
SAID = [
    ("s1", "My sister Dana lives in Graz.", "2026-03-02T10:00:00Z"),
    ("s1", "We sold the old loom yesterday.", "2026-03-02T10:01:00Z"),
    ("s2", "I play the bassoon in a wind band.", "2026-03-09T10:00:00Z"),
]
QUESTIONS = [
    {"question": "Where does Dana live?", "answer": "Graz", "category": "single-hop"},
    {"question": "When was the loom sold?", "answer": "1 March 2026", "category": "temporal"},
    {"question": "Which instrument do I play?", "answer": "the bassoon", "category": "single-hop"},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    log = folder / "said.jsonl"
    rows = [
        {
            "user_id": "ines", "session_id": session, "turn_number": n, "role": "user", "content": text,
            "timestamp": at,
        }
        for n, (session, text, at) in enumerate(SAID)
    ]  # fmt: skip
    log.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    done = call_here(["run", str(log), "--home", str(folder / "home")], ROOT, {})
    assert done.returncode == 0, done.stderr
    return folder / "home"


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(one) for one in QUESTIONS))
    return path


def is_judge(call: Call) -> bool:
    return '"expected"' in call.prompt


def scripted(call: Call) -> Step:
    """A reader that finds what stands in the block, and a judge who compares."""
    if is_judge(call):
        sheet = json.loads(call.messages[-1]["content"])
        return answer({"is_right": sheet["expected"] == sheet["given"]})
    block = call.messages[-1]["content"]
    found = [("Dana live", "Graz"), ("loom", "1 March 2026" if "(2026-03-01)" in block else "not known")]
    question = block.rpartition("Question: ")[2]
    return answer({"answer": next((said for word, said in found if word in question), "not known")})


def evaluated(server: ModelServer, home: Path, *words: object) -> Any:
    way = {
        "EM_LLM_BASE_URL": server.base_url,
        "EM_LLM_API_KEY": KEY,
        "EM_LLM_LARGE": "judge-1",
        "EM_LLM_SMALL": "reader-1",
    }
    return call_here(["evaluate", "answers", *map(str, words), "--home", str(home)], ROOT, way)


def test_answers_are_judged_and_shared_out_by_category(home: Path, asked: Path) -> None:
    with ModelServer(scripted) as server:
        done = evaluated(server, home, asked, "--user", "ines", "--json")
        assert done.returncode == 0, done.stderr
        report = orjson.loads(done.stdout)
        assert {name: one["right_share"] for name, one in report["by_category"].items()} == {
            "single-hop": 0.5,
            "temporal": 1.0,
        }
        assert (report["all"]["n_right"], report["all"]["n_wrong"], report["all"]["n_unanswered"]) == (2, 1, 0)
        assert (report["reader"]["model"], report["judge"]["model"]) == ("reader-1", "judge-1")
        assert report["reader"]["prompt_version"] == prompt_version("reader") != prompt_version("judge")
        assert report["reader"]["prompt_tokens"] > report["reader"]["completion_tokens"] > 0
        assert 0 < report["block_tokens"] <= 800
        assert server.n_calls == 6
        again = orjson.loads(evaluated(server, home, asked, "--user", "ines", "--json").stdout)
        assert (server.n_calls, again["reader"]["n_known_before"], again["all"]) == (6, 3, report["all"])
        small = orjson.loads(evaluated(server, home, asked, "--user", "ines", "--budget", "60", "--json").stdout)
        assert small["block_tokens"] <= 60
        shown = evaluated(server, home, asked, "--user", "ines").stdout
        assert all(word in shown for word in ("temporal", "reader-1", "judge-1", prompt_version("judge")))


def test_what_gets_no_answer_is_counted_and_stops_nothing(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    rows = [{**one, "user": "ines", "question": f"Now: {one['question']}"} for one in QUESTIONS]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))

    def faulty(call: Call) -> Step:
        is_loom = "When was the loom" in call.prompt
        return malformed("no JSON at all") if is_loom and not is_judge(call) else scripted(call)

    with ModelServer(faulty) as server:
        done = evaluated(server, home, path, "--json")
        assert done.returncode == 0, done.stderr
        report = orjson.loads(done.stdout)
        assert report["by_category"]["temporal"] == {
            "n_questions": 1, "n_right": 0, "n_wrong": 0, "n_unanswered": 1, "right_share": 0.0,
            "least_share": 0.0, "most_share": 1.0,
        }  # fmt: skip
        assert report["errors"] == {"UnusableAnswerError": 1}
        server.script = scripted
        assert orjson.loads(evaluated(server, home, path, "--json").stdout)["all"]["n_unanswered"] == 0


def test_an_endpoint_that_refuses_ends_it_and_no_secret_is_told(home: Path, asked: Path) -> None:
    with ModelServer(scripted, api_key="another") as server:
        done = evaluated(server, home, asked, "--user", "ines", "--as-of", "2026-03-08")
    assert done.returncode == 2
    assert "HTTP 401" in done.stderr
    assert KEY not in done.stderr + done.stdout
    assert "Graz" not in done.stderr + done.stdout
    with ModelServer(lambda _: failed()) as server:
        assert evaluated(server, home, asked, "--user", "ines", "--as-of", "2026-03-07").returncode == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no question"),
        ("{", "line 1 is no JSON"),
        ("[1]", "line 1 is no object"),
        ('{"question": "Who?"}', "no answer"),
        ('{"answer": "he"}', "no question"),
        ('{"question": "Who?", "answer": "he"}', "no user"),
        ('{"question": "Who?", "answer": "he", "user": "ines", "as_of": "May"}', "as_of is no day"),
        ('{"qa": [{"question": "Who?", "answer": "he", "category": 1}]}', "--user"),
    ],
)
def test_what_is_no_file_of_questions_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        read_questions(path)
    with pytest.raises(UsageError):
        read_questions(tmp_path / "nowhere.jsonl")


def test_a_conversation_with_questions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    asked = [
        {"question": "How many boats?", "answer": 2, "category": 4},
        {"question": "Which trap?", "adversarial_answer": "none", "category": 5},
    ]
    path.write_bytes(orjson.dumps({"qa": asked}))
    (found,) = read_questions(path, "ida")
    assert (found.text, found.answer, found.category, found.user_id) == ("How many boats?", "2", "single-hop", "ida")


def test_nobody_is_asked_about_somebody_who_is_not_known(home: Path, asked: Path) -> None:
    with ModelServer(scripted) as server:
        done = evaluated(server, home, asked, "--user", "inse")
        assert (done.returncode, server.n_calls) == (2, 0)
        assert "'inse'" in done.stderr
        assert evaluated(server, home).returncode == 2


def test_the_example_asks_about_the_people_of_the_examples(examples_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))  # answers are kept in it
    with ModelServer(lambda call: answer({"is_right": True} if is_judge(call) else {"answer": "Graz"})) as server:
        done = evaluated(server, home, ROOT / "examples" / "questions" / "mirela.jsonl", "--json")
        assert done.returncode == 0, done.stderr
        assert orjson.loads(done.stdout)["all"]["n_right"] == 6
