"""How well each document answers a question: components that can be weighed and switched off, added up.

Each component is scaled to 1 for its best document. Linear fusion of such scores beats fusion by rank. Vectors of texts
by a model that the settings name are one of them: made once for each text, kept in the pack of whose text it is.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from em_pipelines.errors import CorruptTableError, ModelError
from em_pipelines.language.name_keys import name_key
from em_pipelines.retrieval.pack import Integers, Pack
from em_pipelines.retrieval.settings import Weights
from em_pipelines.retrieval.terms import (
    NAMES,
    STOP_WORDS,
    Floats,
    Question,
    Span,
    analyse,
    answering_relations,
    asks_of_assistant,
    first_person,
    letter_runs,
    likeness,
    plain_words,
    question_stems,
)
from em_pipelines.schema.vocabulary import USER

BATCH = 256
NEAR = 2
"""Turns of the same conversation on either side."""
NEAR_ENOUGH = 0.3
"""Cosine from which a text without a word of the question may answer it. Seven in ten of the texts that answer are
nearer; the nearest to what nobody has spoken of ("quantum chromodynamics" in talk about a garden) are at 0.2 to 0.3."""

_LOGGER = logging.getLogger(__name__)


class Embedder(Protocol):
    """A model that places texts in a space in which those of like meaning are near."""

    @property
    def name(self) -> str:
        """Vectors of one name are comparable; another model has another."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts × dimensions, each of length 1; raises ModelError where the model gives none."""
        ...

    def ask(self, text: str) -> Floats:
        """The vector of a question, of length 1; raises ModelError where there is none while somebody can wait."""
        ...


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of documents, by the embedder of that name, and whether each document with words has one."""

    name: str
    rows: Floats
    is_whole: bool


def known_vectors(folder: Path, name: str) -> dict[str, Floats]:
    """The vectors that a pack has of the embedder of that name, by text; none where there is no pack, or of another."""
    pack = Pack(folder)
    try:
        if pack.meta.get("embedder") != name or pack.vectors is None:
            return {}
        texts = pack.documents["text"].to_pylist()
    except (CorruptTableError, OSError, ValueError):
        return {}
    return {text: np.array(own) for text, own in zip(texts, pack.vectors, strict=True) if own.any()}


def vectors_of(embedder: Embedder, texts: Sequence[str], known: Mapping[str, Floats]) -> Vectors:
    """The vectors of texts, of which some are known. Where the model fails the rest have none, of length 0."""
    made = dict(known)
    missing = sorted({text for text in texts if text.strip()} - made.keys())
    try:
        for start in range(0, len(missing), BATCH):
            some = missing[start : start + BATCH]
            made.update(zip(some, embedder.embed(some), strict=True))
    except ModelError as error:
        _LOGGER.warning("embedding texts: %s; they are found by their words until the next run", error)
    size = next((len(own) for own in made.values()), 1)
    none = np.zeros(size, np.float32)
    found = np.array([made.get(text, none) for text in texts], np.float32).reshape(len(texts), size)
    return Vectors(embedder.name, found, all(text in made for text in missing))


def asked(embedder: Embedder | None, pack: Pack, text: str) -> Floats | None:
    """The vector of a question; None without an embedder, and for a pack of another or where the model fails, which the
    log says."""
    if embedder is None:
        return None
    made_by = pack.meta.get("embedder")
    if pack.vectors is None or made_by != embedder.name:
        _warn_of_another(made_by, embedder.name)
        return None
    try:
        found = embedder.ask(text)
    except ModelError as error:
        _LOGGER.warning("embedding a question: %s; it is answered by words alone", error)
        return None
    return found if len(found) == pack.vectors.shape[1] else None


@lru_cache(maxsize=100)
def _warn_of_another(made_by: str | None, name: str) -> None:
    """Says once a process why vectors are not used."""
    _LOGGER.warning(
        "embedding a question: the index has %s, and the embedder is %s; questions are answered by words alone until "
        "the next `em run`",
        f"the vectors of {made_by}" if made_by else "no vectors",
        name,
    )


def around(likeness: Floats, sessions: Integers) -> Floats:
    """Of each document the mean likeness of its neighbours in the same conversation."""
    places, starts = np.arange(len(likeness)), _runs_of(sessions)
    lengths = np.diff(starts, append=len(likeness))
    first = np.maximum(places - NEAR, np.repeat(starts, lengths))
    last = np.minimum(places + NEAR + 1, np.repeat(starts + lengths, lengths))
    sums = np.concatenate([[0.0], np.cumsum(likeness, dtype=np.float64)])
    found: Floats = ((sums[last] - sums[first] - likeness) / np.maximum(1, last - first - 1)).astype(np.float32)
    return np.maximum(found, 0, out=found)


def _runs_of(sessions: Integers) -> Integers:
    """Where documents begin that stand side by side and are of one conversation."""
    found: Integers = np.flatnonzero(np.diff(sessions, prepend=-1) != 0).astype(np.int32)
    return found


def best_in_session(values: Floats, sessions: Integers) -> Floats:
    """Of each document the greatest value of any in its conversation."""
    greatest = np.zeros(int(sessions.max(initial=-1)) + 1, np.float32)
    if len(values):
        starts = _runs_of(sessions)
        np.maximum.at(greatest, sessions[starts], np.maximum.reduceat(values, starts))
    found: Floats = greatest[sessions]
    return found


def replies(asks: Floats, sessions: Integers) -> Floats:
    """Of each document how much the one before it in its conversation asks; 0 for the first."""
    found = np.zeros_like(asks)
    found[1:] = np.where(sessions[1:] == sessions[:-1], asks[:-1], 0)
    return found


NEAR_DAYS = 7
"""What happened is mostly told within the week."""
ON_THE_DAY, SOON_AFTER, NEARBY, IN_THE_MONTH_AFTER = 1.0, 0.85, 0.65, 0.2


def components(
    pack: Pack, text: str, today: date, weights: Weights, embedder: Embedder | None = None
) -> dict[str, Floats]:
    """The components of every document's score by name, before they are weighed; those of weight 0 are left out."""
    speakers = _speakers(pack)
    question = analyse(text, speakers, today)
    words = question_stems(text, frozenset(word for name in speakers for word in plain_words(name)))
    numbers = [pack.vocabulary[word] for word in words if word in pack.vocabulary]
    shares = _worded(pack, numbers, weights)
    if weights.letters:
        shares["letters"] = _spelt(pack, text, STOP_WORDS | speakers)
    if weights.topic:
        shares["topic"] = scaled(pack.topics.likeness(numbers))
    if weights.meaning or weights.meaning_near:
        shares |= _meant(pack, first_person(text, speakers), shares, embedder)
    if weights.answers and pack.n_messages < len(pack.days):
        shares |= _answering(pack, text)
    return shares | _about(pack, question, weights)


