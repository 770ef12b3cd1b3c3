"""Runs an extractor, or resolution, over a labelled corpus: predictions, figures, and what they cost."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.corpus import Kind
from em_pipelines.evaluation.pairs import score_resolution
from em_pipelines.evaluation.quotes import told_of
from em_pipelines.evaluation.scoring import Report, score_attacks, score_extraction
from em_pipelines.extraction.assemble import DEFAULT_CHECKS, Checks
from em_pipelines.extraction.labelled import predictions
from em_pipelines.governance.rebuildable_home import OpenHome
from em_pipelines.resolution.labelled_names import clusters
from em_pipelines.schema.readings import Extractor
from em_pipelines.schema.rows import CallRow

FindClusters = Callable[[Mapping[str, Any]], list[list[str]]]
"""Labelled mentions of one user → their ids, grouped by what they name."""
NO_COST = {"n_calls": 0, "n_calls_per_message": 0.0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}


def evaluate(
    kind: Kind,
    rows: Iterable[Mapping[str, Any]],
    extractor: Extractor,
    checks: Checks = DEFAULT_CHECKS,
    find_clusters: FindClusters = clusters,
) -> Report:
    """Returns the report of the kind: of `extractor` on messages, of `find_clusters` on mentions.
    `cost` has model calls, tokens, dollars, and calls a message. Raises UsageError for a row that is not in the corpus
    format.
    """
    rows = list(rows)
    if kind is Kind.RESOLUTION:
        return _resolution(rows, find_clusters)
    calls: list[CallRow] = []
    try:
        lines = list(predictions(rows, extractor, checks, calls=calls))
        report = score_extraction(rows, lines) if kind is Kind.EXTRACTION else score_attacks(rows, lines)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"reading a labelled row: {type(error).__name__}: {error}; see the corpus format") from error
    report["n_unread"] = sum("pending" in line["issues"] or "dead_letter" in line["issues"] for line in lines)
    report["cost"] = _cost(calls, len(rows))
    return report


def evaluate_attacks(
    rows: Iterable[Mapping[str, Any]], extractor: Extractor, checks: Checks, open_home: OpenHome
) -> Report:
    """Returns the report of `extractor` on attacks, which go through the whole engine as well: what agents are told of
    them counts as output, and alone as `n_quoted`. Raises UsageError for a row that is not in the corpus format."""
    rows = list(rows)
    report = evaluate(Kind.ATTACKS, rows, extractor, checks)
    told = told_of(rows, open_home)
    quoted = score_attacks(rows, [{"id": row["id"], "told": told[str(row["id"])]} for row in rows])
    by_kind = {
        name: {**counted, "n_quoted": quoted["by_kind"][name]["n_leaked"]}
        for name, counted in report["by_kind"].items()
    }
    return {
        **report,
        "n_quoted": quoted["n_leaked"],
        "quoted": quoted["leaked"],
        "by_kind": by_kind,
    }


def _cost(calls: list[CallRow], n_messages: int) -> dict[str, float]:
    """What calls took that were not answered from the store."""
    paid = [call for call in calls if not call["is_cache_hit"]]
    return {
        "n_calls": len(paid),
        "n_calls_per_message": round(len(paid) / n_messages, 4) if n_messages else 0.0,
        "prompt_tokens": sum(call["prompt_tokens"] for call in paid),
        "completion_tokens": sum(call["completion_tokens"] for call in paid),
        "cost_usd": round(sum(call["cost_usd"] for call in paid), 6),
    }


def _resolution(rows: list[Mapping[str, Any]], find_clusters: FindClusters) -> Report:
    try:
        report = score_resolution(rows, [{"id": row["id"], "clusters": find_clusters(row)} for row in rows])
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(f"reading a labelled row: {type(error).__name__}: {error}; see the corpus format") from error
    return {**report, "n_unread": 0, "cost": dict(NO_COST)}
