"""The health report and the weekly report: what they say, that they stand alone, and that they name nobody."""

import re
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from em_pipelines.errors import CorruptTableError, NotMadeError
from em_pipelines.governance.alerts.alert import Alert, Look, Severity
from em_pipelines.governance.alerts.telling import tell
from em_pipelines.governance.judging import Verdict, judge, queue
from em_pipelines.governance.reports.pages import monday, write_health, write_weekly
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

NOW = datetime(2026, 11, 4, 5, tzinfo=UTC)
WEEK = date(2026, 10, 26)
NAMES = ("mirela", "tobias", "Dana", "Graz", "Bremen", "Weserlink", "edge_", "mirela-")
"""What memory knows of somebody, and no report may say."""


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Pipeline:
    shutil.copytree(examples_home, tmp_path / "home", symlinks=True)
    return Pipeline(load_settings(home=tmp_path / "home"))


def row(page: str, label: str) -> list[str]:
    """The cells of a row."""
    found = re.search(rf'<th scope="row">{re.escape(label)}</th>(.*?)</tr>', page)
    assert found, label
    return re.findall(r"<td[^>]*>(.*?)</td>", found[1])


def test_a_report_stands_alone_and_names_nobody(home: Pipeline) -> None:
    for path in (write_health(home, NOW), write_weekly(home, NOW, week=WEEK)):
        page = path.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?!#)|url\(|<script', page)
        assert not [name for name in NAMES if name in page]
        assert path.stat().st_mode & 0o077 == 0


def test_health_tells_of_graph_pipeline_workers_models_and_quality(home: Pipeline) -> None:
    page = write_health(home, NOW).read_text(encoding="utf-8")
    for heading in ("What stands", "Graph", "Pipeline", "Workers", "Models", "Quality", "Trends"):
        assert f"<h2>{heading}</h2>" in page
    assert "<dt>facts that hold</dt><dd>97</dd>" in page
    assert "No alert stands." in page
    assert "Nobody has judged a fact yet" in page
    assert row(page, "2026-11-01")[0] == "22"
    assert page.count("<svg") >= 5
    assert "extraction" in page  # how long its steps took


def test_health_tells_what_stands_and_what_people_judged(home: Pipeline) -> None:
    alert = Alert("disk_full", Severity.ERROR, "the disk is full", "91 % are used.", "Make room.")
    tell(home, Look((alert,), frozenset({"disk_full"})), [], NOW, 24)
    for one in queue(home, "ada", 8):
        judge(home, one.edge_id, Verdict.RIGHT, NOW)
    page = write_health(home, NOW).read_text(encoding="utf-8")
    assert '<p class="alert error"><strong>the disk is full</strong>' in page
    assert "8 facts judged by people" in page


def test_a_week_tells_what_was_learned_changed_and_taken_back(home: Pipeline) -> None:
    page = write_weekly(home, NOW, week=date(2026, 10, 28)).read_text(encoding="utf-8")
    assert "week of 26 October 2026" in page
    assert row(page, "messages") == ["111", "101"]
    assert row(page, "facts learned") == ["13", "8"]
    assert row(page, "taken back") == ["3", "1"]
    assert "has birthday: 3 facts" in page


def test_without_a_day_it_is_the_last_whole_week(home: Pipeline) -> None:
    assert write_weekly(home, NOW).name == "weekly-2026-10-26.html"
    assert monday(date(2026, 11, 1)) == WEEK


def test_a_week_in_which_nobody_spoke_says_so(home: Pipeline) -> None:
    page = write_weekly(home, datetime(2026, 12, 1, tzinfo=UTC)).read_text(encoding="utf-8")
    assert row(page, "messages") == ["0", "–"]
    assert "Nothing new." in page


@pytest.mark.slow
def test_erasures_are_counted_in_the_week_in_which_they_were_carried_out(home: Pipeline) -> None:
    Memory(home, "mirela").forget(entity="Frau Behrens")
    today = datetime.now(UTC)
    page = write_weekly(home, today, week=today.date()).read_text(encoding="utf-8")
    assert row(page, "erasures carried out")[0] == "1"


@pytest.mark.slow
def test_old_weeks_go(home: Pipeline) -> None:
    for day in (5, 12, 19, 26):
        write_weekly(home, NOW, week=date(2026, 10, day), keep_weeks=2)
    assert sorted(path.name for path in (home.path / "reports").iterdir()) == [
        "weekly-2026-10-19.html", "weekly-2026-10-26.html",
    ]  # fmt: skip


def test_before_there_is_a_snapshot_or_a_week_there_is_no_report(home: Pipeline, tmp_path: Path) -> None:
    new = Pipeline(load_settings(home=tmp_path / "new"))
    for write in (write_health, write_weekly):
        with pytest.raises(NotMadeError, match="no snapshot yet"):
            write(new, NOW)
    with pytest.raises(NotMadeError, match="nothing was read"):
        write_weekly(home, NOW, week=date(2020, 1, 1))


def test_a_damaged_snapshot_is_named(home: Pipeline) -> None:
    latest = (home.snapshots / "latest.duckdb").resolve()
    latest.chmod(0o600)
    latest.write_bytes(b"\0" * 9000)
    with pytest.raises(CorruptTableError, match="damaged"):
        write_health(home, NOW)
