"""`em llm`: trying the endpoint of the settings, what models have answered, and asking them again."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, cast

import typer

from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    end_if_unknown,
    fail,
    open_existing,
    open_home,
    print_json,
    print_table,
    tell,
)
from em_pipelines.interfaces.cli.facts import parse_day
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.llm.endpoint_report import EndpointReport

app = typer.Typer(
    no_args_is_help=True, help="The models that read: try their endpoint, or forget what they have answered."
)


@app.command()
def forget(
    from_day: Annotated[str, typer.Option("--from", metavar="YYYY-MM-DD", help="First day of the messages.")],
    to_day: Annotated[str, typer.Option("--to", metavar="YYYY-MM-DD", help="Last day of the messages, included.")],
    model: Annotated[str | None, typer.Option("--model", help="Of one model alone.", show_default=False)] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="Of one task alone, such as extraction.", show_default=False)
    ] = None,
    user: Annotated[str | None, typer.Option("--user", help="About one user alone.", show_default=False)] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget the answers of models about some days, so that the next `em run` asks anew for these and no others.

    The days are those (UTC) of the messages that were asked about, not those on which a model was asked. Dead letters
    among them are given back. What people have corrected stays, and so does what the calls cost.

    Example: em llm forget --from 2026-10-05 --to 2026-10-05
    """
    from em_pipelines.governance.forgotten_answers import forget_answers
    from em_pipelines.llm.forgetting import AskedWork

    opened = open_existing(home)
    first, last = cast("date", parse_day(from_day, "--from")), cast("date", parse_day(to_day, "--to"))
    kept = forget_answers(opened, AskedWork(first, last, model, task, user))
    if as_json:
        print_json({"n_answers": kept.n_answers, "n_users": kept.n_users, "n_dead_letters": kept.n_dead_letters})
    else:
        tell(kept.sentence)
    if user is not None and not kept.work:
        end_if_unknown(opened, user)


@app.command()
def check(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Try the endpoint and the model of the settings with one short invented conversation.

    Prints what the endpoint takes, how fast it is, and how long a thousand messages take, or what is wrong and what to
    do. What was found out is kept in the home, so that runs need not.

    Example: em llm check
    """
    from em_pipelines.errors import UsageError

    opened = open_home(home)
    if Defaults.check_endpoint is None:
        raise UsageError("trying the endpoint: this process has no client for models; use `em`")
    report = Defaults.check_endpoint(opened.settings)
    if as_json:
        more = {
            "hours_a_thousand_messages": report.hours_a_thousand_messages,
            "settings_to_use": report.settings_to_use,
        }
        print_json({**asdict(report), **more})
    else:
        print_table("Endpoint", ("", "found"), list(_shown(report)))
    if report.problem:
        fail(f"{report.problem}{_near(report)}", Exit.FINDING)


def _shown(report: "EndpointReport") -> Iterator[tuple[str, object]]:
    yield "address", report.address
    yield "model", report.model
    yield "models listed", "none" if report.models is None else len(report.models)
    for name, value in report.takes.items():
        yield name, {True: "yes", False: "refused"}.get(value, value) if isinstance(value, bool) else value
    if report.takes:
        yield (
            "answer",
            f"{report.seconds:.1f} s, {report.tokens_a_second:.0f} tokens a second, {counted(report.n_calls, 'call')}",
        )
        hours = report.hours_a_thousand_messages
        yield (
            "1,000 messages",
            f"about {hours:.1f} h, one call at a time" if hours >= 1 else f"about {hours * 60:.0f} min",
        )


def _near(report: "EndpointReport") -> str:
    """The listed models, where the one of the settings is none of them."""
    if not report.models or report.model in report.models:
        return ""
    near = get_close_matches(report.model, report.models, n=3, cutoff=0.3) or report.models[:3]
    return f"; the endpoint lists {', '.join(near)}"
