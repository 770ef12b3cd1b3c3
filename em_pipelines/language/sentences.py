"""Where sentences begin and end: the one splitter, for guard, erasure, retrieval, rules and audit.

In: any text. Out: spans [start, end) in characters of that text, in order, with their closing marks and without the
white space between them; together they hold every character that is not white space. Boundaries are those of
sentencex, which knows abbreviations and initials; what is added here is lines, the digits behind an abbreviation, and
closed quotations. Where a boundary is in doubt there is none: an erasure that cuts too much is the smaller harm.
Linear in the text. The boundaries of earlier versions are in `em_pipelines.language.sentences_v1`.
"""

import re
import unicodedata
from calendar import day_name, month_name
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise

import sentencex

Span = tuple[int, int]

CACHED_TEXTS = 512
MAX_WINDOW = 2_000
"""Characters that the library is given at once: unclosed quotation marks cost it the square of that."""
_WRAPPED_LINE = 55
"""A line at least this long goes on in the next one where that opens with a small letter."""
_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_LINE_ENDS = ("\n", "\r\n", "\r")
_UNUSUAL = re.compile(r"[^\S ]|[\ud800-\udfff]")
"""White space other than the blank, and halves of pairs: the library counts bytes, and stumbles over these."""
_OMITTED = re.compile(r"\s*\[(?:…|\.{3})\]\s+(?=\S)")
_WIDE_MARKS = "。！？；।"
_MARKS = ".!?;…。！？；।؟"
_CLOSING = "\"'”’»)]」』"
_CLOSING_QUOTES = "\"'”’»」』"
_OPENING_QUOTES = "\"'“‘«„「『"
_SYMBOLS = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
_PERSONAL = re.compile(r"(?i)(?:i|you|he|she|it|we|they|my|your|his|her|its|our|their)\b")
_PRONOUNS = "I|You|He|She|It|We|They|My|Your|His|Her|Its|Our|Their|This|That|These|Those|The|There"
_BEFORE_PRONOUN = re.compile(
    rf"(?<![.…])[.…]++[\"'”’»)\]]*+\s++(?=(?:{_PRONOUNS})(?:['’][a-z]{{1,2}})?[\s,])", re.ASCII
)
"""Where a sentence opens with a pronoun, though the word before may be an abbreviation: `It suits me. She …`."""
_BEHIND_PICTURE = re.compile(r"[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]\s+(?=[A-Z])")
"""A capital behind an emoji, which people put instead of a full stop."""
_LAST_WORD = re.compile(r"(?<!\d)(?<![^\W_])[^\W\d_]+\Z")
_NUMERIC_DATE = re.compile(r"(?:(?<!\S)[^\W\d_]+ )?(?<!\S)(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.\Z")
"""A day and a month, with the word before: `am 12.3. Treffen`."""
_NAMED_NUMBER = re.compile(r"[A-Z]\w{3}")
"""A name before a number, which then is a version: `Python 3.11. Deploys …`."""
_OPENING = re.compile(rf"(?:{_PRONOUNS})\b")
_BEHIND_NAME = re.compile(r"(?<!\S)[A-Z]\S* [^\W\d_]+\Z")
_NEXT_NAMES = re.compile(rf"(?!(?:{_PRONOUNS})\b)[A-Z][a-z]+ [A-Z]")
_SHORTENED = re.compile(r"[B-DF-HJ-NP-TVWXZb-df-hj-np-tvwxz][b-df-hj-np-tvwxz]+\Z")
_ENUMERATOR = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z])[.)]\Z")
_LONGEST_SHORTENED = 12
_LONGEST_ENUMERATOR = 8
_DAYS_AND_MONTHS = tuple(name for name in (*day_name, *month_name) if name)


@lru_cache(CACHED_TEXTS)
def sentences(text: str) -> tuple[Span, ...]:
    """The spans of the sentences of a text."""
    found: list[Span] = []
    for start, end in _paragraphs(text):
        cuts = [start, *_boundaries(text, start, end), end]
        for first, last in pairwise(cuts):
            piece = text[first:last]
            if bare := piece.strip():
                begin = first + len(piece) - len(piece.lstrip())
                found.append((begin, begin + len(bare)))
    return tuple(found)


def sentences_of(text: str) -> list[str]:
    """The sentences themselves."""
    return [text[start:end] for start, end in sentences(text)]


def sentences_around(text: str, start: int, end: int) -> Span:
    """The span of the sentence or sentences that hold the characters from `start` up to `end`; those characters where
    none does."""
    held = [one for one in sentences(text) if one[0] < max(end, start + 1) and start < one[1]]
    return (held[0][0], held[-1][1]) if held else (start, end)


def without_marks(text: str, span: Span) -> Span:
    """A sentence without the marks that close it, and the quotes and brackets behind them."""
    bare = text[span[0] : span[1]].rstrip(_CLOSING)
    return (span[0], span[0] + len(bare.rstrip(_MARKS))) if bare[-1:] and bare[-1] in _MARKS else span


def may_go_on(text: str, one: Span, other: Span) -> bool:
    """Whether a sentence may go on in the next one, for all that is known: it began with a capital, ends with a full
    stop, and the next begins small, with no pronoun. Whoever cuts something out of a text takes both."""
    opening = text[slice(*one)].lstrip(_OPENING_QUOTES + "([")[:1]
    is_open = opening.isupper() and text[one[1] - 1] == "." and "\n" not in text[one[1] : other[0]]
    return is_open and text[other[0]].islower() and _PERSONAL.match(text, *other) is None


