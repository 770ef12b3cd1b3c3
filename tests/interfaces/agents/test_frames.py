"""Data frames: the rows that lists have, in types that do not hang on what is found."""

from datetime import UTC, date, datetime

import pandas as pd
import pytest

from em_pipelines.interfaces.agents.frames import FACT_TYPES, HIT_TYPES, OBSERVATION_TYPES
from em_pipelines.interfaces.memory import Memory


def types_of(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(kind) for name, kind in frame.dtypes.items()}


@pytest.mark.parametrize("user", ["nora", "nobody"])
def test_types_are_those_declared_whatever_is_found(nora: Memory, user: str) -> None:
    memory = Memory(nora.home, user)
    assert types_of(memory.facts(as_frame=True)) == FACT_TYPES
    assert types_of(memory.search("Where does Torvald work?", as_frame=True)) == HIT_TYPES
    assert types_of(memory.list_observations(as_frame=True)) == OBSERVATION_TYPES


def test_rows_are_those_of_the_lists(nora: Memory) -> None:
    facts, hits, said = nora.facts(is_all=True), nora.search("Torvald"), nora.list_observations()
    frame = nora.facts(is_all=True, as_frame=True)
    assert list(frame["edge_id"]) == [fact["edge_id"] for fact in facts]
    assert set(facts[0]) == set(FACT_TYPES)
    assert list(nora.search("Torvald", as_frame=True)["text"]) == [hit.text for hit in hits]
    assert list(nora.list_observations(as_frame=True)["content"]) == [one.content for one in said]
    assert nora.list_observations(as_frame=True)["timestamp"][0] == said[0].timestamp


def test_days_and_instants_can_be_counted_with(nora: Memory) -> None:
    facts = nora.facts(as_frame=True).set_index("relation")
    assert facts.loc["has_birthday", "object"] == "1990-05-04"
    assert facts["learned_at"].min() == pd.Timestamp(datetime(2026, 3, 2, 8, tzinfo=UTC))
    hits = nora.search("cloudberries", kinds=["message"], as_frame=True)
    assert hits["said_on"][0].date() == date(2026, 3, 5)
    assert hits["edge_id"].isna().all()
