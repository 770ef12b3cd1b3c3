"""Names in running text, and the cutting of the sentences that they stand in.

Words are compared by their key: NFKC, case-folded, without a possessive ending. A text of a script that puts no blanks
between words is compared character by character. The same text and names always give the same cut, so a message that
is landed again after an erasure becomes what it became then.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.language.sentences import may_go_on
from em_pipelines.language.sentences import sentences as sentence_spans

MARKER = "[…]"
"""Stands where something was cut. It holds no word, so nobody reads a name, a fact or an order out of it."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_LETTER = rf"(?:(?![{_UNSPACED}])[^\W_])"
_TOKEN = re.compile(rf"{_LETTER}+(?:['’]{_LETTER}+)*[+#]*|[{_UNSPACED}]")
_GAP = re.compile(r"[\s_.,&/'’()\"-]{0,3}")
_BLANKS = re.compile(rf"{CODE_MARK}(?:\s*{CODE_MARK})*+")
_BEFORE_OPENING = " \t\"'“‘([*_-"
_MARKERS = re.compile(rf"{re.escape(MARKER)}(?:[\s,;.]*{re.escape(MARKER)})+")
_SOMEBODY = re.compile(r"(?i)\b(?:s?he|they|him|hers?|his|them|theirs?|(?:him|her|them)sel(?:f|ves))\b")
_ITEM = re.compile(r"(?:[-*•–]|\d{1,2}[.)])\s")
_QUOTES = '"“„«「'
_LONGEST_ANSWER = 4
_DETERMINERS = frozenset(
    {
        "a", "an", "the", "my", "our", "his", "her", "their", "your", "its", "this", "that", "these", "those",
        "some",
    }
)  # fmt: skip
AMBIGUOUS = frozenset(
    {
        "amber", "angel", "april", "art", "august", "autumn", "bill", "bob", "chance", "chase", "chip",
        "christian", "daisy", "dale", "dawn", "dean", "drew", "earl", "ernest", "eve", "faith", "frank",
        "gene", "glen", "grace", "grant", "guy", "harmony", "heather", "hope", "hunter", "iris", "ivy",
        "jack", "jasmine", "jean", "joy", "june", "lance", "lily", "major", "mark", "max", "may", "melody",
        "miles", "nick", "olive", "pat", "pearl", "penny", "poppy", "rain", "ray", "rich", "rob", "robin",
        "rose", "ruby", "rusty", "sandy", "sky", "stone", "sue", "summer", "sunny", "victor", "violet",
        "wade", "ward", "will", "willow", "winter", "woody",
    }
)  # fmt: skip
"""Words that are names as well: they count only where they are written as names are, inside a sentence."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a text."""

    start: int
    end: int

    def meets(self, other: "Span") -> bool:
        """Whether they share a character."""
        return self.start < other.end and other.start < self.end

    def meets_any(self, others: Iterable["Span"]) -> bool:
        """Whether it shares a character with one of the others."""
        return any(self.meets(other) for other in others)

    def holds(self, other: "Span") -> bool:
        """Whether the other lies within."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Names to look for: `is_name` of a key, and how many words names have."""

    is_name: Callable[[str], bool]
    lengths: frozenset[int]

    @classmethod
    def of(cls, names: Iterable[str]) -> "NameIndex":
        """The index of names as worded."""
        keys = frozenset(filter(None, map(key_of, names)))
        return cls(keys.__contains__, frozenset(key.count(" ") + 1 for key in keys))

    def __or__(self, other: "NameIndex") -> "NameIndex":
        return NameIndex(lambda key: self.is_name(key) or other.is_name(key), self.lengths | other.lengths)

    def is_in(self, text: str) -> bool:
        """Whether any of the names stands in the text."""
        return next(self.spans(text), None) is not None

    def spans(self, text: str) -> Iterator[Span]:
        """Where the names stand, in order."""
        if not self.lengths or not text:
            return
        tokens = [(m.start(), m.end(), _token_key(m.group())) for m in _TOKEN.finditer(text)]
        for i in range(len(tokens)):
            for length in sorted(self.lengths, reverse=True):
                run = tokens[i : i + length]
                if len(run) == length and _is_joined(text, run) and self._matches(text, run):
                    yield Span(run[0][0], run[-1][1])
                    break

    def _matches(self, text: str, run: Sequence[tuple[int, int, str]]) -> bool:
        keys = [key for _, _, key in run]
        start, end = run[0][0], run[-1][1]
        if len(run) == 1 and keys[0] in AMBIGUOUS and (not text[start].isupper() or _opens_sentence(text, start)):
            return False
        if self.is_name(" ".join(keys)):
            return True
        # "the Dereks", and the genitive of languages that write no apostrophe
        is_plural = text[start].isupper() and keys[-1].endswith("s") and end - run[-1][0] > 2
        return is_plural and self.is_name(" ".join([*keys[:-1], keys[-1][:-1]]))


def key_of(name: str) -> str:
    """The key of a name: those of its words, joined by blanks, without leading determiners; empty for no word."""
    keys = [_token_key(m.group()) for m in _TOKEN.finditer(name)]
    while len(keys) > 1 and keys[0] in _DETERMINERS:
        keys = keys[1:]
    return " ".join(keys)


def word_keys(text: str) -> list[tuple[Span, str]]:
    """The words of a text in order: where each stands, and its key."""
    return [(Span(*m.span()), _token_key(m.group())) for m in _TOKEN.finditer(text)]


