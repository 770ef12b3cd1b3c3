import pytest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("About me: harbour pilot, two kids, living in Zutphen.",
         ["user | works_as | harbour pilot", "user | parent_of | kids", "user | lives_in | Zutphen"]),
        ("About me: Two kids. Lives in Zutphen. City: Delft.",
         ["user | parent_of | kids", "user | lives_in | Zutphen"]),
        ("I'm a harbour pilot in Zutphen, two kids.",
         ["user | works_as | harbour pilot", "user | lives_in | Zutphen", "user | parent_of | kids"]),
        ("Big fan of brass bands.", ["user | likes | brass bands"]),
        ("Not a fan of brass bands.", ["user | dislikes | brass bands"]),
    ],
)  # fmt: skip
def test_fragments_are_the_writers_where_the_message_introduces_them(claims_of, text: str, expected: list[str]) -> None:
    assert sorted(claims_of(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "Name: Oriane\nAge: 37\nCity: Zutphen",
        "Event: regatta\nLocation: Zutphen",
        "Customer profile: Danish, two kids",
        "I met a potter, two kids, at the market.",
        "Imagine I'm a baker, two kids, no money.",
        "A harbour pilot, two kids?",
    ],
)
def test_fragments_of_nobody_certain_are_left_alone(claims_of, text: str) -> None:
    assert claims_of(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My colleague Priya, a data engineer at Monzo, moved to Lisbon.",
         ["user | colleague_of | Priya", "Priya | works_as | data engineer", "Priya | works_at | Monzo",
          "Priya | lives_in | Lisbon"]),
        ("My sister Jana, who works at Skoda, is a vegan.",
         ["user | sibling_of | Jana", "Jana | works_at | Skoda", "Jana | follows | vegan"]),
        ("Viktor, my flatmate, likes figs.", ["user | knows | Viktor", "Viktor | likes | figs"]),
        ("My niece Nell (7) loves ponies.", ["user | knows | Nell", "Nell | has_age | 7", "Nell | likes | ponies"]),
        ("I like plums, and my brother, who is vegan, likes figs.",
         ["user | likes | plums", "user | sibling_of | brother", "brother | follows | vegan",
          "brother | likes | figs"]),
    ],
)  # fmt: skip
def test_insertions_describe_the_phrase_before_and_do_not_hide_its_verb(
    claims_of, text: str, expected: list[str]
) -> None:
    assert sorted(claims_of(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have three cats: Miso, Tofu and Nori.",
         ["user | has_pet | Miso", "user | has_pet | Tofu", "user | has_pet | Nori"]),
        ("We have two dogs, Rex and Bella.", ["user | has_pet | Rex", "user | has_pet | Bella"]),
        ("i have a cat (Miso)", ["user | has_pet | Miso"]),
        ("We adopted a whippet, her name is Clover.", ["user | has_pet | Clover"]),
        ("Our dog's name is Clover.", ["user | has_pet | Clover"]),
        ("My cat Pudding knocked over the jug.", ["user | has_pet | Pudding"]),
        ("My sister has a horse called Blaze.", ["user | sibling_of | sister", "sister | has_pet | Blaze"]),
        ("I have a dog, Anna has a boat.", ["user | has_pet | dog", "Anna | owns | boat"]),
        ("We have no kids.", []),
    ],
)  # fmt: skip
def test_names_behind_a_noun_take_its_place(claims_of, text: str, expected: list[str]) -> None:
    assert sorted(claims_of(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rye over spelt, always.", ["user | prefers | Rye"]),
        ("Fog over Delft.", []),
        ("Storms over the bay.", []),
        ("Tram driver in Graz, been at it since May.", ["user | works_as | Tram driver"]),
        ("Driver at the door, gotta go.", []),
        ("Winter in Graz, what fun.", []),
        ("Really not into puppet shows.", ["user | dislikes | puppet shows"]),
        ("Oh great, another fire drill, my favourite thing.", ["user | dislikes | fire drill"]),
    ],
)  # fmt: skip
def test_fragments_that_open_a_sentence_are_the_writers_own(claims_of, text: str, expected: list[str]) -> None:
    assert sorted(claims_of(text)) == sorted(expected)
