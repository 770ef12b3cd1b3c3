"""`em evaluate consolidation`: whether lessons are told from coincidences."""

from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.consolidation import measure
from em_pipelines.interfaces.cli.console import out, print_json, print_table
from em_pipelines.language.counting import counted
from em_pipelines.pipeline import Pipeline


def evaluate_consolidation(home: Pipeline, paths: list[Path], *, as_json: bool) -> None:
    """Prints what is found and what is taken for a lesson over labelled telemetries."""
    if not paths:
        raise UsageError(
            "evaluating consolidation: no file is named; give FILE.jsonl of invocations with FILE.labels.json beside it"
        )
    lessons = measure(paths, home.settings.consolidation)
    document = lessons.as_document()
    if as_json:
        print_json(document)
        return
    rows = [
        (how, one["id"], one["skill_name"], ", ".join(one["stopped_by"]))
        for how in ("missed", "false")
        for one in document[how]
    ]
    print_table(counted(lessons.n_entries, "entry"), ("", "label", "skill", "stopped by"), rows)
    out().print(f"found     {lessons.found_share:.2%} of {counted(document['n_real'], 'real pattern')}")
    out().print(f"false     {lessons.false_share:.2%} of {counted(document['n_coincidences'], 'coincidence')}")
    out().print(f"unlabelled {lessons.n_unlabelled}")
