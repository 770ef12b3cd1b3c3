"""Runs an extractor over a labelled corpus: predictions, figures, and what they cost."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.scoring import Report, score_attacks, score_extraction
from em_pipelines.extraction.assemble import DEFAULT_CHECKS, Checks
from em_pipelines.extraction.gold import predictions
from em_pipelines.extraction.model import Extractor


class Kind(StrEnum):
    """Kinds of corpora that an extractor is measured on."""

    EXTRACTION = "extraction"
    ATTACKS = "attacks"

    @property
    def label(self) -> str:
        """The key that every row of such a corpus has."""
        return "gold" if self is Kind.EXTRACTION else "kind"


def evaluate(
    kind: Kind,
    rows: Iterable[Mapping[str, Any]],
    extractor: Extractor,
    checks: Checks = DEFAULT_CHECKS,
) -> Report:
    """Returns the report of the kind, with `cost`: model calls, tokens, dollars, and calls a message.

    Raises UsageError for a row that is not in the corpus format.
    """
    rows = list(rows)
    calls: list[dict[str, Any]] = []
    try:
        lines = list(predictions(rows, extractor, checks, calls=calls))
        report = score_extraction(rows, lines) if kind is Kind.EXTRACTION else score_attacks(rows, lines)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"reading a labelled row: {type(error).__name__}: {error}; see the corpus format") from error
    n_unread = sum("pending" in line["issues"] or "dead_letter" in line["issues"] for line in lines)
    paid = [call for call in calls if not call["is_cache_hit"]]
    report["n_unread"] = n_unread
    report["cost"] = {
        "n_calls": len(paid),
        "n_calls_per_message": round(len(paid) / len(rows), 4) if rows else 0.0,
        "prompt_tokens": sum(call["prompt_tokens"] for call in paid),
        "completion_tokens": sum(call["completion_tokens"] for call in paid),
        "cost_usd": round(sum(call["cost_usd"] for call in paid), 6),
    }
    return report
