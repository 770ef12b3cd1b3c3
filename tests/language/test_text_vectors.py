"""Vectors of texts by the encoder that ships."""

from pathlib import Path
from shutil import copy

import numpy as np
import pytest

from em_pipelines.errors import PatternError
from em_pipelines.language.sentence_labels import VECTORS, WORD_VECTORS, TextVectors


def test_texts_of_like_meaning_are_near() -> None:
    cycling, biking, printer = TextVectors().embed(
        ["Where did I go cycling?", "We went biking along the canal.", "The printer is out of ink again."]
    )
    assert cycling @ biking > 0.4 > cycling @ printer


def test_vectors_have_length_one_or_none_and_hang_on_their_text_alone() -> None:
    texts = ["", "I own a kiln.", "```\ncode()\n```", "I own a kiln.", "é" * 5000]
    found = TextVectors().embed(texts)
    assert found.shape == (5, 96)
    assert np.linalg.norm(found, axis=1).round(4).tolist() == [0, 1, 0, 1, 1]
    assert (found[1] == found[3]).all()
    assert (TextVectors().ask(texts[1]) == found[1]).all()
    assert TextVectors().embed([]).shape[0] == 0


def test_another_model_has_another_name_and_a_broken_one_is_named(tmp_path: Path) -> None:
    for path in (VECTORS, VECTORS.with_name(WORD_VECTORS)):
        copy(path, tmp_path)
    other = tmp_path / VECTORS.name
    assert TextVectors(other).name == TextVectors().name
    other.write_bytes(b"no model")
    broken = TextVectors(other)
    with pytest.raises(PatternError, match=r"text_vectors\.onnx"):
        broken.ask("I own a kiln.")
