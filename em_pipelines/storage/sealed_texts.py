"""Sentences that may not be kept and have to be recognised: salted hashes that only this home can make.

A sentence is looked for by a hash of the keys of its first words and told by one of all of its characters, so a text is
walked word by word and nothing has to be known of it but the hashes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from em_pipelines.storage.salt import Salt
from em_pipelines.text.name_matching import Span, word_keys

OPENING_WORDS = 4
"""Few sentences open with the same ones; of a shorter sentence all words are its opening."""
CACHED_OPENINGS = 100_000
CACHED_TEXTS = 20_000
MAX_CACHED_CHARACTERS = 2_000
"""Tables say the same texts day after day; longer ones are seldom said twice."""


@dataclass(frozen=True, slots=True, order=True)
class SealedSentence:
    """A sentence of `n_characters` whose first word stands at `start`; `opening` hashes its first `n_words` words."""

    opening: str
    n_words: int
    start: int
    n_characters: int
    whole: str


def sealed(sentence: str, salt: Salt) -> SealedSentence | None:
    """The sentence as hashes; None for one without a word."""
    words = word_keys(sentence)
    if not words:
        return None
    opening = [key for _, key in words[:OPENING_WORDS]]
    return SealedSentence(
        salt.hash("opening", " ".join(opening)), len(opening), words[0][0].start, len(sentence), _whole(salt, sentence)
    )


class SentenceIndex:
    """Looks for sealed sentences in texts."""

    def __init__(self, sentences: Iterable[SealedSentence], salt: Salt) -> None:
        self._salt = salt
        self._by_opening: dict[str, list[SealedSentence]] = defaultdict(list)
        for sentence in sorted(set(sentences)):
            self._by_opening[sentence.opening].append(sentence)
        self._lengths = sorted({s.n_words for found in self._by_opening.values() for s in found}, reverse=True)
        self._opening = lru_cache(CACHED_OPENINGS)(lambda words: salt.hash("opening", words))
        self._is_in_short = lru_cache(CACHED_TEXTS)(self._is_in)

    def is_in(self, text: str) -> bool:
        """Whether any of the sentences stands in the text, character by character."""
        return self._is_in_short(text) if len(text) <= MAX_CACHED_CHARACTERS else self._is_in(text)

    def spans(self, text: str) -> Iterator[Span]:
        """Where the sentences stand, in order; none overlaps the one before."""
        if not self._by_opening or not text:
            return
        words, at = word_keys(text), 0
        for number in range(len(words)):
            found = self._at(text, words, number)
            if found and found.start >= at:
                yield found
                at = found.end

    def _is_in(self, text: str) -> bool:
        return next(self.spans(text), None) is not None

    def _at(self, text: str, words: list[tuple[Span, str]], number: int) -> Span | None:
        """The longest sentence whose first word is this one."""
        found: list[Span] = []
        for length in self._lengths:
            run = words[number : number + length]
            opening = self._opening(" ".join(key for _, key in run)) if len(run) == length else ""
            for sentence in self._by_opening.get(opening, ()):
                start = words[number][0].start - sentence.start
                piece = text[max(0, start) : start + sentence.n_characters]
                if sentence.n_words == length and _whole(self._salt, piece) == sentence.whole:
                    found.append(Span(start, start + sentence.n_characters))
        return max(found, key=lambda span: span.end, default=None)


def _whole(salt: Salt, sentence: str) -> str:
    return salt.hash("sentence", sentence)
