"""Which sentences are worth keeping: what the model is shown, what it says, and what it does with a damaged file."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from em_pipelines.errors import PatternError
from em_pipelines.language.sentence_labels import (
    FITTED,
    KINDS,
    MODEL,
    N_MARKS,
    WORD_VECTORS,
    WORDS,
    SentenceModel,
    Utterance,
    before_sentence,
    earlier,
    labelled,
)
from em_pipelines.schema.vocabulary import OBSERVATIONS

LISTED = re.compile(r"\(\s*('instruction',[^)]*)\)")
TALK = [
    Utterance("How was the move?", "assistant", is_assistant=True, is_asked=False),
    Utterance("Tiring lol. We live in Graz now, and I start at the new clinic on 4 May.", "user"),
    Utterance("Congratulations!", "assistant", is_assistant=True, is_asked=False),
    Utterance("Thanks. Can you make the list shorter?", "user"),
]


def test_every_sentence_of_whoever_is_asked_has_a_label() -> None:
    found = labelled(TALK)
    assert [len(labels) for labels in found] == [0, 2, 0, 2]
    assert [TALK[1].text[one.start : one.end] for one in found[1]] == [
        "Tiring lol.",
        "We live in Graz now, and I start at the new clinic on 4 May.",
    ]
    for label in found[1] + found[3]:
        assert label.kind is None or label.kind in KINDS
        assert 0 <= label.confidence <= 1


def test_what_is_worth_keeping_is_told_from_talk() -> None:
    move, thanks = labelled(TALK)[1], labelled(TALK)[3]
    assert [one.kind is not None for one in (*move, *thanks)] == [False, True, False, False]


def test_a_label_hangs_on_nothing_but_the_sentence_and_what_was_said_just_before() -> None:
    alone = labelled(TALK[:2])[1]
    assert labelled([*TALK, *TALK])[1] == alone


def test_what_was_said_before_is_told_with_whose_it_was() -> None:
    assert earlier(TALK, 3).startswith("same: Tiring lol.")
    assert earlier(TALK, 3).endswith("assistant: Congratulations!")
    assert earlier(TALK, 0) == ""
    assert before_sentence("other: Hi.", "Tiring lol.\n") == "other: Hi. me: Tiring lol."
    assert before_sentence("other: Hi.", "") == "other: Hi."


def test_nothing_said_has_no_sentences() -> None:
    assert labelled([]) == []
    assert labelled([Utterance(" \n", "user")]) == [()]


def test_another_model_than_the_one_that_was_calibrated_is_refused(tmp_path: Path) -> None:
    path = tmp_path / MODEL.name
    for name in (FITTED, WORDS, WORD_VECTORS):
        shutil.copy(MODEL.with_name(name), tmp_path / name)
    with pytest.raises(PatternError, match=r"reading the model sentence_labels\.onnx"):
        SentenceModel(path)
    path.write_bytes(MODEL.read_bytes()[:-1])
    with pytest.raises(PatternError, match=r"sentence_labels\.onnx"):
        SentenceModel(path)


def test_weights_of_words_of_another_fit_are_refused(tmp_path: Path) -> None:
    for name in (MODEL.name, FITTED, WORDS, WORD_VECTORS):
        shutil.copy(MODEL.with_name(name), tmp_path / name)
    np.savez(tmp_path / WORDS, kept=np.zeros(N_MARKS, np.float32), order=np.zeros(N_MARKS, np.float32))
    with pytest.raises(PatternError, match="is of another model"):
        SentenceModel(tmp_path / MODEL.name)


def test_kinds_are_those_of_the_vocabulary_and_of_every_statement_of_sql() -> None:
    assert KINDS == OBSERVATIONS
    root = Path(__file__).parents[2] / "em_pipelines"
    lists = [found for path in root.rglob("*.sql") for found in LISTED.findall(path.read_text(encoding="utf-8"))]
    assert lists
    assert {tuple(re.findall(r"'(\w+)'", found)) for found in lists} == {OBSERVATIONS}
