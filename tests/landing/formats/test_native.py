"""This project's own format."""

from typing import Any

import pytest

from em_pipelines.landing.formats.native import kind_of


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"kind": "interaction"}, "interactions"),
        ({"kind": "feedback", "role": "user"}, "feedback"),
        ({"kind": "world_event"}, "world_events"),
        ({"kind": "gossip"}, "gossip"),
        ({"kind": ["x"]}, "list"),
        ({"role": "user", "content": "x"}, "interactions"),
        ({"skill_name": "build"}, "skill_invocations"),
        ({"type": "forget"}, "feedback"),
        ({"type": "recalled", "turn_number": 3}, "feedback"),
        ({"type": "confirm", "role": "user"}, "interactions"),
        ({"type": ["forget"]}, "interactions"),
        ({"title": "Gale"}, "world_events"),
        ({}, "interactions"),
    ],
)
def test_the_kind_is_as_said_or_as_the_fields_tell(record: dict[str, Any], kind: str) -> None:
    assert kind_of(record) == kind


def test_all_four_kinds_land_from_one_file(home: Any, message: Any) -> None:
    at = {"timestamp": "2026-03-05T18:20:00Z"}
    report = home.land_data(
        "mixed.jsonl",
        [
            message(),
            {"kind": "feedback", "type": "forget", "user_id": "ada", "entity": "Derek", **at},
            {"kind": "skill_invocation", "user_id": "ada", "session_id": "s", "skill_name": "build", **at},
            {"kind": "world_event", "title": "Gale warning", "place": None, "topics": ["weather"], **at},
        ],
    )
    assert (report.n_rows, report.n_landed, report.n_refused) == (4, 4, 0)
    for kind in ("interactions", "feedback", "skill_invocations", "world_events"):
        assert len(home.landed(kind)) == 1


def test_the_given_user_fills_in_only_what_a_record_leaves_open(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(0), message(1, user_id=None)], user_id="bob")
    assert [record["user_id"] for record in home.landed()] == ["ada", "bob"]


def test_an_unknown_kind_is_a_dead_letter(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(), {"kind": "gossip", "user_id": "ada"}])
    assert home.reasons() == ["unknown_kind"]
