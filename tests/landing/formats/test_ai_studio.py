"""Conversations of Google AI Studio, and histories in the form of the Gemini API."""

from typing import Any

import orjson

STUDIO = {
    "runSettings": {"temperature": 1.0, "model": "models/gemini-2.5-pro"},
    "systemInstruction": {"text": "Be short."},
    "chunkedPrompt": {
        "chunks": [
            {"role": "user", "text": "I keep bees.", "tokenCount": 4, "createTime": "2026-03-05T18:20:00Z"},
            {"role": "model", "text": "The user keeps bees.", "isThought": True, "createTime": "2026-03-05T18:20:01Z"},
            {"role": "model", "text": "How many hives?", "finishReason": "STOP", "createTime": "2026-03-05T18:20:05Z"},
            {"role": "user", "driveImage": {"id": "x"}},
            {"role": "user", "text": "", "createTime": "2026-03-05T18:21:00Z"},
            {"role": "model", "executableCode": {"language": "PYTHON", "code": "print(3)"}},
            {
                "role": "model",
                "text": "Three.",
                "grounding": {"sources": []},
                "parts": [{"text": "Thr"}, {"text": "ee."}],
            },
        ],
        "pendingInputs": [{"role": "user", "text": ""}],
    },
}


def test_a_conversation_of_ai_studio(home: Any) -> None:
    report = home.land_data("Bees and more", orjson.dumps(STUDIO, option=orjson.OPT_INDENT_2), user_id="nora")
    said = [(r["turn_number"], r["role"], r["content"], r["trust"]) for r in home.landed()]
    assert said == [
        (0, "system", "Be short.", "trusted"),
        (1, "user", "I keep bees.", "trusted"),
        (3, "assistant", "How many hives?", "trusted"),
        (4, "user", "[image]", "trusted"),
        (6, "tool", "executableCode print(3)", "trusted"),
        (7, "assistant", "Three.", "trusted"),
    ]
    assert {r["session_id"] for r in home.landed()} == {"ai-studio/bees-and-more"}
    assert report.n_skipped == {"empty": 1, "reasoning": 1}
    assert report.n_rows + report.n_ignored == len(STUDIO["chunkedPrompt"]["chunks"]) + 1  # type: ignore[index, call-overload]


def test_a_history_of_the_api_without_times_is_refused_and_says_what_to_add(home: Any) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
    ]
    report = home.land_data("h.json", orjson.dumps({"contents": contents}), user_id="nora")
    assert report.n_dead_letters == {"missing_timestamp": 2}
    timed = [contents[0] | {"createTime": "2026-03-05T18:20:00Z"}, contents[1]]
    assert home.land_data("h.json", orjson.dumps({"contents": timed}), user_id="nora").n_landed == 2


def test_what_holds_no_messages_is_a_dead_letter(home: Any) -> None:
    home.land_data(
        "a.json", orjson.dumps({"runSettings": {"model": "x"}, "chunkedPrompt": {"chunks": 7}}), user_id="nora"
    )
    home.land_data("b.json", orjson.dumps(STUDIO | {"chunkedPrompt": {"chunks": ["x"]}}), user_id="nora")
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp", "not_an_object"]
