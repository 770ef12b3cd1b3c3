"""Fits the weights of the guard (`SentenceWeights`) to the sentences beside this file, and chooses those that homes
with an embedder fit to in their turn (`OrderExamples`): `make fit-guard`.

attacks.jsonl holds messages of parts, each with whether it belongs to the attack; near.jsonl ordinary sentences in an
attack's words; talk.txt a sentence of plain talk a line; unquoted.yaml has examples of both. In assistant.txt are
sentences of people and assistants in talk with each other, for meanings alone. All are invented. What is printed is
measured by hands: each in turn is left out of the fitting, for sentences of one hand resemble each other.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from em_pipelines.text.guard.order_kernel import OrderExamples
from em_pipelines.text.guard.passages import folded, sentences
from em_pipelines.text.guard.sensitive import MIN_WORDS, cue_book, marks_of
from training.weights import Vector, fitted, unseen, write

HERE = Path(__file__).parent
GUARD = HERE.parents[1] / "em_pipelines" / "text" / "guard"
WEIGHTS, EXAMPLES = GUARD / "unquoted_weights.parquet", GUARD / "order_examples.txt"
TALK_LEFT_OUT = 0.003
"""Of a thousand sentences of plain talk that were not fitted to, three may be told: that sets the threshold. What is
told is not indexed, so search pays for each."""
RULED_LEFT_OUT = 0.02
"""Of a hundred sentences of attacks that rules tell, by hands that were not fitted to, two may be cleared: that sets
what a sentence has to score for a rule to count that is not certain."""
N_FOLDS = 5
N_ORDINARY, N_MEASURED = 2_000, 1_000
"""Ordinary sentences, half of them near to attacks, beside those of assistant.txt; and sentences of plain talk that the
threshold is set by, for homes with an embedder. All of them would cost a home three times as many vectors; with 4,000
or 8,000 no more is told."""


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


def examples(of: Sequence[Sentence], scores: np.ndarray) -> OrderExamples:
    """What homes with an embedder fit to: every sentence of an attack, and others spread over the rest. `scores` are
    those of `of` by weights that were fitted without them."""
    known = {one.text: float(score) for one, score in zip(of, scores, strict=True)}
    long = [one for one in of if folded(one.text).count(" ") >= MIN_WORDS - 1]  # nobody is asked about others
    attacks = dict.fromkeys(one.text for one in long if one.is_attack)
    near = [one.text for one in long if one.hand != "talk" and one.text not in attacks]
    besides = {*attacks, *near}
    talk = [one.text for one in long if one.hand == "talk" and one.text not in besides]
    measured = _spread(talk, N_MEASURED)
    others = sorted(set(talk) - set(measured))
    ordinary = dict.fromkeys([*_spread(near, N_ORDINARY // 2), *_spread(others, N_ORDINARY // 2), *_with_assistants()])
    return OrderExamples(
        attacks=tuple(attacks),
        ordinary=tuple(text for text in ordinary if text not in attacks and text not in measured),
        measured={text: round(known[text], 3) for text in measured},
    )


def _with_assistants() -> Iterator[str]:
    for line in (HERE / "assistant.txt").read_text(encoding="utf-8").splitlines():
        text = line.strip().rstrip(".!?")
        if folded(text).count(" ") >= MIN_WORDS - 1:
            yield text


def _spread(texts: Sequence[str], n: int) -> list[str]:
    """n different texts, evenly spaced."""
    every = list(dict.fromkeys(texts))
    return [every[len(every) * place // n] for place in range(n)] if len(every) > n else every


def scores_of_others(of: Sequence[Sentence]) -> np.ndarray:
    """The log-odds of each sentence by weights that were fitted without its hand, of plain talk without a fifth."""
    groups = [f"talk {place % N_FOLDS}" if one.hand == "talk" else one.hand for place, one in enumerate(of)]
    return unseen([one.vector for one in of], [one.is_attack for one in of], groups)


def main() -> None:
    """Fit, say how sentences of a hand are told that was left out, and write both files."""
    of = labelled()
    vectors, hands = [one.vector for one in of], np.array([one.hand for one in of])
    is_attack, scores = np.array([one.is_attack for one in of]), scores_of_others(of)
    threshold = float(np.quantile(scores[hands == "talk"], 1 - TALK_LEFT_OUT))
    least = float(np.quantile(scores[is_attack & np.array([one.is_ruled for one in of])], RULED_LEFT_OUT))
    is_told = scores >= threshold
    for hand in sorted(set(hands)):
        of_attacks, ordinary = is_told[(hands == hand) & is_attack], is_told[(hands == hand) & ~is_attack]
        print(f"{hand}: {of_attacks.sum()} of {of_attacks.size} of attacks, {ordinary.sum()} of {ordinary.size} others")
    n_kept = write(WEIGHTS, fitted(vectors, is_attack.tolist()), threshold=threshold, least=least)
    print(f"{len(of)} sentences, {n_kept} weights, threshold {threshold:.2f}, least {least:.2f}")
    chosen = examples(of, scores)
    EXAMPLES.write_text(chosen.lines(), encoding="utf-8")
    print(f"{len(chosen.texts)} examples for homes with an embedder")


if __name__ == "__main__":
    main()
