"""The asset checks: one Great Expectations suite a table, and checks of our own on meaning.

A check looks at the days of the run it is part of; run by itself, at the last day there is. Broken integrity blocks
what lies downstream.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

import dagster as dg

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.integrity import RULES, Rule, violations_on
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables import clean, derived, extraction, graph, raw
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.store import Step, Store
from quality import meaning
from quality.suites import validate
from resources.dagster_internals import past_checks, report_in_run
from resources.home import HomeResource

RANGE_TAGS = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
PARTITION_TAG = "dagster/partition"
SEEN_EVALUATIONS = 1000
NEVER_EMPTY = frozenset({"interactions", "messages", "segments", "sessions"})
"""Tables that have rows wherever they have a partition."""


@dataclass(frozen=True, slots=True)
class MeaningCheck:
    """A check of our own: the asset it stands on, the tables it reads a day at a time, and what it asks of them."""

    name: str
    asset: Table
    reads: tuple[Table, ...]
    ask: Callable[..., meaning.Finding]
    about: str
    is_blocking: bool = True
    is_partitioned: bool = False
    """Whether each day has a row of its own in the check's history."""

    def find(self, store: Store, day: date) -> meaning.Finding:
        """What the check finds on one day."""
        return self.ask(*(store.lake.read(table, day) for table in self.reads))


@dataclass(frozen=True, slots=True)
class IntegrityCheck(MeaningCheck):
    """A rule of the state: it looks at the last day, which holds all that came before."""

    def find(self, store: Store, day: date) -> meaning.Finding:
        """How many rows break the rule on one day."""
        return self.ask(store.lake, day)


def _integrity_check(rule: Rule) -> IntegrityCheck:
    def ask(lake: Lake, day: date) -> meaning.Finding:
        broken = violations_on(lake, day, [rule])[rule.name]
        return meaning.Finding(not broken, float(len(broken)), rule.advice)

    reads = (graph.ENTITIES,) if rule.table is graph.ENTITIES else (graph.EDGES, graph.ENTITIES)
    return IntegrityCheck(rule.name, rule.table, reads, ask, rule.about)


MEANING = (
    MeaningCheck(
        "inferences_grounded",
        derived.INFERRED_EDGES,
        (derived.INFERRED_EDGES, derived.CURRENT_EDGES),
        meaning.inferences_grounded,
        "Every inferred edge rests on active facts of its user, and is no surer than 0.60.",
    ),
    MeaningCheck(
        "messages_complete",
        clean.MESSAGES,
        (raw.INTERACTIONS, clean.MESSAGES),
        meaning.messages_complete,
        "Every landed interaction is a message.",
    ),
    MeaningCheck(
        "extraction_coverage",
        extraction.CLAIMS,
        (clean.MESSAGES, extraction.MENTIONS, extraction.CLAIMS, extraction.EXTRACTION_ISSUES),
        meaning.extraction_coverage,
        "Every message was extracted or skipped with a reason.",
    ),
    MeaningCheck(
        "relates_to_share",
        extraction.CLAIMS,
        (extraction.CLAIMS,),
        meaning.relates_to_share,
        f"At most {meaning.MAX_RELATES_TO_SHARE:.0%} of a day's claims use the last-resort relation.",
        is_blocking=False,
    ),
    MeaningCheck(
        "conflict_burst",
        graph.CONTRADICTIONS,
        (graph.CONTRADICTIONS,),
        meaning.conflict_burst,
        f"No thing has more than {meaning.MAX_OPEN_CONFLICTS} open conflicts (warning).",
        is_blocking=False,
    ),
    MeaningCheck(
        "hallucination_rate",
        extraction.CLAIMS,
        (extraction.CLAIMS, extraction.MENTIONS, extraction.EXTRACTION_ISSUES),
        meaning.hallucination_rate,
        f"Less than {meaning.MAX_HALLUCINATION_RATE_WARN:.0%} of what a day's messages gave is doubted (warning), "
        f"never {meaning.MAX_HALLUCINATION_RATE:.0%} (failure).",
        is_blocking=False,
        is_partitioned=True,
    ),
    MeaningCheck(
        "hallucination_spike",
        extraction.EXTRACTION_ISSUES,
        (extraction.EXTRACTION_ISSUES,),
        meaning.hallucination_spike,
        f"At most {meaning.MAX_DISCARDED_AN_HOUR} extractions are discarded within an hour of event time.",
        is_blocking=False,
        is_partitioned=True,
    ),
    MeaningCheck(
        "extraction_complete",
        extraction.EXTRACTION_ISSUES,
        (extraction.EXTRACTION_ISSUES,),
        meaning.extraction_complete,
        "No message waits to be read by a model. Facts that are there are served all the same.",
        is_blocking=False,
        is_partitioned=True,
    ),
    *(_integrity_check(rule) for rule in RULES),
)


