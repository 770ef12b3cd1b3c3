"""Fits the model of standing instructions (`em_pipelines.guard.standing_instructions`): `make fit-instructions`.

Each annotator_N.jsonl holds the invented messages of one annotator, a line each: its parts, each with its text and its
label, `instruction`, `refused` or `other`. What is printed is measured by annotators: each in turn is left out of the
fitting.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pycrfsuite

from em_pipelines.guard.passages import Span, sentences
from em_pipelines.guard.standing_instructions import INSTRUCTION, LABELS, MODEL, REFUSED, THRESHOLD, marks_in
from em_pipelines.language.fitted_models import marginals

HERE = Path(__file__).parent
TALK = HERE.parent / "guard" / "talk.txt"
OTHER = "other"
ORDER = (REFUSED, INSTRUCTION, OTHER)
"""Which label a sentence has that holds parts of several."""
SETTINGS: dict[str, float] = {"c1": 0.1, "c2": 1.0, "max_iterations": 150, "feature.minfreq": 2}
"""Of CRFsuite: L1 and L2 penalties; without L1 the model is no more accurate and twice as large."""


@dataclass(frozen=True)
class Message:
    """The sentences of a labelled message, and the label of each."""

    annotator: str
    sentences: Sequence[str]
    labels: Sequence[str]


def read(path: Path) -> Iterator[Message]:
    """The messages of a file, cut as the guard cuts them: who types no full stop joins parts to one sentence, and what
    is refused makes it a refused one."""
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = orjson.loads(line)["parts"]
        text, places = "", []
        for part in parts:
            text += " " if text else ""
            places.append(((len(text), len(text) + len(part["text"])), part["label"]))
            text += part["text"]
        spans = sentences(text)
        labels = [min((label for place, label in places if _shares(span, place)), key=ORDER.index) for span in spans]
        yield Message(path.stem, [text[slice(*span)] for span in spans], labels)


def _shares(one: Span, other: Span) -> bool:
    """Whether the middle of one of two spans lies in the other."""
    return one[0] <= sum(other) // 2 <= one[1] or other[0] <= sum(one) // 2 <= other[1]


def messages() -> Iterator[Message]:
    """Those of every annotator, and plain talk, in which nobody speaks of answers."""
    for path in sorted(HERE.glob("annotator_*.jsonl")):
        yield from read(path)
    for line in TALK.read_text(encoding="utf-8").splitlines():
        cut = [line[slice(*span)] for span in sentences(line)]
        yield Message(TALK.stem, cut, [OTHER] * len(cut))


def fit(of: Sequence[Message], path: Path) -> None:
    """Writes a model of messages to a file."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    for message in of:
        trainer.append(marks_in(message.sentences), message.labels)
    trainer.train(str(path))


def taken(of: Sequence[Message], path: Path) -> dict[str, tuple[int, int, int]]:
    """By label, how many sentences of messages there are, and how many the model of a file takes for standing
    instructions and for refused ones."""
    counts = {label: [0, 0, 0] for label in (*LABELS, OTHER)}
    for message in of:
        chances = marginals(path, marks_in(message.sentences), LABELS)
        for label, its in zip(message.labels, chances, strict=True):
            counts[label] = [
                n + by for n, by in zip(counts[label], (1, *(one > THRESHOLD for one in its)), strict=True)
            ]
    return {label: (n, as_told, as_refused) for label, (n, as_told, as_refused) in counts.items()}


def main() -> None:
    """Writes the model and prints the figures."""
    every = list(messages())
    with TemporaryDirectory() as folder:
        for annotator in sorted({message.annotator for message in every}):
            path = Path(folder) / annotator
            fit([message for message in every if message.annotator != annotator], path)
            found = taken([message for message in every if message.annotator == annotator], path)
            figures = "; ".join(
                f"of {n} {label} {as_told} are taken for {INSTRUCTION}, {as_refused} for {REFUSED}"
                for label, (n, as_told, as_refused) in found.items()
            )
            print(f"{annotator} left out: {figures}")
    fit(every, MODEL)
    print(f"{MODEL.name}: {MODEL.stat().st_size} bytes, of {len(every)} messages")


if __name__ == "__main__":
    main()
