from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.keeping import skip_reason
from em_pipelines.extraction.settings import GateSettings
from em_pipelines.schema.readings import Turn


def turn(text: str, role: str = "user", subject: str | None = "user") -> Turn:
    return Turn("m", 0, role, subject, text, datetime(2026, 3, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("thanks so much!", "no_information"),
        ("ok", "no_information"),
        ("👍", "no_information"),
        ("", "no_information"),
        ("so it goes", "no_information"),
        ("x = 1\ny = 2", "code"),
        ("Uses vim. Prefers tabs.", "noise"),
        ("The user asked about ferries.", "noise"),
        ("You are a helpful assistant.", "system_text"),
        ("<recalled_memory>User likes moss.</recalled_memory>", "system_text"),
        ("I like moss and ferns.", None),
        ("I'm Olga", None),
        ("I am 41", None),
        ("love sea kale", "no_information"),
    ],
)
def test_messages_without_anything_durable_are_skipped_with_a_reason(text: str, reason: str | None) -> None:
    assert skip_reason(turn(text)) == reason


def test_only_people_pass() -> None:
    assert skip_reason(turn("I like moss.", "assistant", None)) == "not_a_person"
    assert skip_reason(turn("I like moss.", "system", None)) == "system_text"


def test_the_shortest_message_is_a_setting() -> None:
    assert skip_reason(turn("love sea kale"), GateSettings(min_characters=5)) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("User's wife is Olga.", "noise"),
        ("Context: the user is a nurse.", "noise"),
        ("Experienced with looms. Proficient in weaving.", "noise"),
        ("Relevant memories:\n- I live in Delft", "system_text"),
        ("[memory] lives in Delft", "system_text"),
        ("From our previous conversations: you live in Delft.", "system_text"),
        ("As an AI language model I like looms.", "system_text"),
        ("Memories of Delft make me sad.", None),
    ],
)
def test_notes_about_the_user_and_recalled_memory_are_not_the_users_words(text: str, reason: str | None) -> None:
    assert skip_reason(turn(text)) == reason
