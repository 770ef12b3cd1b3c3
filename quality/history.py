"""What a check came to over the days, so that one good day hides no bad one.

A run asks a check about its own days. Each of them has a row of its own in the check's history, and the result of the
run carries along, as metadata, the days that failed before and have not been asked about since: as long as there are
any, the check does not pass. So what the last result says is enough to go on from, and no history is read.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import dagster as dg

from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.language.counting import counted
from em_pipelines.schema.table import Table
from em_pipelines.storage.lake import Lake
from quality.finding import Finding
from resources.alerts import LEFT_OVER
from resources.dagster_internals import last_evaluation, report_in_run

UNMENDED = "days_unmended"
"""Metadata of a result: the days that have failed and were not asked about since, and those that fail now."""
SHOWN_DAYS = 31
"""Of a check over years no more days are listed, and no more that failed."""
NAMED_DAYS = 5
FAILS = ("fails", "fail")


@dataclass(frozen=True, slots=True)
class Asked:
    """One check in one run: what is needed to tell what it came to, and to remember it."""

    context: dg.AssetCheckExecutionContext
    lake: Lake
    limits: QualitySettings
    table: Table
    name: str
    docs: Mapping[str, dg.MetadataValue] = field(default_factory=dict)

    @property
    def key(self) -> dg.AssetCheckKey:
        """What Dagster calls the check."""
        return dg.AssetCheckKey(dg.AssetKey(self.table.name), self.name)

    def result(self, found: Mapping[date, Finding]) -> dg.AssetCheckResult:
        """The findings of all days of the run as one result, after each has been given its row."""
        left = self.settle(found)
        failed = [day for day, finding in found.items() if not finding.is_success]
        return self.told(
            passed=not (failed or left),
            severity=_severity([found[day] for day in failed], is_left=bool(left)),
            description=_sentence(found, failed, left),
            unmended=[*left, *failed],
            metadata=marked(left and not failed)
            | {
                "figure": dg.FloatMetadataValue(found[max(found)].figure if found else 0.0),
                "days": dg.IntMetadataValue(len(found)),
                "days_failed": dg.IntMetadataValue(len(failed)),
                "by_day": dg.MarkdownMetadataValue(_figures(found)),
            },
        )

    def told(
        self,
        *,
        passed: bool,
        description: str,
        severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
        unmended: Iterable[date] = (),
        metadata: Mapping[str, dg.MetadataValue] | None = None,
    ) -> dg.AssetCheckResult:
        """A result with what every result has: the days that are to be mended, and the report of the tables."""
        days = [day.isoformat() for day in sorted(unmended)]
        return dg.AssetCheckResult(
            asset_key=self.table.name,
            check_name=self.name,
            passed=passed,
            severity=severity,
            description=description,
            metadata={
                **(metadata or {}),
                UNMENDED: dg.JsonMetadataValue(days),
                **self.docs,
            },
        )

    def unreadable(self, problem: object, days: Iterable[date] = ()) -> dg.AssetCheckResult:
        """The result where a file of the days cannot be read, so that nothing is known."""
        left = self._unmended(self._failed_before(), ())
        return self.told(passed=False, description=str(problem), unmended={*left, *days})

    def settle(self, found: Mapping[date, Finding], *, is_quiet: bool = False) -> list[date]:
        """Gives days their rows: those that failed or were mended, and, unless `is_quiet`, the newest. Returns those
        that failed before and are not asked about now.

        Dagster takes the row that was stored last for how the check stands, so those that fail come last, and one that
        failed before is told again.
        """
        known = self._failed_before()
        left = self._unmended(known, found)
        newest = [] if is_quiet else sorted(found)[-self.limits.history_days :]
        told = [day for day in found if day in newest or day in known or not found[day].is_success]
        rows = [self._row(day, found[day]) for day in sorted(told, key=lambda day: (not found[day].is_success, day))]
        if left and all(row.passed for row in rows):
            again = Finding(is_success=False, figure=0.0, advice=left_over(left), is_warning=True)
            rows.append(self._row(left[-1], again, is_left_over=True))
        report_in_run(self.context.instance, self.context.run, *rows)
        return left

    def _row(self, day: date, finding: Finding, *, is_left_over: bool = False) -> dg.AssetCheckEvaluation:
        return dg.AssetCheckEvaluation(
            asset_key=self.key.asset_key,
            check_name=self.name,
            passed=finding.is_success,
            severity=_severity([] if finding.is_success else [finding]),
            description=finding.note if finding.is_success else finding.advice,
            metadata={"figure": dg.FloatMetadataValue(finding.figure), **marked(is_left_over)},
            partition=day.isoformat(),
        )

    def _unmended(self, failed_before: Iterable[date], asked: Collection[date]) -> list[date]:
        """The days that failed and are not asked about now. One that has no rows any more is none, nor one of a
        state that a later day was asked of, for that holds all that came before it."""
        until = max(asked) if asked and self.table.is_state else date.min
        return [day for day in failed_before if day not in asked and day > until and self.lake.has(self.table, day)]

    def _failed_before(self) -> list[date]:
        last = last_evaluation(self.context.instance, self.key)
        noted = last.metadata.get(UNMENDED) if last else None
        days = noted.value if isinstance(noted, dg.JsonMetadataValue) else None
        return sorted(date.fromisoformat(day) for day in days) if isinstance(days, list) else []


def marked(is_left_over: object) -> dict[str, dg.MetadataValue]:
    """The mark of a result that fails for earlier runs alone, as metadata; nothing where it does not."""
    return {LEFT_OVER: dg.BoolMetadataValue(True)} if is_left_over else {}


def _severity(findings: Collection[Finding], *, is_left: bool = False) -> dg.AssetCheckSeverity:
    """A warning where every failing day is no more than that, or failed in an earlier run: it stops nothing now."""
    is_warning = all(finding.is_warning for finding in findings) if findings else is_left
    return dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR


def _sentence(found: Mapping[date, Finding], failed: Sequence[date], left: Sequence[date]) -> str:
    said = []
    if failed:
        how_many = f"{len(failed)} of {counted(len(found), 'day')} {FAILS[len(failed) != 1]}"
        said.append(f"{how_many}, first {min(failed)}: {found[failed[0]].advice}")
    if left:
        said.append(left_over(left))
    if not said and found and all(finding.note for finding in found.values()):
        said.append(found[max(found)].note)
    return "; ".join(said)


def left_over(left: Sequence[date]) -> str:
    """A sentence on days that failed in an earlier run, which are in order and not none."""
    days = ", ".join(day.isoformat() for day in left[-NAMED_DAYS:])
    more = f" and {counted(len(left) - NAMED_DAYS, 'day')} before" if len(left) > NAMED_DAYS else ""
    return (
        f"{days}{more} failed in an earlier run and {'has' if len(left) == 1 else 'have'} not been asked about since: "
        f"mend what it said then, and `em run --from {left[0]} --to {left[-1]} --full`"
    )


def _figures(findings: Mapping[date, Finding]) -> str:
    """The figure of each of the last days, and of those that failed last, as a table in Markdown."""
    newest = {*list(findings)[-SHOWN_DAYS:], *[d for d, f in findings.items() if not f.is_success][-SHOWN_DAYS:]}
    shown = ((day, finding) for day, finding in findings.items() if day in newest)
    rows = (f"| {day} | {f.figure:g} | {'ok' if f.is_success else 'FAILED'} |" for day, f in shown)
    return "| day | figure | |\n| --- | --: | --- |\n" + "\n".join(rows)