def _speakers(pack: Pack) -> frozenset[str]:
    """Who speaks in the log, in lower case."""
    return frozenset(name.casefold() for name in set(pack.speakers) if name)


def _worded(pack: Pack, words: list[int], weights: Weights) -> dict[str, Floats]:
    """By the words of the question, by their numbers: in the turn and before it, around it, and in its conversation,
    half in all of it and half where it is best."""
    shares: dict[str, Floats] = {}
    window = scaled(pack.scores("window", words)) if words and (weights.window or weights.session) else _none(pack)
    if weights.window:
        shares["window"] = window
    if weights.around:
        shares["around"] = scaled(pack.scores("around", words)) if words else _none(pack)
    if weights.session and words:
        whole = scaled(pack.scores("session", words))[pack.sessions]
        shares["session"] = np.float32(0.5) * (whole + best_in_session(window, pack.sessions))
    return shares


def _spelt(pack: Pack, text: str, passed_over: frozenset[str]) -> Floats:
    """By runs of letters in the other words, so that a word is found in another of its forms. A word of which most runs
    were never written is another word: its end alone finds nothing."""
    words = ([pack.runs.get(run) for run in letter_runs(word)] for word in plain_words(text) if word not in passed_over)
    known = [own for own in words if 2 * own.count(None) <= len(own)]
    runs = list(dict.fromkeys(run for own in known for run in own if run is not None))
    return scaled(pack.scores("letters", runs)) if runs else _none(pack)


def _meant(pack: Pack, text: str, worded: Mapping[str, Floats], embedder: Embedder | None) -> dict[str, Floats]:
    """By vectors: of the turn, of those near it, and half the share of its conversation, whose words are the other
    half, by that of its turns which is most alike. What shares no word, letters or topic with the question counts only
    if it is near enough."""
    vector = asked(embedder, pack, text)
    if vector is None or pack.vectors is None:
        return {}
    found = likeness(pack.vectors, vector)
    counts = (found >= NEAR_ENOUGH) | (score(dict(worded), Weights()) > 0)
    alike = scaled(found) * counts
    shares = {"meaning": alike, "meaning_near": scaled(around(alike, pack.sessions)) * counts}
    if "session" in worded:
        shares["session"] = np.float32(0.5) * (worded["session"] + best_in_session(alike, pack.sessions)) * counts
    return shares