def _paragraphs(text: str) -> Iterator[Span]:
    """Lines, those of wrapped prose joined."""
    start = end = -1
    length = 0
    for line in _LINE.finditer(text):
        if start >= 0:
            opens_small = text[line.start() : line.end()].lstrip()[:1].islower()
            if length >= _WRAPPED_LINE and opens_small and text[end : line.start()] in _LINE_ENDS:
                end, length = line.end(), len(line.group())
                continue
            yield start, end
        start, end, length = line.start(), line.end(), len(line.group())
    if start >= 0:
        yield start, end


def _boundaries(text: str, start: int, end: int) -> list[int]:
    """Where sentences of a paragraph begin, but for the first."""
    said = _UNUSUAL.sub(" ", text[start:end])
    found = set(_library_boundaries(said))
    found |= {match.end() for match in _BEFORE_PRONOUN.finditer(said)}
    if not said.isascii():
        found |= {match.end() for match in _BEHIND_PICTURE.finditer(said)}
    kept = [0, *_behind_omissions(said, 0)]
    for at in sorted(found):
        if at > kept[-1] and not _goes_on(said, kept[-1], at):
            kept.append(at if said.isascii() else _behind_symbols(said, at))
            kept += _behind_omissions(said, kept[-1])
    return [start + at for at in kept[1:]]


def _behind_omissions(said: str, at: int) -> list[int]:
    """Where a sentence that opens with marks of what was left out goes on behind them; each mark stands by itself."""
    found: list[int] = []
    while omitted := _OMITTED.match(said, at):
        at = omitted.end()
        found.append(at)
    return found


def _is_short_form(said: str, end: int) -> bool:
    """Whether the word that ends here is short for one that stands before names: it has no vowel, or begins the name of
    a day or month. `Hmm` ends as no such word does."""
    match = _LAST_WORD.search(said, max(0, end - _LONGEST_SHORTENED), end)
    word = match.group() if match is not None else ""
    return _is_day_or_month(word) or (len(word) > 1 and word[-1] != word[-2] and _SHORTENED.match(word) is not None)


def _is_day_or_month(word: str) -> bool:
    """Whether a word is short for one."""
    return len(word) > 2 and any(name.startswith(word) and name != word for name in _DAYS_AND_MONTHS)


@lru_cache(4096)
def _is_known_abbreviation(word: str) -> bool:
    """Whether the library has the word among its abbreviations."""
    return len(_sizes(f"Then {word}. Xylo went")) == 1


def _library_boundaries(said: str) -> list[int]:
    """The library's boundaries of a paragraph, window by window; the last sentence of a window is looked at again with
    what follows it."""
    found: list[int] = []
    at = 0
    while at < len(said):
        window = said[at : at + MAX_WINDOW]
        sizes = _sizes(window)
        is_closed = at + len(window) < len(said) and len(sizes) > 1
        if is_closed:
            sizes.pop()
        ends = [at + size for size in accumulate(sizes)]
        found += ends if is_closed else ends[:-1]
        at = ends[-1]
    return found


def _sizes(window: str) -> list[int]:
    try:
        sizes = [len(piece) for piece in sentencex.segment("en", window)]
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what the library raises for a bug of its own has no type to name
            raise
        return [len(window)]
    return sizes if sum(sizes) == len(window) else [len(window)]


def _goes_on(said: str, start: int, at: int) -> bool:
    """Whether the sentence from `start` goes on at a boundary after all: `approx. 4 kg`, `on Tues. at noon`,
    `Sgt. Will Turner`, `「…。」と` directly behind a closed quotation, `1. Call Ana`."""
    end = at
    while end > start and said[end - 1].isspace():
        end -= 1
    if end == at:
        is_quoted = said[at - 1] in _CLOSING_QUOTES
        return said[at] not in _OPENING_QUOTES if is_quoted else said[at - 1] not in _WIDE_MARKS
    if end - start <= _LONGEST_ENUMERATOR and _ENUMERATOR.match(said, start, end):
        return True
    is_one_stop = said[end - 1] == "." and said[end - 2 : end - 1] not in (".", "")
    return is_one_stop and _goes_on_behind_stop(said, start, end, at)


def _goes_on_behind_stop(said: str, start: int, end: int, at: int) -> bool:
    if said[at].isdigit() or _is_behind_date(said, start, end, at):
        return True
    return _is_short_form(said, end - 1) if said[at].islower() else _is_before_name(said, end - 1, at)


def _is_behind_date(said: str, start: int, end: int, at: int) -> bool:
    """Whether a day and a month end at `end`, and neither a version nor a sentence that a pronoun follows."""
    date = _NUMERIC_DATE.search(said, max(start, end - 2 * _LONGEST_SHORTENED), end)
    return date is not None and _NAMED_NUMBER.match(date.group()) is None and _OPENING.match(said, at) is None


def _is_before_name(said: str, end: int, at: int) -> bool:
    """Whether the word that ends at a full stop belongs to the name that follows."""
    word = _LAST_WORD.search(said, max(0, end - _LONGEST_SHORTENED), end)
    if word is None or len(word.group()) < 2 or not word.group()[0].isupper():
        return False
    if _is_day_or_month(word.group()):
        return True
    if _BEHIND_NAME.search(said, max(0, end - 3 * _LONGEST_SHORTENED), end):  # `Corvid Ltd.` is whole
        return False
    return _is_short_form(said, end) or (
        _NEXT_NAMES.match(said, at) is not None and _is_known_abbreviation(word.group())
    )


def _behind_symbols(said: str, at: int) -> int:
    """Behind the emoji that close the sentence before."""
    end = at
    while end < len(said) and unicodedata.category(said[end]) in _SYMBOLS:
        end += 1
    return end if end > at and said[end : end + 1].isspace() else at
