"""The labelled sentences of training/durable: whole, in the words of the guidelines, and agreed on."""

import json
import re
from pathlib import Path

import pytest

from em_pipelines.language.sentence_labels import KINDS
from em_pipelines.language.sentences import sentences
from training.durable.labels import HERE, LABELS, NOT_KEPT, kappa
from training.durable.labels import sentences as labelled

FILES = sorted(HERE.glob("*.jsonl"))
TALKS = {"assistant_work", "assistant_home", "coding_agent", "two_friends", "family_group", "voice"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_sentence_of_a_person_has_two_labels_that_mostly_agree(path: Path) -> None:
    of = list(labelled(path))
    assert {label for one in of for label in one.labels} <= {*LABELS}
    assert kappa([one.is_kept for one in of]) >= 0.8
    conversations = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {conversation["kind"] for conversation in conversations} <= TALKS
    for turn in (turn for conversation in conversations for turn in conversation["turns"]):
        cut = [turn["text"][slice(*span)].strip() for span in sentences(turn["text"])]
        assert [one["text"] for one in turn.get("sentences", ())] == ([] if turn["speaker"] == "assistant" else cut)


def test_each_kind_of_talk_has_a_part_that_nothing_is_fitted_to() -> None:
    assert {path.stem.split("-")[0] for path in FILES if path.stem.endswith(("-u", "-v"))} == {
        path.stem.split("-")[0] for path in FILES
    }
    assert len({path.stem.split("-")[0] for path in FILES}) == len(TALKS)


def test_the_guidelines_name_every_label() -> None:
    told = set(re.findall(r"(?m)^\| `(\w+)` \|", (HERE / "GUIDELINES.md").read_text(encoding="utf-8")))
    assert told == {*KINDS, *NOT_KEPT}


def test_agreement_beyond_chance() -> None:
    assert kappa([(True, True), (False, False)]) == 1
    assert kappa([(True, True), (True, False), (False, True), (False, False)]) == 0
