"""Makes the encoder of texts for search: `make fit-vectors`.

It is all-MiniLM-L6-v2 as it was published, with weights of eight bits; its vector, the mean of the states, is projected
onto the directions along which the messages of training/durable differ most (principal component analysis).
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import orjson
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from em_pipelines.language.sentence_labels import N_NUMBERS, VECTORS, TextVectors
from training.durable.labels import HERE
from training.durable.network import WIDTH, Graph, Weights, encoder, packed, pretrained
from training.shared_words import share_words

N_MESSAGES = 6_000
LONGEST = 300


def model_of(weights: Weights, mean: Any, directions: Any, tokenizer: str) -> onnx.ModelProto:
    """The graph for one text: `ids`, 1 × tokens → `vector`, 1 × numbers; its length is not 1 yet."""
    graph = Graph()
    states = encoder(graph, weights, has_types=False)
    pooled = graph.node("ReduceMean", states, graph.constant([1], np.int64), keepdims=0)
    vector = graph.node("LpNormalization", pooled, axis=-1, p=2)
    vector = graph.node("MatMul", graph.node("Sub", vector, graph.constant(mean)), graph.constant(directions))
    return packed(graph, "text_vectors", ("vector", vector, "numbers"), ("ids",), {"tokenizer": tokenizer})


def write(model: onnx.ModelProto, path: Path) -> None:
    """Writes the model with whole numbers of eight bits; the projection stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.onnx")
        onnx.save(model, whole)
        last = [node.name for node in model.graph.node if node.op_type == "MatMul"][-1:]
        quantize_dynamic(whole, path, weight_type=QuantType.QInt8, per_channel=True, nodes_to_exclude=last)
    share_words(path)


def messages() -> list[str]:
    """Messages of the training conversations, the same on every run: at even distances of all."""
    found = [
        turn["text"][:LONGEST]
        for path in sorted(HERE.glob("*.jsonl"))
        for row in map(orjson.loads, path.read_bytes().splitlines())
        for turn in row["turns"]
    ]
    return found[:: max(1, len(found) // N_MESSAGES)]


def directions_of(vectors: Any, n: int) -> Any:
    """The first principal components, numbers × n; the sign of each is that of its greatest part."""
    _, found = np.linalg.eigh(np.cov(vectors.astype(np.float64), rowvar=False))
    first = found[:, ::-1][:, :n]
    signs = np.sign(first[np.abs(first).argmax(axis=0), np.arange(n)])
    return (first * signs).astype(np.float32)


def main() -> None:
    """Encode the messages, find the directions, and write the model."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "encoder", type=Path, help="folder with model.safetensors and tokenizer.json of all-MiniLM-L6-v2"
    )
    folder = asked.parse_args().encoder
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokens.no_padding()
    tokens.no_truncation()
    weights = pretrained(folder / "model.safetensors")
    write(model_of(weights, np.zeros(WIDTH, np.float32), np.eye(WIDTH, dtype=np.float32), tokens.to_str()), VECTORS)
    vectors = TextVectors(VECTORS).embed(messages())
    mean = vectors.mean(axis=0)
    write(model_of(weights, mean, directions_of(vectors, N_NUMBERS), tokens.to_str()), VECTORS)
    print(f"{len(vectors)} messages; {VECTORS.name}, {VECTORS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
