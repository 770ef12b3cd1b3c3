"""Kinds of questions: the examples that stand beside their patterns, and questions of several parts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from em_pipelines.language.values import read_yaml
from em_pipelines.retrieval import terms
from em_pipelines.retrieval.terms import (
    answering_relations,
    asks_for_several,
    asks_of_assistant,
    asks_over_time,
    parts_of,
    question_kinds,
)
from em_pipelines.schema.vocabulary import RELATIONS_BY_GROUP

FILE = read_yaml(Path(terms.__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
RELATIONS = {relation for group in RELATIONS_BY_GROUP.values() for relation in group}


@pytest.mark.parametrize("kind", [*FILE["answers"], *FILE["otherwise"]])
def test_kinds_fit_their_examples_and_no_others(kind: str) -> None:
    every = {**FILE["answers"], **FILE["otherwise"]}
    kinds = question_kinds()
    one, (pattern, relations) = every[kind], [*kinds.answers, *kinds.otherwise][list(every).index(kind)]
    assert RELATIONS.issuperset(relations)
    assert [text for text in one["examples"] if not pattern.search(text)] == []
    assert [text for text in one["others"] if pattern.search(text)] == []
    assert all(answering_relations(text).keys() >= set(relations) for text in one["examples"])


def test_questions_that_several_things_answer_are_told_from_others() -> None:
    assert [text for text in FILE["several"]["examples"] if not asks_for_several(text)] == []
    assert [text for text in FILE["several"]["others"] if asks_for_several(text)] == []
    shared = question_kinds().shared
    assert [text for text in FILE["shared"]["examples"] if not shared.search(text)] == []
    assert [text for text in FILE["shared"]["others"] if shared.search(text)] == []


@pytest.mark.parametrize(("kind", "asks"), [("of_assistant", asks_of_assistant), ("over_time", asks_over_time)])
def test_questions_of_the_assistant_and_over_time_are_told_from_others(kind: str, asks: Callable[[str], bool]) -> None:
    assert [text for text in FILE[kind]["examples"] if not asks(text)] == []
    assert [text for text in FILE[kind]["others"] if asks(text)] == []


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Where does Ilse live?", ["Where does Ilse live?"]),
        ("Who are Ilse and Piet?", ["Who are Ilse and Piet?"]),
        ("Where did Ilse move and what does she do there?", ["Where did Ilse move", "what does she do there? Ilse"]),
        ("Who is Ilse? What does Piet like?", ["Who is Ilse", "What does Piet like?"]),
        ("What do Ilse and Piet have in common?", ["What do Ilse have in common?", "What do Piet have in common?"]),
        ("bread and butter", ["bread and butter"]),
        ("", [""]),
    ],
)
def test_questions_come_apart(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts
