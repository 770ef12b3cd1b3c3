"""`em llm`: what models have answered, and asking them again."""

from datetime import date
from typing import Annotated, cast

import typer

from em_pipelines.interfaces.cli.console import HomeOption, JsonOption, end_if_unknown, open_existing, print_json, tell
from em_pipelines.interfaces.cli.facts import parse_day

app = typer.Typer(no_args_is_help=True, help="What models have answered: forget it, so that they are asked again.")


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
