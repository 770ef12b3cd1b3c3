"""From damage to the mailbox: what is planted is caught by the check of that name in the first run of checks after it,
is told once by mail and webhook, and ended once it is mended. Of healthy homes nothing is told."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.daily import daily_assets
from assets.partitions import daily_partitions
from em_pipelines.landing.settings import FIRST_PARTITION
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, MENTIONS
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.graph_store import GraphStore
from em_pipelines.settings import Settings, load_settings
from quality.checks import build_checks
from quality.home_checks import build_home_checks
from quality.report import report_asset
from resources.alert_sinks import WEBHOOK_VARIABLE
from resources.alerts import AlertsResource
from resources.home import HomeResource
from sensors.alerts import alerts_sensor
from tests.alert_servers.servers import Hook, Mailbox, mail_server, webhook

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
DAY, LAST = date(2026, 10, 17), date(2026, 11, 1)
KEY = "AKIA" + "QX7MZP2LW4TRBN6D"
Rows = list[dict[str, Any]]


def times(rows: Rows, key: str, n: int, **changed: Any) -> Rows:
    return [row | changed | {key: f"{row[key]}-{k}"} for row in rows for k in range(n)]


class Watched:
    """A copy of the examples whose checks Dagster runs, watched by the sensor of alerts."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings, self.instance = settings, instance
        self.cursor: str | None = None
        steps = [step for name, step in Pipeline(settings).steps.items() if name in ("extraction", "messages", "fold")]

        @contextmanager
        def open_graph() -> Iterator[GraphStore]:
            yield InMemoryGraph()

        checks = [*build_checks(steps), build_home_checks(open_graph)]
        of_night = [
            dg.AssetCheckKey(dg.AssetKey("quality_report"), name) for name in ("no_secrets", "users_cross_nowhere")
        ]
        by_day = [key for one in checks[:-1] for key in one.check_keys]
        self.definitions = dg.Definitions(
            assets=[*(daily_assets(step, daily_partitions(FIRST_PARTITION)) for step in steps), report_asset([])],
            asset_checks=checks,
            jobs=[
                dg.define_asset_job("by_day", dg.AssetSelection.checks(*by_day)),
                dg.define_asset_job("of_night", dg.AssetSelection.checks(*of_night)),
            ],
            resources={"home": HomeResource.of(settings)},
            executor=dg.in_process_executor,
        )
        self.sensor = alerts_sensor([*by_day, *of_night])

    def check(self, day: date) -> None:
        """The checks of a day, as the run that made it asks them, and those of the night."""
        for name, tags in (("by_day", {"dagster/partition": str(day)}), ("of_night", {})):
            self.definitions.resolve_job_def(name).execute_in_process(
                instance=self.instance, tags=tags, run_config=QUIET, raise_on_error=False
            )

    def tick(self) -> None:
        resources = {"alerts": AlertsResource(), "home": HomeResource.of(self.settings)}
        with dg.build_sensor_context(instance=self.instance, cursor=self.cursor, resources=resources) as context:
            self.sensor(context)
            self.cursor = context.cursor

    def rows(self, table: Table, day: date) -> Rows:
        return Pipeline(self.settings).store.lake.read(table, day).to_pylist()

    def plant(self, table: Table, day: date, rows: Rows) -> None:
        Pipeline(self.settings).store.lake.write(table, day, table.from_rows(rows))


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Hook, Mailbox]]:
    with webhook() as hook, mail_server() as box:
        monkeypatch.setenv(WEBHOOK_VARIABLE, hook.address)
        yield hook, box


@pytest.fixture
def watched(examples_home: Path, tmp_path: Path, heard: tuple[Hook, Mailbox]) -> Iterator[Watched]:
    shutil.copytree(examples_home, tmp_path / "home", symlinks=True)
    alerts = {
        "smtp_server": "127.0.0.1",
        "smtp_port": heard[1].port,
        "smtp_from": "memory@here.test",
        "smtp_to": "ops@here.test",
    }
    settings = load_settings(home=tmp_path / "home", alerts=alerts)
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        yield Watched(settings, instance)


PLANTED = [
    ("a hallucination wave", "hallucination_rate", EXTRACTION_ISSUES, DAY,
     lambda r: times(r, "issue_id", 2, issue="span")),
    ("a drifted model", "confidence_drift", CLAIMS, DAY, lambda r: times(r, "claim_id", 5, confidence=0.35)),
    ("a model that names more", "entities_drift", MENTIONS, DAY, lambda r: times(r, "mention_id", 5)),
    ("a secret", "no_secrets", MESSAGES, DAY, lambda r: [r[0] | {"content": f"use {KEY} for it"}, *r[1:]]),
    ("a dangling edge", "ends_exist", EDGES, LAST, lambda r: [r[0] | {"object_id": "ent_gone"}, *r[1:]]),
    ("a crossed user", "users_apart", EDGES, LAST, lambda r: [r[0] | {"user_id": "tobias"}, *r[1:]]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "table", "day", "change"), [pytest.param(*how, id=what) for what, *how in PLANTED])
def test_what_is_planted_is_in_the_mailbox_after_the_first_run(
    name: str, table: Table, day: date, change: Callable[[Rows], Rows], watched: Watched, heard: tuple[Hook, Mailbox]
) -> None:
    hook, box = heard
    watched.check(day)
    watched.tick()
    assert (hook.posted, box.subjects) == ([], [])

    kept = watched.rows(table, day)
    watched.plant(table, day, change(kept))
    watched.check(day)
    watched.tick()
    subject = next(one for one in box.subjects if f"the check {name} on " in one)
    mail = next(one for one in box.mails if str(one["Subject"]) == subject)
    assert "docs/operations.md" in mail.get_content()
    assert KEY not in mail.get_content()
    assert any(f"the check {name} on " in text for text in hook.posted)
    n_told = len(box.mails), len(hook.posted)
    watched.tick()
    assert (len(box.mails), len(hook.posted)) == n_told

    watched.plant(table, day, kept)
    watched.check(day)
    watched.tick()
    assert any(one.startswith(f"em [ended] the check {name} on ") for one in box.subjects), box.subjects
