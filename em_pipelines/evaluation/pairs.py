"""Figures of resolution over labelled mentions: which pairs of them were rightly taken for one thing.

Pairwise precision, recall and F1 count every pair of a user's mentions; B³ (Bagga and Baldwin, 1998) averages over
mentions, so that one large group does not decide all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

Row = Mapping[str, Any]


def score_resolution(rows: Iterable[Row], predictions: Iterable[Row]) -> dict[str, Any]:
    """Returns pairwise precision, recall and F1, B³ F1, and the users of whom a pair was misjudged.

    A mention that no predicted group holds is alone.
    """
    by_id = {line["id"]: line["clusters"] for line in predictions}
    total: Counter[str] = Counter()
    precision = recall = 0.0
    misjudged: dict[str, dict[str, int]] = {}
    for row in rows:
        gold, found = _groups(row, row["clusters"]), _groups(row, by_id.get(row["id"], ()))
        counted = _pairs(gold, found)
        total.update(counted)
        total["mentions"] += len(gold)
        if counted["wrong"] or counted["missed"]:
            misjudged[row["id"]] = {"n_wrong": counted["wrong"], "n_missed": counted["missed"]}
        precision += sum(len(gold[m] & found[m]) / len(found[m]) for m in gold)
        recall += sum(len(gold[m] & found[m]) / len(gold[m]) for m in gold)
    n = total["mentions"]
    return {
        "pairwise": _rates(total["hit"], total["wrong"], total["missed"]),
        "b_cubed_f1": _f1(precision / n, recall / n) if n else None,
        "n_mentions": n,
        "n_users": len(by_id),
        "misjudged": misjudged,
    }


def _groups(row: Row, clusters: Iterable[list[str]]) -> dict[str, frozenset[str]]:
    """The group of each mention of a user."""
    found = {mention: frozenset(cluster) for cluster in clusters for mention in cluster}
    return {m["mention_id"]: found.get(m["mention_id"], frozenset([m["mention_id"]])) for m in row["mentions"]}


def _pairs(gold: dict[str, frozenset[str]], found: dict[str, frozenset[str]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for one, other in combinations(gold, 2):
        is_one, is_found = other in gold[one], other in found[one]
        if is_one or is_found:
            counted["hit" if is_one and is_found else "missed" if is_one else "wrong"] += 1
    return counted


def _rates(hit: int, wrong: int, missed: int) -> dict[str, float]:
    precision = hit / (hit + wrong) if hit + wrong else 1.0
    recall = hit / (hit + missed) if hit + missed else 1.0
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": _f1(precision, recall)}


def _f1(precision: float, recall: float) -> float:
    return round(2 * precision * recall / (precision + recall), 4) if precision + recall else 0.0
