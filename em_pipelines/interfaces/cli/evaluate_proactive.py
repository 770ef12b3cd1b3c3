"""`em evaluate proactive`: what the limits of asking come to with people of all habits."""

from pathlib import Path

import typer

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.proactive import AIM_CLOSED_SHARE, simulate
from em_pipelines.interfaces.cli.console import out, print_json, print_table
from em_pipelines.language.counting import counted
from em_pipelines.pipeline import Pipeline


def evaluate_proactive(
    home: Pipeline, paths: list[Path], n_users: int, n_days: int, seed: int, *, as_json: bool
) -> None:
    """Prints what asking came to, by habit and way of asking; exits with 1 where a limit was broken."""
    if paths:
        raise UsageError("evaluating proactive: it reads no files, its people are drawn; leave them out")
    found = simulate(n_users, n_days, seed, home.settings.proactive)
    document = found.as_document()
    if as_json:
        print_json(document)
    else:
        rows = [
            (habit, way, one["n_users"], _told(one["asked_per_user_week"]), *map(_percent, _shares(one)))
            for habit, ways in document["by_habit"].items()
            for way, one in ways.items()
        ]
        title = f"{counted(n_users, 'user')}, {counted(n_days, 'day')}, seed {seed}"
        print_table(title, ("habit", "asked", "users", "a user-week", "accepted", "closable closed"), rows)
        most = document["most_in_a_week_after_third_deflection"]
        out().print(f"limits broken  {document['n_broken']}")
        out().print(f"most in a week after the third deflection  {_told(most['hostile'])} of hostile people")
        verdict = "met" if found.is_aim_met else "missed"
        out().print(
            f"closable gaps of eager people  {_percent(found.eager_closed_share)}, "
            f"the aim of {AIM_CLOSED_SHARE:.0%} is {verdict}"
        )
        for failure in found.failures:
            out().print(failure)
    if found.failures:
        raise typer.Exit(1)


def _shares(one: dict[str, float | None]) -> tuple[float | None, float | None]:
    return one["accept_share"], one["closable_closed_share"]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _told(number: float | None) -> str:
    return "-" if number is None else str(number)
