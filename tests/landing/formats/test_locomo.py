"""LoCoMo conversations: an invented one, and the real ones where they lie beside the checkout."""

from pathlib import Path
from typing import Any

import orjson
import pytest

CONVERSATION: dict[str, Any] = {
    "speaker_a": "Zoë",
    "speaker_b": "Ben Ray",
    "session_2_date_time": "1:05 am on 2 January, 2024",
    "session_1_date_time": "12:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Zoë", "dia_id": "D1:1", "text": "Hello"},
        {"speaker": "Ben Ray", "dia_id": "D1:3", "text": "Look", "blip_caption": "a red boat"},
        {"speaker": "Zoë", "dia_id": "D1:03", "text": "Nice"},
        {"speaker": "Ben Ray", "dia_id": "odd", "text": "Thanks"},
    ],
    "session_2": [{"speaker": "Ben Ray", "dia_id": "D2:1", "text": "Happy new year"}],
    "session_3": [{"speaker": "Zoë", "dia_id": "D3:1", "text": "When was this?"}],
    "qa": [],
}


def test_both_speak_as_users_and_of_themselves(home: Any) -> None:
    home.land_data("1.json", orjson.dumps(CONVERSATION))
    rows = {(r["session_id"], r["turn_number"]): r for r in home.landed()}
    assert {k: (r["speaker"], r["subject"], r["content"]) for k, r in rows.items()} == {
        ("zoe-ben-ray/session_1", 1): ("Zoë", "user", "Hello"),
        ("zoe-ben-ray/session_1", 3): ("Ben Ray", "Ben Ray", "Look\n[shared image: a red boat]"),
        ("zoe-ben-ray/session_1", 7): ("Zoë", "user", "Nice"),
        ("zoe-ben-ray/session_1", 4): ("Ben Ray", "Ben Ray", "Thanks"),
        ("zoe-ben-ray/session_2", 1): ("Ben Ray", "Ben Ray", "Happy new year"),
    }
    first = rows["zoe-ben-ray/session_1", 3]
    assert (first["user_id"], first["source_id"], first["role"]) == ("zoe", "D1:3", "user")
    assert first["timestamp"] == "2023-05-08T12:56:01.000000+00:00"
    assert first["participants"] == ["Zoë", "Ben Ray"]
    assert first["channel"] == "text"


def test_a_session_without_a_date_is_refused_turn_by_turn(home: Any) -> None:
    home.land_data("1.json", orjson.dumps(CONVERSATION))
    letter = home.the_letter()
    assert letter["reason"] == "missing_timestamp"
    assert "session_3_date_time" in letter["detail"]


def test_a_given_user_wins_and_conversations_stay_apart(home: Any) -> None:
    wrapped = [{"sample_id": "x", "conversation": CONVERSATION}, CONVERSATION | {"speaker_b": "Cy"}]
    home.land_data("all.json", orjson.dumps(wrapped), user_id="bench")
    assert {r["user_id"] for r in home.landed()} == {"bench"}
    assert len({r["session_id"] for r in home.landed()}) == 4


def test_the_real_conversations_land_whole(home: Any) -> None:
    folder = Path(__file__).parents[3].parent / "shared" / "data" / "locomo"
    if not folder.is_dir():
        pytest.skip("LoCoMo lies beside the checkout or nowhere: not a part of the project")
    report = home.land(folder)
    assert report.n_refused == 0
    n_turns = sum(
        len(value)
        for path in folder.glob("*.json")
        for name, value in orjson.loads(path.read_bytes()).items()
        if name.startswith("session_") and isinstance(value, list)
    )
    assert report.n_landed == n_turns > 1000
