"""Fits the weights that tell lessons from answers and accidents to the patterns beside this file: `make fit-lessons`.

failures.jsonl holds failures that recur: a tool, a category, messages, and whether a line in a handbook would help (a
`lesson`), whether that is the tool's honest answer (an `outcome`) or trouble that comes and goes (a `mishap`);
slow.jsonl slow calls alike, of which some are `waiting` that was meant or more `work`. All are invented. What is
printed is measured by hands: each in turn is left out of the fitting.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from em_pipelines.language.fitted_models import marks_of
from em_pipelines.lifecycle.consolidation.doubts import SLOW_WEIGHTS, WEIGHTS, said_of
from training.weights import Vector, fitted, unseen, write

HERE = Path(__file__).parent
LESSONS_LEFT_OUT = {"failures": 0.08, "slow": 0.05}
"""The share of lessons by hands that were not fitted to that may be doubted: that sets the bound. Doubted is not lost:
somebody looks first. Chosen on four invented telemetries."""


def patterns_of(file: str) -> list[dict[str, Any]]:
    """The lines of a file beside this one."""
    return [json.loads(line) for line in (HERE / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()]


def vectors_of(patterns: Sequence[Mapping[str, Any]], name: str) -> list[Vector]:
    """What each pattern is told by; `name` is the key of what is read before its messages."""
    return [_vector(one[name], one["messages"]) for one in patterns]


def _vector(name: str, messages: list[str]) -> Vector:
    """The mean of the marks of its messages, each over the square root of how many there are."""
    found = Counter[str]()
    for message in messages:
        marks = sorted(marks_of(said_of(name, message)))
        found.update(dict.fromkeys(marks, len(marks) ** -0.5 / len(messages)))
    return found


def main() -> None:
    """Fit, say how patterns of a hand are told that was left out, and write the files."""
    _fit("failures", "category", WEIGHTS)
    _fit("slow", "skill", SLOW_WEIGHTS)


def _fit(file: str, name: str, weights: Path) -> None:
    patterns = patterns_of(file)
    vectors = vectors_of(patterns, name)
    is_lesson, hands = [one["kind"] == "lesson" for one in patterns], [one["hand"] for one in patterns]
    scores, kinds = unseen(vectors, is_lesson, hands), np.array([one["kind"] for one in patterns])
    least = float(np.quantile(scores[is_lesson], LESSONS_LEFT_OUT[file]))
    for hand in sorted(set(hands)):
        own = np.array(hands) == hand
        doubted = {kind: f"{(scores[own & (kinds == kind)] < least).mean():.0%}" for kind in sorted(set(kinds))}
        print(f"{file} of {hand}: doubted {', '.join(f'{kind} {share}' for kind, share in doubted.items())}")
    n_kept = write(weights, fitted(vectors, is_lesson), threshold=0.0, least=least)
    print(f"{len(patterns)} patterns, {n_kept} weights, least {least:.2f}")


if __name__ == "__main__":
    main()
