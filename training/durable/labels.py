"""The labelled sentences beside this file, as the model reads them.

Beside them stand orders to whoever reads, and sentences that come near (training/guard, training/instructions).

Each KIND-N.jsonl holds the conversations of one writer, a line each. A turn of a person has `sentences`, as the one
splitter cuts them, each with the labels of two labellers who knew neither the writer nor each other. Files KIND-u,
KIND-v and KIND-w are by writers and labellers that took no part in the others: nothing is fitted to them or chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.language.sentence_labels import KINDS, Utterance, before_sentence, earlier
from em_pipelines.language.sentences import sentences as cut

HERE = Path(__file__).parent
GUARD, INSTRUCTIONS = HERE.with_name("guard"), HERE.with_name("instructions")
NOT_KEPT = ("talk", "task", "passing", "unreal", "quoted", "part")
TALK = "talk"
"""Who wrote the plain talk of training/guard, as far as `Labelled.file` tells."""
Part = tuple[str, str, bool]
"""Who wrote it, a text, and whether it is an order."""
LABELS = (*(f"keep {kind}" for kind in KINDS), *(f"no {reason}" for reason in NOT_KEPT))


@dataclass(frozen=True)
class Labelled:
    """A sentence, what was said before it, and its labels: two, or none where nobody was asked. `is_order`: whether it
    tells whoever reads what to do or believe, as attacks do; what people wish of answers, or of work, is none."""

    file: str
    text: str
    before: str
    labels: tuple[str, ...]
    is_order: bool

    @property
    def is_kept(self) -> tuple[bool, bool]:
        """Whether each labeller keeps it."""
        one, other = (label.startswith("keep") for label in self.labels)
        return one, other

    @property
    def targets(self) -> list[float]:
        """Of each of LABELS, which share of the labellers gave it; then 1 for an order, and 1 for none."""
        shares = [self.labels.count(label) / max(len(self.labels), 1) for label in LABELS]
        return [*shares, float(self.is_order), float(not self.is_order)]


def sentences(path: Path) -> Iterator[Labelled]:
    """The labelled sentences of a file, in order."""
    for line in path.read_text(encoding="utf-8").splitlines():
        turns = orjson.loads(line)["turns"]
        said = [Utterance(turn["text"], turn["speaker"], turn["speaker"] == "assistant") for turn in turns]
        for place, turn in enumerate(turns):
            before, own = earlier(said, place), ""
            for sentence in turn.get("sentences", ()):
                labels = tuple(sentence["labels"])
                yield Labelled(path.stem, sentence["text"], before_sentence(before, own), labels, is_order=False)
                own = f"{own} {sentence['text']}"


def orders() -> list[Labelled]:
    """Sentences of attacks, of what comes near to them, and of plain talk (TALK), each once; `file` is who wrote it."""
    parts = [*_parts_of_attacks(), *_parts_with_instructions()]
    parts += [(TALK, line, False) for line in (GUARD / "talk.txt").read_text(encoding="utf-8").splitlines()]
    of = [Labelled(by, text[a:b].strip(), "", (), is_order) for by, text, is_order in parts for a, b in cut(text)]
    return list({one.text: one for one in of if one.text}.values())


def _parts_of_attacks() -> Iterator[Part]:
    for name in ("near.jsonl", "attacks.jsonl"):
        for message in _lines(GUARD / name):
            for part in message["parts"]:
                yield message["hand"], part["text"], part.get("attack", False)


def _parts_with_instructions() -> Iterator[Part]:
    for path in sorted(INSTRUCTIONS.glob("*.jsonl")):
        for message in _lines(path):
            for part in message["parts"]:
                yield path.stem, part["text"], part["label"] == "refused"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(orjson.loads, path.read_text(encoding="utf-8").splitlines())


def kappa(pairs: list[tuple[bool, bool]]) -> float:
    """Agreement beyond chance of two labellers (Cohen, 1960)."""
    n_pairs = len(pairs)
    observed = sum(one == other for one, other in pairs) / n_pairs
    one, other = (sum(pair[place] for pair in pairs) / n_pairs for place in (0, 1))
    expected = one * other + (1 - one) * (1 - other)
    return (observed - expected) / (1 - expected)
