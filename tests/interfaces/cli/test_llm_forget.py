"""`em llm forget`: after a day on which a model was bad, the next run asks anew for that day and nothing else."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.home import Home
from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server import oracle
from tests.model_server.script import Call, Step, answer, rate_limited
from tests.model_server.server import ModelServer

SAID = {
    "2026-03-01": ("I live in Tartu.", "I own a tandem."),
    "2026-03-02": ("I love rowing.", "I speak Estonian."),
    "2026-03-03": ("I work at Kelluke as a carpenter.",),
}
BAD_DAY = ("--from", "2026-03-02", "--to", "2026-03-02")
NOTHING: dict[str, list[object]] = {"entities": [], "relations": [], "tone": [], "times": []}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def log(native: Callable[..., Path]) -> Path:
    """Five conversations of three days, a sentence each; one of the first day is of another user."""
    said = [(day, text) for day, texts in SAID.items() for text in texts]
    return native(
        *(
            {
                "user_id": "bo" if text == "I own a tandem." else "ada",
                "session_id": f"s{number}",
                "turn_number": 0,
                "content": text,
                "timestamp": f"{day}T10:00:00Z",
            }
            for number, (day, text) in enumerate(said)
        )
    )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that reads as the rules do, until it is told otherwise."""
    with ExitStack() as stack:
        yield stack.enter_context(ModelServer(oracle.reading))


@pytest.fixture
def em_here(server: ModelServer, tmp_path: Path) -> Run:
    """Runs `em` over the server."""
    environment = {
        "EM_LLM_BASE_URL": server.base_url,
        "EM_LLM_API_KEY": "sk-test-1234567890abcdef",
        "EM_EXTRACTOR": "llm",
        "EM_HOME": str(tmp_path / "home"),
        "EM_LLM__LADDER__DELAYS_SECONDS": "[0,0,0]",
    }
    return lambda *words: call_here([str(word) for word in words], ROOT, environment)


def facts(em_here: Run, user: str = "ada") -> set[tuple[str, str]]:
    """Relation and object of what is told of a user."""
    told: list[dict[str, Any]] = orjson.loads(em_here("facts", "--user", user, "--json").stdout)
    return {(fact["relation"], fact["object"]) for fact in told}


def reading_nothing_of(*texts: str) -> Callable[[Call], Step]:
    """A model that finds nothing where it is asked about one of the texts."""
    return lambda call: answer(NOTHING) if any(text in call.prompt for text in texts) else oracle.reading(call)


