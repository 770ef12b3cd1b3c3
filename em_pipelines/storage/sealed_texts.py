"""Sentences that may not be kept and have to be recognised: salted hashes that only this home can make.

Hashed are the keys of words, so neither letter case nor marks nor white space hides a sentence. A sentence is looked
for by a hash of its first words and told by one of all of them; runs of its words (`SealedRun`) tell what is left of
one that was cut in two. A text is walked word by word, and nothing has to be known of it but the hashes.

Up to version 2 of a request the whole was hashed character by character, up to the boundaries of the splitter of then.
Such sentences carry `n_characters` and keep those boundaries.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from em_pipelines.language.name_matching import Span, word_keys
from em_pipelines.storage.salt import Salt

OPENING_WORDS = 4
"""Few sentences open with the same ones; of a shorter sentence all words are its opening."""
RUN_WORDS = (5, 6)
"""Fewest and most words of a run: half of a sentence, within these."""
MIN_RUN_WORDS = 3
"""Of a sentence as short as a run all words are one, unless there are fewer."""
CACHED_OPENINGS = 100_000
CACHED_TEXTS = 20_000
MAX_CACHED_CHARACTERS = 2_000
"""Tables say the same texts day after day; longer ones are seldom said twice."""


@dataclass(frozen=True, slots=True, order=True)
class SealedSentence:
    """A sentence of `n_all` words; `opening` hashes its first `n_words`, `whole` all.

    As earlier versions wrote it, `n_all` is 0, `whole` hashes its `n_characters`, and the first word stands at `start`.
    """

    opening: str
    n_words: int
    start: int
    n_characters: int
    whole: str
    n_all: int = 0


@dataclass(frozen=True, slots=True, order=True)
class SealedRun:
    """Words of a sentence that goes, side by side."""

    key: str
    n_words: int


def sealed(sentence: str, salt: Salt) -> SealedSentence | None:
    """The sentence as hashes; None for one without a word."""
    keys = _keys(sentence)
    if not keys:
        return None
    opening = keys[:OPENING_WORDS]
    whole = salt.hash("words", " ".join(keys))
    return SealedSentence(salt.hash("opening", " ".join(opening)), len(opening), 0, 0, whole, len(keys))


def sealed_as_before(sentence: str, salt: Salt) -> SealedSentence | None:
    """The sentence as hashes of the second version of a request, which hold its characters; None for one without a
    word."""
    words = word_keys(sentence)
    if not words:
        return None
    opening = [key for _, key in words[:OPENING_WORDS]]
    return SealedSentence(
        salt.hash("opening", " ".join(opening)), len(opening), words[0][0].start, len(sentence), _whole(salt, sentence)
    )


def sealed_runs(gone: Iterable[str], kept: Iterable[str], salt: Salt) -> tuple[SealedRun, ...]:
    """The runs of words of sentences that go, but for those that a text that is kept says as well."""
    runs = {run for sentence in gone for run in _runs(_keys(sentence))}
    lengths = {len(run) for run in runs}
    for text in kept if runs else ():
        keys = _keys(text)
        for length in lengths:
            runs.difference_update(tuple(keys[at : at + length]) for at in range(len(keys) - length + 1))
    return tuple(sorted(SealedRun(_run(salt, " ".join(run)), len(run)) for run in runs))


def _runs(keys: list[str]) -> Iterator[tuple[str, ...]]:
    """The runs of a sentence's words. Where words have but a letter, as in scripts without blanks, they are longer."""
    fewest, most = (n * (3 if len("".join(keys)) < 2 * len(keys) else 1) for n in RUN_WORDS)
    length = min(most, max(fewest, (len(keys) + 1) // 2), len(keys))
    if length >= MIN_RUN_WORDS:
        yield from (tuple(keys[at : at + length]) for at in range(len(keys) - length + 1))


def _keys(text: str) -> list[str]:
    return [key for _, key in word_keys(text)]


class SentenceIndex:
    """Looks for sealed sentences in texts, and for runs of them."""

    def __init__(self, sentences: Iterable[SealedSentence], salt: Salt, runs: Iterable[SealedRun] = ()) -> None:
        self._salt = salt
        self._by_opening: dict[str, list[SealedSentence]] = defaultdict(list)
        for sentence in sorted(set(sentences)):
            self._by_opening[sentence.opening].append(sentence)
        self._lengths = sorted({s.n_words for found in self._by_opening.values() for s in found}, reverse=True)
        runs = set(runs)
        self._runs = frozenset(run.key for run in runs)
        self._run_lengths = sorted({run.n_words for run in runs})
        self._opening = lru_cache(CACHED_OPENINGS)(lambda words: salt.hash("opening", words))
        self._run = lru_cache(CACHED_OPENINGS)(lambda words: _run(salt, words))
        self._is_in_short = lru_cache(CACHED_TEXTS)(self._is_in)
        self._holds_run_short = lru_cache(CACHED_TEXTS)(self._holds_run)

    def is_in(self, text: str) -> bool:
        """Whether any of the sentences stands in the text, word by word."""
        return self._is_in_short(text) if len(text) <= MAX_CACHED_CHARACTERS else self._is_in(text)

    def is_in_part(self, text: str) -> bool:
        """Whether one of the sentences, or a run of its words, stands in the text."""
        if self.is_in(text):
            return True
        return self._holds_run_short(text) if len(text) <= MAX_CACHED_CHARACTERS else self._holds_run(text)

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

    def _holds_run(self, text: str) -> bool:
        if not self._runs or not text:
            return False
        keys = _keys(text)
        return any(
            self._run(" ".join(keys[at : at + length])) in self._runs
            for length in self._run_lengths
            for at in range(len(keys) - length + 1)
        )

    def _at(self, text: str, words: list[tuple[Span, str]], number: int) -> Span | None:
        """The longest sentence whose first word is this one."""
        found: list[Span] = []
        for length in self._lengths:
            run = words[number : number + length]
            opening = self._opening(" ".join(key for _, key in run)) if len(run) == length else ""
            candidates = (one for one in self._by_opening.get(opening, ()) if one.n_words == length)
            found += [span for one in candidates if (span := self._place(text, words, number, one)) is not None]
        return max(found, key=lambda span: span.end, default=None)

    def _place(self, text: str, words: list[tuple[Span, str]], number: int, sentence: SealedSentence) -> Span | None:
        """Where the sentence stands if its first word is this one."""
        if sentence.n_all:
            run = words[number : number + sentence.n_all]
            is_it = self._salt.hash("words", " ".join(key for _, key in run)) == sentence.whole
            return Span(run[0][0].start, run[-1][0].end) if is_it else None
        start = words[number][0].start - sentence.start
        piece = text[max(0, start) : start + sentence.n_characters]
        return Span(start, start + sentence.n_characters) if _whole(self._salt, piece) == sentence.whole else None


def _whole(salt: Salt, sentence: str) -> str:
    return salt.hash("sentence", sentence)


def _run(salt: Salt, words: str) -> str:
    return salt.hash("run", words)
