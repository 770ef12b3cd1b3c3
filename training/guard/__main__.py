"""Fits `SentenceWeights` to the sentences beside this file: `make fit-guard`.

attacks.jsonl holds messages of parts, each with whether it belongs to the attack; near.jsonl ordinary sentences in an
attack's words; talk.txt a sentence of plain talk a line; unquoted.yaml has examples of both. All are invented. What is
printed is measured by hands: each in turn is left out of the fitting, for sentences of one hand resemble each other.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from em_pipelines.text.guard.passages import folded, sentences
from em_pipelines.text.guard.sensitive import cue_book, marks_of

HERE = Path(__file__).parent
WEIGHTS = HERE.parents[1] / "em_pipelines" / "text" / "guard" / "unquoted_weights.json"
STRENGTH = 30.0
"""Inverse of the penalty on large weights: C of scikit-learn. 10 tells as much of a hand that was left out."""
TALK_LEFT_OUT = 0.001
"""Of a thousand sentences of plain talk that were not fitted to, one may be told: that sets the threshold. What is told
is not indexed: with two, recall@10 with vectors falls by 0.006, with ten, that of words by 0.01."""
MIN_WEIGHT = 6
"""Smaller weights, of hundredths, are left out: most of the file, and no score that matters moves by them."""
N_FOLDS = 5


@dataclass(frozen=True)
class Sentence:
    """One sentence, who wrote it, and whether it belongs to an attack."""

    text: str
    hand: str
    is_attack: bool

    @property
    def marks(self) -> list[str]:
        """Those of it, in a fixed order."""
        return sorted(marks_of(folded(self.text)))


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


def fitted(of: list[Sentence]) -> dict[str, float]:
    """The weight of each mark, and the bias under the empty one."""
    places: dict[str, int] = {}
    for sentence in of:
        for mark in sentence.marks:
            places.setdefault(mark, len(places))
    model = LogisticRegression(C=STRENGTH, class_weight="balanced", solver="liblinear", max_iter=500, random_state=0)
    model.fit(_matrix(of, places), [sentence.is_attack for sentence in of])
    weights = dict(zip(places, map(float, model.coef_[0]), strict=True))
    return {**weights, "": float(model.intercept_[0])}


def _matrix(of: list[Sentence], places: dict[str, int]) -> csr_matrix:
    rows, columns, values = [], [], []
    for row, sentence in enumerate(of):
        known = [places[mark] for mark in sentence.marks if mark in places]
        rows += [row] * len(known)
        columns += known
        values += [len(sentence.marks) ** -0.5] * len(known)
    return csr_matrix((values, (rows, columns)), shape=(len(of), len(places)))


def score(sentence: Sentence, weights: dict[str, float]) -> float:
    """The log-odds that a sentence is an attack's."""
    marks = sentence.marks
    return weights[""] + sum(weights.get(mark, 0.0) for mark in marks) / max(len(marks), 1) ** 0.5


def unseen(of: list[Sentence]) -> np.ndarray:
    """The score of each sentence by weights that were fitted without its hand; of talk, without a fifth of it."""
    groups = [f"talk {place % N_FOLDS}" if one.hand == "talk" else one.hand for place, one in enumerate(of)]
    scores = np.zeros(len(of))
    for group in sorted(set(groups)):
        weights = fitted([one for one, its in zip(of, groups, strict=True) if its != group])
        for place in (place for place, its in enumerate(groups) if its == group):
            scores[place] = score(of[place], weights)
    return scores


def main() -> None:
    """Fit, say how sentences of a hand are told that was left out, and write the file."""
    of = labelled()
    scores, hands = unseen(of), np.array([sentence.hand for sentence in of])
    is_attack = np.array([sentence.is_attack for sentence in of])
    threshold = float(np.quantile(scores[hands == "talk"], 1 - TALK_LEFT_OUT))
    is_told = scores >= threshold
    for hand in sorted(set(hands)):
        of_attacks, ordinary = is_told[(hands == hand) & is_attack], is_told[(hands == hand) & ~is_attack]
        print(f"{hand}: {of_attacks.sum()} of {of_attacks.size} of attacks, {ordinary.sum()} of {ordinary.size} others")
    weights = fitted(of)
    bias = weights.pop("")
    kept = {mark: round(one * 100) for mark, one in sorted(weights.items()) if abs(one * 100) >= MIN_WEIGHT}
    written = {"bias": round(bias, 4), "threshold": round(threshold, 4), "weights": kept}
    WEIGHTS.write_text(json.dumps(written, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{len(of)} sentences, {len(kept)} of {len(weights)} weights, threshold {threshold:.2f}")


if __name__ == "__main__":
    main()
