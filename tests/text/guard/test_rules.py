"""Every example and counter-example of every rule file; a case a file, which lists what is wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from em_pipelines.errors import PatternError
from em_pipelines.text.guard.injection import Stripped, privilege_spans, quarantine, strip_instructions
from em_pipelines.text.guard.passages import folded
from em_pipelines.text.guard.phrases import RuleBook, rule_book
from em_pipelines.text.guard.screening import unquoted_sentences
from em_pipelines.text.guard.sensitive import CueBook, cue_book


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


def test_sentences_that_are_not_quoted_are_told_by_their_rules() -> None:
    rules = cue_book("unquoted").rules
    missed = [(rule.id, text) for rule in rules for text in rule.examples if not unquoted_sentences(text)]
    taken = [(rule.id, text) for rule in rules for text in rule.counter_examples if unquoted_sentences(text)]
    assert (missed, taken) == ([], [])


def test_a_rule_that_names_no_cue_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "few.yaml"
    rule = "{id: a, all: [two], examples: [kiln], counter_examples: [oven]}"
    path.write_text(f"words: {{}}\ncues: {{one: kiln}}\nrules:\n- {rule}\n", encoding="utf-8")
    with pytest.raises(PatternError, match="'two'"):
        CueBook(path)


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
