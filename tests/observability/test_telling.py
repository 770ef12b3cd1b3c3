"""Logs and spans of whole runs and calls, as processes of their own tell them."""

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import dagster as dg
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from em_pipelines.definitions import build_definitions
from em_pipelines.landing.land import land
from em_pipelines.observability.work import listen
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.model_server import oracle
from tests.model_server.script import Call, failed
from tests.model_server.server import ModelServer
from tests.observability.collector import Collector

ROOT = Path(__file__).parents[2]
EM = (sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()")
SAID = ("My sister Odalys lives in Narva.", "I love rowing.")
KEY = "sk-test-1234567890abcdef"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "said.jsonl"
    told = [
        {"user_id": "wendell", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": text,
         "timestamp": f"2026-03-0{n + 1}T10:00:00Z"}
        for n, text in enumerate(SAID)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in told), encoding="utf-8")
    return path


@pytest.fixture
def em(home_path: Path) -> Run:
    def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*EM, *map(str, words), "--home", str(home_path)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, cwd=ROOT, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        yield server


def lines(text: str) -> list[dict[str, Any]]:
    """The log lines among what was written to stderr."""
    return [json.loads(one) for one in text.splitlines() if one.startswith("{")]


@pytest.mark.slow
def test_a_run_tells_of_every_stage_in_json(em: Run, log: Path) -> None:
    done = em("run", log, EM_LOG__FORMAT="json")
    assert done.returncode == 0, done.stderr
    told = lines(done.stderr)
    assert done.stderr.splitlines() == [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in told]
    assert [*told[0]][:4] == ["timestamp", "level", "logger", "message"]
    assert {"interactions", "messages", "extraction", "fold", "decay", "audit", "inference", "metrics", "snapshot"} <= {
        one.get("step") for one in told
    }
    assert told[0]["message"] == "landed 2 records"
    (run_id,) = {one["correlation_id"] for one in told}
    assert run_id.startswith("run_")
    for word in ("wendell", "Odalys", "Narva", "rowing"):
        assert word not in done.stderr


@pytest.mark.slow
def test_as_text_a_run_says_nothing_more_than_before(em: Run, log: Path) -> None:
    assert em("run", log).stderr == ""
    assert "EM_LOG__FORMAT" in em("settings").stdout
    assert em("settings", EM_LOG__FORMAT="xml").returncode == 2


