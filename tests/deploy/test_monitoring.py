"""What ships for Prometheus and Grafana: by promtool where it is there, and by the metrics that there are."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.metrics.catalogue import METRICS, OF_SAMPLE, Kind
from em_pipelines.serving.metrics.live import samples
from em_pipelines.serving.metrics.samples import exposition
from em_pipelines.settings import load_settings

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
DASHBOARD = ROOT / "deploy" / "grafana" / "em_pipelines.json"
UNITS = {"short", "ms", "s", "percentunit", "none"}
PANELS = {"row", "stat", "timeseries", "bargauge", "state-timeline"}
NAME = re.compile(r"\b(em_[a-z0-9_]+|em:[a-z0-9_:]+)")
SELECTED = re.compile(r"\b(em_[a-z0-9_]+)\{([^}]*)\}")
promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool")


def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *words], cwd=PROMETHEUS, input=text, capture_output=True, text=True, check=False)


@promtool
@pytest.mark.parametrize(
    "words",
    [("check", "config", "prometheus.yml"), ("check", "rules", "rules.yml"), ("test", "rules", "rules_test.yml")],
    ids=" ".join,
)
def test_promtool_finds_nothing(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 0, done.stdout + done.stderr


@promtool
def test_of_what_we_write_promtool_minds_the_agreed_names_and_nothing_else(examples_home: Path) -> None:
    home = Pipeline(load_settings(home=examples_home))
    done = run("check", "metrics", text=exposition(samples(home, datetime(2026, 11, 2, tzinfo=UTC))))
    totals = {m.name for m in METRICS if m.kind is Kind.COUNTER and not m.name.endswith("_total")}
    minded = {f'{name} counter metrics should have "_total" suffix' for name in totals}
    minded |= {
        f'{m.name} non-counter metrics should not have "_total" suffix'
        for m in METRICS
        if m.kind is Kind.GAUGE and m.name.endswith("_total")
    }
    minded |= {f"{m.name} metric names should not contain abbreviated units" for m in METRICS if m.name.endswith("_ms")}
    assert {*done.stderr.splitlines(), *done.stdout.splitlines()} <= minded


def rules() -> list[dict[str, Any]]:
    found = yaml.safe_load((PROMETHEUS / "rules.yml").read_text(encoding="utf-8"))
    return [rule for group in found["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """Where an expression stands, and the expression."""
    for rule in rules():
        yield rule.get("record") or rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def test_every_metric_that_is_asked_for_exists_with_the_labels_it_is_asked_by() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    asked = {(where, name) for where, expression in expressions() for name in NAME.findall(expression)}
    assert {name for _, name in asked} - recorded - OF_SAMPLE.keys() - {"em_pipelines"} == set()
    for where, expression in expressions():
        for name, chosen in SELECTED.findall(expression):
            labels = {*re.findall(r"(\w+)\s*=~?", chosen)} - {"instance", "job"}
            assert labels <= {*OF_SAMPLE[name].labels}, where


def test_the_dashboard_shows_every_metric() -> None:
    recorded = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}
    asked = " ".join(recorded.get(e, e) for panel in panels() for t in panel.get("targets", ()) for e in [t["expr"]])
    shown = {OF_SAMPLE[name].name for name in NAME.findall(asked) if name in OF_SAMPLE}
    assert shown == {metric.name for metric in METRICS}


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    document = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert {"title", "uid", "schemaVersion", "panels", "templating", "time"} <= document.keys()
    assert "id" not in document, "the id is Grafana's to give"
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len({*ids})
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] in PANELS
        if panel["type"] == "row":
            continue
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert [target["refId"] for target in panel["targets"]] == list("ABCDE")[: len(panel["targets"])]


@promtool
def test_every_expression_of_the_dashboard_is_one_that_prometheus_reads(tmp_path: Path) -> None:
    told = [
        {"record": f"panel:{n}", "expr": target["expr"].replace("$instance", ".*")}
        for n, target in enumerate(t for panel in panels() for t in panel.get("targets", ()))
    ]
    path = tmp_path / "panels.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": told}]}), encoding="utf-8")
    done = run("check", "rules", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_says_what_is_wrong_and_what_to_do_and_is_tested() -> None:
    alerts = {rule["alert"]: rule for rule in rules() if "alert" in rule}
    assert {name for name, rule in alerts.items() if {"summary", "description"} - rule["annotations"].keys()} == set()
    assert {rule["labels"]["severity"] for rule in alerts.values()} <= {"warning", "error"}
    tested = yaml.safe_load((PROMETHEUS / "rules_test.yml").read_text(encoding="utf-8"))["tests"]
    fired = {one["alertname"] for test in tested for one in test["alert_rule_test"] if one.get("exp_alerts")}
    assert fired == alerts.keys()
