"""What texts and questions are compared by: words, signals and topics; of questions also persons,
spans of time and kinds of answer.

Words are in lower case and stemmed; those of a question without the ones that say nothing. Signals are what a text
shows at a glance, whatever its words are about: a time, a number, a name, a question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import Stemmer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float32]
DENSE = 200
"""Texts or words up to which the space is fitted exactly: the iterative way fails on few of them."""
MIN_DOCUMENTS = 2
"""A word that stands in one text alone is beside no others."""
REFITTED = 5_000
GROWTH = 1.1
"""Up to so many texts the space is fitted anew with each, from there on whenever there are a tenth more: those behind
are placed in the space that is there. What it is fitted on hangs on the number of texts alone, never on how they came.
"""
MOST_FITTED = 20_000
"""Of more texts so many are taken at even distances: neighbours in a conversation say much the same."""


@dataclass(frozen=True, slots=True)
class Topics:
    """`terms` (words × dimensions) weighs each word, `documents` (texts × dimensions) are of length 1 or 0."""

    terms: Floats
    documents: Floats

    def likeness(self, words: Sequence[int]) -> Floats:
        """Cosine (0 to 1, less is 0) of every text to the words of a question, given by number."""
        known = [word for word in words if word < len(self.terms)]
        asked = self.terms[known].sum(axis=0) if known else np.zeros(self.terms.shape[1], np.float32)
        length = float(np.linalg.norm(asked))
        if length == 0:
            return np.zeros(len(self.documents), np.float32)
        return likeness(self.documents, (asked / length).astype(np.float32))


def likeness(documents: Floats, asked: Floats) -> Floats:
    """Cosine (0 to 1, less is 0) of rows of length 1 to a vector of length 1.

    Not `@`: threads of BLAS wait for each other, on a busy machine for ten times as long as one of them works.
    """
    found: Floats = np.maximum(0, np.einsum("ij,j->i", documents, asked))
    return found


def n_fitted(n_texts: int) -> int:
    """How many of the first texts the space is fitted on."""
    if n_texts <= REFITTED:
        return n_texts
    size = float(REFITTED)
    while size * GROWTH <= n_texts:
        size *= GROWTH
    return int(size)


def fit(counts: "csr_matrix", dimensions: int, silent: Sequence[int] = ()) -> Floats:
    """What each word weighs (words × dimensions), fitted on texts × words; of few texts there are fewer dimensions.

    Words whose numbers are `silent` weigh nothing.
    """
    n_words = int(counts.indices.max(initial=-1)) + 1  # what is said later must not change a bit of it
    n_behind = counts.shape[1] - n_words
    counts = counts[:: -(-counts.shape[0] // MOST_FITTED) or 1, :n_words]
    n_texts = counts.shape[0]
    frequency = np.bincount(counts.indices, minlength=n_words)
    weight = np.where(frequency >= MIN_DOCUMENTS, np.log(max(1, n_texts) / np.maximum(1, frequency)), 0.0)
    weight[[word for word in silent if word < n_words]] = 0
    matrix = _weighed(counts, weight)
    size = min(dimensions, min(matrix.shape) - 1)
    if size < 1 or matrix.nnz == 0:
        return np.zeros((n_words + n_behind, 1), np.float32)
    right = _directions(matrix, size)
    terms = np.ascontiguousarray(right.T * weight[:, None], dtype=np.float32)
    found: Floats = np.pad(terms, ((0, n_behind), (0, 0)))
    return found


def _directions(matrix: "csr_matrix", size: int) -> npt.NDArray[np.float64]:
    """The `size` directions along which texts differ most, directions × words.

    In one thread: on matrices like these, threads of BLAS wait for each other for ten times as long as one works.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  (a third of a second, and only writers need them)

    with threadpool_limits(1, "blas"):
        if min(matrix.shape) <= DENSE:
            return np.linalg.svd(matrix.toarray(), full_matrices=False)[2][:size]
        from scipy.sparse.linalg import svds  # noqa: PLC0415

        found: npt.NDArray[np.float64] = svds(matrix, k=size, random_state=0)[2]
        return found


def place(counts: "csr_matrix", terms: Floats) -> Floats:
    """Where texts stand in the space: texts × dimensions, of length 1 or 0."""
    said = counts.astype(np.float32)
    said.data = 1 + np.log(said.data)
    placed = said @ terms
    length = np.linalg.norm(placed, axis=1, keepdims=True)
    found: Floats = (placed / np.where(length == 0, 1, length)).astype(np.float32)
    return found


def _weighed(counts: "csr_matrix", weight: npt.NDArray[np.float64]) -> "csr_matrix":
    from scipy.sparse import csr_matrix, diags  # noqa: PLC0415

    said = counts.astype(np.float64)
    said.data = 1 + np.log(said.data)
    matrix = csr_matrix(said @ diags(weight))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = csr_matrix(diags(1 / np.where(lengths == 0, 1, lengths)) @ matrix)
    matrix.eliminate_zeros()
    return matrix


