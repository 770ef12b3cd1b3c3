"""The reports as assets: the health of the home each night, and a page for each week. They stand on the snapshot."""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from assets.daily import OWNERS
from em_pipelines.governance.alerts.figures import budget_uses
from em_pipelines.governance.reports.pages import write_health, write_weekly
from resources.home import HomeResource


@dg.asset(
    name="health_report",
    group_name="quality",
    owners=OWNERS,
    kinds={"html"},
    deps=["snapshot"],
    description="How the home is, as one page: alerts, graph, pipeline, workers, models, quality, trends.",
)
def health_report(home: HomeResource) -> dg.MaterializeResult:
    """Writes HOME/reports/health.html."""
    now = datetime.now(UTC)
    uses = tuple(budget_uses(home.home, home.home.settings.llm, now))
    return _made(write_health(home.home, now, uses))


@dg.asset(
    name="weekly_report",
    group_name="quality",
    owners=OWNERS,
    kinds={"html"},
    deps=["snapshot"],
    description="What the last whole week brought: learned, forgotten, corrected, and its cost.",
)
def weekly_report(home: HomeResource) -> dg.MaterializeResult:
    """Writes HOME/reports/weekly-MONDAY.html."""
    keep = home.home.settings.reports.keep_weeks
    return _made(write_weekly(home.home, datetime.now(UTC), keep_weeks=keep))


def _made(path: Path) -> dg.MaterializeResult:
    return dg.MaterializeResult(
        metadata={"page": dg.UrlMetadataValue(path.absolute().as_uri()), "bytes": path.stat().st_size}
    )
