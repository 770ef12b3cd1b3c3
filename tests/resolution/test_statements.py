"""What a sentence says of the names in it."""

import pytest

from em_pipelines.resolution.roles_said import is_definite, is_somebody, owner_of_mention, roles_said, where_from
from em_pipelines.resolution.statements import NOWHERE, is_another, is_denied, locate, partners


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
    ],
)
def test_roles(name: str, text: str, role: str, owner: str) -> None:
    assert (role, owner) in [(said.role, said.owner) for said in roles_said(place_of(name, text))]


def test_a_list_gives_nobody_a_role() -> None:
    assert not roles_said(place_of("Tom", "I saw my wife, Tom and the dog."))


def test_whose_and_where_from() -> None:
    assert owner_of_mention(place_of("dad", "Katya's dad is here.")) == "katya"
    assert owner_of_mention(place_of("dad", "My dad is here.")) == ""
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
