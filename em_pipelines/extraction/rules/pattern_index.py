"""Which patterns a clause can match at all: by its verb, the word that opens its subject, and the words after the verb.

A common verb has dozens of patterns, most of which want some word that is not there; those are never tried.
"""

from collections.abc import Iterable

from em_pipelines.extraction.rules.patterns import Pattern


class PatternIndex:
    """Patterns by lemma; `candidates` gives those whose demanded words are there, in the order of the files."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_lemma: dict[str, _OfLemma] = {}
        for n, pattern in enumerate(patterns):
            for lemma in pattern.lemmas:
                self._by_lemma.setdefault(lemma, _OfLemma()).add(n, pattern)

    def has(self, lemmas: Iterable[str]) -> bool:
        """Whether any pattern starts with one of these verbs."""
        return not self._by_lemma.keys().isdisjoint(lemmas)

    def candidates(self, lemmas: Iterable[str], first: str, after: set[str], at_once: set[str]) -> list[Pattern]:
        """The patterns worth trying; `first` opens the subject phrase, `after` are the words after the verb.

        `at_once` are those of them with nothing but adverbs before.
        """
        found: dict[int, Pattern] = {}
        for lemma in lemmas:
            of_lemma = self._by_lemma.get(lemma)
            if of_lemma is not None:
                of_lemma.collect(first, after, at_once, found)
        return [found[n] for n in sorted(found)]


class _OfLemma:
    def __init__(self) -> None:
        self.open: dict[int, Pattern] = {}
        self.led: dict[str, dict[int, Pattern]] = {}
        self.triggered: dict[str, dict[int, Pattern]] = {}
        self.triggered_at_once: dict[str, dict[int, Pattern]] = {}

    def add(self, n: int, pattern: Pattern) -> None:
        if pattern.lead_words:
            for word in pattern.lead_words:
                self.led.setdefault(word, {})[n] = pattern
        elif pattern.trigger_words:
            is_at_once = pattern.right[0].kind == "word" and not pattern.right[0].is_optional
            triggered = self.triggered_at_once if is_at_once else self.triggered
            for word in pattern.trigger_words:
                triggered.setdefault(word, {})[n] = pattern
        else:
            self.open[n] = pattern

    def collect(self, first: str, after: set[str], at_once: set[str], found: dict[int, Pattern]) -> None:
        found.update(self.open)
        for n, pattern in self.led.get(first, {}).items():
            if not pattern.trigger_words or not after.isdisjoint(pattern.trigger_words):
                found[n] = pattern
        for word in after & self.triggered.keys():
            found.update(self.triggered[word])
        for word in at_once & self.triggered_at_once.keys():
            found.update(self.triggered_at_once[word])