def build_checks(steps: Iterable[Step]) -> list[dg.AssetChecksDefinition]:
    """All checks of the assets that these steps make."""
    tables = [table for step in steps for table in step.outputs]
    return [*(_contract_check(table) for table in tables), *(_meaning_check(c) for c in MEANING if c.asset in tables)]


def _contract_check(table: Table) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=table.name,
        name="table_contract",
        blocking=True,
        description=f"Great Expectations suite of {table.name}: columns, nulls, keys, closed sets, ranges.",
    )
    def check(context: dg.AssetCheckExecutionContext, home: HomeResource) -> dg.AssetCheckResult:
        store = home.home.store
        days = _days(context, store, table)
        shown = days[-1:] if table.is_state else days  # a state holds all that came before it
        try:
            rows = store.lake.read_days(table, shown)
        except CorruptTableError as error:
            return _unreadable(error)
        found = validate(table, rows, min_rows=len(shown) if table.name in NEVER_EMPTY else 0)
        return dg.AssetCheckResult(
            passed=found.is_success,
            severity=dg.AssetCheckSeverity.ERROR,
            description="" if found.is_success else "; ".join(found.broken),
            metadata={"rows": rows.num_rows, "days": len(shown), "expectations": found.n_expectations},
        )

    return check


def _meaning_check(wanted: MeaningCheck) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=wanted.asset.name,
        name=wanted.name,
        blocking=wanted.is_blocking,
        description=wanted.about,
        additional_deps=[t.name for t in wanted.reads if t is not wanted.asset],
    )
    def check(context: dg.AssetCheckExecutionContext, home: HomeResource) -> dg.AssetCheckResult:
        store = home.home.store
        try:
            days = _days(context, store, wanted.asset)
            found = {day: wanted.find(store, day) for day in (days[-1:] if wanted.asset.is_state else days)}
        except CorruptTableError as error:
            return _unreadable(error)
        failed = {day: finding for day, finding in found.items() if not finding.is_success}
        if wanted.is_partitioned:
            _report_days(context, wanted, found)
        advice = next((f.advice for f in failed.values()), "")
        return dg.AssetCheckResult(
            passed=not failed,
            severity=_severity(failed.values()),
            description=f"{len(failed)} of {len(found)} days fail, first {min(failed)}: {advice}" if failed else "",
            metadata={
                "figure": dg.FloatMetadataValue(found[max(found)].figure if found else 0.0),
                "days": dg.IntMetadataValue(len(found)),
                "days_failed": dg.IntMetadataValue(len(failed)),
                "by_day": dg.MarkdownMetadataValue(_figures(found)),
            },
        )

    return check


def _figures(findings: Mapping[date, meaning.Finding]) -> str:
    """The figure of each day, as a table in Markdown."""
    rows = (f"| {day} | {f.figure:g} | {'ok' if f.is_success else 'FAILED'} |" for day, f in findings.items())
    return "| day | figure | |\n| --- | --: | --- |\n" + "\n".join(rows)


def _severity(findings: Iterable[meaning.Finding]) -> dg.AssetCheckSeverity:
    """A warning where every failing day is no more than that."""
    found = list(findings)
    is_warning = bool(found) and all(finding.is_warning for finding in found)
    return dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR


def _report_days(
    context: dg.AssetCheckExecutionContext, wanted: MeaningCheck, found: Mapping[date, meaning.Finding]
) -> None:
    """A check of a range runs once; its days are reported one by one: those on which something was found, and all of
    them where something ever was, so that a day that has been mended says so."""
    key = dg.AssetCheckKey(dg.AssetKey(wanted.asset.name), wanted.name)
    has_failed = any(past.has_failed for past in past_checks(context.instance, key, SEEN_EVALUATIONS))
    for day, finding in found.items():
        if has_failed or not finding.is_success:
            evaluation = dg.AssetCheckEvaluation(
                asset_key=key.asset_key,
                check_name=wanted.name,
                passed=finding.is_success,
                severity=_severity([] if finding.is_success else [finding]),
                description="" if finding.is_success else finding.advice,
                metadata={"figure": finding.figure},
                partition=day.isoformat(),
            )
            report_in_run(context.instance, context.run, evaluation)


def _unreadable(error: CorruptTableError) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity.ERROR, description=str(error))


def _days(context: dg.AssetCheckExecutionContext, store: Store, table: Table) -> list[date]:
    """The days of the run that have a partition; of a run without partitions the last day."""
    days = store.lake.days(table)
    tags = context.run.tags
    if PARTITION_TAG in tags:
        return [day for day in days if day.isoformat() == tags[PARTITION_TAG]]
    if RANGE_TAGS[0] in tags:
        return [day for day in days if tags[RANGE_TAGS[0]] <= day.isoformat() <= tags[RANGE_TAGS[1]]]
    return days[-1:]
