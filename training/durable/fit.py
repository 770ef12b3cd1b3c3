"""Fits the model of sentences that are worth keeping, and writes it as ONNX: `make fit-durable`, an hour on two cores.

MiniLM is fine-tuned on the labels of the conversations here and on orders. Left out are files KIND-3 and KIND-8, on
which its probabilities are calibrated (Platt, 1999) and the threshold is set; HELD_HANDS and plain talk, by which
orders are measured and their threshold is set; and KIND-u, KIND-v and KIND-w, of which figures are printed when asked
for (`--unread`). The same bytes on the same kind of processor.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import optax
import yaml
from onnxruntime.quantization import QuantType, quantize_dynamic
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer

from em_pipelines.language.sentence_labels import (
    FITTED,
    KINDS,
    MODEL,
    N_MARKS,
    WORDS,
    SentenceModel,
    digest_of,
    encoded,
    marks_of,
)
from training.durable.labels import HERE, LABELS, TALK, Labelled, orders, sentences
from training.durable.network import N_READ, Weights, onnx_model, padded, pretrained, scores
from training.shared_words import share_words

CALIBRATED_ON, UNREAD = ("3", "8"), ("u", "v", "w")
HELD_HANDS = (TALK, "c", "g", "k", "near-t", "near-w", "annotator_4", "annotator_9")
TALK_TAKEN = 0.003
"""Of a thousand sentences of plain talk three may be taken for orders. What is told is not indexed, so search pays for
each."""
N_EPOCHS, BATCH, RATE, WARM_UP, DECAY = 2, 32, 1e-4, 0.06, 0.01
LENGTHS = (24, 40, 64, 96, 128)
"""Sentences are padded to the next of these, so that few shapes are compiled."""
MIN_PRECISION = 0.85
"""Of what is kept, on conversations that were not fitted to: sets the threshold."""
ALONE = 0.25
"""Share of the sentences that are read without what was said before, another one in each epoch: else what opens a
conversation, of which there is little, is taken for worth nothing."""
GATE_STRENGTH, GATE_RECALL = 0.1, 0.99
"""Inverse of the penalty on weights of words, and how many of the sentences that the network keeps they let pass."""
SHARE_OF_LABELS = 0.5
"""Of the loss that tells kinds and reasons apart, beside that which tells what is worth keeping."""

Row = tuple[list[int], int]
Batch = tuple[list[int], Any, Any, Any]


def is_of(path: Path, writers: Sequence[str]) -> bool:
    """Whether a file is by one of these writers."""
    return path.stem.rpartition("-")[2] in writers


def batches(rows: Sequence[Row], targets: Any, chance: random.Random | None = None) -> Iterator[Batch]:
    """Places, token ids, types and targets of sentences of like length; in random order where there is chance."""
    order = list(range(len(rows)))
    if chance is not None:
        chance.shuffle(order)
    pools: dict[int, list[int]] = {length: [] for length in LENGTHS}
    full: list[tuple[int, list[int]]] = []
    for place in order:
        length = next(length for length in LENGTHS if len(rows[place][0]) <= length)
        pools[length].append(place)
        if len(pools[length]) == BATCH:
            full.append((length, pools[length]))
            pools[length] = []
    full += [(length, places) for length, places in pools.items() if places]
    if chance is not None:
        chance.shuffle(full)
    for length, places in full:
        filled = [*places, *[places[0]] * (BATCH - len(places))]
        ids, types = padded([rows[place] for place in filled], length)
        weights = np.arange(BATCH) < len(places)
        yield places, ids, types, targets[filled] * weights[:, None].astype(np.float32)


def loss(fitted: Weights, frozen: Weights, batch: tuple[Any, Any, Any], key: Any) -> Any:
    """Cross entropy of worth keeping or not, of the label, and of an order or none; targets are `Labelled.targets`.
    Zeros count nothing."""
    ids, types, targets = batch
    found = scores({**frozen, **fitted}, ids, types, key)
    logs, order = jax.nn.log_softmax(found[:, :-1]), found[:, -1]
    shares, of_order = targets[:, : len(LABELS)], targets[:, len(LABELS) :]
    kept = shares[:, : len(KINDS)].sum(-1)
    other = shares.sum(-1) - kept
    log_kept, log_other = (jax.nn.logsumexp(part, -1) for part in (logs[:, : len(KINDS)], logs[:, len(KINDS) :]))
    each = -(kept * log_kept + other * log_other) - SHARE_OF_LABELS * (shares * logs).sum(-1)
    each -= (of_order * jax.nn.log_sigmoid(jnp.stack([order, -order], -1))).sum(-1)
    return each.sum() / BATCH


def fit(rows: Sequence[Row], targets: Any, weights: Weights) -> Weights:
    """The weights after fine-tuning. Embeddings of words and places stay as they are: most words are not seen here."""
    frozen = {name: jnp.asarray(weights[name]) for name in ("words", "places")}
    n_scores = len(LABELS) + 1
    head = np.random.default_rng(0).normal(size=(N_READ, n_scores)) * 0.02
    fitted = {name: value for name, value in weights.items() if name not in frozen}
    fitted |= {"head": head.astype(np.float32), "head_bias": np.zeros(n_scores, np.float32)}
    n_steps = N_EPOCHS * (len(rows) // BATCH + len(LENGTHS))
    rate = optax.warmup_cosine_decay_schedule(0, RATE, int(WARM_UP * n_steps), n_steps, RATE / 50)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, b2=0.98, weight_decay=DECAY))

    @jax.jit
    def step(fitted: Weights, state: Any, batch: Any, key: Any) -> tuple[Weights, Any]:
        slopes = jax.grad(loss)(fitted, frozen, batch, key)
        updates, state = optimizer.update(slopes, state, fitted)
        return optax.apply_updates(fitted, updates), state

    state, key, chance, n = optimizer.init(fitted), jax.random.key(1), random.Random(0), 0
    for epoch in range(N_EPOCHS):
        seen = [(tokens[:n_own], n_own) if chance.random() < ALONE else (tokens, n_own) for tokens, n_own in rows]
        for _, *batch in batches(seen, targets, chance):
            fitted, state = step(fitted, state, tuple(batch), jax.random.fold_in(key, n))
            n += 1
        print(f"epoch {epoch + 1} of {N_EPOCHS}", flush=True)
    return {**weights, **jax.tree.map(np.asarray, fitted)}


def write(weights: Weights, tokenizer: str, path: Path) -> None:
    """Writes the model as ONNX with whole numbers of eight bits."""
    model = onnx_model(weights, {"tokenizer": tokenizer})
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.onnx")
        onnx.save(model, whole)
        quantize_dynamic(whole, path, weight_type=QuantType.QInt8, per_channel=True)
    share_words(path)
    nothing = np.zeros(N_MARKS, np.float32)
    np.savez(path.with_name(WORDS), kept=nothing, order=nothing)
    note(path, {"slope": 1.0, "offset": 0.0, "threshold": 0.5, "gate": 0.0, "least_order": 0.0, "order_gate": 0.0})


def note(path: Path, fitted: dict[str, float]) -> None:
    """Writes, beside a model, its digest and what its scores mean."""
    lines = {"sha256": digest_of(path), **fitted}
    told = (
        "# Digest of sentence_labels.onnx, word_pieces.bin and sentence_words.npz. The probability of worth keeping\n"
        "# is the logistic function of slope times log odds plus offset; below the threshold nothing is kept. From\n"
        "# least_order on, log odds are those of an order. The network is asked from the gates on.\n"
    )
    path.with_name(FITTED).write_text(told + yaml.safe_dump(lines, sort_keys=False), encoding="utf-8")


def margins(model: SentenceModel, said: Sequence[Labelled]) -> Any:
    """The score of each sentence: the log of the odds that it is worth keeping, before calibration."""
    found = np.array([model.scores(one.text, one.before) for one in said], float)[:, : len(LABELS)]
    return np.logaddexp.reduce(found[:, : len(KINDS)], 1) - np.logaddexp.reduce(found[:, len(KINDS) :], 1)


def calibrated(margin: Any, is_kept: Any, weight: Any) -> dict[str, float]:
    """Slope and offset of the log odds, and the least probability above which `MIN_PRECISION` holds."""
    curve = LogisticRegression(C=1e6).fit(margin[:, None], is_kept, weight)
    slope, offset = float(curve.coef_[0, 0]), float(curve.intercept_[0])
    order = np.argsort(-margin)
    right = np.cumsum((is_kept * weight)[order]) / np.cumsum(weight[order])
    last = np.flatnonzero(right >= MIN_PRECISION)[-1]
    least = 1 / (1 + np.exp(-(slope * margin[order[last]] + offset)))
    return {"slope": round(slope, 4), "offset": round(offset, 4), "threshold": round(float(least), 4)}


def word_weights(of: Sequence[Labelled], is_wanted: Sequence[bool]) -> Any:
    """Weights of the words of sentences, a vector of N_MARKS: a logistic regression, for the gates."""
    rows, columns = zip(*((row, mark) for row, one in enumerate(of) for mark in marks_of(one.text)), strict=True)
    counts = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(of), N_MARKS))
    found = LogisticRegression(C=GATE_STRENGTH, max_iter=500).fit(counts, list(is_wanted))
    return found.coef_[0].astype(np.float16).astype(np.float32)


def gate(weights: Any, held: Sequence[Labelled], is_told: Any) -> float:
    """The sum of weights below which the network is not asked: so low that of sentences which it tells, and which the
    weights were not fitted to, GATE_RECALL pass."""
    sums = np.array([weights[marks_of(one.text)].sum() for one in held])
    least = round(float(np.quantile(sums[is_told], 1 - GATE_RECALL)), 3)
    print(f"the network is asked about {(sums >= least).mean():.0%} of the sentences")
    return least


def report(said: Sequence[Labelled], model: SentenceModel) -> None:
    """Prints, by file, recall and precision on sentences that the labellers agree on, and the calibration error (mean
    of ten bins of equal size)."""
    probability = np.array(
        [model.probability(model.scores(one.text, one.before)) if model.may_be_kept(one.text) else 0.0 for one in said]
    )
    for file in sorted({one.file for one in said}):
        agreed = [n for n, one in enumerate(said) if one.file == file and len({*one.is_kept}) == 1]
        kept = np.array([said[n].is_kept[0] for n in agreed])
        told = probability[agreed] >= model.threshold
        recall, precision = told[kept].mean(), kept[told].mean() if told.any() else 1.0
        alike = [KINDS[int(np.argmax(model.scores(said[n].text, said[n].before)[: len(KINDS)]))] for n in agreed]
        kinds = np.mean([f"keep {alike[k]}" in said[n].labels for k, n in enumerate(agreed) if told[k] and kept[k]])
        area = roc_auc_score(kept, probability[agreed])
        figures = f"recall {recall:.3f}, precision {precision:.3f}, area under the curve {area:.3f}, kind {kinds:.2f}"
        print(f"{file}: {len(agreed)} sentences, {kept.sum()} durable, {told.sum()} kept; {figures}")
    order = np.argsort(probability)
    share = np.array([np.mean(one.is_kept) for one in said])
    errors = [abs(probability[part].mean() - share[part].mean()) for part in np.array_split(order, 10)]
    print(f"calibration error {np.mean(errors):.3f}")


def report_orders(said: Sequence[Labelled], model: SentenceModel) -> None:
    """Prints, by who wrote them, how many sentences are taken for orders."""
    for file in sorted({one.file for one in said}):
        for is_order in (True, False):
            taken = [model.is_order(one.text) for one in said if one.file == file and one.is_order == is_order]
            print(f"{file}: of {len(taken)} {'orders' if is_order else 'others'} {sum(taken)} are taken for orders")


def main() -> None:
    """Fit, calibrate, write and report."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "encoder", type=Path, help="folder with model.safetensors and tokenizer.json of all-MiniLM-L6-v2"
    )
    asked.add_argument("--unread", action="store_true", help="print figures of the unread files as well")
    given = asked.parse_args()
    tokens = Tokenizer.from_file(str(given.encoder / "tokenizer.json"))
    tokens.no_padding()
    tokens.no_truncation()
    paths = sorted(HERE.glob("*.jsonl"))
    read = [one for path in paths if not is_of(path, (*CALIBRATED_ON, *UNREAD)) for one in sentences(path)]
    held = [one for path in paths if is_of(path, CALIBRATED_ON) for one in sentences(path)]
    told = [one for one in orders() if one.file not in HELD_HANDS]
    held_orders = [one for one in orders() if one.file in HELD_HANDS]
    rows = [encoded(tokens, one.text, one.before) for one in (*read, *told)]
    targets = np.array([one.targets for one in (*read, *told)], np.float32)
    write(fit(rows, targets, pretrained(given.encoder / "model.safetensors")), tokens.to_str(), MODEL)
    model = SentenceModel(MODEL)
    # A sentence on which labellers differ counts half as kept and half as not.
    kept = np.array([one.is_kept[place] for place in (0, 1) for one in held])
    margin = margins(model, held)
    fitted = calibrated(np.concatenate([margin, margin]), kept, np.full(len(kept), 0.5))
    odds = np.array([model.scores(one.text, "")[-1] for one in held_orders], float)
    is_talk = np.array([one.file == TALK for one in held_orders])
    fitted["least_order"] = round(float(np.quantile(odds[is_talk], 1 - TALK_TAKEN)), 3)
    of_kept = word_weights(read, [any(one.is_kept) for one in read])
    of_orders = word_weights([*told, *read], [one.is_order for one in (*told, *read)])
    np.savez_compressed(MODEL.with_name(WORDS), kept=of_kept, order=of_orders)
    least = (np.log(fitted["threshold"] / (1 - fitted["threshold"])) - fitted["offset"]) / fitted["slope"]
    fitted["gate"] = gate(of_kept, held, margin >= least)
    fitted["order_gate"] = gate(of_orders, held_orders, (odds >= fitted["least_order"]) & ~is_talk)
    note(MODEL, fitted)
    print(fitted)
    report_orders(held_orders, SentenceModel(MODEL))
    if given.unread:
        held += [one for path in paths if is_of(path, UNREAD) for one in sentences(path)]
    report(held, SentenceModel(MODEL))


if __name__ == "__main__":
    sys.exit(main())
