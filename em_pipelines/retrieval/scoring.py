"""How well each document answers a question: components that can be weighed and switched off, added up.

Each component is scaled to 1 for its best document. Linear fusion of such scores beats fusion by rank.
"""

from datetime import date

import numpy as np

from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.question import Question, Span, analyse
from em_pipelines.retrieval.rewriting import first_person
from em_pipelines.retrieval.settings import Weights
from em_pipelines.retrieval.signals import NAMES
from em_pipelines.retrieval.topics import Floats, likeness
from em_pipelines.retrieval.vectors import Embedder, around, asked
from em_pipelines.retrieval.words import STOP_WORDS, letter_runs, plain_words, question_stems

NEAR_DAYS = 7
"""What happened is mostly told within the week."""
ON_THE_DAY, SOON_AFTER, NEARBY, IN_THE_MONTH_AFTER = 1.0, 0.85, 0.65, 0.2


def components(
    pack: Pack, text: str, today: date, weights: Weights, embedder: Embedder | None = None
) -> dict[str, Floats]:
    """The components of every document's score by name, before they are weighed; those of weight 0 are left out."""
    speakers = frozenset(name.casefold() for name in set(pack.speakers) if name)
    question = analyse(text, speakers, today)
    words = question_stems(text, frozenset(word for name in speakers for word in plain_words(name)))
    numbers = [pack.vocabulary[word] for word in words if word in pack.vocabulary]
    found: dict[str, Floats] = {}
    for field in ("turn", "window", "around"):
        if getattr(weights, field):
            found[field] = scaled(pack.scores(field, numbers)) if numbers else _none(pack)
    if weights.session and numbers:
        found["session"] = scaled(pack.scores("session", numbers))[pack.sessions]
    if weights.letters:
        kept = [w for w in plain_words(text) if w not in STOP_WORDS and w not in speakers]
        asked = dict.fromkeys(run for word in kept for run in letter_runs(word))
        runs = [pack.runs[run] for run in asked if run in pack.runs]
        found["letters"] = scaled(pack.scores("letters", runs)) if runs else _none(pack)
    if weights.topic:
        found["topic"] = scaled(pack.topics.likeness(numbers))
    if weights.meaning or weights.meaning_near:
        found |= _meant(pack, first_person(text, speakers), embedder)
    return found | _about(pack, question, weights)


def _meant(pack: Pack, text: str, embedder: Embedder | None) -> dict[str, Floats]:
    vector = asked(embedder, pack, text)
    if vector is None or pack.vectors is None:
        return {}
    alike = likeness(pack.vectors, vector)
    return {"meaning": scaled(alike), "meaning_near": scaled(around(alike, pack.sessions))}


def _about(pack: Pack, question: Question, weights: Weights) -> dict[str, Floats]:
    """What is known of a document beside its words: who said it, when, and what it shows at a glance."""
    found: dict[str, Floats] = {}
    if weights.speaker and question.speaker:
        found["speaker"] = pack.said_by(question.speaker)
    if weights.date and question.spans:
        found["date"] = np.max([_dated(pack, span) for span in question.spans], axis=0)
    wanted = {"statement", "length", question.answer} - {""}
    for n, name in enumerate(NAMES):
        if name in wanted and getattr(weights, name):
            found[name] = scaled(pack.signals[:, n]) if name == "length" else pack.signals[:, n]
    return found


def score(found: dict[str, Floats], weights: Weights) -> Floats:
    """The weighed sum of the components; 0 for none of them."""
    total: Floats | None = None
    for name, values in found.items():  # in place: a stack of all components would be written and read once more
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
        found: Floats = np.max([_dated(pack, one) for one in spans if one] or [_none(pack)], axis=0)
        return found
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
