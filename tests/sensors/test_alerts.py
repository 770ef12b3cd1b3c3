"""Failed checks, failed runs and what stands in the home are told once, and their end; nothing is told twice by sensors
that find the same, and what a sink did not take is told again."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from em_pipelines.definitions import build_definitions
from em_pipelines.governance.alerts.book import AlertBook
from em_pipelines.settings import load_settings
from resources.alert_sinks import WEBHOOK_VARIABLE
from resources.alerts import LEFT_OVER, AlertsResource
from resources.dagster_internals import report_in_run
from resources.home import HomeResource
from sensors.alerts import alerts_sensor, failed_runs_sensor, standing_alerts_sensor
from tests.alert_servers.servers import Hook, webhook

KEY = dg.AssetCheckKey(dg.AssetKey("claims"), "hallucination_rate")
NAME = "the check hallucination_rate on claims fails"
ALL_IS_WELL = "0 alerts stand, 0 messages sent"


@dg.asset_check(asset="claims", name="hallucination_rate")
def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    tags = context.run.tags
    return dg.AssetCheckResult(
        passed=tags["outcome"] == "pass",
        severity=dg.AssetCheckSeverity.WARN if tags["outcome"] == "warn" else dg.AssetCheckSeverity.ERROR,
        description="the extractor says what nobody said",
        metadata={LEFT_OVER: True} if tags["outcome"] == "again" else None,
    )


@dg.op
def work(context: dg.OpExecutionContext) -> None:
    if context.run.tags["outcome"] == "fail":
        raise ValueError("no")


@dg.job(name="labour")
def labour() -> None:
    work()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "instance").mkdir()
    settings = {"telemetry": {"enabled": False}}
    with dg.DagsterInstance.ephemeral(str(tmp_path / "instance"), settings=settings) as instance:
        yield instance


@pytest.fixture
def home(home_path: Path) -> HomeResource:
    home_path.mkdir()
    return HomeResource.of(load_settings(home=home_path))


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    with webhook() as found:
        monkeypatch.setenv(WEBHOOK_VARIABLE, found.address)
        yield found


def run(instance: dg.DagsterInstance, outcome: str) -> None:
    job = dg.define_asset_job("checks", dg.AssetSelection.all_asset_checks())
    dg.Definitions(asset_checks=[check], jobs=[job]).resolve_job_def("checks").execute_in_process(
        instance=instance, tags={"outcome": outcome}
    )


def report(instance: dg.DagsterInstance, day: str, *, passed: bool) -> None:
    """An evaluation of one day in a run of its own."""
    of_day = instance.create_run_for_job(labour, tags={"outcome": "pass"})
    evaluation = dg.AssetCheckEvaluation(
        asset_key=KEY.asset_key, check_name=KEY.name, passed=passed, metadata={}, severity=dg.AssetCheckSeverity.WARN,
        description="too many", partition=day,
    )  # fmt: skip
    report_in_run(instance, of_day, evaluation)


def tick(
    sensor: dg.SensorDefinition, instance: dg.DagsterInstance, home: HomeResource, cursor: str | None = None
) -> tuple[str, str | None]:
    resources = {"alerts": AlertsResource(), "home": home}
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources=resources) as context:
        found: Any = sensor(context)
        return str(found.skip_message), context.cursor


def titles(hook: Hook) -> list[str]:
    found = [text.splitlines()[0].split("*")[1] for text in hook.posted]
    hook.posted.clear()
    return found


def test_a_check_that_fails_is_told_once_and_that_it_passes_again(
    instance: dg.DagsterInstance, home: HomeResource, hook: Hook
) -> None:
    sensor = alerts_sensor([KEY])
    run(instance, "pass")
    assert tick(sensor, instance, home)[0] == ALL_IS_WELL
    run(instance, "warn")
    said, cursor = tick(sensor, instance, home)
    assert said == "1 alert stands, 2 messages sent"
    assert "the extractor says what nobody said." in hook.posted[0]
    assert titles(hook) == [f"[warning] {NAME}"]
    run(instance, "fail")
    cursor = tick(sensor, instance, home, cursor)[1]
    run(instance, "warn")
    cursor = tick(sensor, instance, home, cursor)[1]
    assert titles(hook) == [f"[worse] {NAME}"]
    run(instance, "pass")
    tick(sensor, instance, home, cursor)
    assert titles(hook) == [f"[ended] {NAME}"]


def test_a_check_fails_as_long_as_one_of_its_days_does(
    instance: dg.DagsterInstance, home: HomeResource, hook: Hook
) -> None:
    sensor = alerts_sensor([KEY])
    days = [f"2026-03-{day:02}" for day in range(1, 29)]
    for day in days * 2:  # more than are looked at by a tick that finds few new ones
        report(instance, day, passed=False)
    cursor = tick(sensor, instance, home)[1]
    assert "28 days, the last 2026-03-28" in hook.posted[0]
    for day in days[1:]:
        report(instance, day, passed=True)
    cursor = tick(sensor, instance, home, cursor)[1]
    assert titles(hook) == [f"[warning] {NAME}"]
    report(instance, days[0], passed=True)
    tick(sensor, instance, home, cursor)
    assert titles(hook) == [f"[ended] {NAME}"]


def test_what_fails_for_an_earlier_run_alone_neither_ends_nor_raises_anything(
    instance: dg.DagsterInstance, home: HomeResource, hook: Hook
) -> None:
    sensor = alerts_sensor([KEY])
    report(instance, "2026-03-01", passed=False)
    cursor = tick(sensor, instance, home)[1]
    run(instance, "again")
    cursor = tick(sensor, instance, home, cursor)[1]
    assert titles(hook) == [f"[warning] {NAME}"]
    report(instance, "2026-03-01", passed=True)
    tick(sensor, instance, home, cursor)
    assert titles(hook) == [f"[ended] {NAME}"]


def test_a_tick_that_was_killed_before_it_noted_how_far_it_came_tells_nothing_twice(
    instance: dg.DagsterInstance, home: HomeResource, hook: Hook
) -> None:
    run(instance, "fail")
    for cursor in (None, None, '{"hallucination_rate on claims": 0}'):
        tick(alerts_sensor([KEY]), instance, home, cursor)
    assert titles(hook) == [f"[error] {NAME}"]


def test_what_the_webhook_did_not_take_is_told_by_the_next_sensor(
    instance: dg.DagsterInstance, home: HomeResource, hook: Hook
) -> None:
    run(instance, "fail")
    hook.status = 500
    said, _ = tick(alerts_sensor([KEY]), instance, home)
    assert said == "1 alert stands, 1 message sent; webhook: it answered HTTP 500"
    hook.status = 200
    tick(failed_runs_sensor(["labour"]), instance, home)
    assert titles(hook) == [f"[error] {NAME}"]


def test_a_run_that_fails_is_told_until_one_of_its_job_succeeds(
    instance: dg.DagsterInstance, home: HomeResource, hook: Hook
) -> None:
    sensor = failed_runs_sensor(["labour"])
    assert tick(sensor, instance, home)[0] == ALL_IS_WELL
    for outcome in ("pass", "fail", "fail"):
        labour.execute_in_process(instance=instance, tags={"outcome": outcome}, raise_on_error=False)
        tick(sensor, instance, home)
    assert titles(hook) == ["[error] a run of labour has failed"]
    labour.execute_in_process(instance=instance, tags={"outcome": "pass"})
    tick(sensor, instance, home)
    assert titles(hook) == ["[ended] a run of labour has failed"]


def test_what_stands_in_the_home_is_told_and_its_end(instance: dg.DagsterInstance, home_path: Path, hook: Hook) -> None:
    home_path.mkdir()
    for share in (1e-9, 1e-9, 1.0):
        chosen = {"disk_share": share, "disk_error_share": 1.0}
        tick(standing_alerts_sensor(), instance, HomeResource.of(load_settings(home=home_path, alerts=chosen)))
    assert titles(hook) == ["[warning] the disk is nearly full", "[ended] the disk is nearly full"]


def test_sensors_make_no_home(instance: dg.DagsterInstance, home_path: Path, hook: Hook) -> None:
    home = HomeResource.of(load_settings(home=home_path))
    for sensor in (alerts_sensor([KEY]), failed_runs_sensor(["labour"]), standing_alerts_sensor()):
        assert tick(sensor, instance, home)[0] == "there is no home yet"
    assert not home_path.exists()


@pytest.mark.slow
def test_the_first_start_on_the_examples_raises_nothing(examples_home: Path, home_path: Path, hook: Hook) -> None:
    shutil.copytree(examples_home, home_path, symlinks=True)
    settings = load_settings(home=home_path)
    definitions, home = build_definitions(settings), HomeResource.of(settings)
    with dg.DagsterInstance.from_config(str(home_path / "dagster")) as instance:
        for name in ("alerts", "failed_runs", "standing_alerts"):
            assert tick(definitions.resolve_sensor_def(name), instance, home)[0] == ALL_IS_WELL
    assert hook.posted == []
    assert AlertBook(home_path).read().standing == {}