@pytest.mark.slow
def test_the_next_run_asks_for_the_forgotten_day_and_no_other(em_here: Run, server: ModelServer, log: Path) -> None:
    server.script = reading_nothing_of(*SAID["2026-03-02"])
    assert em_here("run", log).returncode == 0
    assert ("likes", "rowing") not in facts(em_here)
    edge = next(f for f in orjson.loads(em_here("facts", "--user", "ada", "--json").stdout) if f["object"] == "Tartu")
    assert em_here("correct", edge["edge_id"], "--object", "Narva", "--user", "ada").returncode == 0
    assert em_here("run").returncode == 0
    server.script = oracle.reading
    assert em_here("run", "--full").returncode == 0
    assert server.n_calls == 5, "what was answered is not asked again"

    done = em_here("llm", "forget", *BAD_DAY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == "2 answers of 1 user forgotten; `em run` asks again."
    assert em_here("run").returncode == 0
    asked = {text for text in sum(SAID.values(), ()) for call in server.calls[5:] if text in call.prompt}
    assert (server.n_calls, asked) == (7, set(SAID["2026-03-02"]))
    assert {("likes", "rowing"), ("speaks", "Estonian"), ("lives_in", "Narva")} <= facts(em_here)
    assert ("lives_in", "Tartu") not in facts(em_here), "what people corrected stays corrected"

    whole = em_here("llm", "forget", "--from", "2026-03-01", "--to", "2026-03-03", "--user", "ada", "--json")
    assert orjson.loads(whole.stdout) == {"n_answers": 4, "n_users": 1, "n_dead_letters": 0}
    assert em_here("run").returncode == 0
    assert server.n_calls == 11, "bo's answer was kept"
    assert ("lives_in", "Narva") in facts(em_here)


@pytest.mark.slow
def test_failed_checks_dead_letters_and_waiting_messages_are_all_told(
    em_here: Run, server: ModelServer, log: Path
) -> None:
    invented = [{"t": 0, "name": name, "type": "person"} for name in ("Orsolya", "Bendeguz", "Ludmilla")]

    def script(call: Call) -> Step:
        if "rowing" in call.prompt:
            return answer({**NOTHING, "entities": invented})
        if "tandem" in call.prompt:
            return answer("no JSON, sorry")
        return rate_limited(3600) if "Kelluke" in call.prompt else oracle.reading(call)

    server.script = script
    done = em_here("run", log)
    failed, dead, waiting = done.stderr.splitlines()
    assert failed.startswith("em: checks failed: hallucination_rate on claims")
    assert "`em llm forget --from 2026-03-02 --to 2026-03-02`" in failed
    assert dead.startswith(
        "em: 1 message could not be read and is a dead letter (reading an answer: entities, relations"
    )
    assert dead.endswith("; see `em dead-letters list`")
    assert waiting.startswith("em: 1 message waits to be read by the model (asking the model")
    assert waiting.endswith("try again in 3600 s); `em run` goes on from there")
    assert done.returncode == 1, "another run does not mend the check"
    server.script = oracle.reading
    assert em_here("llm", "forget", "--from", "2026-03-01", "--to", "2026-03-02").returncode == 0
    assert em_here("run").returncode == 0
    assert ("likes", "rowing") in facts(em_here)


@pytest.mark.slow
def test_dead_letters_of_the_day_are_given_back(em_here: Run, server: ModelServer, log: Path) -> None:
    server.script = lambda call: answer("no JSON, sorry") if "rowing" in call.prompt else oracle.reading(call)
    assert em_here("run", log).returncode == 1
    server.script = oracle.reading
    n_asked = server.n_calls
    done = em_here("llm", "forget", *BAD_DAY)
    assert "and 1 dead letter given back" in done.stdout
    assert em_here("run").returncode == 0
    assert (server.n_calls - n_asked, orjson.loads(em_here("dead-letters", "list", "--json").stdout)) == (2, [])
    assert ("likes", "rowing") in facts(em_here)


@pytest.mark.slow
def test_what_cannot_be_forgotten_is_told_in_a_sentence(em_here: Run, log: Path, tmp_path: Path) -> None:
    assert em_here("llm", "forget", *BAD_DAY).returncode == 1, "there is no home"
    assert em_here("land", log).returncode == 0
    nothing = "Nothing to forget: no answer is kept about these days."
    assert em_here("llm", "forget", *BAD_DAY).stdout.strip() == nothing
    assert em_here("run").returncode == 0
    wrong = {
        ("--from", "2026-03-02"): "--to",
        ("--from", "today", "--to", "2026-03-02"): "give a day as YYYY-MM-DD",
        ("--from", "2026-03-03", "--to", "2026-03-02"): "give the earlier day first",
        (*BAD_DAY, "--model", "haiku"): "no model 'haiku' was ever asked; there is gpt-4.1-mini",
        (*BAD_DAY, "--task", "extracting"): "no task 'extracting' was ever asked; did you mean 'extraction'?",
    }
    for words, told in wrong.items():
        done = em_here("llm", "forget", *words)
        assert (done.returncode, done.stderr.count("\n"), told in done.stderr) == (2, 1, True), done.stderr
    elsewhere = em_here("llm", "forget", "--from", "2026-04-01", "--to", "9999-12-31")
    assert (elsewhere.returncode, elsewhere.stdout.strip()) == (0, nothing)
    unknown = em_here("llm", "forget", *BAD_DAY, "--user", "adda")
    assert (unknown.returncode, "did you mean 'ada'?" in unknown.stderr) == (1, True)


@pytest.mark.slow
def test_while_a_run_is_at_work_nothing_is_forgotten(
    em_here: Run, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert em_here("run", log).returncode == 0
    monkeypatch.setattr("em_pipelines.governance.forgotten_answers.WAITS_SECONDS", 0)
    with Home(tmp_path / "home").lock("run"):
        done = em_here("llm", "forget", *BAD_DAY)
    assert (done.returncode, "wait for it to end and try again" in done.stderr) == (3, True)
    assert em_here("llm", "forget", *BAD_DAY).stdout.startswith("2 answers of 1 user forgotten")
