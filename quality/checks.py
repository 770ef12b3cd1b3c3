"""The asset checks: the contract of every table, and checks of our own on meaning. One op a step runs all of them that
stand on the tables it makes; each can be run by itself.

A check looks at the days of the run it is part of; run by itself, at the last day there is. Broken integrity blocks
what lies downstream. Great Expectations asks the same of the tables once a night: `quality.report`.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import partial

import dagster as dg

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.contracts import check_days
from em_pipelines.governance.audit.integrity import RULES, Rule
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store
from quality.drift import DRIFTS
from quality.finding import DailyCheck, Finding
from quality.history import Asked, left_over, marked
from quality.meaning import MEANING, integrity_findings, rule_reads
from quality.rates import RATES
from quality.report import link_to
from resources.home import HomeResource

CONTRACT = "table_contract"
RANGE_TAGS = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
PARTITION_TAG = "dagster/partition"
ON_TABLES: tuple[DailyCheck, ...] = (*MEANING, *RATES, *DRIFTS)
"""The checks of our own that are asked in every run."""


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
        store, limits = home.home.store, home.home.settings.quality
        docs = link_to(home.home.data_docs)
        for table in step.outputs:
            wanted = {k.name for k in context.selected_asset_check_keys if k.asset_key == dg.AssetKey(table.name)}
            if not wanted:
                continue
            asked = partial(Asked, context, store.lake, limits, table, docs=docs)
            days = _days(context, store, table)
            shown = days[-1:] if table.is_state else days  # a state holds all that came before it
            if CONTRACT in wanted:
                yield _contract(asked(CONTRACT), shown)
            for check in (c for c in ON_TABLES if c.asset is table and c.name in wanted):
                yield _meaning(asked(check.name), check, shown)
            rules = [rule for rule in RULES if rule.table is table and rule.name in wanted]
            yield from _integrity(asked, store.lake, rules, shown)

    return check_tables


def _specs(step: Step) -> Iterator[dg.AssetCheckSpec]:
    for table in step.outputs:
        about = f"Every declared expectation of {table.name}: columns, nulls, keys, closed sets, ranges."
        yield dg.AssetCheckSpec(CONTRACT, asset=table.name, blocking=True, description=about)
        for check in (c for c in ON_TABLES if c.asset is table):
            yield _spec(check.name, table, check.about, check.reads, is_blocking=check.is_blocking)
        for rule in (r for r in RULES if r.table is table):
            yield _spec(rule.name, table, rule.about, rule_reads(rule), is_blocking=True)


def _spec(name: str, asset: Table, about: str, reads: Iterable[Table], *, is_blocking: bool) -> dg.AssetCheckSpec:
    others = [table.name for table in reads if table not in (asset, QUARANTINE)]  # which no asset makes
    return dg.AssetCheckSpec(name, asset=asset.name, description=about, blocking=is_blocking, additional_deps=others)


def _contract(asked: Asked, days: list[date]) -> dg.AssetCheckResult:
    lake, table = asked.lake, asked.table
    try:
        verdict = check_days(lake, table, days)
        # Taken together first: mostly nothing is broken, and one statement says so.
        is_broken = not verdict.is_success
        broken = [day for day in days if is_broken and not check_days(lake, table, [day]).is_success] or days[-1:]
    except CorruptTableError as error:
        return asked.unreadable(error, _unreadable(lambda day: check_days(lake, table, [day]), days))
    failed = broken if is_broken else []
    advice = "; ".join(verdict.sentences)
    found = {day: Finding(is_success=day not in failed, figure=0.0, advice=advice) for day in days}
    left = asked.settle(found, is_quiet=True)
    if verdict.is_success and left:
        advice = left_over(left)
    return asked.told(
        passed=not (is_broken or left),
        severity=dg.AssetCheckSeverity.ERROR if is_broken or not left else dg.AssetCheckSeverity.WARN,
        description=advice,
        unmended=[*left, *failed],
        metadata=marked(left and not is_broken)
        | {
            "rows": dg.IntMetadataValue(verdict.n_rows),
            "days": dg.IntMetadataValue(verdict.n_days),
            "expectations": dg.IntMetadataValue(verdict.n_expectations),
        },
    )


def _meaning(asked: Asked, check: DailyCheck, days: list[date]) -> dg.AssetCheckResult:
    try:
        return asked.result(check.find(asked.lake, days, asked.limits))
    except CorruptTableError as error:
        return asked.unreadable(error, _unreadable(lambda day: check.find(asked.lake, [day], asked.limits), days))


def _unreadable(ask: Callable[[date], object], days: list[date]) -> Iterator[date]:
    """The days that cannot be asked about by themselves."""
    for day in days:
        try:
            ask(day)
        except CorruptTableError:
            yield day


def _integrity(
    asked: Callable[[str], Asked], lake: Lake, rules: list[Rule], days: list[date]
) -> Iterator[dg.AssetCheckResult]:
    if not rules:
        return
    try:
        found = integrity_findings(lake, rules, days)
    except CorruptTableError:
        found = {}  # not every rule reads every file: which ones stand is found one by one
    for rule in rules:
        try:
            yield asked(rule.name).result((found or integrity_findings(lake, [rule], days))[rule.name])
        except CorruptTableError as error:
            yield asked(rule.name).unreadable(error, days)


def _days(context: dg.AssetCheckExecutionContext, store: Store, table: Table) -> list[date]:
    """The days of the run that have a partition; of a run without partitions the last day."""
    days = store.lake.days(table)
    tags = context.run.tags
    if PARTITION_TAG in tags:
        return [day for day in days if day.isoformat() == tags[PARTITION_TAG]]
    if RANGE_TAGS[0] in tags:
        return [day for day in days if tags[RANGE_TAGS[0]] <= day.isoformat() <= tags[RANGE_TAGS[1]]]
    return days[-1:]
