"""How processor time grows with the length of a text, as a ratio within one process: no machine is too slow for it."""

import time
from collections.abc import Callable
from typing import Any

PROSE = (
    "I moved to Oslo last month because my sister Petra works there. She likes tea, and I think I like the harbour "
    "more than the old town. "
)
MAX_GROWTH = 3.0
"""Twice the length takes twice the time where cost is linear, four times where it is quadratic."""
N_TRIES = 6
"""Other work on the machine only ever makes a measurement longer: the shortest of several is the truest."""


def processor_seconds(read: Callable[[str], Any], text: str) -> float:
    """Processor time of this process for one call."""
    started = time.process_time()
    read(text)
    return time.process_time() - started


def grows_with_its_length(read: Callable[[str], Any], text: str) -> bool:
    """Whether a text takes at most MAX_GROWTH times what its first half takes, beyond what a little prose takes.

    The allowance for prose of a tenth of its length keeps measurements that are too short to compare from failing.
    """
    parts = (text, text[: len(text) // 2], (PROSE * (len(text) // len(PROSE) + 1))[: len(text) // 10])
    shortest = [float("inf")] * 3
    for _ in range(N_TRIES):
        shortest = [min(known, processor_seconds(read, part)) for known, part in zip(shortest, parts, strict=True)]
        whole, half, prose = shortest
        if whole <= MAX_GROWTH * half + prose:
            return True
    return False
