"""The asset checks: the contract of every table, and checks of our own on meaning. One op a step runs all of them that
stand on the tables it makes; each can be run by itself.

A check looks at the days of the run it is part of; run by itself, at the last day there is. Broken integrity blocks
what lies downstream. Great Expectations asks the same of the tables once a night: `quality.report`.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

import dagster as dg

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.contracts import check_days
from em_pipelines.governance.audit.integrity import RULES
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store
from em_pipelines.text.counting import counted
from quality.meaning import MEANING, Finding, MeaningCheck, integrity_findings, rule_reads
from quality.report import link_to
from resources.dagster_internals import past_checks, report_in_run
from resources.home import HomeResource

CONTRACT = "table_contract"
RANGE_TAGS = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
PARTITION_TAG = "dagster/partition"
SEEN_EVALUATIONS = 1000
SHOWN_DAYS = 31
"""Of a check over years no more days are listed, and no more that failed."""


def build_checks(steps: Iterable[Step]) -> list[dg.AssetChecksDefinition]:
    """All checks of the assets that these steps make, a definition a step."""
    return [_checks_of(step) for step in steps]


def _checks_of(step: Step) -> dg.AssetChecksDefinition:
    """Dagster stops what lies downstream of any table of the step where a check that blocks fails, for one op asks
    all of them; its tables are made together, too."""

    @dg.multi_asset_check(
        name=f"check_{step.name}",
        specs=list(_specs(step)),
        description=f"All checks of what the step {step.name} makes.",
        can_subset=True,
    )
    def check_tables(context: dg.AssetCheckExecutionContext, home: HomeResource) -> Iterator[dg.AssetCheckResult]:
        store = home.home.store
        docs = link_to(home.home.data_docs)
        for table in step.outputs:
            wanted = {k.name for k in context.selected_asset_check_keys if k.asset_key == dg.AssetKey(table.name)}
            if not wanted:
                continue
            days = _days(context, store, table)
            shown = days[-1:] if table.is_state else days  # a state holds all that came before it
            if CONTRACT in wanted:
                yield _contract(store.lake, table, shown, docs)
            for check in (c for c in MEANING if c.asset is table and c.name in wanted):
                yield _meaning(context, store.lake, check, shown)
            yield from _integrity(store.lake, table, wanted, shown)

    return check_tables


def _specs(step: Step) -> Iterator[dg.AssetCheckSpec]:
    for table in step.outputs:
        about = f"Every declared expectation of {table.name}: columns, nulls, keys, closed sets, ranges."
        yield dg.AssetCheckSpec(CONTRACT, asset=table.name, blocking=True, description=about)
        for check in (c for c in MEANING if c.asset is table):
            yield _spec(check.name, table, check.about, check.reads, is_blocking=check.is_blocking)
        for rule in (r for r in RULES if r.table is table):
            yield _spec(rule.name, table, rule.about, rule_reads(rule), is_blocking=True)


def _spec(name: str, asset: Table, about: str, reads: Iterable[Table], *, is_blocking: bool) -> dg.AssetCheckSpec:
    others = [table.name for table in reads if table not in (asset, QUARANTINE)]  # which no asset makes
    return dg.AssetCheckSpec(name, asset=asset.name, description=about, blocking=is_blocking, additional_deps=others)


def _contract(lake: Lake, table: Table, days: list[date], docs: dict[str, dg.MetadataValue]) -> dg.AssetCheckResult:
    try:
        found = check_days(lake, table, days)
    except CorruptTableError as error:
        return _unreadable(table, CONTRACT, error)
    return dg.AssetCheckResult(
        asset_key=table.name,
        check_name=CONTRACT,
        passed=found.is_success,
        severity=dg.AssetCheckSeverity.ERROR,
        description="; ".join(found.sentences),
        metadata={"rows": found.n_rows, "days": found.n_days, "expectations": found.n_expectations, **docs},
    )


def _meaning(
    context: dg.AssetCheckExecutionContext, lake: Lake, check: MeaningCheck, days: list[date]
) -> dg.AssetCheckResult:
    try:
        found = check.find(lake, days)
    except CorruptTableError as error:
        return _unreadable(check.asset, check.name, error)
    if check.is_partitioned:
        _report_days(context, check, found)
    return _judged(check.asset, check.name, found)


def _integrity(lake: Lake, table: Table, wanted: set[str], days: list[date]) -> Iterator[dg.AssetCheckResult]:
    rules = [rule for rule in RULES if rule.table is table and rule.name in wanted]
    if not rules:
        return
    try:
        found = integrity_findings(lake, rules, days)
    except CorruptTableError:
        found = {}  # not every rule reads every file: which ones stand is found one by one
    for rule in rules:
        try:
            yield _judged(table, rule.name, (found or integrity_findings(lake, [rule], days))[rule.name])
        except CorruptTableError as error:
            yield _unreadable(table, rule.name, error)


def _judged(table: Table, name: str, found: Mapping[date, Finding]) -> dg.AssetCheckResult:
    """The findings of all days as one result."""
    failed = {day: finding for day, finding in found.items() if not finding.is_success}
    advice = next((f.advice for f in failed.values()), "")
    return dg.AssetCheckResult(
        asset_key=table.name,
        check_name=name,
        passed=not failed,
        severity=_severity(failed.values()),
        description=f"{_how_many(len(failed), len(found))}, first {min(failed)}: {advice}" if failed else "",
        metadata={
            "figure": dg.FloatMetadataValue(found[max(found)].figure if found else 0.0),
            "days": dg.IntMetadataValue(len(found)),
            "days_failed": dg.IntMetadataValue(len(failed)),
            "by_day": dg.MarkdownMetadataValue(_figures(found)),
        },
    )


def _figures(findings: Mapping[date, Finding]) -> str:
    """The figure of each of the last days, and of those that failed last, as a table in Markdown."""
    newest = {*list(findings)[-SHOWN_DAYS:], *[d for d, f in findings.items() if not f.is_success][-SHOWN_DAYS:]}
    shown = ((day, finding) for day, finding in findings.items() if day in newest)
    rows = (f"| {day} | {f.figure:g} | {'ok' if f.is_success else 'FAILED'} |" for day, f in shown)
    return "| day | figure | |\n| --- | --: | --- |\n" + "\n".join(rows)


def _severity(findings: Iterable[Finding]) -> dg.AssetCheckSeverity:
    """A warning where every failing day is no more than that."""
    found = list(findings)
    is_warning = bool(found) and all(finding.is_warning for finding in found)
    return dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR


def _report_days(context: dg.AssetCheckExecutionContext, check: MeaningCheck, found: Mapping[date, Finding]) -> None:
    """A check of a range runs once; its days are reported one by one: those on which something was found, and all of
    them where something ever was, so that a day that has been mended says so."""
    key = dg.AssetCheckKey(dg.AssetKey(check.asset.name), check.name)
    has_failed = any(past.has_failed for past in past_checks(context.instance, key, SEEN_EVALUATIONS))
    for day, finding in found.items():
        if has_failed or not finding.is_success:
            evaluation = dg.AssetCheckEvaluation(
                asset_key=key.asset_key,
                check_name=check.name,
                passed=finding.is_success,
                severity=_severity([] if finding.is_success else [finding]),
                description="" if finding.is_success else finding.advice,
                metadata={"figure": finding.figure},
                partition=day.isoformat(),
            )
            report_in_run(context.instance, context.run, evaluation)


def _unreadable(table: Table, name: str, error: CorruptTableError) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=table.name,
        check_name=name,
        passed=False,
        severity=dg.AssetCheckSeverity.ERROR,
        description=str(error),
    )


def _days(context: dg.AssetCheckExecutionContext, store: Store, table: Table) -> list[date]:
    """The days of the run that have a partition; of a run without partitions the last day."""
    days = store.lake.days(table)
    tags = context.run.tags
    if PARTITION_TAG in tags:
        return [day for day in days if day.isoformat() == tags[PARTITION_TAG]]
    if RANGE_TAGS[0] in tags:
        return [day for day in days if tags[RANGE_TAGS[0]] <= day.isoformat() <= tags[RANGE_TAGS[1]]]
    return days[-1:]


def _how_many(n_failed: int, n_days: int) -> str:
    return f"{n_failed} of {counted(n_days, 'day')} {'fails' if n_failed == 1 else 'fail'}"
