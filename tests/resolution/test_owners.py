"""Whose relatives, roles and pets they are: those of two people never become one, whatever they are called."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.settings import load_settings

Told = Callable[..., set[str]]
WRITTEN_ON = date(2026, 4, 6)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """The facts of a chat, in which the first who speaks is the user, as "subject relation object".

    Each line is "Speaker: words". A name is followed by what it is to whom, as far as facts say: `Nora(Bo)` is she of
    whom a kinship or role to Bo is known.
    """

    def read(*said: str) -> set[str]:
        lines = [line.partition(": ") for line in said]
        user, speakers = lines[0][0], sorted({who for who, _, _ in lines})
        messages = [
            {
                "user_id": "me", "session_id": "chat", "turn_number": n, "role": "user", "content": text,
                "timestamp": f"{WRITTEN_ON}T10:{n:02d}:00Z", "speaker": who, "participants": speakers,
                "subject": "user" if who == user else who,
            }
            for n, (who, _, text) in enumerate(lines)
        ]  # fmt: skip
        log = tmp_path / "chat.jsonl"
        log.write_text("".join(json.dumps(message) + "\n" for message in messages), encoding="utf-8")
        home = Pipeline(load_settings(home=tmp_path / "home"))
        land([log], home.store.log, now=datetime(2026, 4, 7, tzinfo=UTC), settings=home.settings.landing)
        for step in home.steps.values():
            home.store.run_days(step, home.store.stale_days(step))
        return _worded(home)

    return read


def _worded(home: Pipeline) -> set[str]:
    entities = {row["entity_id"]: row for row in home.store.lake.read(ENTITIES, WRITTEN_ON).to_pylist()}
    edges = home.store.lake.read(EDGES, WRITTEN_ON).to_pylist()
    read_as = {name: row["merged_into"] or name for name, row in entities.items()}
    owners: dict[str, set[str]] = {}
    for edge in edges:
        if edge["object_id"] and edge["relation"] in ("sibling_of", "colleague_of", "knows", "friend_of", "has_pet"):
            owner = entities[read_as[edge["subject_id"]]]["canonical_name"]
            owners.setdefault(read_as[edge["object_id"]], set()).add(owner)

    def name(entity: str) -> str:
        row = entities[read_as[entity]]
        whose = ",".join(sorted(owners.get(row["entity_id"], ())))
        return f"{row['canonical_name']}({whose})" if whose else str(row["canonical_name"])

    def end(edge: dict[str, Any]) -> str:
        return name(edge["object_id"]) if edge["object_id"] else str(edge["value"])

    return {f"{name(edge['subject_id'])} {edge['relation']} {end(edge)}" for edge in edges}


def test_the_brothers_of_two_people_are_two(told: Told) -> None:
    known = told("Ada: My brother is a nurse.", "Bo: My brother lives in Oslo.")
    assert known >= {"brother(user) works_as nurse", "Bo's brother(Bo) lives_in Oslo"}
    assert not {"brother(user) lives_in Oslo", "Bo's brother(Bo) works_as nurse"} & known


def test_a_role_that_is_named_later_is_named_for_its_owner_alone(told: Told) -> None:
    known = told(
        "Ada: My brother is a nurse.",
        "Bo: My brother lives in Oslo.",
        "Ada: My brother is called Timo.",
        "Bo: My brother Veit called.",
    )
    assert known >= {"Timo(user) works_as nurse", "Veit(Bo) lives_in Oslo"}


def test_two_of_one_name_who_are_different_peoples_are_two(told: Told) -> None:
    known = told(
        "Ada: My sister Nora lives in Graz.",
        "Bo: My sister Nora works at Ostwind.",
        "Ada: Your sister Nora speaks Danish.",
    )
    assert known >= {"Nora(user) lives_in Graz", "Nora(Bo) works_at Ostwind"}
    assert not {"Nora(Bo) lives_in Graz", "Nora(user) works_at Ostwind", "Nora(user) speaks Danish"} & known


def test_your_is_whoever_is_spoken_to(told: Told) -> None:
    known = told("Ada: Your brother Timo lives in Turin.", "Bo: Your brother Timo lives in Lund.")
    assert known >= {"Timo(Bo) lives_in Turin", "Timo(user) lives_in Lund"}


def test_the_pets_of_two_people_are_two(told: Told) -> None:
    known = told("Ada: My dog is called Rollo.", "Bo: My dog is called Rollo too, he is 4.")
    assert "Rollo(Bo) has_age 4" in known
    assert {"user has_pet Rollo(user)", "Bo has_pet Rollo(Bo)"} <= known


def test_among_three_whose_brother_your_means_is_not_guessed(told: Told) -> None:
    known = told("Ada: Hi both.", "Bo: Hi.", "Cleo: Your brother lives in Turin.")
    assert not any("lives_in" in fact for fact in known)


def test_a_bare_name_that_two_owners_have_is_nobodys_where_it_may_be_either(told: Told) -> None:
    known = told(
        "Ada: My sister Nora lives in Graz.",
        "Bo: My sister Nora works at Ostwind.",
        "Ada: Nora is 31.",
    )
    assert not any("has_age" in fact for fact in known)


def test_a_relative_called_like_the_other_in_the_chat_is_somebody_else(told: Told) -> None:
    known = told("Ada: My sister Bo lives in Graz.", "Bo: I live in Lund.")
    assert known >= {"user sibling_of Bo(user)", "Bo lives_in Lund"}


def test_what_somebody_tells_an_assistant_keeps_its_names(told: Told) -> None:
    known = told("Ada: My brother is a nurse.", "Ada: My brother lives in Oslo.")
    assert known >= {"brother(user) works_as nurse", "brother(user) lives_in Oslo"}


def test_a_short_is_before_a_possessive_is_no_owner(told: Told) -> None:
    known = told("Ada: Hi Bo, how's your brother Timo?", "Bo: So's my brother Timo, he lives in Lund.")
    assert "Timo(Bo) lives_in Lund" in known
    assert not any("How" in fact or "how" in fact or "so's" in fact for fact in known)
