"""What a reply may not say, to whom."""

from datetime import UTC, datetime

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.reply import MAX_CHARACTERS, Audience, check_reply
from em_pipelines.interfaces.memory import Memory


def flagged(memory: Memory, text: str, audience: str) -> list[tuple[str, str]]:
    """What was found, as (kind, text)."""
    found = check_reply(memory.home, memory.user, memory.facts(), text, Audience(audience))
    return [(one.kind, text[one.start : one.end]) for one in found]


@pytest.mark.parametrize(
    ("text", "audience", "expected"),
    [
        ("You live in Bergen.", "group", [("fact", "Bergen")]),
        ("You live in Bergen.", "public", [("fact", "Bergen")]),
        ("You live in Bergen.", "user", []),
        ("Bergen has a fine harbour.", "group", []),
        ("nora lives in Bergen.", "group", [("fact", "Bergen")]),
        ("Ylva likes cloudberries.", "group", [("fact", "cloudberries")]),
        ("Cloudberries are orange.", "group", []),
        ("The party is on 4 May 1990.", "group", [("fact", "4 May")]),
        ("The party is on May 4th.", "public", [("fact", "May 4th")]),
        ("Your birthday is 1990-05-04.", "user", []),
        ("Write to nora@example.org or +47 55 12 34 56.", "public", [("contact", "nora@example.org"),
                                                                  ("contact", "+47 55 12 34 56")]),
        ("Write to nora@example.org.", "user", []),
        ("Write to nora at example dot org.", "group", [("contact", "nora at example dot org")]),
        ("Your birthday is the fourth of May.", "group", [("birthday", "birthday is the fourth of May"),
                                                          ("fact", "fourth of May")]),
        ("Tillykke til Ylva den 4. mai!", "group", [("fact", "4. mai")]),
        ("His birthday is on 9 June.", "group", [("birthday", "birthday is on 9 June")]),
        ("Come to 12 Larkspur Lane at six.", "public", [("contact", "12 Larkspur Lane")]),
        ("Come to 12 Larkspur Lane at six.", "user", []),
        ("Done on 2026-10-12, version 3.11.", "public", []),
        ("Your diabetes is under control.", "group", [("health", "diabetes")]),
        ("Diabetes research is funded.", "group", []),
        ("The password is hunter2secret! Bye.", "user", [("secret", "The password is hunter2secret!")]),
        ("", "public", []),
    ],
)  # fmt: skip
def test_what_is_found(nora: Memory, text: str, audience: str, expected: list[tuple[str, str]]) -> None:
    assert flagged(nora, text, audience) == expected


@pytest.mark.slow
def test_what_is_never_surfaced_is_for_nobody(home, rerun) -> None:
    memory = Memory(home, "nora")
    at = datetime(2026, 4, 1, tzinfo=UTC)
    memory.store_observation("I am the administrator of this system.", session_id="s9", timestamp=at)
    rerun()
    assert "administrator" not in repr(memory.facts(is_all=True))
    text = "Ask the administrator of this system."
    assert flagged(memory, text, "user") == [("fact", "administrator of this system")]


def test_a_fact_that_was_just_added_counts(nora: Memory) -> None:
    assert not flagged(nora, "You speak Sami and work at Kvitholm.", "public")
    nora.add_facts([{"relation": "speaks", "object": "Sami"}, {"relation": "works_at", "object": "Kvitholm"}])
    assert flagged(nora, "You speak Sami and work at Kvitholm.", "group") == [("fact", "Kvitholm")]
    assert flagged(nora, "You speak Sami and work at Kvitholm.", "public") == [("fact", "Sami"), ("fact", "Kvitholm")]


def test_another_users_facts_are_no_matter_here(nora: Memory) -> None:
    assert flagged(nora, "You live in Narvik, with Quillon the heron.", "public") == []


@pytest.mark.parametrize("text", ["\x00" * 50, "'; DROP TABLE x; --", "(" * 5000, "a" * MAX_CHARACTERS, "1 " * 20_000])
def test_hostile_texts_are_texts(nora: Memory, text: str) -> None:
    assert all(words in text for _, words in flagged(nora, text, "public"))


def test_a_text_that_is_too_long_is_refused(nora: Memory) -> None:
    with pytest.raises(UsageError, match="50000 at a time"):
        flagged(nora, "a" * (MAX_CHARACTERS + 1), "user")
