"""Sentences with abbreviations: after an erasure of any scope nothing of them is anywhere in a home."""

from itertools import product
from pathlib import Path

import pytest

from .conftest import World, lines, texts_of

STEMS = [
    one + other
    for one, other in product(
        ("bram", "tolv", "quin", "sarg", "melk", "drov", "fask", "jund", "wost", "plim"),
        ("oda", "ero", "ist", "ule", "ang"),
    )
]
OF_EDDA = (
    "Edda saw Dr. {a} at 5 p.m. about the {b} and left with approx. {c}.",
    "Edda and Mr. {a} rented a {b} from Halvorsen Inc. near {c}.",
    "On Tues. at noon Edda showed Prof. {a} the {b}, i.e. the {c}.",
    "Edda moved to St. {a} with Sgt. Will {b} in Sept. last year, says {c}.",
    "I gave Edda no. 7 of the {a}, cf. vol. 3, p. 12 of the {b}, vs. the {c}.",
    "Edda works for {a} & Co. Ltd. in {b} under J. R. {c} now.",
    "The U.S. {a} sent Edda to {b}, e.g. for the {c}.",
    "Edda… well, she told Mrs. {a} etc. about the {b} and the {c}!!",
    'Edda said: "Lt. {a} took my {b}." That was the {c} at 6.30 a.m. sharp, she thinks.',
    "Edda called at ten. She told Capt. {a} that her {b} is {c}.",
)
OF_A_FACT = (
    "I own a theremin that Dr. {a} tuned at 5 p.m. for {b} and approx. {c}.",
    "I own a theremin from {a} & Co. Ltd. in {b}, no. 7 of the {c}.",
    "I have a theremin, cf. vol. 3, p. 12 of the {a}, vs. the {b} of J. R. {c}.",
    "I own a theremin, e.g. for {a}, i.e. Mr. {b} and Mrs. {c}.",
    "I bought a theremin on Tues. at {a} from Sgt. {b} of the U.S. {c}.",
)
KEPT = "The kettle sings."


def said(templates: tuple[str, ...]) -> list[str]:
    """Fifty messages, with three words in each that stand nowhere else."""
    n_each = len(STEMS) // len(templates)
    return [
        templates[number // n_each].format(a=stem.capitalize(), b=f"{stem}la", c=f"{stem}no")
        for number, stem in enumerate(STEMS)
    ]


def home_with(world: World, messages: list[str]) -> None:
    turns = [("s1", f"2026-03-02T08:{n:02d}:00Z", "user", f"{one} {KEPT}") for n, one in enumerate(messages)]
    world.land(*lines("nora", (*turns, ("s2", "2026-03-03T08:00:00Z", "user", KEPT))))
    world.make()


def left_of(folder: Path) -> set[str]:
    """The words of the messages that stand anywhere, however a file holds them."""
    texts = " ".join({text.casefold() for _, text in texts_of(folder, None)})
    return {stem for stem in STEMS if stem in texts}


@pytest.mark.slow
@pytest.mark.parametrize(
    "scope", [{"entity": "Edda"}, {"session": "s1"}, {"user": ""}], ids=lambda scope: next(iter(scope))
)
def test_nothing_is_left_of_fifty_sentences_with_abbreviations(empty: World, scope: dict[str, str]) -> None:
    home_with(empty, said(OF_EDDA))
    assert left_of(empty.home.path) == set(STEMS)
    certificate = empty.forget("nora", **scope)
    assert (certificate.result, certificate.n_found_after) == ("erased", 0)
    assert left_of(empty.home.path) == set()
    kept = [message for message in empty.messages("nora") if KEPT in message]
    assert len(kept) == {"entity": len(STEMS) + 1, "session": 1, "user": 0}[next(iter(scope))]


@pytest.mark.slow
def test_nothing_is_left_of_fifty_sentences_that_say_one_fact(empty: World) -> None:
    home_with(empty, said(OF_A_FACT))
    empty.forget("nora", fact=empty.edge_id("nora", "user", "owns", "theremin"))
    assert left_of(empty.home.path) == set()
    assert empty.messages("nora", "s2") == [KEPT]
