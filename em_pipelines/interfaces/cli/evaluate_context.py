"""`em evaluate context`: how often the context block holds what answers a question."""

from dataclasses import asdict
from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.context import Held, measure
from em_pipelines.interfaces.cli.console import Defaults, print_json, print_table
from em_pipelines.pipeline import Pipeline, opener


def evaluate_context(home: Pipeline, paths: list[Path], *, as_json: bool) -> None:
    """Prints the figures over conversations; they go into homes of their own, under the settings of this one."""
    if not paths:
        raise UsageError("evaluating context: no conversation is named; give files of LoCoMo with their questions")
    report = measure(paths, opener(home.settings, open_embedder=Defaults.open_embedder))
    if as_json:
        print_json(asdict(report))
        return
    rows = [_row(name, held) for name, held in {**report.by_category, "all": report.all}.items()]
    heads = ("category", "questions", "evidence held", "of all evidence", "of its words", "of the answer", "tokens")
    print_table("Context block", heads, rows, right=heads[1:])
    if len(report.by_conversation) > 1:
        found = report.by_conversation.items()
        each = [(name, *_row(category, held)) for name, own in found for category, held in own.items()]
        print_table("By conversation", ("conversation", *heads), each, right=heads[1:])


def _row(name: str, held: Held) -> tuple[str, ...]:
    shares = (held.evidence_share, held.recall, held.words_share, held.answer_share)
    return (name, str(held.n_questions), *(f"{share:.4f}" for share in shares), f"{held.n_tokens:.0f}")
