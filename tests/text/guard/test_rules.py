"""Every example and counter-example of every rule file; a case a file, which lists what is wrong."""

from collections.abc import Callable

import pytest

from em_pipelines.text.guard.injection import Stripped, quarantine, strip_instructions
from em_pipelines.text.guard.passages import folded
from em_pipelines.text.guard.phrases import rule_book
from em_pipelines.text.guard.screening import privilege_spans


def rank(text: str) -> Stripped:
    spans = privilege_spans(text)
    return Stripped(text, ("rank", "authority"), tuple(spans)) if spans else Stripped(text)


FINDERS: dict[str, Callable[[str], Stripped]] = {
    "injection": strip_instructions,
    "commands": quarantine,
    "privilege": rank,
}


@pytest.mark.parametrize("book", FINDERS)
def test_examples_are_found_by_their_rules(book: str) -> None:
    examples = [(rule, text) for rule in rule_book(book).rules for text in rule.examples]
    assert examples
    assert [(rule.id, text) for rule, text in examples if rule.kind not in FINDERS[book](text).kinds] == []


@pytest.mark.parametrize("book", FINDERS)
def test_counter_examples_are_left_alone(book: str) -> None:
    examples = [(rule, text) for rule in rule_book(book).rules for text in rule.counter_examples]
    assert examples
    assert [(rule.id, text) for rule, text in examples if FINDERS[book](text) != Stripped(text)] == []


def test_each_sign_of_embedded_words_is_found() -> None:
    book = rule_book("embedded")
    examples = [(rule, folded(text)) for rule in book.rules for text in rule.examples]
    assert examples
    signs = {text: [sign.rule for sign in book.find(text, text, tuple, book.candidates(text))] for _, text in examples}
    assert [(rule.id, text) for rule, text in examples if rule not in signs[text]] == []
