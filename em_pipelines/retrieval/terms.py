"""What texts and questions are compared by: words, signals and topics; of questions also persons,
spans of time and kinds of answer.

Words are in lower case and stemmed; those of a question without the ones that say nothing. Signals are what a text
shows at a glance, whatever its words are about: a time, a number, a name, a question.
"""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import Stemmer

from em_pipelines.language.cleaning import UNSPACED
from em_pipelines.language.dates.calendar_spans import Days
from em_pipelines.language.dates.resolver import Moment, find
from em_pipelines.language.dates.words import NAMES_OF_TIME, words_of
from em_pipelines.language.name_keys import fold
from em_pipelines.language.sentences import sentences
from em_pipelines.language.values import read_yaml

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float32]


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


_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_PAIRED = re.compile(rf"[{UNSPACED}\uac00-\ud7af]")
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
    """The words in lower case, without accents and what follows an apostrophe. Where a script puts no blanks between
    words, or writes particles as one with them (Korean), each two neighbours in place of the word."""
    found = _WORD.findall(text.casefold().replace("’", "'"))
    words = [word.partition("'")[0] for word in found] if "'" in text or "’" in text else found
    return words if text.isascii() else [part for word in words for part in _parts(word)]


def _parts(word: str) -> list[str]:
    if word.isascii():
        return [word]
    if not _PAIRED.search(word):
        return [fold(word)]
    return [word[n : n + 2] for n in range(max(1, len(word) - 1))]


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


_TIME = re.compile(
    r"(?:yesterday|today|tonight|tomorrow|last|next|ago|since|week|weekend|month|year|morning|evening|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|" + "|".join(calendar.month_name[1:]).lower() + r"|\d{4})s?"
)
_NUMBER = re.compile(
    r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several|dozen|hundred"
)
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-zà-ÿ]+")
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
        asks = 0.5 * (n_questions / len(sentences(text))) + 0.5 * text.rstrip().endswith("?") if n_questions else 0
        found[n, 2] = _NAME.search(text) is not None
        found[n, 3] = 1 - min(1.0, asks)
        found[n, 4] = np.log1p(text.count(" ") + 1)
    return found


_YEAR = re.compile(r"\b((?:19|20)\d{2})\b")
_ABOUT = {"week": 2, "month": 10, "year": 121}
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


def asks_for_time(text: str) -> bool:
    """Whether a time answers a question."""
    return _WHEN.search(text) is not None


@dataclass(frozen=True, slots=True)
class QuestionKinds:
    """The kinds of questions of `questions.yaml`: patterns with the relations of the facts that answer, those for what
    fits none of them, and patterns of questions that several things answer, that are asked of two people, about what an
    assistant said, and about a stretch of time; and the words of an instruction that say what it is for."""

    answers: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
    otherwise: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
    several: re.Pattern[str]
    shared: re.Pattern[str]
    of_assistant: re.Pattern[str]
    over_time: re.Pattern[str]
    scope: re.Pattern[str]


