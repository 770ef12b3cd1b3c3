"""The report of Great Expectations as an asset: every table against its declared expectations, with Data Docs.

Made every night and on demand, never within a run: `quality.checks` asks the same of what a run made.
"""

from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from assets.daily import OWNERS
from em_pipelines.governance.audit.contracts import TableReport
from em_pipelines.schema.table import Table
from quality.suites import INDEX, report
from resources.home import HomeResource

CHECK = "expectations_hold"


def report_asset(tables: Sequence[Table]) -> dg.AssetsDefinition:
    """Returns the asset `quality_report` over the tables; its check fails where an expectation does, or a file cannot
    be read."""

    @dg.asset(
        name="quality_report",
        group_name="quality",
        owners=OWNERS,
        kinds={"python"},
        deps=[table.name for table in tables],
        description="Great Expectations over every table: what was looked at, what broke, and the pages to read it on.",
        check_specs=[
            dg.AssetCheckSpec(
                CHECK,
                asset="quality_report",
                description="Great Expectations finds every declared expectation of every table to hold.",
            )
        ],
    )
    def quality_report(home: HomeResource) -> dg.MaterializeResult:
        settings = home.home.settings.report
        with home.home.lock("quality"):
            found = report(home.home.store.lake, tables, home.home.data_docs, max_rows=settings.max_rows)
        broken = [f"{one.table.name}: {sentence}" for one in found if not one.is_success for sentence in one.sentences]
        docs = link_to(home.home.data_docs)
        return dg.MaterializeResult(
            metadata={
                "tables": len(found),
                "tables_broken": sum(not one.is_success for one in found),
                "rows": sum(one.verdict.n_rows for one in found if one.verdict),
                "expectations": sum(one.verdict.n_expectations for one in found if one.verdict),
                "by_table": dg.MarkdownMetadataValue(_by_table(found)),
                **docs,
            },
            check_results=[
                dg.AssetCheckResult(
                    check_name=CHECK,
                    passed=not broken,
                    severity=dg.AssetCheckSeverity.ERROR,
                    description="; ".join(broken),
                    metadata={"broken": len(broken), **docs},
                )
            ],
        )

    return quality_report


def link_to(data_docs: Path) -> dict[str, dg.MetadataValue]:
    """Where the last report stands, as metadata; nothing before the first."""
    index = data_docs / INDEX
    return {"data_docs": dg.UrlMetadataValue(index.absolute().as_uri())} if index.exists() else {}


def _by_table(found: Sequence[TableReport]) -> str:
    """What was looked at and what broke, as a table in Markdown."""
    lines = ["| table | days | rows | of | expectations | broken |", "| --- | --: | --: | --: | --: | --- |"]
    for one in found:
        seen = one.verdict
        figures = f"{seen.n_days} | {seen.n_rows} | {one.n_rows_there} | {seen.n_expectations}" if seen else "| | |"
        broken = "" if one.is_success else "; ".join(one.sentences).replace("|", "\\|")
        lines.append(f"| {one.table.name} | {figures} | {broken} |")
    return "\n".join(lines)
