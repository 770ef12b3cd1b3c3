"""`em check`: the declared expectations of every table, asked now and over all days."""

from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from em_pipelines.governance.audit.contracts import TableReport
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.schema.table import Table

SQL = "SQL"
GREAT_EXPECTATIONS = "Great Expectations"
FIGURES = ("days", "rows", "expectations")


def check(
    tables: Annotated[list[str] | None, typer.Argument(help="Tables to look at; all unless given.")] = None,
    is_report: Annotated[
        bool, typer.Option("--report", help="Ask Great Expectations as well, and write its pages to HOME/quality.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask of every table what is expected of it: columns, nulls, keys, closed sets, ranges. Changes no table.

    Example: em check edges claims
    """
    from em_pipelines.governance.audit.contracts import check_table

    opened = open_existing(home)
    wanted = _tables(opened, tables)
    found = [(SQL, check_table(opened.store.lake, table)) for table in wanted]
    page = ""
    if is_report:
        reported, page = _report(opened, wanted)
        found += [(GREAT_EXPECTATIONS, one) for one in reported]
    if as_json:
        print_json({"tables": [_document(asked, one) for asked, one in found], "report": page or None})
    else:
        columns = ("", "table", "asked", *FIGURES, "broken")
        print_table("Expectations", columns, (_row(asked, one) for asked, one in found), right=FIGURES)
        if page:
            out().print(f"report  {page}", markup=False, soft_wrap=True)
    ill = [one for _, one in found if not one.is_success]
    if ill:
        fail(f"{len(ill)} of {len(found)} fail, first {ill[0].table.name}: {ill[0].sentences[0]}", Exit.FINDING)


def _tables(home: "Pipeline", names: list[str] | None) -> "list[Table]":
    """The tables of those names that have any partition; raises UsageError for a name that no step makes."""
    known = {table.name: table for step in (*home.steps.values(), home.inference) for table in step.outputs}
    strange = [name for name in names or () if name not in known]
    if strange:
        raise UsageError(f"checking {strange[0]}: no step makes a table of that name; there are {', '.join(known)}")
    return [known[name] for name in names or known if home.store.lake.days(known[name])]


def _report(home: "Pipeline", tables: "list[Table]") -> "tuple[list[TableReport], str]":
    """What Great Expectations finds, and where its pages begin. It takes seconds to import, which only this pays."""
    from quality.suites import INDEX, report

    with home.lock("quality"):
        found = report(home.store.lake, tables, home.data_docs, max_rows=home.settings.report.max_rows)
    return found, str(home.data_docs / INDEX)


def _document(asked: str, one: "TableReport") -> dict[str, object]:
    seen = one.verdict
    return {
        "table": one.table.name,
        "asked": asked,
        "ok": one.is_success,
        "days": seen.n_days if seen else None,
        "rows": seen.n_rows if seen else None,
        "expectations": seen.n_expectations if seen else None,
        "broken": [] if one.is_success else one.sentences,
    }


def _row(asked: str, one: "TableReport") -> tuple[object, ...]:
    shown = _document(asked, one)
    broken = "" if one.is_success else "; ".join(one.sentences)
    return ("ok" if one.is_success else "!!", *(shown[name] for name in ("table", "asked", *FIGURES)), broken)
