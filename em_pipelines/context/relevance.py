"""How much each fact matters to a question: nearness, topic, confidence and recency, weighed and added."""

from collections.abc import Mapping
from datetime import date

import numpy as np

from em_pipelines.context.known import Floats, Integers, Known, Turn
from em_pipelines.context.settings import RelevanceWeights
from em_pipelines.retrieval.words import question_stems

FRESH_DAYS, OLD_DAYS, OLD = 7, 90, 0.3


def relevance(known: Known, near: Floats, topic: Floats, today: date, weights: RelevanceWeights) -> Floats:
    """Of each fact, 0 to 1 with the default weights; `near` is of entities, `topic` of facts."""
    found: Floats = (
        weights.entity * near[known.ends].max(axis=1)
        + weights.topic * topic
        + weights.confidence * known.confidence
        + weights.recency * recency(known.last_said, today)
    )
    return found


def recency(last_said: Integers, today: date) -> Floats:
    """By the ordinal of the day: 1.0 for what was said within 7 days, falling evenly to 0.3 at 90, and no further."""
    days = today.toordinal() - last_said
    return np.interp(days, [FRESH_DAYS, OLD_DAYS], [1.0, OLD])


def topics(known: Known, text: str, said: Mapping[Turn, float]) -> Floats:
    """Of each fact, 0 to 1: the share of the question's words that it holds, rare ones counting more; or, where that is
    greater, how well search found a turn in which it was said (`said`, 0 to 1)."""
    n_facts = len(known)
    found = np.zeros(n_facts)
    stems = question_stems(text, frozenset())
    rarity = {stem: float(np.log1p(n_facts / (1 + len(known.words.get(stem, ()))))) for stem in stems}
    for stem in stems:
        if stem in known.words:
            found[known.words[stem]] += rarity[stem]
    found /= sum(rarity.values()) or 1.0
    for turn, score in said.items():
        for n in known.said_in.get(turn, ()):
            found[n] = max(found[n], score)
    return found
