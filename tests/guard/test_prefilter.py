"""The sieve before the patterns: it never keeps a pattern from a text in which it would find something."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.guard.passages import folded
from em_pipelines.guard.phrases import Prefilter, rule_book, widened
from em_pipelines.guard.sensitive import categories

BOOKS = ("injection", "embedded", "commands", "privilege")
PATTERNS = [
    *(p.pattern for name in BOOKS for p in rule_book(name).patterns()),
    *(pattern.pattern for entry in categories().values() for _, pattern in entry.phrases),
]
TEXTS = [
    folded(t) for name in BOOKS for rule in rule_book(name).rules for t in (*rule.examples, *rule.counter_examples)
]


@pytest.mark.parametrize(
    ("pattern", "text", "is_possible"),
    [
        (r"\blamp\b", "a lamp", True),
        (r"\blamp\b", "a boat", False),
        (r"(?:red|green) ?lamps?\b", "greenlamp", True),
        (r"(?:red|green) lamps?\b", "a yellow boat", False),
        (r"\bred\b|\bgreen\b lamp", "red", True),
        (r"\bred\b|\bgreen\b lamp", "green", False),
        (r"(?:\w{1,9} )?lamp\b", "oil lamp", True),
        (r"(?:red)?", "anything", True),
        (r"la(?:mp|nd){1,3}x", "lampx", True),
        (r"[=:] ?lamp", "red: lamp", True),
        (r"[=:] ?lamp", "red: boat", False),
        (r"^boat$", "a\nboat\nlamp", True),
    ],
)
def test_a_pattern_is_possible_where_the_text_has_what_it_needs(pattern: str, text: str, is_possible: bool) -> None:
    assert bool(Prefilter([pattern]).possible(text)) is is_possible
    assert is_possible or re.search(pattern, text, re.MULTILINE) is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<!red )(?<=a )lamp(?= is)(?! (?:not|off))", "a lamp is on"),
        (r"lamp(?=(?:s| post)\b)", "two lamps"),
        (r"a\sred\slamp", "a\u2003red\u00a0lamp"),
        (r"lamp \d{4}", "lamp ٢٠٢٦"),
        (r"[\s-]lamp", "\u2003lamp"),
        (r"x[a[:]+\]", "x[:a]"),
        (r"[]a]{2}b", "]]b"),
        (r"[^]]lamp", "xlamp"),
        (r"la{0,3}mp", "lmp"),
        (r"la{,2}mp", "lmp"),
        (r"la{2000}mp", f"l{'a' * 2000}mp"),
        (r"(?:lamp){2,3}?x", "lamplampx"),
        (r"la++mp*+", "laam"),
        (r"la}+mp{x}", "la}}mp{x}"),
        (r"\(lamp\)\Z", "(lamp)"),
        (r"(?P<what>lamp)s", "lamps"),
        ("lampe größe", "eine lampe größe"),
    ],
)
def test_a_wider_form_matches_what_the_pattern_does(pattern: str, text: str) -> None:
    sieve = Prefilter([pattern])
    assert re.search(pattern, text, re.MULTILINE)
    assert (sieve.possible(text), sieve.unread) == ({0}, frozenset())


@pytest.mark.parametrize(
    "pattern", [r"(l)amp\1", r"(?>lamp)", r"(?i)LAMP", r"(?i:LAMP)", r"(l)?(?(1)amp|x)", "\\u006camp"]
)
def test_what_cannot_be_read_may_always_match(pattern: str) -> None:
    assert Prefilter(["boat", pattern]).possible("nothing") == {1}


def test_every_pattern_of_the_rules_is_read() -> None:
    assert Prefilter(PATTERNS).unread == frozenset()


def test_no_patterns_and_no_text_are_nothing_special() -> None:
    assert Prefilter([]).possible("lamp") == frozenset()
    assert Prefilter(["lamp"]).possible("") == frozenset()


def test_half_a_character_is_no_hindrance() -> None:
    assert Prefilter(["lamp.on"]).possible("lamp\ud800on") == {0}


@pytest.mark.slow
def test_a_long_text_of_nothing_but_beginnings_is_searched_to_its_end() -> None:
    text = "".join(random.Random(1).choices([text[:7] for text in TEXTS], k=200_000))
    assert len(PATTERNS) - 1 in Prefilter([*PATTERNS[:-1], "the very end"]).possible(f"{text}the very end")


def test_repeats_lose_their_ends() -> None:
    assert widened(r"a{0,3}b{2}c{1,}?d?e*+f{") == "a*b+c+d?e*f{"


@given(st.sampled_from(PATTERNS).flatmap(lambda p: st.tuples(st.just(p), st.from_regex(re.compile(p, re.MULTILINE)))))
def test_whatever_matches_a_pattern_is_possible(case: tuple[str, str]) -> None:
    pattern, text = case
    assert Prefilter([pattern]).possible(text) == {0}


@pytest.mark.slow
def test_whatever_a_pattern_of_the_rules_finds_is_possible() -> None:
    source = random.Random(1)
    words = [word for text in TEXTS for word in text.split(" ")]
    texts = TEXTS + [" ".join(source.choices(words, k=source.randint(2, 12))) for _ in range(300)]
    patterns = [re.compile(pattern, re.MULTILINE) for pattern in PATTERNS]
    sieve = Prefilter(PATTERNS)
    n_found = 0
    for text in texts:
        finds = {n for n, pattern in enumerate(patterns) if pattern.search(text)}
        n_found += len(finds)
        assert finds <= sieve.possible(text), text
    assert n_found > len(PATTERNS) / 2
