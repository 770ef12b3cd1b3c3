"""`em revise`: the nightly revision by hand, and what it would send."""

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import BudgetSpentError, RequestRefusedError, UsageError
from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
    tell,
)
from em_pipelines.interfaces.cli.facts import parse_day
from em_pipelines.language.counting import IS, counted

if TYPE_CHECKING:
    from em_pipelines.lifecycle.revision.model import FactQuestion
    from em_pipelines.lifecycle.revision.night import NightReport
    from em_pipelines.pipeline import Pipeline


def revise(
    night: Annotated[
        str | None,
        typer.Option(
            "--night", metavar="YYYY-MM-DD", help="The night after this day; the last if left out.", show_default=False
        ),
    ] = None,
    is_dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask nobody; list what would be sent, word for word.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look up stale public facts with the verifier that the settings name; `em run` then takes the outcomes in.

    Example: em revise --dry-run
    """
    from em_pipelines.lifecycle.revision.night import BUDGET, FRUITLESS, night_before, run_night

    opened = open_existing(home)
    as_of = parse_day(night, "--night")
    if is_dry_run:
        _show_what_would_leave(opened, as_of or night_before(datetime.now(UTC)), as_json=as_json)
        return
    if Defaults.open_verifier is None:
        raise UsageError("revising: this process has no client for a verifier; use `em`, or the asset `revision`")
    report = run_night(opened, Defaults.open_verifier, datetime.now(UTC), as_of)
    if as_json:
        print_json(_as_document(report))
    else:
        _show(report)
    unexpected = {name: why for name, why in report.put_off.items() if name not in {BUDGET, BudgetSpentError.__name__}}
    if unexpected:
        code = Exit.USAGE if {FRUITLESS, RequestRefusedError.__name__} & unexpected.keys() else Exit.RETRY
        fail(f"{counted(report.n_deferred, 'fact', IS)} deferred: {'; '.join(unexpected.values())}", code)


def _show_what_would_leave(home: "Pipeline", as_of: date, *, as_json: bool) -> None:
    from em_pipelines.lifecycle.revision.night import allowed, due
    from em_pipelines.lifecycle.revision.prompt import SYSTEM, messages_of

    settings = home.settings.revision
    found = due(home.store, as_of, settings)
    n_allowed = min(allowed(home.store, as_of, settings), len(found.questions))
    document = {
        "night": str(as_of),
        "is_enabled": settings.is_enabled,
        "endpoint": settings.base_url or home.settings.llm.base_url,
        "model": settings.model or home.settings.llm.model_of("large"),
        "instructions": SYSTEM,
        "questions": [_as_question(question) for question in found.questions[:n_allowed]],
        "n_deferred": len(found.questions) - n_allowed,
        "n_withheld": found.n_withheld,
    }
    if as_json:
        print_json(document)
        return
    out().print(SYSTEM, markup=False, soft_wrap=True)
    for question in found.questions[:n_allowed]:
        out().print(f"\n{messages_of(question)[-1].content}", markup=False, soft_wrap=True)
    whom = f"{document['model']} at {document['endpoint'] or 'the default endpoint'}"
    out().print(
        f"\n{counted(n_allowed, 'fact')} would be sent to {whom}; {document['n_deferred']} more are due, and "
        f"{found.n_withheld} "
        "have words that are never sent.",
        markup=False,
        soft_wrap=True,
    )
    if not settings.is_enabled:
        out().print("The revision is switched off: nothing is ever sent.", markup=False, soft_wrap=True)


def _as_question(question: "FactQuestion") -> dict[str, Any]:
    from em_pipelines.lifecycle.revision.prompt import messages_of

    return {
        "user_id": question.user_id,
        "edge_id": question.edge_id,
        "is_contradicted": question.is_contradicted,
        "uses": question.uses,
        "sent": messages_of(question)[-1].content,
    }


def _as_document(report: "NightReport") -> dict[str, Any]:
    return {
        "night": str(report.as_of),
        "verifier": report.verifier,
        **report.figures(),
        "unknown_because": dict(sorted(report.reasons.items())),
        "deferred_because": report.put_off,
        "note": report.note,
    }


def _show(report: "NightReport") -> None:
    from em_pipelines.lifecycle.revision.model import NullVerifier

    figures = report.figures()
    if report.verifier == NullVerifier.name:
        out().print((report.note or "").capitalize() + ".", markup=False, soft_wrap=True)
        return
    print_table(f"The night after {report.as_of}", tuple(figures), [tuple(figures.values())], right=tuple(figures))
    for sentence in report.put_off.values():
        out().print(f"deferred: {sentence}", markup=False, soft_wrap=True)
    if report.n_asked:
        tell("`em run` takes the outcomes in.")
