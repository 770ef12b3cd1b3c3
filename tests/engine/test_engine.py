"""A real engine behind `em`: llama.cpp with a model of 135 million parameters, whose answers are mostly wrong.

What is held is what no answer may break: the run ends by itself, nothing that is served contradicts the messages,
nothing of the prompt is stored, tokens are counted as the engine counts them, and no message is lost.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import openai
import pytest

from em_pipelines.extraction.support import N_EARLIER
from em_pipelines.extraction.verification import TEMPLATE_NAMES
from tests.engine.conversation import ONLY, TURNS, rows
from tests.engine.engine import FOLDER, MODEL, NO_ENGINE, Engine, running
from tests.interfaces.cli.conftest import EM, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FOLDER, reason=NO_ENGINE)]
SECONDS_OF_A_COMMAND = 1200
CONTEXT_TOKENS = 4096
SCHEMA = {
    "type": "object",
    "properties": {"town": {"type": "string", "enum": ["Ghent", "Bruges"]}},
    "required": ["town"],
}
FORMATS: list[dict[str, Any]] = [
    {},
    {"response_format": {"type": "json_object"}},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "town", "schema": SCHEMA, "strict": True}}},
]
Em = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with running(tmp_path_factory.mktemp("engine"), CONTEXT_TOKENS) as found:
        yield found


def em(engine: Engine, home: Path, *words: object) -> "subprocess.CompletedProcess[str]":
    """Runs `em` as a process with the engine as its model."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EM_HOME": str(home), **engine.environment}
    done = subprocess.run(
        [*EM, *map(str, words)], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=SECONDS_OF_A_COMMAND, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize("is_streaming", [False, True])
@pytest.mark.parametrize("more", FORMATS)
def test_the_server_answers_and_counts_as_its_engine_does(
    engine: Engine, more: dict[str, Any], is_streaming: bool
) -> None:
    told = [{"role": "user", "content": "Which town do you like? Answer as JSON."}]
    asked: dict[str, Any] = {"model": MODEL, "messages": told, "max_tokens": 40, "temperature": 0, **more}
    with openai.OpenAI(base_url=engine.base_url, api_key="any", max_retries=0) as client:
        assert [one.id for one in client.models.list()] == [MODEL]
        if is_streaming:
            options = {"stream": True, "stream_options": {"include_usage": True}}
            events = list(client.chat.completions.create(**asked, **options))
            text = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
            usage, ends = events[-1].usage, [event.choices[0].finish_reason for event in events if event.choices]
        else:
            answer = client.chat.completions.create(**asked)
            text, usage, ends = answer.choices[0].message.content, answer.usage, [answer.choices[0].finish_reason]
    noted = engine.requests()[-1]
    assert (usage.prompt_tokens, usage.completion_tokens) == (noted["prompt_tokens"], noted["completion_tokens"])
    assert ends[-1] == noted["finish_reason"]
    assert text.strip()
    if "json_schema" in json.dumps(more):
        assert json.loads(text)["town"] in {"Ghent", "Bruges"}


def test_a_context_that_is_too_small_is_told(tmp_path: Path) -> None:
    with running(tmp_path, 512) as engine:
        done = em(engine, tmp_path / "home", "llm", "check", "--json")
        noted = engine.requests()
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert re.search(r"leaves no room for an answer in its context of 512 tokens", found["problem"])
    assert [one.get("refused") for one in noted] == [400]


def test_the_check_tells_what_the_engine_takes_and_how_fast_it_is(engine: Engine, tmp_path: Path) -> None:
    n_before = len(engine.requests())
    done = em(engine, tmp_path / "home", "llm", "check", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode == 0) is (found["problem"] == ""), done.stderr
    assert found["problem"] in done.stderr
    assert (found["model"], found["models"]) == (MODEL, [MODEL])
    takes = found["takes"]
    assert (takes["structured outputs"], takes["streaming"], takes["temperature"]) == ("JSON schema", True, True)
    assert found["n_calls"] == len(engine.requests()) - n_before > 0
    assert found["seconds"] > 0 < found["tokens_a_second"]


def test_a_run_ends_counts_as_the_engine_and_stores_nothing_that_nobody_said(engine: Engine, tmp_path: Path) -> None:
    log, home = tmp_path / "talk.jsonl", tmp_path / "home"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    n_before = len(engine.requests())
    done = em(engine, home, "run", log)
    assert done.returncode in {0, 1, 3}, done.stderr
    noted = engine.requests()[n_before:]
    with duckdb.connect(str(home / "snapshots" / "latest.duckdb"), read_only=True) as snapshot:
        told = _told(snapshot, "claims")
        _grounded(told)
        _counted(_told(snapshot, "llm_calls"), noted)
        lost = _unaccounted(snapshot)
    assert lost == []
    facts = em(engine, home, "facts", "--user", "ilse", "--json")
    assert not any(name in facts.stdout for name in TEMPLATE_NAMES)


def _told(snapshot: duckdb.DuckDBPyConnection, table: str) -> list[dict[str, Any]]:
    found = snapshot.table(table)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def _grounded(claims: list[dict[str, Any]]) -> None:
    """Every claim is of names that the messages have, one of them in its turn or shortly before it; what is served
    contradicts none of them."""
    said = {(row["session_id"], row["turn_number"]): str(row["content"]) for row in rows()}
    for claim in claims:
        print({name: claim[name] for name in ("subject", "relation", "object", "value", "requires_verification")})
        ends = [end for end in (claim["subject"], claim["object"], claim["value"]) if end and end != "user"]
        place = (claim["session_id"], claim["turn_number"])
        near = " ".join(said.get((place[0], place[1] - n), "") for n in range(N_EARLIER + 1))
        assert not any(name in " ".join(ends) for name in TEMPLATE_NAMES), claim
        assert all(_occurs(end, " ".join(TURNS)) for end in ends), claim
        assert any(_occurs(end, near) for end in ends), claim
        only = ONLY.get((claim["subject"], claim["relation"]))
        is_served = not claim["requires_verification"] and claim["polarity"] > 0
        assert not (is_served and only and claim["object"] not in only), claim


def _occurs(phrase: str, text: str) -> bool:
    """Whether a text has most of the words of a phrase, or, of a day of a month, its number."""
    if day := re.fullmatch(r"(?:\d{4}|-)?-?\d\d-(\d\d)", phrase):
        return re.search(rf"\b{int(day[1])}\b", text) is not None
    words = re.findall(r"\w+", phrase.casefold())
    return sum(word in text.casefold() for word in words) * 2 > len(words)


def _counted(calls: list[dict[str, Any]], noted: list[dict[str, Any]]) -> None:
    """Tokens are those of the engine; of an answer that `em` stopped nobody is told them, and they are estimated."""
    calls = sorted((call for call in calls if not call["is_cache_hit"]), key=lambda call: call["called_at"])
    assert len(calls) == len(noted) > 0
    ended = [(call, one) for call, one in zip(calls, noted, strict=True) if one["finish_reason"] != "left"]
    for name in ("prompt_tokens", "completion_tokens"):
        ours, theirs = (sum(pair[n][name] for pair in ended) for n in (0, 1))
        print(name, ours, "counted here,", theirs, "by the engine, in", len(ended), "of", len(calls), "calls")
        assert ours == pytest.approx(theirs, rel=0.02)


def _unaccounted(snapshot: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Messages of which nothing was read and nothing says why."""
    told = {
        row["message_id"]
        for table in ("claims", "mentions", "extraction_issues")
        for row in _told(snapshot, table)
        if row.get("issue") not in {"pending", "dead_letter"} or row["detail"]
    }
    messages = _told(snapshot, "messages")
    assert len(messages) == len(TURNS)
    return [row for row in messages if row["message_id"] not in told]
