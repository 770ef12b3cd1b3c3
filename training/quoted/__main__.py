"""Fits the model of quoted material (`em_pipelines.extraction.quoted_material`): `make fit-quoted`.

Each annotator_N.jsonl holds the invented messages of one annotator, a line each; quoted stretches stand between ⟦ and
⟧. What is printed is measured by annotators: each in turn is left out of the fitting.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pycrfsuite

from em_pipelines.extraction.quoted_material import GOES_ON, MODEL, OPENS, THRESHOLD, straight
from em_pipelines.extraction.quoted_pieces import Piece, marks_of, pieces_of
from em_pipelines.guard.passages import Span
from em_pipelines.language.fitted_models import marginals

HERE = Path(__file__).parent
OWN, OWN_AGAIN = "own", "own again"
"""The labels of a piece in the speaker's own voice: before any quoted material and behind some."""
SETTINGS: dict[str, float] = {
    "c1": 0.1,
    "c2": 0.4,
    "max_iterations": 150,
    "feature.minfreq": 2,
    "feature.possible_transitions": True,
}
"""Of CRFsuite: penalties on weights and their squares; chosen on annotators that were left out."""


@dataclass(frozen=True)
class Message:
    """A labelled message and the spans of what is quoted in it."""

    annotator: str
    text: str
    spans: Sequence[Span]

    def labels(self, pieces: Sequence[Piece]) -> list[str]:
        """The label of each piece: quoted where more than half of it is."""
        labels: list[str] = []
        for piece in pieces:
            n_quoted = sum(max(0, min(end, piece.end) - max(start, piece.start)) for start, end in self.spans)
            if 2 * n_quoted > piece.end - piece.start:
                labels.append(GOES_ON if labels and labels[-1] in {OPENS, GOES_ON} else OPENS)
            else:
                labels.append(OWN if set(labels) <= {OWN} else OWN_AGAIN)
        return labels


def messages() -> Iterator[Message]:
    """Those of every annotator."""
    for path in sorted(HERE.glob("annotator_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield _message(path.stem, orjson.loads(line)["text"])


def _message(annotator: str, marked: str) -> Message:
    spans, text = [], ""
    for n, stretch in enumerate(marked.replace("⟧", "⟦").split("⟦")):
        spans += [(len(text), len(text) + len(stretch))] if n % 2 else []
        text += stretch
    return Message(annotator, text, spans)


def fit(of: Sequence[Message], path: Path) -> None:
    """Writes a model of messages to a file."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    for message in of:
        pieces = pieces_of(straight(message.text))
        trainer.append(marks_of(pieces), message.labels(pieces))
    trainer.train(str(path))


def left_out(every: Sequence[Message], annotator: str) -> tuple[int, int, int]:
    """Of the pieces in the first person of one annotator, by a model of the others: how many are rightly taken for
    quoted material, how many are taken for it, and how many are it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        fit([message for message in every if message.annotator != annotator], path)
        n_right = n_taken = n_quoted = 0
        for message in (message for message in every if message.annotator == annotator):
            pieces = pieces_of(straight(message.text))
            chances = marginals(path, marks_of(pieces), (OPENS, GOES_ON))
            for piece, label, its in zip(pieces, message.labels(pieces), chances, strict=True):
                if "first" in piece.signs:
                    is_taken, is_quoted = sum(its) > THRESHOLD, label in {OPENS, GOES_ON}
                    n_right += is_taken and is_quoted
                    n_taken += is_taken
                    n_quoted += is_quoted
    return n_right, n_taken, n_quoted


def main() -> None:
    """Writes the model and prints the figures."""
    every = list(messages())
    for annotator in sorted({message.annotator for message in every}):
        n_right, n_taken, n_quoted = left_out(every, annotator)
        print(
            f"{annotator} left out: of {n_taken} pieces in the first person taken for quoted material {n_right} are, "
            f"of {n_quoted} that are {n_quoted - n_right} are missed"
        )
    fit(every, MODEL)
    print(f"{MODEL.name}: {MODEL.stat().st_size} bytes, of {len(every)} messages")


if __name__ == "__main__":
    main()