_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_STEMMER = Stemmer.Stemmer("english", 0)
RUN = 4
STOP_WORDS = frozenset(
    """a an the and or but if of to in on at by for from with up about into over after before is are was were be been
    being am do does did doing done have has had having i you he she it we they me him her us them my your his its our
    their mine yours this that these those what which who whom whose when where why how not no so than too very can
    could will would shall should may might must just as there here some any all each both more most other such own
    same also don once ever get got kind type many much long recently currently""".split()  # noqa: SIM905
)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    return str(_STEMMER.stemWord(word))


def plain_words(text: str) -> list[str]:
    """The words as written, in lower case, without what follows an apostrophe."""
    found = _WORD.findall(text.casefold().replace("’", "'"))
    return [word.partition("'")[0] for word in found] if "'" in text or "’" in text else found


def stems(text: str) -> list[str]:
    """The stems of all words."""
    return [stem(word) for word in plain_words(text)]


def question_stems(text: str, names: frozenset[str]) -> list[str]:
    """The stems of the words that tell what is asked for: no stop words, and no names of speakers, each once."""
    kept = [word for word in plain_words(text) if word not in STOP_WORDS and word not in names]
    return list(dict.fromkeys(stem(word) for word in kept))


def letter_runs(word: str) -> list[str]:
    """Runs of four letters within a word, its ends marked by a blank."""
    ended = f" {word} "
    return [ended[n : n + RUN] for n in range(max(1, len(ended) - RUN + 1))]


MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_TIME = re.compile(
    r"(?:yesterday|today|tonight|tomorrow|last|next|ago|since|week|weekend|month|year|morning|evening|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|" + "|".join(MONTHS) + r"|\d{4})s?"
)
_NUMBER = re.compile(
    r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several|dozen|hundred"
)
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-zà-ÿ]+")
_SENTENCE = re.compile(r"[.!?]+")
NAMES = ("time_said", "number_said", "name_said", "statement", "length")


def signals(texts: Sequence[str], counts: "csr_matrix", words: Sequence[str], known: Floats | None = None) -> Floats:
    """One row a text, one column a signal of `NAMES`: 0 to 1, but for `length`, the logarithm of the number of words.

    `statement` is 1 less the share of questions, and less again where the text ends with one. `counts` are texts ×
    `words`; `known` are the rows of the first texts where they were made before.
    """
    found = np.zeros((len(texts), len(NAMES)), dtype=np.float32)
    for column, pattern in enumerate((_TIME, _NUMBER)):
        telling = np.array([pattern.fullmatch(word) is not None for word in words] or [False], np.float32)
        found[:, column] = counts @ telling > 0
    n_known = 0 if known is None else len(known)
    if known is not None:
        found[:n_known] = known
    for n, text in enumerate(texts[n_known:], start=n_known):
        n_questions = text.count("?")
        asks = (
            0.5 * (n_questions / len(_SENTENCE.findall(text))) + 0.5 * text.rstrip().endswith("?") if n_questions else 0
        )
        found[n, 2] = _NAME.search(text) is not None
        found[n, 3] = 1 - min(1.0, asks)
        found[n, 4] = np.log1p(text.count(" ") + 1)
    return found


