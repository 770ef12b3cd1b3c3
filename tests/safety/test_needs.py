"""What a text must hold for a pattern: never more than the pattern itself asks for."""

import random
import re

import pytest

from em_pipelines.safety.needs import needs_of
from em_pipelines.safety.passages import folded
from em_pipelines.safety.phrases import rule_book
from em_pipelines.safety.signs import signs_of

BOOKS = ("injection", "commands", "privilege")
PATTERNS = [p for name in BOOKS for p in rule_book(name).patterns()]
TEXTS = [
    folded(t) for name in BOOKS for rule in rule_book(name).rules for t in (*rule.examples, *rule.counter_examples)
]


@pytest.mark.parametrize(
    ("pattern", "text", "is_met"),
    [
        (r"\blamp\b", "a lamp", True),
        (r"\blamp\b", "two lamps", False),
        (r"\blamp", "two lamps", True),
        (r"lamp", "headlamps", True),
        (r"(?:red|green) ?lamps?\b", "greenlamp", True),
        (r"(?:red|green) lamps?\b", "a yellow boat", False),
        (r"\bred\b|\bgreen\b lamp", "red", True),
        (r"\bred\b|\bgreen\b lamp", "green", False),
        (r"(?:\w{1,9} )?lamp\b", "oil lamp", True),
        (r"(?:red)?", "anything", True),
        (r"(?i)LAMP", "lamp", True),
        (r"la(?:mp|nd){1,3}x", "lampx", True),
        (r"[=:] ?on", "lamp: on", True),
        (r"[=:] ?on", "lamp off", False),
        (r"\W{0,3}lamp\b", "headlamp", True),
    ],
)
def test_a_text_meets_the_needs_of_a_pattern(pattern: str, text: str, is_met: bool) -> None:
    assert needs_of(pattern).are_met(signs_of(text)) is is_met
    assert is_met or re.search(pattern, text) is None


def test_whatever_a_pattern_of_the_rules_finds_meets_its_needs() -> None:
    source = random.Random(1)
    words = [word for text in TEXTS for word in text.split(" ")]
    texts = TEXTS + [" ".join(source.choices(words, k=source.randint(2, 12))) for _ in range(300)]
    needs = [needs_of(pattern.pattern) for pattern in PATTERNS]
    n_found = 0
    for text in texts:
        for pattern, need in zip(PATTERNS, needs, strict=True):
            if pattern.search(text):
                n_found += 1
                assert need.are_met(signs_of(text)), (pattern.pattern, text)
    assert n_found > len(PATTERNS) / 2
