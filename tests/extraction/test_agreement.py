"""A claim of a model is compared with its sentence: inversions and swaps are held, what is said is served. Invented."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.llm.answer import RelationItem, Section
from em_pipelines.extraction.llm.grounding import ground
from em_pipelines.extraction.llm.parsing import Parsed
from em_pipelines.extraction.rules.agreement import RulesAsSecondReader
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.statement_support import words_its_fact
from em_pipelines.extraction.verification import verify
from em_pipelines.retrieval.context.settings import ContextSettings
from em_pipelines.schema.readings import HALLUCINATIONS, Claim, Extraction, Segment, Turn

Said = tuple[str, str, str, int]


def segment(*texts: str, speakers: Sequence[str] = (), language: str = "en") -> Segment:
    who = [*speakers, *["user"] * (len(texts) - len(speakers))]
    turns = (
        Turn(f"m{n}", n, "user", name, text, datetime(2026, 4, 1, tzinfo=UTC), language=language)
        for n, (name, text) in enumerate(zip(who, texts, strict=True))
    )
    return Segment("s1", "u", "c", "text", tuple(turns))


def verified(seen: Segment, said: Said, statement: str | None = None) -> Extraction:
    """A model's claim about the last turn, grounded and verified."""
    subject, relation, stated, polarity = said
    item = RelationItem(
        t=len(seen.turns) - 1, subject=subject, relation=relation, object=stated, polarity=polarity, statement=statement
    )
    parsed = Parsed(items={Section.RELATIONS: [item]})
    return verify(ground(seen, dict(enumerate(seen.turns)), parsed), seen, second_reader=RulesAsSecondReader())


def issues(reading: Extraction) -> list[str]:
    return [issue.issue for issue in reading.issues]


CONTRADICTED = [
    ("I love black tea.", ("user", "dislikes", "black tea", 1), "polarity_disagrees"),
    ("I can't stand drizzle.", ("user", "likes", "drizzle", 1), "polarity_disagrees"),
    ("We don't live in Varberg anymore.", ("user", "lives_in", "Varberg", 1), "polarity_disagrees"),
    ("I never visited Tromsø.", ("user", "visited", "Tromsø", 1), "polarity_disagrees"),
    ("I bought the barge in May.", ("user", "owns", "barge", -1), "polarity_disagrees"),
    ("My brother Tom lives in Reno, I live in Siena.", ("user", "lives_in", "Reno", 1), "subject_disagrees"),
    ("My brother Tom lives in Reno, I live in Siena.", ("Tom", "lives_in", "Siena", 1), "subject_disagrees"),
    ("Anna is married to Ben.", ("user", "spouse_of", "Ben", 1), "subject_disagrees"),
    ("My sister works at Acme.", ("user", "works_at", "Acme", 1), "subject_disagrees"),
    ("Moira is a paramedic and Stu mends drains.", ("Stu", "works_as", "paramedic", 1), "subject_disagrees"),
    ("My sister Ilse is on our sofa.", ("user", "spouse_of", "Ilse", 1), "relation_disagrees"),
    ("My daughter Odile made me a mug.", ("Odile", "parent_of", "user", 1), "relation_disagrees"),
    ("I'd love a greenhouse.", ("user", "owns", "greenhouse", 1), "relation_disagrees"),
    ("I might buy a kiln in spring.", ("user", "owns", "kiln", 1), "relation_disagrees"),
    ("We nod at Celestine at the bus stop.", ("user", "partner_of", "Celestine", 1), "relation_disagrees"),
    ("It's not that I dislike Hamish.", ("user", "dislikes", "Hamish", 1), "polarity_disagrees"),
    ("It's not like I don't use the bread machine.", ("user", "uses", "bread machine", -1), "polarity_disagrees"),
    ("My flatmate Corin eats nut butter out of the jar.", ("user", "likes", "nut butter", 1), "subject_disagrees"),
    ("Lotte hates it, she says it smells.", ("user", "dislikes", "new place", 1), "subject_disagrees"),
    ("I was at the vet with my cat.", ("Tom", "has_pet", "cat", 1), "subject_disagrees"),
    ("My brother Tom lives in Bruges.", ("Tom", "likes", "Bruges", 1), "relation_disagrees"),
    ("I am with my sister Ilse in Bruges.", ("user", "lives_in", "sister", 1), "relation_disagrees"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "issue"), CONTRADICTED)
def test_what_its_sentence_contradicts_is_held_below_what_agents_are_served(text: str, said: Said, issue: str) -> None:
    reading = verified(segment("Tom spoke of the new place.", text), said)
    (claim,) = reading.claims
    assert issues(reading) == [issue]
    assert issue in HALLUCINATIONS
    assert claim.requires_verification
    assert claim.confidence < ContextSettings().min_confidence


