"""The scripted server against the official client: what the other tests rest on."""

import json
import subprocess
import sys
from pathlib import Path

import openai
import pytest

from tests.model_server.script import (
    Script,
    answer,
    by_attempt,
    dropped,
    failed,
    garbage,
    hang,
    malformed,
    rate_limited,
    truncated,
    with_faults,
)
from tests.model_server.server import ModelServer

ROOT = Path(__file__).parents[2]


def ask(server: ModelServer, prompt: str = "hello", timeout: float = 5.0, **more: object) -> str:
    with openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0, timeout=timeout) as client:
        return asked(client, prompt, **more)


def asked(client: openai.OpenAI, prompt: str, **more: object) -> str:
    messages = [{"role": "user", "content": prompt}]
    found = client.chat.completions.create(model="small", messages=messages, **more)  # type: ignore[call-overload]
    return f"{found.choices[0].finish_reason}: {found.choices[0].message.content}"


def test_answers_come_in_turn_and_every_call_is_kept() -> None:
    with ModelServer([answer({"n": 1}), truncated("abcdef"), malformed({"a": [1]})]) as server:
        assert ask(server) == 'stop: {"n": 1}'
        assert ask(server) == "length: abc"
        with pytest.raises(json.JSONDecodeError):
            json.loads(ask(server).removeprefix("stop: "))
        assert [(call.number, call.attempt) for call in server.calls] == [(1, 1), (2, 2), (3, 3)]
        assert server.n_prompt_characters == 15
        assert server.duplicates == {"hello": 3}
        assert server.has_seen("hello")
        assert not server.has_seen("goodbye")


def test_errors_are_the_errors_of_the_client() -> None:
    with ModelServer([failed(503), rate_limited(7), dropped(), garbage(), hang()]) as server:
        with pytest.raises(openai.InternalServerError):
            ask(server)
        with pytest.raises(openai.RateLimitError) as limited:
            ask(server)
        assert limited.value.response.headers["retry-after"] == "7"
        with pytest.raises(openai.APIConnectionError):
            ask(server)
        with pytest.raises(json.JSONDecodeError):
            ask(server)
        with pytest.raises(openai.APITimeoutError):
            ask(server, timeout=0.02)


def test_keys_models_and_formats_are_refused() -> None:
    with ModelServer(api_key="right", models=["large"], refused_formats=["json_object"]) as server:
        with pytest.raises(openai.AuthenticationError):
            ask(server)
        server.api_key = None
        with pytest.raises(openai.NotFoundError):
            ask(server)
        server.models = ()
        with pytest.raises(openai.BadRequestError, match="response_format"):
            ask(server, response_format={"type": "json_object"})
        assert ask(server) == "stop: {}"


def test_the_fate_of_a_call_hangs_on_prompt_and_attempt_not_on_the_order() -> None:
    script: Script = with_faults(by_attempt(answer("0123456789")), seed=3)

    def fates(prompts: list[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        with (
            ModelServer(script) as server,
            openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client,
        ):
            for prompt in prompts:
                try:
                    found.setdefault(prompt, []).append(asked(client, prompt))
                except openai.InternalServerError:
                    found.setdefault(prompt, []).append("500")
        return found

    prompts = [str(n) for n in range(40)]
    there = fates(prompts * 2)
    assert there == fates(list(reversed(prompts)) * 2)
    outcomes = [fate.split(":")[0] for both in there.values() for fate in both]
    assert 3 <= outcomes.count("500") <= 14
    assert 8 <= outcomes.count("length") <= 26


def test_it_serves_a_file_of_answers_from_a_shell(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"when": "tea", "answer": {"likes": "tea"}}\n{"answer": "nothing"}\n')
    log = tmp_path / "calls.jsonl"
    command = [sys.executable, "tests/model_server/server.py", "--answers", str(answers), "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        base_url = process.stdout.readline().strip()
        try:
            with openai.OpenAI(base_url=base_url, api_key="k") as client:
                texts = [
                    client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
                    .choices[0].message.content
                    for text in ("I like tea", "I like soup")
                ]  # fmt: skip
        finally:
            process.kill()  # it holds nothing, and leaving the block waits for it
    assert texts == ['{"likes": "tea"}', "nothing"]
    assert len(log.read_text().splitlines()) == 2
