"""`em evaluate retrieval`: what search finds of what answers questions, by category and by component."""

from dataclasses import asdict
from pathlib import Path

from em_pipelines.commands.console import out, print_json, print_table
from em_pipelines.errors import UsageError
from em_pipelines.evaluation.retrieval import Figures, fit, held_out, measure, read
from em_pipelines.home import Home


def evaluate_retrieval(home: Home, paths: list[Path], *, is_fitted: bool, as_json: bool) -> None:
    """Prints the figures; with `is_fitted` also those of weights that were fitted, and the weights."""
    if not paths:
        raise UsageError("evaluating retrieval: no conversation is named; give files of LoCoMo with their questions")
    settings = home.settings.retrieval
    files = [read(path, settings, home.embedder) for path in paths]
    questions = [question for file in files for question in file]
    report = measure(questions, settings.weights)
    fitted = fit(questions) if is_fitted else None
    found = asdict(report)
    if fitted is not None:
        found["fitted"] = {"weights": fitted.model_dump(), "all": asdict(measure(questions, fitted).all)}
        if len(files) > 1:
            found["fitted"]["held_out_recall_at_10"] = round(held_out(files), 6)
    if as_json:
        print_json(found)
        return
    rows = [_row(name, figures) for name, figures in {**report.by_category, "all": report.all}.items()]
    heads = ("category", "questions", "recall@10", "recall@5", "hit@10", "MRR", "nDCG@10")
    print_table("Retrieval", heads, rows, right=heads[1:])
    recall = report.all.recall_at_10
    shares = [(name, f"{value:.4f}", f"{recall - value:+.4f}") for name, value in report.without.items()]
    print_table("Without a component", ("component", "recall@10", "it adds"), shares, right=("recall@10", "it adds"))
    if fitted is not None:
        out().print_json(data=found["fitted"])


def _row(name: str, found: Figures) -> tuple[str, ...]:
    shares = (found.recall_at_10, found.recall_at_5, found.hit_at_10, found.mrr, found.ndcg_at_10)
    return (name, str(found.n_questions), *(f"{share:.4f}" for share in shares))
