"""What is no relative told of in talk among people, by kind, and the kin phrases beside it that state one."""

from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.schema.readings import Segment, Turn

WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
KIN = {"sibling_of", "spouse_of", "partner_of", "parent_of", "child_of", "friend_of", "knows"}


def kin(extractor: RulesExtractor, text: str) -> list[str]:
    """The kinships that Ida states to Jonne."""
    heard = Turn("m0", 0, "user", "Jonne", "How are you?", WRITTEN_AT)
    said = Turn("m1", 1, "user", "user", text, WRITTEN_AT)
    claims = extractor.extract(Segment("seg", "Ida", "s1", "group", (said,), (heard,))).claims
    return sorted(f"{c.subject} | {c.relation} | {c.object}" for c in claims if c.relation in KIN and c.polarity > 0)


@pytest.mark.parametrize(
    "text",
    [
        "Happy Easter, my sister! We painted forty eggs.",
        "Merry Christmas, my brother!",
        "Feliz Navidad, my friend!",
        "Congratulations, my friend!",
        "Good luck, my friend. You'll need it.",
        "Well done, my brother, well done.",
        "Cheers, my friend, see you Sunday.",
        "Bravo, my son!",
        "Welcome back. And happy birthday, my sister.",
        "Sorry, my friend, I fell asleep.",
        "Good Morning, my sister, the kettle is on.",
        "Listen, my brother, you have to sleep.",
        "God, my sister, what a day.",
        "Safe travels, my daughter.",
        "Goodnight, my daughter.",
        "My brother, you are a genius.",
        "My sister, how I miss you!",
        "Oh brother.",
        "Amen, sister.",
    ],
)
def test_who_is_called_out_is_nobodys_name(text: str, extractor: RulesExtractor) -> None:
    assert kin(extractor, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "He's going back to Zutphen in May, his wife's pregnant.",
        "She works for Larkpost and her sister is jealous.",
        "They opened a shop in Utrecht and their son runs it.",
        "He's visiting Anders in May, his wife's pregnant.",
        "I love Lisbon, her sister city is nicer.",
    ],
)
def test_a_place_a_firm_and_whoever_he_visits_have_no_wife(text: str, extractor: RulesExtractor) -> None:
    assert kin(extractor, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "She's like a sister to me.",
        "He's like my brother, we grew up on one street.",
        "English isn't my mother tongue, and Mother Nature won again.",
        "They belong to our sister company.",
        "I wish I had a sister.",
        "If I had a brother he'd laugh.",
        "I never had a sister.",
        "She could have been my daughter.",
        "He treats me as if I were his son.",
        "You're my brother from another mother.",
        "I've no brothers or sisters.",
        "How is your brother doing?",
        "Odile buried her husband in March.",
        "I'm the mother of all procrastinators.",
        "I have 22 kids this year, so it's a full room.",
        "We start in March and I've got eleven kids.",
        "He told people that I was his son.",
        "It is hard, especially since my wife passed away.",
        "I gave my number to Denise's brother.",
        "I met a woman there named Femke, and her baby is due in August.",
        "And then Femke's baby comes in December.",
    ],
)
def test_likened_denied_and_supposed_kin_are_none(text: str, extractor: RulesExtractor) -> None:
    assert kin(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("My sister Femke is scared of moths.", ["user | sibling_of | Femke"]),
        ("My brother, Joost, called from the ferry.", ["user | sibling_of | Joost"]),
        ("Femke, my sister, lives in Graz.", ["user | sibling_of | Femke"]),
        ("Then came Femke, my sister, with the cake.", ["user | sibling_of | Femke"]),
        ("That's Wanjiru, my cousin.", ["user | knows | Wanjiru"]),
        ("Femke came with her husband and the dog.", ["Femke | spouse_of | Femke's husband"]),
        ("Mr. Dahl has a daughter in Oslo.", ["Mr. Dahl | parent_of | Mr. Dahl's daughter"]),
        ("Peter and his wife, Shawna, run a farm.", ["Peter | spouse_of | Shawna"]),
        ("Anders says his wife snores.", ["Anders | spouse_of | Anders's wife"]),
        ("We have a son.", ["user | parent_of | son"]),
        ("I have three kids.", ["user | parent_of | kids"]),
        ("Femke's dad Piet helps me out.", ["Femke | child_of | Piet"]),
        ("My teammate Anders won.", ["user | knows | Anders"]),
        ("I'm seeing my daughter on Sunday.", ["user | parent_of | daughter"]),
        ("My husband, Wanjiru, cooked for us.", ["user | spouse_of | Wanjiru"]),
    ],
)
def test_kin_that_is_told_of_is_kept(text: str, edges: list[str], extractor: RulesExtractor) -> None:
    assert kin(extractor, text) == edges


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("My ex-husband, Ludo, called.", []),
        ("My late husband, Ludo, kept eels.", []),
        ("My first wife Noor called.", []),
        ("My husband, Ludo, called.", ["user | spouse_of | Ludo"]),
    ],
)
def test_a_name_beside_former_kin_is_theirs(text: str, edges: list[str], extractor: RulesExtractor) -> None:
    assert kin(extractor, text) == edges