AGREED = [
    ("I love black tea.", ("user", "likes", "black tea", 1)),
    ("I can't stand drizzle.", ("user", "dislikes", "drizzle", 1)),
    ("I couldn't be happier with my loom.", ("user", "likes", "loom", 1)),
    ("We don't live in Varberg anymore.", ("user", "lives_in", "Varberg", -1)),
    ("My brother Tom lives in Reno, I live in Siena.", ("Tom", "lives_in", "Reno", 1)),
    ("My brother Tom lives in Reno, I live in Siena.", ("brother", "lives_in", "Reno", 1)),
    ("My brother Tom lives in Reno, I live in Siena.", ("user", "lives_in", "Siena", 1)),
    ("Ravi and I got hitched in Stirling.", ("user", "spouse_of", "Ravi", 1)),
    ("Gave up the allotment in March.", ("user", "uses", "allotment", -1)),
    ("Hi, I'm Pilar's son.", ("user", "child_of", "Pilar", 1)),
    ("im a beekeeper, not a honey influencer", ("user", "works_as", "beekeeper", 1)),
    ("I never left the choir, I stand at the back.", ("user", "member_of", "choir", 1)),
    ("We said goodbye to Biscuit last week.", ("user", "has_pet", "Biscuit", -1)),
    ("My little girl Juno lost a tooth.", ("user", "parent_of", "Juno", 1)),
    ("I sold my cello and bought a lute.", ("user", "owns", "lute", 1)),
    ("My talk is on May 5, and so is the harp recital.", ("harp recital", "scheduled_for", "May 5", 1)),
    ("asked Ida, she said yes, so 140 hours now", ("user", "has_attribute", "140 hours", 1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), AGREED)
def test_what_a_sentence_says_or_may_say_keeps_its_confidence(text: str, said: Said) -> None:
    reading = verified(segment(text), said)
    assert issues(reading) == []
    assert [claim.requires_verification for claim in reading.claims] == [False]


def test_a_pronoun_means_whom_the_turn_before_names() -> None:
    seen = segment("My brother Tom moved last week.", "he lives in Reno")
    assert issues(verified(seen, ("Tom", "lives_in", "Reno", 1))) == []
    assert issues(verified(seen, ("user", "lives_in", "Reno", 1))) == ["subject_disagrees"]


def test_among_people_each_speaks_of_themselves() -> None:
    seen = segment("where do you live?", "I live in Siena.", speakers=("Bea", "Cato"))
    assert issues(verified(seen, ("Cato", "lives_in", "Siena", 1))) == []
    assert issues(verified(seen, ("Bea", "lives_in", "Siena", 1))) == ["subject_disagrees"]


def test_what_somebody_uses_a_thing_of_theirs_may_use_as_well() -> None:
    seen = segment("I use SQLite for my budget tracker.")
    assert issues(verified(seen, ("budget tracker", "uses", "SQLite", 1))) == []


def test_other_languages_are_not_compared() -> None:
    seen = segment("Mein Bruder wohnt in Graz.", language="de")
    assert "subject_disagrees" not in issues(verified(seen, ("user", "lives_in", "Graz", 1)))


def test_the_rules_are_not_compared_with_themselves() -> None:
    seen = segment("My brother Tom lives in Reno, I live in Siena.")
    reading = RulesExtractor().extract(seen)
    assert verify(reading, seen, second_reader=RulesAsSecondReader()) is reading


STATEMENTS = [
    ("I hate running but love my watch.", ("user", "likes", "watch", 1), "I love my watch", True),
    ("I hate running but love my watch.", ("user", "likes", "watch", 1), "I hate running", False),
    ("My husband Piet eats steak in the garage.", ("user", "spouse_of", "Piet", 1), "Piet eats steak", False),
    ("My husband Piet eats steak in the garage.", ("user", "spouse_of", "Piet", 1), "My husband Piet", True),
    ("My brother Tom lives in Reno.", ("Tom", "lives_in", "Reno", 1), "He lives in Reno", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "statement", "is_kept"), STATEMENTS)
def test_a_statement_names_both_ends_of_its_claim(text: str, said: Said, statement: str, is_kept: bool) -> None:
    reading = verified(segment(text), said, statement)
    assert issues(reading) == ([] if is_kept else ["unsupported_statement"])
    assert [claim.statement for claim in reading.claims] == [statement if is_kept else None]


@pytest.mark.parametrize("text", ["", "…", "?!", "love " * 3000, "I love \ud800 tea", "not not not"])
def test_a_sentence_without_sense_contradicts_nothing(text: str) -> None:
    seen = segment("I love black tea.")
    (claim,) = verified(seen, ("user", "likes", "black tea", 1)).claims
    nonsense = Segment("s", "u", "c", "text", (segment(text).turns[0], *seen.turns[1:]))
    found = verify(Extraction(claims=[claim]), nonsense, second_reader=RulesAsSecondReader())
    assert not any("disagrees" in issue for issue in issues(found))


def test_nothing_is_compared_with_an_empty_statement() -> None:
    seen = segment("I love black tea.")
    (claim,) = verified(seen, ("user", "likes", "black tea", 1)).claims
    assert isinstance(claim, Claim)
    assert not words_its_fact("", claim, seen.turns[0])
