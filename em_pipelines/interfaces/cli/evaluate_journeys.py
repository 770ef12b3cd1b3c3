"""`em evaluate journeys`: weeks of one person's logs through the whole engine, and what must be known on given days."""

from pathlib import Path

from em_pipelines.evaluation.corpus import SHIPPED
from em_pipelines.evaluation.journeys import read_journeys, travel
from em_pipelines.interfaces.cli.console import Defaults, Exit, fail, out, print_json, print_table
from em_pipelines.language.counting import counted
from em_pipelines.pipeline import Pipeline, opener


def evaluate_journeys(home: Pipeline, paths: list[Path], *, as_json: bool) -> None:
    """Prints what held and what did not on the given days, of the project's own journeys where none are named."""
    journeys = read_journeys(paths or [SHIPPED / "journeys"])
    results = {
        journey.name: travel(journey, opener(home.settings, Defaults.open_models, Defaults.open_embedder))
        for journey in journeys
    }
    n_passed = sum(result["passed"] for result in results.values())
    n_failed = sum(len(result["failed"]) for result in results.values())
    if as_json:
        print_json({"passed": n_passed, "n_failed": n_failed, "journeys": results})
    else:
        rows = [(name, result["passed"], len(result["failed"])) for name, result in results.items()]
        print_table(counted(len(rows), "journey"), ("journey", "held", "did not"), rows, right=("held", "did not"))
        failures = [(name, failure) for name, result in results.items() for failure in result["failed"]]
        for name, failure in failures:
            out().print(f"{name}: {failure}", markup=False, soft_wrap=True)
    if n_failed:
        fail(f"evaluating journeys: {n_failed} of {n_passed + n_failed} checks do not hold", Exit.FINDING)