def _about(pack: Pack, question: Question, weights: Weights) -> dict[str, Floats]:
    """What is known of a document beside its words: who said it, when, and what it shows at a glance."""
    shares: dict[str, Floats] = {}
    states = pack.signals[:, NAMES.index("statement")]
    if weights.speaker and question.speaker:
        shares["speaker"] = pack.said_by(question.speaker) * np.float32(0.5) * (1 + states)
    if weights.role and pack.is_of_assistant.any():
        is_meant = pack.is_of_assistant == asks_of_assistant(question.text)
        shares["role"] = is_meant.astype(np.float32)
    if weights.reply:
        shares["reply"] = replies(1 - states, pack.sessions)
    if weights.date and question.spans:
        shares["date"] = np.max([_dated(pack, span) for span in question.spans], axis=0)
    wanted = {"statement", "length", question.answer} - {""}
    for n, name in enumerate(NAMES):
        if name in wanted and getattr(weights, name):
            shares[name] = scaled(pack.signals[:, n]) if name == "length" else pack.signals[:, n]
    return shares


_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours|user)\b", re.IGNORECASE)
ALSO_NAMED = 0.5
"""Of a fact whose subject the question does not name, but its object."""
LONGEST_NAME = 4
"""Words of a name that a question is searched for."""
NEGATED = 0.5
"""Of a fact that says what is not so."""


def _answering(pack: Pack, text: str) -> dict[str, Floats]:
    """Of facts of a relation that answers such a question, about somebody or something that it names by any name: 1 at
    most."""
    relations = answering_relations(text)
    numbers = pack.of_relations(relations)
    words = plain_words(text) if numbers else []
    is_own = _FIRST_PERSON.search(text) is not None
    named = {number for name in _runs(words) for number in pack.about(name)}
    found = _none(pack)
    for number in numbers:
        row = pack.facts[number - pack.n_messages]
        if number in named or (is_own and USER in (row["subject"], row["object"])):
            share = relations[row["relation"]] * (NEGATED if row.get("polarity") == -1 else 1.0)
            found[number] = share * _aboutness(row, f" {' '.join(words)} ", is_own=is_own)
    return {"answers": found} if found.any() else {}


def _runs(words: Sequence[str]) -> Iterator[str]:
    """What may be a name in a question: its words, and runs of them."""
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            yield " ".join(words[start:end])


def _aboutness(fact: dict[str, Any], asked: str, *, is_own: bool) -> float:
    """1 where a question, in plain words, is about the subject of a fact; less where it names its object."""
    is_subject = is_own if fact["subject"] == USER else f" {name_key(fact['subject'] or '')} " in asked
    return 1.0 if is_subject else ALSO_NAMED


def score(shares: dict[str, Floats], weights: Weights) -> Floats:
    """The weighed sum of the components; 0 for none of them."""
    total: Floats | None = None
    for name, values in shares.items():  # in place: a stack of all components would be written and read once more
        share = values * np.float32(getattr(weights, name))
        total = share if total is None else np.add(total, share, out=total)
    return np.zeros(1, np.float32) if total is None else total


def scaled(values: Floats) -> Floats:
    """Divided by the greatest, where that is above 0."""
    best = float(values.max(initial=0))
    return values / np.float32(best) if best > 0 else values


def _none(pack: Pack) -> Floats:
    return np.zeros(len(pack.days), np.float32)


def _dated(pack: Pack, span: Span) -> Floats:
    """1 on the days of the span, less in the week after it, the week around it and the month after."""
    if span.is_any_year:
        years = (
            {date.fromordinal(int(day)).year for day in (pack.days.min(), pack.days.max())} if len(pack.days) else set()
        )
        spans = [_in_year(span, year) for year in range(min(years, default=0), max(years, default=-1) + 1)]
        nearest: Floats = np.max([_dated(pack, one) for one in spans if one] or [_none(pack)], axis=0)
        return nearest
    after = pack.days - span.last.toordinal()
    before = span.first.toordinal() - pack.days
    is_day = span.first == span.last
    return np.select(
        [
            (after <= 0) & (before <= 0),
            (after > 0) & (after <= NEAR_DAYS) & is_day,
            (after <= NEAR_DAYS) & (before <= NEAR_DAYS) & is_day,
            (after > 0) & (after <= 31),
        ],
        [ON_THE_DAY, SOON_AFTER, NEARBY, IN_THE_MONTH_AFTER],
        0.0,
    ).astype(np.float32)


def _in_year(span: Span, year: int) -> Span | None:
    try:
        return Span(span.first.replace(year=year), span.last.replace(year=year))
    except ValueError:  # 29 February
        return None
