"""What a sentence says of the names in it."""

import pytest

from em_pipelines.resolution.role_statements import (
    is_definite,
    is_somebody,
    owner_of_mention,
    roles_apposed,
    roles_said,
    where_from,
)  # fmt: skip
from em_pipelines.resolution.word_lists import NOWHERE, is_another, is_denied, locate, partners


def place_of(name: str, text: str):
    start = text.index(name)
    return locate(text, name, start, start + len(name))


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        ("Rosamund", "Rosamund, or Roz as everyone calls her, is late.", "Roz"),
        ("Roz", "Roz is short for Rosamund.", "Rosamund"),
        ("Yevgenia", "The bell says Yevgenia, Zhenya to everyone.", "Zhenya"),
        ("Mr. Okoro", "That's Mr. Okoro (our Chidi) with the drum.", "Chidi"),
        ("Agnethe", "Nete's real name is Agnethe.", "Nete"),
        ("Nete", "Everybody calls Agnethe Nete.", "Agnethe"),
        ("Fern House", "Fern House used to be called Dale House.", "Dale House"),
        ("fern-core", "fern-core is what we call Fern.", "Fern"),
        ("Ignatius", "The lease is in the name of Ignatius, that's Iggy, since May.", "Iggy"),
        ("Roz", "We've called Rosamund just Roz since school.", "Rosamund"),
        ("Roz", "At work they only ever shout Roz for Rosamund.", "Rosamund"),
        ("Ebo", "The old map has Ebo for Ebone.", "Ebone"),
        ("Suomi", "Suomi is what Finland calls itself.", "Finland"),
        ("Rosamund", "Rosamund is what the bank writes, but it's our Roz who signs.", "Roz"),
        ("Alberta Lima", "Alberta Lima, known to half the street as Beta, waved.", "Beta"),
        ("Judge Vos", "Nadia wants to be called Judge Vos now.", "Nadia"),
        ("T. J. Vos", "We call T. J. Vos TJ.", "TJ"),
        ("Rosamund", "I wrote Rosamund (I never spell Roz's full name right) a card.", "Roz"),
    ],
)
def test_two_names_of_one(name: str, text: str, other: str) -> None:
    assert other in [partner.name for partner in partners(place_of(name, text))]


@pytest.mark.parametrize(
    ("name", "text"),
    [("Anna", "Anna called Bob yesterday."), ("Anna", "Anna and Bob left."), ("Anna", "Should I ask Anna or Bob?")],
)
def test_two_names_of_two(name: str, text: str) -> None:
    assert not partners(place_of(name, text))


def test_a_slip_of_the_tongue_is_the_weakest_statement() -> None:
    (found,) = partners(place_of("Tom", "Give it to Tom, I mean Bob."))
    assert (found.name, found.strength) == ("Bob", "alike")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ravinder", "A different guy, Ravinder, took it."),
        ("Acme Foods", "Don't confuse us with Acme Foods."),
        ("Lumen Fund", "The Lumen Fund, no relation to us, wrote."),
    ],
)
def test_denials(name: str, text: str) -> None:
    assert is_denied(place_of(name, text))
    assert not is_denied(place_of(name, f"{name} came by."))


def test_another_of_the_very_name() -> None:
    assert is_another(place_of("Tom", "The other Tom brought cake."))
    assert not is_another(place_of("Tom", "The other day Tom brought cake."))


@pytest.mark.parametrize(
    ("name", "text", "role", "owner"),
    [
        ("Kerem", "My roommate Kerem is back.", "flatmate", ""),
        ("Zoe", "Zoe, my daughter, is back.", "daughter", ""),
        ("Hasse", "Hasse is the coach and drives the bus.", "coach", ""),
        ("Ruth", "Her mother Ruth is back.", "mother", "her"),
        ("Ruth", "Ruth is Lena's mother.", "mother", "lena"),
        ("Max", "My older brother Max is back.", "older brother", ""),
        ("Mr. Sayın", "Mr. Sayın is the tree man.", "tree man", ""),
        ("Jonas", "I'm marrying Jonas in August.", "partner", ""),
        ("Consuelo", "Consuelo, that's my mum, has bought a drum.", "mother", ""),
        ("Solveig", "His successor is Solveig, so from next week she's my new manager.", "new manager", ""),
        ("Rosa", "Rosa, my ex-wife, rang.", "ex wife", ""),
        ("Bee", "Our car, the Bee, is full of hair.", "car", ""),
    ],
)
def test_roles(name: str, text: str, role: str, owner: str) -> None:
    assert (role, owner) in [(said.role, said.owner) for said in roles_said(place_of(name, text))]


def test_pets_are_what_they_are_called_after() -> None:
    for text in ("Our old dog Mustard sulks.", "We adopted a dog and the kids named her Mustard."):
        said = roles_said(place_of("Mustard", text), is_bare_noun_read=True)
        assert "dog" in [role.role for role in said]


def test_the_son_of_a_story_is_nobodys_own() -> None:
    assert [said.is_sure for said in roles_said(place_of("Will", "Will, the son, told me."))] == [False]
    assert [said.role for said in roles_apposed(place_of("grandma", "Their grandma, my mother, bakes."))] == ["mother"]


def test_a_list_gives_nobody_a_role() -> None:
    assert not roles_said(place_of("Tom", "I saw my wife, Tom and the dog."))


def test_whose_and_where_from() -> None:
    assert owner_of_mention(place_of("dad", "Katya's dad is here.")) == "Katya"
    assert owner_of_mention(place_of("dad", "My dad is here.")) == "My"
    assert where_from(place_of("Sarah", "Sarah at reception has the key.")) == "reception"
    assert where_from(place_of("Sarah", "I met Sarah at the gym.")) == ""
    assert is_definite(place_of("bus", "The bus is late."), "bus")
    assert is_somebody(place_of("Paris", "Paris killed the fern."))
    assert not is_somebody(place_of("Foz", "It was cold like Foz."))


def test_a_name_that_does_not_stand_in_the_text_has_no_place() -> None:
    assert locate("Nothing of the sort.", "Lena", 0, 4) is NOWHERE
    assert locate("", "Lena", 0, 4) is NOWHERE


def test_a_sentence_ends_where_it_ends() -> None:
    text = "Mr. Park left. Lena, my wife, stayed. It rained."
    assert place_of("Lena", text).text == "\ue000, my wife, stayed."
