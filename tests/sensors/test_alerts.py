"""Failed checks are told once, to the log and to a webhook; what the webhook did not take is told again."""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import dagster as dg
import pytest

from resources.alerts import WEBHOOK_VARIABLE, AlertsResource
from sensors.alerts import alerts_sensor

KEY = dg.AssetCheckKey(dg.AssetKey("claims"), "hallucination_rate")
SECRET = "hook-7f3b2c"


@dg.asset_check(asset="claims", name="hallucination_rate")
def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    tags = context.run.tags
    return dg.AssetCheckResult(
        passed=tags["outcome"] == "pass",
        severity=dg.AssetCheckSeverity.WARN if tags["outcome"] == "warn" else dg.AssetCheckSeverity.ERROR,
        description="the extractor says what nobody said",
    )


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:
        yield instance


def run(instance: dg.DagsterInstance, outcome: str) -> None:
    job = dg.define_asset_job("checks", dg.AssetSelection.all_asset_checks())
    dg.Definitions(asset_checks=[check], jobs=[job]).resolve_job_def("checks").execute_in_process(
        instance=instance, tags={"outcome": outcome}
    )


def tick(instance: dg.DagsterInstance, cursor: str | None = None) -> tuple[str, str | None]:
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources={"alerts": AlertsResource()}) as context:
        found: Any = alerts_sensor([KEY])(context)
        return str(found.skip_message), context.cursor


class Hook:
    """A webhook on loopback: what was posted, and what it answers."""

    def __init__(self) -> None:
        self.posted: list[dict[str, str]] = []
        self.status = 200


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    found = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.posted.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(found.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv(WEBHOOK_VARIABLE, f"http://127.0.0.1:{server.server_port}/{SECRET}")
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_failure_is_told_once_and_a_success_never(instance: dg.DagsterInstance, hook: Hook) -> None:
    assert tick(instance)[0] == "no check has failed since the last look"
    run(instance, "pass")
    run(instance, "fail")
    said, cursor = tick(instance)
    assert said == "1 alerts sent"
    assert "hallucination_rate on claims" in hook.posted[0]["text"]
    assert "the extractor says what nobody said" in hook.posted[0]["text"]
    assert tick(instance, cursor)[0] == "no check has failed since the last look"
    run(instance, "warn")
    assert tick(instance, cursor)[0] == "1 alerts sent"
    assert hook.posted[1]["text"].startswith(":warning:")


def test_what_the_webhook_did_not_take_is_told_again(
    instance: dg.DagsterInstance, hook: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    run(instance, "fail")
    hook.status = 500
    with caplog.at_level(logging.WARNING):
        said, cursor = tick(instance)
    assert said == "no check has failed since the last look"
    assert SECRET not in caplog.text
    hook.status = 200
    assert tick(instance, cursor)[0] == "1 alerts sent"


def test_a_webhook_that_is_not_there_costs_nothing_but_the_alert(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(WEBHOOK_VARIABLE, f"http://127.0.0.1:9/{SECRET}")
    run(instance, "fail")
    with caplog.at_level(logging.WARNING):
        assert tick(instance)[0] == "no check has failed since the last look"
    assert "could not be reached" in caplog.text
    assert SECRET not in caplog.text


def test_without_a_webhook_the_log_has_it(instance: dg.DagsterInstance, caplog: pytest.LogCaptureFixture) -> None:
    run(instance, "fail")
    with caplog.at_level(logging.WARNING):
        assert tick(instance)[0] == "1 alerts sent"
    assert "hallucination_rate on claims" in caplog.text
