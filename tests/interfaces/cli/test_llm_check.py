"""`em llm check`: what an endpoint takes, what is wrong with it, and what the next run knows of it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import oracle
from tests.model_server.script import Call, Step, answer, failed
from tests.model_server.server import ModelServer

ROOT = Path(__file__).parents[3]
EM = (sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()")
KEY = "sk-test-1234567890abcdef"
Check = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(server: ModelServer, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": KEY, "EM_LLM_SMALL": "small"} | environment
        return subprocess.run(
            [*EM, "llm", "check", *words, "--home", str(tmp_path / "home")], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings}, cwd=ROOT, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    return run


def picky(call: Call) -> Step:
    """A server that takes no schema, no temperature, and no answer of more than 2,000 tokens."""
    if "json_schema" in json.dumps(call.body.get("response_format", {})):
        return failed(400, "response_format json_schema not supported")
    if "temperature" in call.body:
        return failed(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    if call.body["max_tokens"] > 2000:
        return failed(400, "max_tokens is too large: this model supports at most 2000 completion tokens")
    return oracle.reading(call)


def test_it_tells_what_an_endpoint_takes_and_runs_know_it(check: Check, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with ModelServer(picky, api_key=KEY) as server:
        done = check(server, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert (found["model"], found["problem"], found["settings_to_use"]) == ("small", "", "as they are")
        assert found["takes"]["structured outputs"] == "JSON object"
        assert (found["takes"]["temperature"], found["takes"]["streaming"]) == (False, True)
        assert found["takes"]["longest answer"] == 2000
        n_calls = server.n_calls
        assert n_calls == 4
        said = tmp_path / "said.jsonl"
        said.write_text(
            '{"user_id": "wim", "session_id": "s", "turn_number": 0, "role": "user", "content": "I live in Tartu.", '
            '"timestamp": "2026-03-01T10:00:00Z"}\n',
            encoding="utf-8",
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": KEY}
        done = subprocess.run(
            [*EM, "run", str(said), "--extractor", "llm", "--home", str(tmp_path / "home")], capture_output=True,
            text=True, check=False, cwd=ROOT, env={**environment, "EM_LLM_SMALL": "small"}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert server.n_calls == n_calls + 1, "nothing is learned again"


def test_what_is_wrong_is_told_in_the_servers_words_with_what_to_do(check: Check, tmp_path: Path) -> None:
    with ModelServer(oracle.reading, models=["qwen-small", "llama"], api_key=KEY) as server:
        done = check(server)
        assert done.returncode == 1
        assert '"The model `small` does not exist."; check EM_LLM_SMALL' in done.stderr
        assert "; the endpoint lists qwen-small, llama" in done.stderr
        done = check(server, EM_LLM_API_KEY="sk-wrong-1234567890abcdef")
        assert (done.returncode, done.stdout.count("Traceback"), done.stderr.count("\n")) == (1, 0, 1)
        assert "check the key in EM_LLM_API_KEY" in done.stderr
        assert "sk-wrong" not in done.stdout + done.stderr
    assert not (tmp_path / "home").exists(), "trying an endpoint makes no home"
    assert "check EM_LLM_BASE_URL and whether the endpoint is up" in check(server).stderr


def test_a_model_that_finds_nothing_is_no_success(check: Check) -> None:
    nothing = answer({"entities": [], "relations": [], "tone": [], "times": []})
    with ModelServer([nothing]) as server:
        done = check(server)
    assert done.returncode == 1
    assert "found none of the facts of the sample; try a larger model" in done.stderr


def test_answers_that_cannot_be_read_take_their_time_as_well(check: Check) -> None:
    """An answer that is cut off, and the two halves that it is asked for in: each takes as long as it takes."""
    with ModelServer([answer("{", finish_reason="length", delay_seconds=0.1)]) as server:
        found = json.loads((done := check(server, "--json")).stdout)
    assert done.returncode == 1
    assert "was cut off at the limit of its tokens" in found["problem"]
    assert found["n_calls"] == server.n_calls > 1
    assert found["seconds"] > 0.1 * found["n_calls"]
    assert found["takes"]["structured outputs"] == "JSON schema"


def test_without_a_key_it_says_which_to_set(check: Check) -> None:
    with ModelServer() as server:
        done = check(server, EM_LLM_API_KEY="", OPENAI_API_KEY="")
    assert done.returncode == 2
    assert "none of EM_LLM_API_KEY and OPENAI_API_KEY is set" in done.stderr
