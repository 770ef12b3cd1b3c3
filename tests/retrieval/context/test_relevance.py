"""Relevance by its formula, and who a question is about."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.block import (
    ContextQuery,
    context_block,
    mentioned,
    nearness,
    recency,
    relevance,
    topics,
)
from em_pipelines.retrieval.context.known_facts import Known, known
from em_pipelines.retrieval.context.settings import RelevanceWeights

TODAY = date(2026, 3, 20)


@pytest.fixture
def chain(bare: Pipeline, fill) -> Known:
    """user – Dana – Graz – river – sea, and an island of its own."""
    pairs = [("user", "Dana"), ("Dana", "Graz"), ("Graz", "river"), ("river", "sea"), ("island", "palm")]
    fill(bare, "ada", [{"subject": a, "object": b, "relation": "relates_to"} for a, b in pairs])
    return known(bare, "ada", TODAY)


def near(chain: Known, text: str) -> dict[str, float]:
    found = nearness(chain, mentioned(chain, text))
    return {min(chain.names[n], key=lambda name: name == "ada"): found[n] for n in chain.entities.values()}


def test_nearness_is_by_facts_between(chain: Known) -> None:
    assert near(chain, "Dana?") == {"user": 0.5, "dana": 1, "graz": 0.5, "river": 0.2, "sea": 0, "island": 0, "palm": 0}
    assert near(chain, "where do I live?")["user"] == 1
    assert near(chain, "what did Ada say?")["user"] == 1
    assert near(chain, "anything new?")["user"] == 1
    assert near(chain, "the island")["user"] == 0


def test_relevance_is_the_weighted_sum(chain: Known) -> None:
    topic = np.linspace(0, 1, len(chain))
    near_to = nearness(chain, mentioned(chain, "Dana"))
    found = relevance(chain, near_to, topic, TODAY, RelevanceWeights())
    for n in range(len(chain)):
        nearest = max(near_to[end] for end in chain.ends[n])
        age = (TODAY - chain.fact(n).last_said_on).days
        fresh = 1.0 if age <= 7 else 0.3 if age >= 90 else 1 - 0.7 * (age - 7) / 83
        expected = 0.40 * nearest + 0.25 * topic[n] + 0.20 * chain.fact(n).confidence + 0.15 * fresh
        assert found[n] == pytest.approx(expected)


@given(st.integers(0, 400))
def test_recency_is_whole_for_a_week_and_never_below_a_third(days: int) -> None:
    found = float(recency(np.array([TODAY.toordinal() - days]), TODAY)[0])
    assert 0.3 <= found <= 1.0
    assert (found == 1.0) == (days <= 7)
    assert (found == 0.3) == (days >= 90)


def test_a_fact_is_on_topic_by_its_words_or_by_where_it_was_said(chain: Known) -> None:
    by_words = topics(chain, "tell me of the river", {})
    assert by_words.max() == by_words[chain.words["river"][0]] > 0
    turn = next(turn for turn, facts in chain.said_in.items() if 4 in facts)
    assert topics(chain, "quite another thing", {turn: 0.8}).tolist() == [0, 0, 0, 0, 0.8]


def test_the_longest_name_wins(bare: Pipeline, fill) -> None:
    names = ("York", "New York", "New York Times")
    fill(bare, "ada", [{"subject": "Ida", "object": name} for name in names])
    found = known(bare, "ada", TODAY)
    meant = {name for n in mentioned(found, "the New York Times of new york") for name in found.names[n]}
    assert meant == {"new york times", "new york"}


def test_names_in_scripts_without_blanks_are_heard(bare: Pipeline, fill) -> None:
    fill(bare, "ada", [{"subject": "田中さん", "object": "寿司"}, {"subject": "user", "object": "tea"}])
    block = context_block(bare, ContextQuery("ada", "昨日田中さんと話した", TODAY))
    assert "田中さん likes 寿司" in block.text.partition("<related>")[0]


def test_where_something_was_said_lately_it_stands_first(bare: Pipeline, fill) -> None:
    late = datetime(2026, 3, 18, tzinfo=UTC)
    fill(bare, "ada", [{"subject": "user", "object": f"t{n}", "last_reinforced": late - timedelta(days=30 * n)}
                       for n in range(3)])  # fmt: skip
    text = context_block(bare, ContextQuery("ada", "What do I like?", TODAY)).text
    assert text.index("t0") < text.index("t1") < text.index("t2")
