"""What would tell of a user: their names, values and identifiers, and whether anything of that stands in a text.

The proof that what goes into a pool tells nothing of its source. It knows nothing of how a contribution is made, and is
asked of what would be written, word by word: a public word that is also a name of theirs is one too many.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from em_pipelines.language.name_keys import compact_key, fold
from em_pipelines.language.sentences import sentences
from em_pipelines.lifecycle.consolidation.evidence import LINK_WORDS
from em_pipelines.lifecycle.pool.public_words import CODES, by_domain, shipped

MIN_WORD_LETTERS = 2
MIN_WHOLE_LETTERS = 3
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN = re.compile(r"\S+")
_PLACE = re.compile(r"[@/\\~]|\w_\w|\w\.\w|^[\w-]+:\d|^[^\W\d]+[-_#]\d[\d_-]*$")
"""An address, a path, a host, a name in code, a number of an order or ticket."""
_NUMBER = re.compile(r"\w*\d\w*")
_ENDING = re.compile(r"(?<!@)\b[\w-]+\.([a-z]{2,5})$")
_EDGES = "\"'`([{<>}]).,;:!?…"


@dataclass(frozen=True, slots=True)
class Traces:
    """Words by which a user could be known, and whole names run together; both folded."""

    words: frozenset[str]
    wholes: frozenset[str]

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        prose: Iterable[str] = (),
        output: Iterable[str] = (),
        skills: Collection[str] = (),
    ) -> "Traces":
        """The traces of names, values and identifiers (all of their words count), of what people wrote (what is written
        as names are, and what is telling by its form), and of what tools put out (the latter alone). `skills` are
        names that are judged for themselves, wherever they are mentioned."""
        words: set[str] = set()
        wholes: set[str] = set()
        for name in set(names):
            words.update(_words(name))
            if len(whole := compact_key(name)) >= MIN_WHOLE_LETTERS:
                wholes.add(whole)
        told = {one for text in set(prose) for one in _told(text, is_prose=True)}
        told |= {one for text in set(output) for one in _told(text, is_prose=False)}
        told -= set(skills)
        words.update({word for one in told for word in _words(one)} - (by_domain()[CODES] - words))
        return cls(frozenset(words), frozenset(wholes))

    def is_in(self, text: str) -> bool:
        """Whether a word of the text, or several in a row, are a trace."""
        found = [word for part in _PARTS.findall(text) for word in (fold(part),)]
        if any(word in self.words for word in found):
            return True
        runs = ("".join(found[i:j]) for i in range(len(found)) for j in range(i + 1, len(found) + 1))
        return any(run in self.wholes for run in runs)


def _words(name: str) -> Iterator[str]:
    for piece in {name, _CAMEL.sub(" ", name)}:
        for part in _PARTS.findall(piece):
            word = fold(part)
            if len(word) >= MIN_WORD_LETTERS and word not in LINK_WORDS:
                yield word


def _told(text: str, *, is_prose: bool) -> Iterator[str]:
    """The pieces of a text that may tell of somebody."""
    openings, before = {first for first, _ in sentences(text)}, ""
    for match in _TOKEN.finditer(text):
        token = match.group().strip(_EDGES)
        is_within = match.start() not in openings and not before.endswith(":")
        before = match.group()
        if _PLACE.search(token):
            yield _without_ending(token)
        elif is_prose and is_within and _is_written_as_name(token):
            yield token
        else:
            yield from _NUMBER.findall(token)


def _without_ending(token: str) -> str:
    """A path without what says of which format its file is."""
    found = _ENDING.search(token)
    return token[: found.start(1)] if found and found[1] in shipped() and "@" not in token else token


def _is_written_as_name(token: str) -> bool:
    """Whether a word has a capital; an acronym of those that everybody writes so is none."""
    if token == "I" or token == token.lower():
        return False
    return not (token.isupper() and token.lower() in shipped())
