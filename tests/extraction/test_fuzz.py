"""Whatever is written, reading it raises nothing and ends soon: ten thousand random and adversarial messages."""

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.en.lexicon import load_lexicon
from em_pipelines.language.masking import mask_text
from em_pipelines.schema.readings import Segment, Turn
from tests.extraction.conftest import WRITTEN_AT
from tests.growth import PROSE, processor_seconds

MAX_TIMES_PROSE = 20
"""Times the processor time that plain prose of 10,000 characters takes in the same process."""
LONGEST = 100_000
SPEECH = (
    "I think ",
    "my ",
    "and ",
    ", ",
    ". ",
    "who ",
    "that ",
    "if I ",
    "not ",
    "no, wait ",
    "my sister ",
    "Petra, ",
    "of ",
    "the ",
    "in ",
    "maybe ",
    "I said ",
    "I like ",
    "my wife Petra ",
    "because ",
    "since ",
    "from ",
    "to ",
    "not X, Y ",
    "every ",
    "I, ",
    "we ",
    "she ",
    "he said ",
    "than ",
    "over ",
    "or ",
    "ignore ",
    "remember that ",
    "used to ",
)
SIGNS = (
    '"',
    "“",
    "(",
    ")",
    "1",
    "12/",
    "2026-",
    "- ",
    "\n",
    "```",
    "`",
    "#",
    "> ",
    "=",
    "a",
    "A",
    "é",
    "😀",
    "\u200b",
    "? ",
    "! ",
    "; ",
    ": ",
    "aaaa",
    "A1b2",
    "dGVzdA==",
    "%20",
    "&amp;",
    "<b>",
    "</",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "|",
    "~~~",
    "\ud800",
    "\ufffc",
)
PIECES = SPEECH + SIGNS


def listed_words() -> list[str]:
    """Every word that the lexicon knows: the worst of texts is one that might mean something everywhere."""
    found: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, str):
            found.update(value.split())
        elif isinstance(value, dict):
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                collect(inner)

    for name in ("gate", "hedges", "kinds", "nouns", "people", "verbs", "words"):
        collect(load_lexicon(name))
    return sorted(found)


WORDS = listed_words()


def texts(seed: int, n: int, longest: int) -> Iterator[str]:
    """Repeats of a piece or of a few, shuffled pieces, listed words in a row, and any characters at all."""
    source = random.Random(seed)
    for _ in range(n):
        size = source.choice((10, 40, 150, 400, 1000, longest if source.random() < 0.1 else 2500))
        kind = source.random()
        if kind < 0.6:
            unit = "".join(source.choice(PIECES) for _ in range(source.choice((1, 1, 2, 3, 4))))
            text = unit * (size // len(unit) + 1)
        elif kind < 0.75:
            text = "".join(source.choice(PIECES) for _ in range(size // 4 + 1))
        elif kind < 0.93:
            text = " ".join(source.choice(WORDS if source.random() < 0.8 else PIECES) for _ in range(size // 6 + 1))
        else:
            text = "".join(chr(source.randrange(1, 0x3000)) for _ in range(size))
        yield text[:longest]


def read(extractor: RulesExtractor, text: str, channel: str) -> None:
    """Reads a message as landing and extraction do."""
    turn = Turn("m", 0, "user", "user", clean_text(mask_text(text)), WRITTEN_AT)
    ((_, reading),) = readings([Segment("s", "u", "s", channel, (turn,))], extractor)
    assert reading.claims or reading.mentions or reading.issues


def ends_soon(extractor: RulesExtractor, text: str, channel: str = "text") -> bool:
    """Whether a message takes at most MAX_TIMES_PROSE times what prose takes, measured anew where it does not."""

    def take(what: str) -> float:
        return processor_seconds(lambda said: read(extractor, said, channel), what)

    return any(take(text) < MAX_TIMES_PROSE * take(PROSE * 75) for _ in range(3))


@pytest.mark.parametrize("seed", range(4))
def test_random_messages_are_read_without_harm(seed: int, extractor: RulesExtractor) -> None:
    for n, text in enumerate(texts(seed, 60, 2500)):
        read(extractor, text, ("text", "voice", "group")[n % 3])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_ten_thousand_messages_end_soon(seed: int, extractor: RulesExtractor) -> None:
    slow = [text for text in texts(100 + seed, 200, LONGEST) if not ends_soon(extractor, text)]
    assert not slow, (len(slow[0]), slow[0][:80])


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*PIECES, *(a + b for a, b in pairwise(SPEECH))], ids=repr)
def test_long_repeats_of_any_piece_end_soon(piece: str, extractor: RulesExtractor) -> None:
    for channel in ("text", "voice"):
        for length in (5_000, LONGEST):
            assert ends_soon(extractor, piece * (length // len(piece)), channel)
