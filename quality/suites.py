"""Great Expectations over the declared expectations: a suite a table, and its Data Docs for people to read.

It takes seconds to import and half a second a table, so it is asked at night and by hand, never by a run; what blocks
runs is `em_pipelines.governance.audit.contracts`, over the same declaration. Great Expectations and pandas are imported
by the first suite of a process, never with this module.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from em_pipelines.environment import silence_libraries
from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.contracts import TableReport, broken_by_columns, newest_rows
from em_pipelines.language.counting import counted
from em_pipelines.schema.expectations import (
    Broken,
    ColumnsMatch,
    Expectation,
    Verdict,
    expectations_of,
)
from em_pipelines.schema.table import Table
from em_pipelines.storage.lake import Lake

if TYPE_CHECKING:
    import pandas as pd

COUNTS_ALONE = {"result_format": "BASIC", "partial_unexpected_count": 0}
"""How many rows break an expectation, and none of their values."""
INDEX = "index.html"
SITE = "report"
BEACON = re.compile(r"https://great-expectations-web-assets\.[^\"')]*")
"""A picture on each page that whoever opens it would fetch from the makers, with the instant of the report."""
LOGO = "static/images/logo-long.png"


def report(lake: Lake, tables: Iterable[Table], docs: Path, *, max_rows: int) -> list[TableReport]:
    """Asks Great Expectations about the newest rows of each table that has any partition, at most `max_rows` of each,
    and builds the Data Docs of all of them at `docs`, which is replaced whole."""
    suites = Suites()
    reports = [_reported(suites, lake, table, max_rows) for table in tables if lake.days(table)]
    suites.build_docs(docs)
    return reports


def _reported(suites: Suites, lake: Lake, table: Table, max_rows: int) -> TableReport:
    try:
        newest = newest_rows(lake, table, max_rows)
    except CorruptTableError as error:
        return TableReport(table, None, 0, str(error))
    return TableReport(table, suites.validate(table, newest.rows, n_days=len(newest.days)), newest.n_rows_there)


class Suites:
    """One session of Great Expectations: what it validates comes into its Data Docs."""

    def __init__(self) -> None:
        silence_libraries()
        import great_expectations as gx  # noqa: PLC0415  (seconds of import: paid by the first suite alone)
        from great_expectations.data_context.types.base import ProgressBarsConfig  # noqa: PLC0415

        self._gx = gx
        self._context = gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = ProgressBarsConfig(globally=False)
        self._source = self._context.data_sources.add_pandas(name="lake")

    def validate(self, table: Table, rows: pa.Table, *, n_days: int = 0) -> Verdict:
        """Runs the suite of a table, once a session, over rows of `n_days` days. What cannot be asked, for a column
        is not there in its type, is broken and kept from Great Expectations: its errors quote values."""
        expectations = expectations_of(table)
        found = {b.expectation: b for b in broken_by_columns(expectations, rows.schema)}
        asked = {n: e for n, e in enumerate(expectations) if e not in found or isinstance(e, ColumnsMatch)}
        suite = self._gx.ExpectationSuite(
            name=table.name,
            expectations=[self._as_theirs(e, n, n_days) for n, e in asked.items()],
        )
        frames = self._source.add_dataframe_asset(name=table.name)
        definition = self._gx.ValidationDefinition(
            name=table.name,
            data=frames.add_batch_definition_whole_dataframe(table.name),
            suite=self._context.suites.add(suite),
        )
        result = self._context.validation_definitions.add(definition).run(
            batch_parameters={"dataframe": _frame(rows)}, result_format=COUNTS_ALONE
        )
        for outcome in result.results:
            expectation = asked[outcome.expectation_config.meta["number"]]
            if not outcome.success:
                found.setdefault(expectation, Broken(expectation, _said(outcome)))
        broken = tuple(found[e] for e in expectations if e in found)
        return Verdict(rows.num_rows, n_days, len(expectations), broken)

    def build_docs(self, folder: Path) -> Path:
        """Writes the Data Docs of all that was validated, in place of those before; returns their first page."""
        made = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
        shutil.rmtree(made, ignore_errors=True)
        for name in list(self._context.list_data_docs_sites()):
            self._context.delete_data_docs_site(name)
        site = {
            "class_name": "SiteBuilder",
            "show_how_to_buttons": False,
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(made.absolute())},
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        }
        self._context.add_data_docs_site(SITE, site)
        self._context.build_data_docs()
        for page in made.rglob("*.html"):
            up = "../" * (len(page.relative_to(made).parts) - 1)
            page.write_text(BEACON.sub(up + LOGO, page.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
        return folder / INDEX

    def _as_theirs(self, expectation: Expectation, number: int, n_days: int) -> Any:
        """The expectation as Great Expectations has it, which carries its number through to the outcome."""
        kind, how = _THEIRS[expectation.rule]
        return getattr(self._gx.expectations, kind)(**how(expectation, n_days), meta={"number": number})


_THEIRS: dict[str, tuple[str, Callable[[Any, int], dict[str, Any]]]] = {
    "expect_table_columns_to_match_ordered_list": (
        "ExpectTableColumnsToMatchOrderedList",
        lambda e, _: {"column_list": e.schema.names},
    ),
    "expect_table_row_count_to_be_between": (
        "ExpectTableRowCountToBeBetween",
        lambda e, n_days: {"min_value": e.minimum * n_days},
    ),
    "expect_column_values_to_not_be_null": ("ExpectColumnValuesToNotBeNull", lambda e, _: {"column": e.column}),
    "expect_column_values_to_be_unique": ("ExpectColumnValuesToBeUnique", lambda e, _: {"column": e.columns[0]}),
    "expect_compound_columns_to_be_unique": (
        "ExpectCompoundColumnsToBeUnique",
        lambda e, _: {"column_list": list(e.columns)},
    ),
    "expect_column_values_to_be_in_set": (
        "ExpectColumnValuesToBeInSet",
        lambda e, _: {"column": e.column, "value_set": list(e.values)},
    ),
    "expect_column_values_to_be_between": (
        "ExpectColumnValuesToBeBetween",
        lambda e, _: {"column": e.column, "min_value": e.low, "max_value": e.high},
    ),
}
"""By rule, the class in Great Expectations and its arguments, from the expectation and the number of days."""


def _frame(rows: pa.Table) -> pd.DataFrame:
    """Lists and structs become text: pandas cannot compare them, and no expectation looks inside."""
    frame: pd.DataFrame = rows.to_pandas()
    for name, column in zip(rows.schema.names, rows.schema.types, strict=True):
        if pa.types.is_nested(column):
            frame[name] = frame[name].map(lambda value: None if value is None else str(list(value)))
    return frame


def _said(outcome: Any) -> str:
    """What was found, in counts: values may be personal, and so may what an error says."""
    found = outcome.result or {}
    if "unexpected_count" in found:
        return counted(int(found["unexpected_count"]), "row", ("breaks it", "break it"))
    return f"found {found['observed_value']}" if "observed_value" in found else "could not be evaluated"
