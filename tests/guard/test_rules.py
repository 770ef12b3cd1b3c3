"""Every example and counter-example of every rule file; a case a file, which lists what is wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from em_pipelines.errors import PatternError
from em_pipelines.guard.injection import Stripped, privilege_spans, quarantine, strip_instructions
from em_pipelines.guard.passages import folded
from em_pipelines.guard.phrases import RuleBook, rule_book


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


RULES = "rules:\n" + "- {{id: {}, kind: order, effect: strip, hints: [kiln], pattern: kiln, examples: [kiln]}}\n" * 2


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        ((("a", "b"), ("c", "b")), "'b' stands in first.yaml and second.yaml"),
        ((("a", "a"),), "'a' stands twice in first"),
    ],
)
def test_an_id_that_stands_twice_is_refused_with_the_files_that_have_it(
    tmp_path: Path, ids: tuple[tuple[str, str], ...], told: str
) -> None:
    paths = [tmp_path / name for name in ("first.yaml", "second.yaml")][: len(ids)]
    for path, pair in zip(paths, ids, strict=True):
        path.write_text(RULES.format(*pair), encoding="utf-8")
    with pytest.raises(PatternError, match=told):
        RuleBook(*paths)
