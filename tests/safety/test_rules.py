"""Every example and counter-example of every rule file."""

from collections.abc import Callable

import pytest

from em_pipelines.safety.injection import Stripped, quarantine, strip_instructions
from em_pipelines.safety.phrases import Rule, rule_book
from em_pipelines.safety.privilege import privilege_spans


def rank(text: str) -> Stripped:
    spans = privilege_spans(text)
    return Stripped(text, ("rank", "authority"), tuple(spans)) if spans else Stripped(text)


FINDERS: dict[str, Callable[[str], Stripped]] = {
    "injection": strip_instructions,
    "commands": quarantine,
    "privilege": rank,
}
RULES = [(book, rule) for book in FINDERS for rule in rule_book(book).rules]


@pytest.mark.parametrize(
    ("book", "rule", "text"), [(b, r, t) for b, r in RULES for t in r.examples], ids=lambda v: getattr(v, "id", str(v))
)
def test_an_example_is_found_by_its_rule(book: str, rule: Rule, text: str) -> None:
    assert rule.kind in FINDERS[book](text).kinds


@pytest.mark.parametrize(("book", "text"), [(b, t) for b, r in RULES for t in r.counter_examples], ids=str)
def test_a_counter_example_is_left_alone(book: str, text: str) -> None:
    assert FINDERS[book](text) == Stripped(text)