@cache
def question_kinds() -> QuestionKinds:
    """The kinds as they ship."""
    found = read_yaml(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
    answers, otherwise = (
        tuple((_compiled(one["pattern"]), tuple(one["relations"])) for one in found[name].values())
        for name in ("answers", "otherwise")
    )
    patterns = (
        _compiled(found[name]["pattern"]) for name in ("several", "shared", "of_assistant", "over_time", "scope")
    )
    return QuestionKinds(answers, otherwise, *patterns)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\s+(?=\|)", "", pattern.strip()), re.IGNORECASE)


SECOND_BEST = 0.75


@lru_cache(maxsize=256)
def answering_relations(text: str) -> dict[str, float]:
    """The relations of the facts that answer a question of this kind: 1 for the first of a kind, less for its others;
    none for what is no such question."""
    kinds = question_kinds()
    fitting = [relations for pattern, relations in kinds.answers if pattern.search(text)]
    fitting = fitting or [relations for pattern, relations in kinds.otherwise if pattern.search(text)]
    found: dict[str, float] = {}
    for relations in fitting:
        for n, relation in enumerate(relations):
            found[relation] = max(found.get(relation, 0.0), SECOND_BEST if n else 1.0)
    return found


@lru_cache(maxsize=256)
def asks_for_several(text: str) -> bool:
    """Whether several things answer: which cities, what they have in common, how many."""
    return question_kinds().several.search(text) is not None


def asks_of_assistant(text: str) -> bool:
    """Whether what an assistant said answers."""
    return question_kinds().of_assistant.search(text) is not None


def asks_over_time(text: str) -> bool:
    """Whether a question is about a stretch of time: a summary, or in which order things came."""
    return question_kinds().over_time.search(text) is not None


IN_SCOPE = 0.3
"""Share of the words of a scope that a question has."""
_BEGINNING = 6
"""Letters of words that are forms of one: congruent, congruence."""


def is_in_scope(instruction: str, text: str) -> bool:
    """Whether a standing instruction is for such a question: what it is for shares words with it, or is not said."""
    scope = question_kinds().scope.search(instruction)
    if scope is None:
        return True
    wanted, said = ({one[:_BEGINNING] for one in question_stems(part, frozenset())} for part in (scope["scope"], text))
    return len(wanted & said) >= IN_SCOPE * len(wanted)


_PAIR = re.compile(r"\b([A-Z][\w'’-]*)( and )([A-Z][\w'’-]*)\b")
_NEXT_PART = re.compile(r"\?\s+(?=\w)|,?\s+and\s+(?=(?:who|whom|whose|what|when|where|which|why|how)\b)", re.IGNORECASE)
_CAPITAL = re.compile(r"\b[A-Z][\w’'-]*")
MOST_PARTS = 3


def parts_of(text: str) -> list[str]:
    """The questions in a question, three at most: `where did Ida move and what does she do there` is two, the second
    with the names of the first; what two people have in common is asked of each. One for a plain question."""
    pair = _PAIR.search(text)
    if pair and question_kinds().shared.search(text):
        return [f"{text[: pair.start()]}{name}{text[pair.end() :]}" for name in (pair[1], pair[3])]
    parts = [part.strip() for part in _NEXT_PART.split(text) if part.strip()][:MOST_PARTS]
    if len(parts) < 2:
        return [text]
    named = [name for name in _CAPITAL.findall(parts[0]) if _ASKS.match(name) is None]
    return [parts[0], *(part if _CAPITAL.search(part[1:]) else " ".join([part, *named]) for part in parts[1:])]


def analyse(text: str, speakers: frozenset[str], today: date) -> Question:
    """Takes a question apart; `speakers` are the names, in lower case, of who speaks in the log."""
    words = set(plain_words(text))
    named = [name for name in speakers if set(plain_words(name)) & words]
    answer = "time_said" if asks_for_time(text) else "number_said" if _HOW_MANY.search(text) else ""
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


def _spans(text: str, today: date) -> list[Span]:
    """The most exact times that a text names: days, else months, else years, else such as are told from today."""
    found: dict[int, list[Span]] = {}
    for days in _days_named(text, today):
        found.setdefault(_rank(days), []).append(_span(days))
    return found[min(found)] if found else []


def _days_named(text: str, today: date) -> list[Days]:
    if NAMES_OF_TIME.search(text) is None:
        return [Days(date(int(m[1]), 1, 1), date(int(m[1]), 12, 31), "year") for m in _YEAR.finditer(text)]
    from em_pipelines.language.document import english  # noqa: PLC0415  (it brings the word lists)

    straight = text.replace("’", "'")
    moment = Moment(today, english.tense_at(straight), is_bare=True)
    named = [days for days, _, _ in find(words_of(straight), moment)]
    return named or _days_named(" ".join(_YEAR.findall(text)), today)


def _rank(days: Days) -> int:
    """Days before months, months before years, and what counts from today last."""
    if days.is_relative:
        return 3
    return {"day": 0, "weekend": 0, "week": 0, "month": 1}.get(days.precision, 2)


def _span(days: Days) -> Span:
    """The days; of what is said to the week, month or year, `two months ago`, a third of one more at either end."""
    around = timedelta(days=_ABOUT.get(days.precision, 0) if days.start == days.end else 0)
    return Span(days.start - around, days.end + around, days.cycle == "year")


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