def sentences(text: str) -> list[Span]:
    """The sentences of a text with their closing marks, without the white space between them."""
    return [Span(*span) for span in sentence_spans(text)]


def gone(
    text: str, hits: Iterable[Span], others: Iterable[Span] = (), *, is_meant: bool = False
) -> tuple[list[Span], bool]:
    """The sentences that go where what `hits` stand for goes, and whether a pronoun behind the text may still mean it.

    Those with a hit, the question that one of a few words answers, what is listed or quoted behind one, and those
    behind one that speak of somebody by a pronoun, until one of `others` is named first. `is_meant`: a pronoun at the
    beginning of the text may mean it already.
    """
    spans, others = sentences(text), sorted(others, key=lambda span: span.start)
    is_hit = _met(spans, hits)
    found: list[Span] = []
    is_listed = False
    for number, span in enumerate(spans):
        named = next((other.start for other in others if other.meets(span)), span.end)
        pronoun = _SOMEBODY.search(text, span.start, named)
        is_listed = is_listed and _ITEM.match(text, span.start) is not None
        is_quoted = bool(found) and found[-1] == spans[number - 1] and text[span.start] in _QUOTES
        if is_hit[number] and number and _answers(text, spans[number - 1], span):
            found.append(spans[number - 1])
        if is_hit[number] or is_listed or is_quoted or (is_meant and pronoun is not None):
            found.append(span)
            is_meant, is_listed = True, is_listed or text[span.end - 1] == ":"
        elif named < span.end:
            is_meant = False
    return found, is_meant


def _answers(text: str, asked: Span, said: Span) -> bool:
    """Whether a sentence of a few words says nothing without the question before it."""
    is_short = len(_TOKEN.findall(text, said.start, said.end)) <= _LONGEST_ANSWER
    return is_short and text[asked.start : asked.end].rstrip("\"'”’)").endswith("?")


def cut(text: str, hits: Iterable[Span], keeps: Iterable[Span] = (), barred: Iterable[Span] | None = None) -> str:
    """The text without every sentence that a hit stands in, and those that may be its end; what goes leaves MARKER.

    Of such a sentence the `keeps` stay, each as a sentence of its own, that speak of nobody by a pronoun and meet
    nothing `barred`: where that is not given, no hit. A text without a hit comes back as it is.
    """
    hits = list(hits)
    barred = hits if barred is None else list(barred)
    kept = sorted(
        (k for k in keeps if not k.meets_any(barred) and not _SOMEBODY.search(text, k.start, k.end)),
        key=lambda k: (k.start, -k.end),
    )
    spans = sentences(text)
    is_hit = _met(spans, hits)
    first = 0
    for number in range(1, len(spans)):
        one, other = (spans[first].start, spans[number - 1].end), (spans[number].start, spans[number].end)
        is_end = is_hit[number - 1] and not is_hit[number] and may_go_on(text, one, other)
        is_hit[number] = is_hit[number] or is_end
        first = first if is_end else number
    holes = [(span, _remains(text, span, kept)) for number, span in enumerate(spans) if is_hit[number]]
    return _with_holes(text, holes)


def _met(spans: Sequence[Span], hits: Iterable[Span]) -> list[bool]:
    """Which of the spans, which are in order and apart, a hit meets."""
    is_met = [False] * len(spans)
    for hit in hits:
        number = max(0, bisect_right(spans, hit.start, key=lambda span: span.start) - 1)
        while number < len(spans) and spans[number].start < hit.end:
            is_met[number] = is_met[number] or spans[number].meets(hit)
            number += 1
    return is_met


def marked(text: str) -> str:
    """The text with MARKER in place of what was blanked."""
    return _MARKERS.sub(MARKER, _BLANKS.sub(MARKER, text))


def _with_holes(text: str, holes: Iterable[tuple[Span, str]]) -> str:
    """The text with each hole filled by what stands there instead. Holes come in order and may overlap."""
    parts, at = [], 0
    for span, instead in holes:
        if span.end > at:
            parts += [text[at : max(at, span.start)], instead]
            at = span.end
    return _MARKERS.sub(MARKER, "".join([*parts, text[at:]])) if parts else text


def _remains(text: str, sentence: Span, kept: list[Span]) -> str:
    """What stays of a sentence: the kept pieces, each closed as the sentence was, between markers."""
    closing = text[sentence.end - 1] if text[sentence.end - 1] in ".!?" else "."
    pieces, at = [MARKER], sentence.start
    for span in kept:
        if sentence.holds(span) and span.start >= at:
            pieces += [f" {text[span.start : span.end].strip()}{closing} {MARKER}"]
            at = span.end
    return "".join(pieces)


def _is_joined(text: str, run: Sequence[tuple[int, int, str]]) -> bool:
    gaps = (text[one[1] : other[0]] for one, other in pairwise(run))
    return all("\n" not in gap and _GAP.fullmatch(gap) for gap in gaps)


def _opens_sentence(text: str, start: int) -> bool:
    before = start
    while before > 0 and text[before - 1] in _BEFORE_OPENING:
        before -= 1
    return (
        before == 0 or text[before - 1] in "\n:" or any(before <= first <= start for first, _ in sentence_spans(text))
    )


@lru_cache(maxsize=65_536)
def _token_key(token: str) -> str:
    key = unicodedata.normalize("NFKC", token).casefold().replace("’", "'").replace(" ", "_")
    return key.removesuffix("'s") or key
