"""A recording finds the turns of a prompt, and answers for them in its places."""

import json
from typing import Any

import pytest

from tests.model_server.recorded import Recording, hashed_key
from tests.model_server.script import Call

SAID = "I moved to Tartu, where my sister Odalys lives."
MOVED = {"subject": "user", "relation": "lives_in", "object": "Tartu", "statement": "user moved to Tartu"}
SISTER = {"subject": "user", "relation": "sibling_of", "object": "Odalys", "statement": "Odalys is user's sister"}


def reading(said: str) -> dict[str, Any]:
    times = [{"r": 1, "kind": "state", "when": None}]
    return {"said": said, "entities": [], "relations": [MOVED, SISTER], "tone": [], "times": times}


def answered(recording: Recording, *lines: str) -> dict[str, Any]:
    prompt = "\n".join(["Written 2026-03-05 Thursday.", "=====", *lines, "====="])
    call = Call(1, 1, {"messages": [{"role": "user", "content": prompt}]}, {})
    return json.loads(recording(call).text(call))


@pytest.mark.parametrize("said", [SAID, hashed_key(SAID)], ids=["text", "hash"])
def test_a_turn_is_found_by_its_text_or_by_its_hash(said: str) -> None:
    recording = Recording([reading(said)])
    found = answered(recording, "- assistant: Hi.", "0 user: Hello, all of you.", f"3 Bea: {SAID.upper()}")
    assert found["relations"] == [{"t": 3, **MOVED}, {"t": 3, **SISTER}]
    assert found["times"] == [{"r": 1, "kind": "state", "when": None}]
    assert (recording.n_found, recording.n_strange) == (1, 1)


def test_relations_are_counted_on_over_turns() -> None:
    found = answered(Recording([reading(SAID)]), f"0 user: {SAID}", f"1 user: {SAID}")
    assert [item["r"] for item in found["times"]] == [1, 3]
