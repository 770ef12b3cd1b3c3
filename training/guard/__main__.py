"""Fits the weights of the guard (`SentenceWeights`) to the sentences beside this file: `make fit-guard`.

attacks.jsonl holds messages of parts, each with whether it belongs to the attack; near.jsonl ordinary sentences in an
attack's words; talk.txt a sentence of plain talk a line; unquoted.yaml has examples of both. All are invented. What is
printed is measured by hands: each in turn is left out of the fitting, for sentences of one hand resemble each other.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from em_pipelines.text.guard.passages import folded, sentences
from em_pipelines.text.guard.sensitive import cue_book, marks_of
from training.weights import Vector, fitted, unseen, write

HERE = Path(__file__).parent
WEIGHTS = HERE.parents[1] / "em_pipelines" / "text" / "guard" / "unquoted_weights.json"
TALK_LEFT_OUT = 0.003
"""Of a thousand sentences of plain talk that were not fitted to, three may be told: that sets the threshold. What is
told is not indexed, so search pays for each."""
RULED_LEFT_OUT = 0.02
"""Of a hundred sentences of attacks that rules tell, by hands that were not fitted to, two may be cleared: that sets
what a sentence has to score for a rule to count that is not certain."""
N_FOLDS = 5


@dataclass(frozen=True)
class Sentence:
    """One sentence, who wrote it, and whether it belongs to an attack."""

    text: str
    hand: str
    is_attack: bool

    @property
    def vector(self) -> Vector:
        """Its marks, in a fixed order, each over the square root of how many there are."""
        marks = sorted(marks_of(folded(self.text)))
        return dict.fromkeys(marks, max(len(marks), 1) ** -0.5)

    @property
    def is_ruled(self) -> bool:
        """Whether a rule tells it that is not certain."""
        book = cue_book("unquoted")
        return book.rule_of(folded(self.text)) not in {None, *book.certain}


def labelled() -> list[Sentence]:
    """Every sentence of the files, once."""
    return list(dict.fromkeys(sentence for sentence in _read() if sentence.text))


def _read() -> Iterator[Sentence]:
    for name in ("attacks.jsonl", "near.jsonl"):
        for line in (HERE / name).read_text(encoding="utf-8").splitlines():
            message = json.loads(line)
            for part in message["parts"]:
                for start, end in sentences(part["text"]):
                    yield Sentence(part["text"][start:end].strip(), message["hand"], part.get("attack", False))
    for rule in cue_book("unquoted").rules:
        for text in (*rule.examples, *rule.counter_examples):
            yield Sentence(text, "rules", text in rule.examples)
    for line in (HERE / "talk.txt").read_text(encoding="utf-8").splitlines():
        for start, end in sentences(line):
            yield Sentence(line[start:end].strip(), "talk", False)


def main() -> None:
    """Fit, say how sentences of a hand are told that was left out, and write the file."""
    of = labelled()
    vectors, hands = [one.vector for one in of], np.array([one.hand for one in of])
    is_attack = np.array([one.is_attack for one in of])
    groups = [f"talk {place % N_FOLDS}" if one.hand == "talk" else one.hand for place, one in enumerate(of)]
    scores = unseen(vectors, is_attack.tolist(), groups)
    threshold = float(np.quantile(scores[hands == "talk"], 1 - TALK_LEFT_OUT))
    least = float(np.quantile(scores[is_attack & np.array([one.is_ruled for one in of])], RULED_LEFT_OUT))
    is_told = scores >= threshold
    for hand in sorted(set(hands)):
        of_attacks, ordinary = is_told[(hands == hand) & is_attack], is_told[(hands == hand) & ~is_attack]
        print(f"{hand}: {of_attacks.sum()} of {of_attacks.size} of attacks, {ordinary.sum()} of {ordinary.size} others")
    n_kept = write(WEIGHTS, fitted(vectors, is_attack.tolist()), threshold=threshold, least=least)
    print(f"{len(of)} sentences, {n_kept} weights, threshold {threshold:.2f}, least {least:.2f}")


if __name__ == "__main__":
    main()
