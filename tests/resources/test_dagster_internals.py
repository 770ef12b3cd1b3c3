"""What is used of Dagster beside its public interface still is what it is taken for."""

import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from resources.dagster_internals import AssetJob, instance_in, past_checks, report_in_run

ROOT = Path(__file__).parents[2]
KEY = dg.AssetCheckKey(dg.AssetKey("tea"), "is_hot")


@dg.asset
def tea() -> None:
    pass


@dg.asset_check(asset=tea, name="is_hot")
def is_hot() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=False, description="it is cold")


@pytest.fixture
def ran() -> Iterator[tuple[dg.DagsterInstance, dg.DagsterRun]]:
    definitions = dg.Definitions(assets=[tea], asset_checks=[is_hot])
    job = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        yield instance, job.execute_in_process(instance=instance).dagster_run


def test_a_check_that_ran_is_in_its_history(ran: tuple[dg.DagsterInstance, dg.DagsterRun]) -> None:
    (past,) = past_checks(ran[0], KEY, limit=10)
    assert past.has_failed
    assert past.evaluation is not None
    assert (past.evaluation.passed, past.evaluation.description) == (False, "it is cold")


def test_a_check_that_never_ran_has_none(ran: tuple[dg.DagsterInstance, dg.DagsterRun]) -> None:
    assert list(past_checks(ran[0], dg.AssetCheckKey(dg.AssetKey("tea"), "is_sweet"), limit=10)) == []


def test_days_are_reported_one_by_one_within_the_run(
    ran: tuple[dg.DagsterInstance, dg.DagsterRun],
) -> None:
    instance, run = ran
    for day, passed in (("2026-03-01", False), ("2026-03-02", True)):
        evaluation = dg.AssetCheckEvaluation(
            asset_key=KEY.asset_key, check_name=KEY.name, passed=passed, metadata={}, partition=day
        )
        report_in_run(instance, run, evaluation)
    newest, before, first = past_checks(instance, KEY, limit=10)
    assert [past.has_failed for past in (newest, before, first)] == [False, True, True]
    assert newest.number > before.number > first.number
    assert newest.evaluation is not None
    assert newest.evaluation.partition == "2026-03-02"


def test_an_asset_job_is_what_dagster_makes_of_one() -> None:
    assert isinstance(dg.define_asset_job("all"), AssetJob)


def test_an_instance_of_ours_starts_no_process_to_capture_output(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with instance_in(tmp_path) as instance, instance.compute_log_manager.capture_logs(["run", "compute_logs", "step"]):
        assert Path(f"/proc/self/task/{os.getpid()}/children").read_text() == ""


def test_captured_output_that_is_kept_elsewhere_still_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "kept_elsewhere.py").write_text(
        "from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager\n"
        "class Elsewhere(LocalComputeLogManager):\n"
        "    @classmethod\n"
        "    def from_config_value(cls, inst_data, config_value):\n"
        "        return cls(inst_data=inst_data, **config_value)\n"
    )
    (tmp_path / "dagster.yaml").write_text(
        "telemetry: {enabled: false}\n"
        f"compute_logs: {{module: kept_elsewhere, class: Elsewhere, config: {{base_dir: {tmp_path}}}}}\n"
    )
    with instance_in(tmp_path) as instance:
        assert type(instance.compute_log_manager).__name__ == "Elsewhere"


def test_nothing_else_reaches_into_dagster() -> None:
    packages = ("em_pipelines", "assets", "resources", "sensors", "quality")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    reaching = [path for path in sources if "dagster._" in path.read_text(encoding="utf-8")]
    adapters = {"resources/dagster_internals.py", "resources/event_storage.py"}
    assert {path.relative_to(ROOT).as_posix() for path in reaching} == adapters
