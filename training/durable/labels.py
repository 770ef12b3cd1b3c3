"""The labelled sentences beside this file, as the model reads them.

Each KIND-N.jsonl holds the conversations of one writer, a line each. A turn of a person has `sentences`, as the one
splitter cuts them, each with the labels of two labellers who knew neither the writer nor each other. Files KIND-u and
KIND-v are by writers and labellers that took no part in the others: nothing is fitted to them or chosen by them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from em_pipelines.language.sentence_labels import KINDS, Utterance, before_sentence, earlier

HERE = Path(__file__).parent
NOT_KEPT = ("talk", "task", "passing", "unreal", "quoted", "part")
LABELS = (*(f"keep {kind}" for kind in KINDS), *(f"no {reason}" for reason in NOT_KEPT))


@dataclass(frozen=True)
class Labelled:
    """A sentence, what was said before it, and its labels."""

    file: str
    text: str
    before: str
    labels: tuple[str, str]

    @property
    def is_kept(self) -> tuple[bool, bool]:
        """Whether each labeller keeps it."""
        one, other = (label.startswith("keep") for label in self.labels)
        return one, other

    @property
    def shares(self) -> list[float]:
        """Of each of LABELS, which share of the labellers gave it."""
        return [self.labels.count(label) / len(self.labels) for label in LABELS]


def sentences(path: Path) -> Iterator[Labelled]:
    """The labelled sentences of a file, in order."""
    for line in path.read_text(encoding="utf-8").splitlines():
        turns = orjson.loads(line)["turns"]
        said = [Utterance(turn["text"], turn["speaker"], turn["speaker"] == "assistant") for turn in turns]
        for place, turn in enumerate(turns):
            before, own = earlier(said, place), ""
            for sentence in turn.get("sentences", ()):
                one, other = sentence["labels"]
                yield Labelled(path.stem, sentence["text"], before_sentence(before, own), (one, other))
                own = f"{own} {sentence['text']}"


def kappa(pairs: list[tuple[bool, bool]]) -> float:
    """Agreement beyond chance of two labellers (Cohen, 1960)."""
    n_pairs = len(pairs)
    observed = sum(one == other for one, other in pairs) / n_pairs
    one, other = (sum(pair[place] for pair in pairs) / n_pairs for place in (0, 1))
    expected = one * other + (1 - one) * (1 - other)
    return (observed - expected) / (1 - expected)
