"""Questions that want more than one thing: several parts, two people, lists; and dates in what is quoted."""

from datetime import date
from xml.etree import ElementTree

from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.block import Block, ContextQuery, context_block

TODAY = date(2026, 3, 20)
NOISE = [f"The ferry over the sound was {how} again, as on every trip to the yard this spring." for how in (
    "late", "full", "loud", "slow", "cold", "empty", "early", "wet", "dear", "cancelled", "crowded", "dirty", "rusty",
    "calm", "rough", "broken", "delayed", "rerouted", "silent", "bumpy", "hot", "dark", "windy", "packed",
)]  # fmt: skip


def block(home: Pipeline, text: str, **more) -> Block:
    return context_block(home, ContextQuery("ada", text, TODAY, **more))


def quotes(found: Block) -> list[str]:
    return [quote.text for quote in ElementTree.fromstring(found.text).iter("quote")]


def test_quotes_carry_what_relative_dates_meant(home: Pipeline) -> None:
    (opera,) = [text for text in quotes(block(home, "When was the opera?")) if "opera" in text]
    assert opera == "The opera last night (2026-03-08) was a disaster from the first bar."


def test_a_long_quote_is_cut_around_the_date_that_is_asked_for(bare: Pipeline, fill) -> None:
    filler = "The glaze came out in a green that nobody in the studio had seen before, which pleased us all. " * 12
    long = f"{filler}We fired the kiln for the first time two weeks ago. {filler}"
    fill(bare, "ada", [], [{"text": long}])
    assert "two weeks ago (about 2026-02-16)" in quotes(block(bare, "When was the first time?"))[0]


def test_each_part_of_a_question_is_covered(bare: Pipeline, fill) -> None:
    said = [*NOISE, "Ilse moved to Turku in the autumn.", "Ilse repairs accordions for a living."]
    fill(bare, "ada", [], [{"text": text} for text in said])
    found = quotes(block(bare, "How was the ferry trip to the yard and what does Ilse repair?", budget_tokens=200))
    assert any("ferry" in text for text in found)
    assert "Ilse repairs accordions for a living." in found[:2]


def test_what_two_share_is_looked_up_for_each(bare: Pipeline, fill) -> None:
    said = [{"text": f"Ilse painted the {thing} in the harbour.", "speaker": "Ilse"} for thing in NOISE]
    said.append({"text": "I painted a heron, said Piet.", "speaker": "Piet"})
    fill(bare, "ada", [], said)
    found = quotes(block(bare, "What have Ilse and Piet both painted?", budget_tokens=200))
    assert any("heron" in text for text in found[:2])


def test_where_several_facts_answer_all_of_them_are_told(bare: Pipeline, fill) -> None:
    cities = ["Turku", "Hull", "Delft", "Graz", "Bari", "Gdynia", "Vigo", "Varna"]
    known = [{"subject": "Ilse", "relation": "visited", "object": city} for city in cities]
    known += [{"subject": "Ilse", "object": f"song {n}"} for n in range(8)]
    fill(bare, "ada", known, [{"text": f"Ilse in Turku: {text}"} for text in NOISE])
    found = block(bare, "Which cities has Ilse visited?").text
    assert [city for city in cities if f"Ilse visited {city}" not in found] == []
    few = block(bare, "When did Ilse sing?").text
    assert few.count("<fact ") <= 7


def test_the_same_said_five_times_does_not_fill_a_block(bare: Pipeline, fill) -> None:
    same = [{"text": f"Ilse really loves the old wooden ferry over the sound{mark}"} for mark in "!.?;:"]
    fill(bare, "ada", [], [*same, {"text": "Ilse took the ferry to the fair in Hull."}])
    found = quotes(block(bare, "What about Ilse and the ferry?", budget_tokens=120))
    assert "Ilse took the ferry to the fair in Hull." in found[:2]
