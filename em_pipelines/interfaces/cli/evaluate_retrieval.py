"""`em evaluate retrieval`: what search finds of what answers questions, by category and by component."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.retrieval import Asked, Figures, Report, fit, held_out, left_out, measure, read
from em_pipelines.interfaces.cli.console import out, print_json, print_table
from em_pipelines.pipeline import Pipeline


def evaluate_retrieval(home: Pipeline, paths: list[Path], *, is_fitted: bool, as_json: bool) -> None:
    """Prints the figures; with `is_fitted` also those of weights that were fitted, and the weights."""
    if not paths:
        raise UsageError(
            "evaluating retrieval: no conversation is named; give files of LoCoMo, or logs with questions beside them"
        )
    settings, embedder = home.settings.retrieval, home.embedder
    files = [read(path, settings, embedder) for path in paths]
    questions = [question for file in files for question in file]
    report = measure(questions, settings.weights)
    fitted = _fitted(files, questions) if is_fitted else None
    if as_json:
        print_json(asdict(report) | ({"fitted": fitted} if fitted else {}))
        return
    _show(report)
    if fitted:
        out().print_json(data=fitted)


def _show(report: Report) -> None:
    rows = [_row(name, figures) for name, figures in {**report.by_category, "all": report.all}.items()]
    heads = ("category", "questions", "recall@10", "recall@5", "hit@10", "MRR", "nDCG@10")
    print_table("Retrieval", heads, rows, right=heads[1:])
    if len(report.by_kind) > 1:
        kinds = sorted(report.by_kind.items(), key=lambda one: one[1].recall_at_10)
        print_table("By kind of conversation, worst first", heads, [_row(*one) for one in kinds], right=heads[1:])
    recall = report.all.recall_at_10
    shares = [(name, f"{value:.4f}", f"{recall - value:+.4f}") for name, value in report.without.items()]
    print_table("Without a component", ("component", "recall@10", "it adds"), shares, right=("recall@10", "it adds"))


def _fitted(files: list[list[Asked]], questions: list[Asked]) -> dict[str, Any]:
    """Weights that were fitted to all questions, and their figures there; and recall on files, and on kinds of
    conversation, by weights that were fitted without them."""
    weights = fit(questions)
    report = measure(questions, weights)
    document: dict[str, Any] = {
        "weights": weights.model_dump(),
        "all": asdict(report.all),
        "by_kind": {kind: own.recall_at_10 for kind, own in report.by_kind.items()},
    }
    if len(files) > 1:
        document["held_out_recall_at_10"] = round(held_out(files), 6)
    return document | ({"left_out": left_out(questions)} if len(report.by_kind) > 1 else {})


def _row(name: str, figures: Figures) -> tuple[str, ...]:
    shares = (figures.recall_at_10, figures.recall_at_5, figures.hit_at_10, figures.mrr, figures.ndcg_at_10)
    return (name, str(figures.n_questions), *(f"{share:.4f}" for share in shares))