@pytest.mark.slow
def test_a_call_of_a_model_bears_the_id_of_its_message_and_no_key(em: Run, log: Path, collector: Collector) -> None:
    asked = []

    def script(call: Call) -> Any:
        asked.append(call)
        return failed(500) if len(asked) == 1 else oracle.reading(call)

    with ModelServer(script, api_key=KEY) as server:
        done = em(
            "run", log, "--extractor", "llm", EM_LOG__FORMAT="json", EM_LLM_BASE_URL=server.base_url,
            EM_LLM_API_KEY=KEY, EM_LLM__LADDER__DELAYS_SECONDS="[0,0,0]",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    calls = [one for one in lines(done.stderr) if one["logger"] == "resources.chat_model"]
    assert len(calls) == len(asked) >= 3
    spans = collector.named("em.model")
    assert len(spans) == len(asked)
    known = {one["correlation_id"] for one in calls}
    assert {span.attributes["em.correlation_id"] for span in spans} == known
    assert all(one.startswith("cor_") for one in known)
    assert [span.error for span in spans if span.error] == ["InternalServerError"]
    trace = em("trace", sorted(known)[0])
    assert trace.returncode == 0
    everything = done.stderr + repr(collector.bodies)
    for word in (KEY, "wendell", "Odalys", "Narva", "rowing"):
        assert word not in everything


@pytest.mark.slow
def test_a_run_its_steps_and_their_days_are_spans_of_one_trace(em: Run, log: Path, collector: Collector) -> None:
    assert em("run", log, EM_TRACING__ENDPOINT=collector.endpoint).returncode == 0
    (run,) = collector.named("em.run")
    steps = {span.attributes["em.step"]: span for span in collector.named("em.step")}
    assert {"interactions", "extraction", "fold", "metrics", "snapshot"} <= steps.keys()
    assert {span.trace_id for span in collector.spans if span.name != "em.land"} == {run.trace_id}
    assert {span.parent_id for span in steps.values()} == {run.span_id}
    days = [span for span in collector.named("em.day") if span.attributes["em.step"] == "fold"]
    assert [(span.attributes["em.day"], span.parent_id) for span in days] == [
        ("2026-03-01", steps["fold"].span_id), ("2026-03-02", steps["fold"].span_id),
    ]  # fmt: skip
    together = [span.attributes["em.day"] for span in collector.named("em.days")]
    assert "2026-03-01..2026-03-02" in together
    assert {span.n_events for span in collector.spans} == {0}
    assert not {name for span in collector.spans for name in span.attributes} - {
        "em.correlation_id", "em.step", "em.day",
    }  # fmt: skip


@pytest.mark.slow
def test_a_collector_that_is_not_there_costs_nobody_a_run(em: Run, log: Path) -> None:
    done = em("run", log, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_without_the_extra_an_address_is_refused_in_a_sentence(tmp_path: Path, em: Run, log: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "opentelemetry.py").write_text("raise ImportError\n", encoding="utf-8")
    hidden = f"{tmp_path / 'hidden'}{os.pathsep}{ROOT}"
    done = em("status", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", PYTHONPATH=hidden)
    assert done.returncode == 2
    assert done.stderr == (
        "em: sending spans to the address in OTEL_EXPORTER_OTLP_ENDPOINT: opentelemetry is not installed; "
        "`pip install 'em-pipelines[opentelemetry]'`, or unset it\n"
    )


def test_calls_by_mcp_are_told_and_drawn(examples_home: Path, tmp_path: Path, collector: Collector) -> None:
    home = Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))
    server = StdioServerParameters(
        command=EM[0], args=[*EM[1:], "mcp", "--user", "mirela", "--home", str(home)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "EM_LOG__FORMAT": "json",
             "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint},
    )  # fmt: skip
    errors = (tmp_path / "stderr.txt").open("w", encoding="utf-8")

    async def ask() -> None:
        async with Client(stdio_client(server, errlog=errors)) as client:
            await client.call_tool("em_query", {"query": "Porto"})
            await client.call_tool("em_nothing", {"secret": "Narva"})

    with errors:
        anyio.run(ask)
    told = [one for one in lines((tmp_path / "stderr.txt").read_text()) if one["logger"].endswith("mcp.server")]
    assert [one["message"].split(" was called")[0] for one in told] == ["em_query", "an unknown tool"]
    spans = {span.attributes["em.tool"]: span for span in collector.named("em.call")}
    assert [span.attributes["em.correlation_id"] for span in spans.values()] == [one["correlation_id"] for one in told]
    assert all(one["correlation_id"].startswith("call_") for one in told)
    assert (spans["em_query"].error, spans["unknown"].error) == ("", "ToolError")
    assert "Narva" not in (tmp_path / "stderr.txt").read_text() + repr(collector.bodies)


def test_a_run_of_dagster_binds_its_own_id_and_tells_of_its_steps_in_json(
    home_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    listen(lambda name, fields: nullcontext(heard.append((name, dict(fields)))))
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    monkeypatch.setenv("EM_LOG__FORMAT", "json")
    try:
        home = Pipeline(load_settings(home=home_path))
        land([log], home.store.log, now=datetime(2026, 3, 9, tzinfo=UTC), settings=home.settings.landing)
        with dg.DagsterInstance.ephemeral() as instance:
            done = (
                build_definitions(home.settings)
                .resolve_job_def("landing")
                .execute_in_process(instance=instance, partition_key="2026-03-01")
            )
    finally:
        listen(None)
        root.handlers, root.level = handlers, level
        logging.getLogger("em_pipelines").setLevel(logging.NOTSET)
    assert done.success
    (run_id,) = {fields["correlation_id"] for _, fields in heard}
    assert run_id == f"run_{done.run_id[:8]}"
    assert heard[0][0] == "em.run"
    told = lines(capfd.readouterr().err)
    assert {one["logger"] for one in told} == {"em_pipelines.serving.metrics.step_watch"}
    assert {one["correlation_id"] for one in told} == {run_id}
