"""Words that say nothing of anybody (public_words.yaml), and the domain that a few of them are of."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path

from em_pipelines.language.values import read_yaml
from em_pipelines.lifecycle.consolidation.evidence import category_key

GENERAL, CODES = "general", "codes"
STEP = " > "
"""Between the steps of a way of doing something."""
_PLAIN = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")


@cache
def by_domain() -> dict[str, frozenset[str]]:
    """The words by domain, in the order of the file."""
    data = read_yaml(Path(__file__).with_name("public_words.yaml").read_text(encoding="utf-8"))
    return {name: frozenset(str(words).split()) for name, words in data.items()}


def domains() -> list[str]:
    """Every domain that an entry may be of."""
    return [name for name in by_domain() if name != CODES]


@cache
def shipped() -> frozenset[str]:
    """All words of the file."""
    return frozenset().union(*by_domain().values())


def plain(text: str) -> str:
    """A name as the words that it is made of, in small letters: `NightlyExport`, `nightly-export` and `nightly export`
    are one; steps stay apart."""
    return STEP.join(category_key(step) for step in text.split(STEP))


def words_in(text: str) -> list[str]:
    """The words of what `plain` gives."""
    return [word for step in text.split(STEP) for word in step.split()]


def is_public(text: str, more: Collection[str] = ()) -> bool:
    """Whether a text is made of public words alone, each as `plain` writes it; `more` are those of whoever asks."""
    known = shipped()
    is_plain = all(_PLAIN.fullmatch(step) for step in text.split(STEP))
    return is_plain and all(word in known or word in more for word in words_in(text))


def domain_of(texts: Iterable[str]) -> str:
    """The domain that most of the words are of; the first in the file of those that have as many."""
    words = [word for text in texts for word in words_in(text)]
    counts = Counter({name: sum(word in some for word in words) for name, some in by_domain().items()
                      if name not in (GENERAL, CODES)})  # fmt: skip
    name, n = counts.most_common(1)[0]
    return name if n else GENERAL
