"""Keeps the vectors of word pieces, which are half of a small encoder, in one file that several ONNX models read."""

from pathlib import Path

import onnx
from onnx import TensorProto, numpy_helper

from em_pipelines.language.sentence_labels import WORD_VECTORS


def share_words(path: Path) -> None:
    """Writes the model again without its largest constant, which goes to WORD_VECTORS beside it; raises ValueError
    where another model has left other vectors there."""
    model = onnx.load(path)
    largest = max(model.graph.initializer, key=lambda one: len(one.raw_data))
    raw, words = largest.raw_data, path.with_name(WORD_VECTORS)
    if words.exists() and words.read_bytes() != raw:
        raise ValueError(f"sharing the word vectors of {path.name}: {words.name} has others; remove it to fit all anew")
    words.write_bytes(raw)
    kept = TensorProto(name=largest.name, data_type=largest.data_type, dims=largest.dims)
    kept.data_location = TensorProto.EXTERNAL
    for key, value in (("location", WORD_VECTORS), ("offset", "0"), ("length", str(len(raw)))):
        kept.external_data.add(key=key, value=value)
    assert numpy_helper.to_array(largest).shape == tuple(largest.dims)
    largest.CopyFrom(kept)
    path.write_bytes(model.SerializeToString(deterministic=True))
