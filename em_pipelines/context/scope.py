"""Which entities a question is about, and how near each is to them."""

import re

import numpy as np

from em_pipelines.context.known import Floats, Known, folded_words

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours|user)\b", re.IGNORECASE)
MENTIONED, ONE_HOP, TWO_HOPS = 1.0, 0.5, 0.2


def mentioned(known: Known, text: str, thread: tuple[str, ...] = ()) -> frozenset[int]:
    """The numbers of the entities that a question or the turns before it name, by any of their names, longest first.

    The person themselves are meant where they speak of themselves, and where nothing else is named.
    """
    found = set().union(*(_named(known, part) for part in (text, *thread)))
    if known.person is not None and (not found or _FIRST_PERSON.search(text)):
        found.add(known.person)
    return frozenset(found)


def nearness(known: Known, named: frozenset[int]) -> Floats:
    """Of each entity by number: 1.0 mentioned, 0.5 one fact away from those, 0.2 two, else 0."""
    near = np.zeros(len(known.entities))
    near[list(named)] = MENTIONED
    for hop in (ONE_HOP, TWO_HOPS):
        reached = known.ends[(near[known.ends] > 0).any(axis=1)].ravel()
        near[reached] = np.maximum(near[reached], hop)
    return near


def _named(known: Known, text: str) -> set[int]:
    words = folded_words(text)
    longest = max(map(len, known.by_name), default=0)
    found: set[int] = set()
    at = 0
    while at < len(words):
        for length in range(min(longest, len(words) - at), 0, -1):
            entities = known.by_name.get(words[at : at + length])
            if entities:
                found |= entities
                at += length
                break
        else:
            at += 1
    return found
