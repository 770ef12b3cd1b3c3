"""What was said in the evening, far from Greenwich, is of that evening: in facts, in quotes and in prompts."""

from datetime import UTC, date, datetime
from pathlib import Path
from xml.etree import ElementTree

from em_pipelines.extraction.llm.prompt import segment_message
from em_pipelines.interfaces.memory import Memory
from em_pipelines.language.values import local_instant
from em_pipelines.schema.readings import Segment, Turn

EVENING = "2026-10-14T21:30:00-04:00"


def test_yesterday_is_of_the_writers_clock_in_facts_and_quotes(home_path: Path) -> None:
    memory = Memory(home_path, "ines")
    memory.add("Yesterday I adopted a parrot named Pico.", timestamp=EVENING, session_id="s1", learn=True)
    (fact,) = [fact for fact in memory.facts() if fact["relation"] == "has_pet"]
    assert fact["valid_from"] == "2026-10-13"
    block = memory.context("When did I get Pico?").text
    (quote,) = ElementTree.fromstring(block).iter("quote")
    assert (quote.get("on"), quote.text) == ("2026-10-14", "Yesterday (2026-10-13) I adopted a parrot named Pico.")
    assert "2026-10-15" not in block
    assert "Yesterday (2026-10-14)" not in block
    (hit,) = memory.search("parrot", kinds=["message"])
    assert (hit.said_on, hit.said_at) == (date(2026, 10, 14), datetime(2026, 10, 15, 1, 30, tzinfo=UTC))


def test_on_new_years_eve_the_year_is_that_of_the_writers_clock(home_path: Path) -> None:
    memory = Memory(home_path, "ines")
    memory.add("I moved to Lisbon last year.", timestamp="2025-12-31T22:00:00-08:00", session_id="s1", learn=True)
    (fact,) = [fact for fact in memory.facts(as_of="2026-01-02") if fact["relation"] == "lives_in"]
    assert fact["valid_from"].startswith("2024")


def test_what_takes_the_place_of_a_fact_holds_from_the_local_day(home_path: Path) -> None:
    memory = Memory(home_path, "ines")
    memory.add("I live in Lisbon.", timestamp="2026-09-01T12:00:00Z", session_id="s1", learn=True)
    memory.add("I live in Porto now.", timestamp=EVENING, session_id="s2", learn=True)
    (fact,) = [fact for fact in memory.facts(as_of="2026-10-16") if fact["relation"] == "lives_in"]
    assert (fact["object"], fact["valid_from"]) == ("Porto", "2026-10-14")


def test_a_model_is_told_the_local_day() -> None:
    at = local_instant(datetime(2026, 10, 15, 1, 30, tzinfo=UTC), -240)
    turn = Turn("m1", 0, "user", "user", "Yesterday I adopted a parrot.", at)
    message = segment_message(Segment("g1", "ines", "s1", "text", (turn,)), frozenset({0}))
    assert message.content.startswith("Written 2026-10-14 Wednesday.")
