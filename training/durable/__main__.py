"""Counts the labelled sentences, and how far their two labellers agree: `.venv/bin/python -m training.durable`.

Each KIND-N.jsonl holds the conversations of one writer, a line each. A turn of a person has `sentences`, as the one
splitter cuts them, each with the labels of two labellers who knew neither the writer nor each other. Files KIND-u and
KIND-v are by writers and labellers that took no part in the others: nothing is fitted to them or chosen by them.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

HERE = Path(__file__).parent
KEPT = ("instruction", "decision", "plan", "event", "state", "relationship", "preference", "fact")
NOT_KEPT = ("talk", "task", "passing", "unreal", "quoted", "part")
LABELS = frozenset((*(f"keep {kind}" for kind in KEPT), *(f"no {reason}" for reason in NOT_KEPT)))


@dataclass(frozen=True)
class Labelled:
    """A sentence, the turn before it in the conversation, and its labels."""

    file: str
    text: str
    before: str
    labels: tuple[str, str]

    @property
    def is_kept(self) -> tuple[bool, bool]:
        """Whether each labeller keeps it."""
        one, other = (label.startswith("keep") for label in self.labels)
        return one, other


def sentences(path: Path) -> Iterator[Labelled]:
    """The labelled sentences of a file, in order."""
    for line in path.read_text(encoding="utf-8").splitlines():
        before = ""
        for turn in orjson.loads(line)["turns"]:
            for sentence in turn.get("sentences", ()):
                one, other = sentence["labels"]
                yield Labelled(path.stem, sentence["text"], before, (one, other))
            before = turn["text"]


def kappa(pairs: list[tuple[bool, bool]]) -> float:
    """Agreement beyond chance of two labellers (Cohen, 1960)."""
    n_pairs = len(pairs)
    observed = sum(one == other for one, other in pairs) / n_pairs
    one, other = (sum(pair[place] for pair in pairs) / n_pairs for place in (0, 1))
    expected = one * other + (1 - one) * (1 - other)
    return (observed - expected) / (1 - expected)


def main() -> None:
    """Print the counts and the agreement of each file."""
    for path in sorted(HERE.glob("*.jsonl")):
        of = list(sentences(path))
        both = [one for one in of if all(one.is_kept)]
        kinds = Counter(one.labels[0].removeprefix("keep ") for one in both)
        alike = sum(one.labels[0] == one.labels[1] for one in both)
        agreement = f"kappa {kappa([one.is_kept for one in of]):.2f}, the same kind {alike / len(both):.2f}"
        counted = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        print(f"{path.stem}: {len(of)} sentences, {len(both)} kept by both, {agreement}; {counted}")


if __name__ == "__main__":
    main()
