"""`em evaluate`: the figures of the engine over labelled corpora, against those that were last kept."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from em_pipelines.interfaces.cli.console import ExtractorOption, HomeOption, JsonOption, open_home
from em_pipelines.interfaces.cli.facts import AsOfOption, parse_day
from em_pipelines.retrieval.context.bounds import BUDGET_TOKENS, LEAST_TOKENS


class Measured(StrEnum):
    """What can be measured: what an extractor reads, which names are one, what must not be read, and the whole."""

    EXTRACTION = "extraction"
    RESOLUTION = "resolution"
    ATTACKS = "attacks"
    JOURNEYS = "journeys"
    RETRIEVAL = "retrieval"
    CONTEXT = "context"
    CALIBRATION = "calibration"
    CONSOLIDATION = "consolidation"
    ANSWERS = "answers"
    PROACTIVE = "proactive"


BudgetOption = Annotated[
    int | None,
    typer.Option("--budget", min=LEAST_TOKENS, max=BUDGET_TOKENS, help="Of answers: tokens of a block at most."),
]


def evaluate(
    measured: Annotated[Measured, typer.Argument(metavar="KIND", help=f"{', '.join(Measured)}.")],
    paths: Annotated[list[Path] | None, typer.Argument(help="Labelled corpora; none: those of the settings.")] = None,
    extractor: ExtractorOption = None,
    is_saved: Annotated[bool, typer.Option("--save", help="Keep these figures as the baseline.")] = False,
    is_fitted: Annotated[bool, typer.Option("--fit", help="Of retrieval: look for better weights.")] = False,
    user: Annotated[
        str | None, typer.Option("--user", help="Of answers: whom a question without a user is about.")
    ] = None,
    as_of: AsOfOption = None,
    budget: BudgetOption = None,
    n_users: Annotated[int, typer.Option("--users", min=1, help="Of proactive: people who are simulated.")] = 200,
    n_days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Of proactive: days of them.")] = 90,
    seed: Annotated[int, typer.Option("--seed", help="Of proactive: what chance is drawn from.")] = 1,
    as_json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Measure extraction or resolution on labelled corpora; a figure below the last saved baseline is a finding.

    Attacks that leak or are stored are a finding with or without a baseline, and so is a journey of which anything
    does not hold: weeks of one person's logs through the whole engine, and what must be known on given days.
    Calibration compares how sure judged claims are with how many are right. Consolidation asks whether lessons that
    were planted in a telemetry are told from coincidences. Answers asks models: one reads the context
    block of each question, another judges what it says. Proactive simulates people who are asked by the limits of the
    settings; a limit that is broken is a finding.

    Example: em evaluate extraction corpus.jsonl --save
    """
    from em_pipelines.interfaces.cli.evaluate_answers import Asked, evaluate_answers
    from em_pipelines.interfaces.cli.evaluate_calibration import evaluate_calibration
    from em_pipelines.interfaces.cli.evaluate_consolidation import evaluate_consolidation
    from em_pipelines.interfaces.cli.evaluate_context import evaluate_context
    from em_pipelines.interfaces.cli.evaluate_journeys import evaluate_journeys
    from em_pipelines.interfaces.cli.evaluate_labelled import evaluate_labelled
    from em_pipelines.interfaces.cli.evaluate_proactive import evaluate_proactive
    from em_pipelines.interfaces.cli.evaluate_retrieval import evaluate_retrieval

    opened = open_home(home, **({"extractor": extractor} if extractor else {}))
    alike = {
        Measured.JOURNEYS: evaluate_journeys,
        Measured.CONTEXT: evaluate_context,
        Measured.CALIBRATION: evaluate_calibration,
        Measured.CONSOLIDATION: evaluate_consolidation,
    }
    if measured in alike:
        alike[measured](opened, paths or [], as_json=as_json)
    elif measured is Measured.RETRIEVAL:
        evaluate_retrieval(opened, paths or [], is_fitted=is_fitted, as_json=as_json)
    elif measured is Measured.PROACTIVE:
        evaluate_proactive(opened, paths or [], n_users, n_days, seed, as_json=as_json)
    elif measured is Measured.ANSWERS:
        asked = Asked(user, parse_day(as_of, "--as-of"), budget)
        evaluate_answers(opened, paths or [], asked, as_json=as_json)
    else:
        evaluate_labelled(opened, measured.value, paths or [], is_saved=is_saved, as_json=as_json)