_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(MONTHS)})\b(?:,? (\d{{4}}))?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE)
_MONTH = re.compile(
    rf"\b(?:(in|of|during|early|late|mid|since|until|by) )?({'|'.join(MONTHS)})\b(?:,? (\d{{4}}))?", re.IGNORECASE
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_ISO_MONTH = re.compile(r"\b(\d{4})-(\d{2})\b(?!-)")
_YEAR = re.compile(r"\b((?:19|20)\d{2})\b")
_RELATIVE = re.compile(r"\b(last|this|past) (week|weekend|month|year)\b|\b(yesterday|today)\b", re.IGNORECASE)
_AGO = re.compile(r"\b(a|one|two|three|four|five|six|\d{1,2}) (day|week|month|year)s? ago\b", re.IGNORECASE)
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}
_WHEN = re.compile(r"^\s*(?:when|since when|how long|what (?:day|date|year|month|time))\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"^\s*how (?:many|much|often|old)\b", re.IGNORECASE)
_PLACE = re.compile(r"^\s*where\b|\b(?:which|what) (?:country|city|place|state|town)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last` that a question speaks of; without a year those of any year."""

    first: date
    last: date
    is_any_year: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `speaker` is the one person it names, folded; `answer` is the signal that its answer
    shows, or ""."""

    text: str
    speaker: str
    spans: tuple[Span, ...]
    answer: str


def asks_for_place(text: str) -> bool:
    """Whether a place answers a question."""
    return _PLACE.search(text) is not None


def analyse(text: str, speakers: frozenset[str], today: date) -> Question:
    """Takes a question apart; `speakers` are the names, in lower case, of who speaks in the log."""
    words = set(plain_words(text))
    named = [name for name in speakers if set(plain_words(name)) & words]
    answer = "time_said" if _WHEN.search(text) else "number_said" if _HOW_MANY.search(text) else ""
    answer = answer or ("name_said" if asks_for_place(text) else "")
    return Question(text, named[0] if len(named) == 1 else "", tuple(_spans(text, today)), answer)


def window(text: str, today: date) -> tuple[date, date] | None:
    """From the first to the last day of the times that a text names; None where it names none.

    A day or month without a year is the last one of the name up to today.
    """
    ends = [_latest(span, today) if span.is_any_year else span for span in _spans(text, today)]
    return (min(span.first for span in ends), max(span.last for span in ends)) if ends else None


def _latest(span: Span, today: date) -> Span:
    for year in range(today.year, today.year - 8, -1):
        try:
            own = Span(span.first.replace(year=year), span.last.replace(year=year))
        except ValueError:  # 29 February
            continue
        if own.first <= today:
            return own
    return span


def _iso_month(match: re.Match[str]) -> Span | None:
    number = int(match[2])
    return _month(MONTHS[number - 1], match[1]) if 1 <= number <= 12 else None


def _spans(text: str, today: date) -> list[Span]:
    """The most exact times that a text names: days, else months, else years, else such as are told from today."""
    return _days(text) or _months(text) or _years(text) or _relative(text, today)


def _days(text: str) -> list[Span]:
    days = [_day(m[1], m[2], m[3]) for m in _DAY_FIRST.finditer(text)]
    days += [_day(m[2], m[1], m[3]) for m in _MONTH_FIRST.finditer(text)]
    days += [_iso(m) for m in _ISO.finditer(text)]
    return [day for day in days if day]


def _months(text: str) -> list[Span]:
    """Months by name or number; `may` alone is mostly the verb."""
    months = [_month(m[2], m[3]) for m in _MONTH.finditer(text) if m[1] or m[3] or m[2].casefold() != "may"]
    return months + [span for m in _ISO_MONTH.finditer(text) if (span := _iso_month(m))]


def _years(text: str) -> list[Span]:
    return [Span(date(int(m[1]), 1, 1), date(int(m[1]), 12, 31)) for m in _YEAR.finditer(text)]


def _day(day: str, month: str, year: str | None) -> Span | None:
    try:
        only = date(int(year or 2000), MONTHS.index(month.casefold()) + 1, int(day))
    except ValueError:
        return None
    return Span(only, only, year is None)


def _iso(match: re.Match[str]) -> Span | None:
    try:
        only = date.fromisoformat(match[0])
    except ValueError:
        return None
    return Span(only, only)


def _month(month: str, year: str | None) -> Span:
    first = date(int(year or 2000), MONTHS.index(month.casefold()) + 1, 1)
    return Span(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1), year is None)


def _relative(text: str, today: date) -> list[Span]:
    found = []
    for match in _RELATIVE.finditer(text):
        if match[3]:
            day = today - timedelta(days=match[3].casefold() == "yesterday")
            found.append(Span(day, day))
        else:
            length = _DAYS[match[2].casefold()]
            is_this = match[1].casefold() == "this"
            found.append(Span(today - timedelta(days=length * (1 if is_this else 2)), today))
    for match in _AGO.finditer(text):
        length = _DAYS[match[2].casefold()]
        count = _COUNTS.get(match[1].casefold()) or int(match[1])
        day = today - timedelta(days=count * length)
        found.append(Span(day - timedelta(days=length // 3), day + timedelta(days=length // 3)))
    return found


_ASKS = re.compile(
    r"^\s*(?:(?:since )?when|what(?: (?:kinds?|types?|sorts?) of| (?:day|date|year|month|time))?|where|who(?:m|se)?"
    r"|which|why|how(?: (?:many|much|often|long|old))?)\b\s*",
    re.IGNORECASE,
)
_HELPS = re.compile(
    r"^(?:did|does|do|has|have|had|is|was|were|are|will|would|could|can|might|should)\b\s*", re.IGNORECASE
)
_USER = "the user"


def first_person(question: str, speakers: frozenset[str]) -> str:
    """`When did Ida repair the harpsichord?` as `I repair the harpsichord`; `speakers` are names in lower case.

    Vectors of questions are near those of other questions: rewritten so, a small model finds twice as many answers.
    """
    found = _HELPS.sub("", _ASKS.sub("", question.strip())).rstrip("? ")
    for name in sorted({*speakers, _USER} - {"", "user", "assistant"}, key=lambda name: (-len(name), name)):
        found = re.sub(rf"\b{re.escape(name)}['’]s\b", "my", found, flags=re.IGNORECASE)
        found = re.sub(rf"\b{re.escape(name)}\b", "I", found, flags=re.IGNORECASE)
    return found or question
