"""What becomes of dead letters."""

import base64
from datetime import timedelta
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.landing.dead_letters import discard, open_letters, replay
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.tables import dead_letters_table


def replay_all(home: Any, **options: Any) -> Any:
    return replay(home.log, now=home.now, settings=LandingSettings(), **options)


def statuses(home: Any) -> list[str]:
    return dead_letters_table(home.landed("dead_letters"))["status"].to_pylist()


def test_a_letter_that_still_breaks_the_rule_stays_open(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(-1)])
    before = home.segments()
    report = replay_all(home)
    assert (report.replayed, report.n_landed) == ((), 0)
    (detail,) = report.refused.values()
    assert "turn_number" in detail
    assert home.segments() == before


def test_a_letter_lands_once_a_field_is_set_right(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(-1)])
    report = replay_all(home, changes={"turn_number": "4"})
    assert report.n_landed == 1
    assert [r["turn_number"] for r in home.landed()] == [4]
    assert statuses(home) == ["replayed"]
    assert open_letters(home.log) == []
    assert {str(d) for d in report.days} == {"2026-03-05"}


def test_a_letter_lands_once_its_user_is_named(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(0, user_id=None), message(1, user_id=None)])
    assert replay_all(home, user_id="ada").n_landed == 2
    assert statuses(home) == ["replayed", "replayed"]


def test_a_letter_lands_once_the_rule_is_another(home: Any, message: Any) -> None:
    ahead = home.now + timedelta(hours=3)
    home.land_data("a.jsonl", [message(timestamp=ahead.isoformat())])
    settings = LandingSettings(max_future_skew_minutes=240)
    assert replay(home.log, now=home.now, settings=settings).n_landed == 1


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", b'{"id": "c1", "messages": [{"role": "user", "content": "x"}]}'),
        ("conversations.json", orjson.dumps([{"uuid": "c", "chat_messages": [{"sender": "human", "text": "x"}]}])),
        ("x.csv", b"text,date\nx,soon\n"),
        ("1.json", b'{"speaker_a": "A", "speaker_b": "B", "session_1": [{"speaker": "A", "dia_id": "", "text": "x"}]}'),
    ],
)
def test_single_messages_of_every_format_can_be_replayed(home: Any, name: str, data: bytes) -> None:
    home.land_data(name, data)
    assert home.landed() == []
    changes = {"timestamp": "2026-03-05T18:20:00Z", "session_id": "s1", "turn_number": "0"}
    assert replay_all(home, user_id="ada", changes=changes).n_landed == 1
    assert [(r["content"], r["session_id"]) for r in home.landed()] == [("x", "s1")]
    assert home.landed()[0]["source_format"] != "native"


def test_a_conversation_without_its_messages_stays_open(home: Any) -> None:
    home.land_data("c.json", b'[{"id": "x", "mapping": null}, {"mapping": {"a": {"parent": null, "children": []}}}]')
    (detail,) = replay_all(home).refused.values()
    assert detail.startswith("missing_field")


def test_files_that_could_not_be_read_stay_open(home: Any) -> None:
    home.land_data("a.jsonl", b"")
    home.land_data("b.bin", bytes(100))
    home.land_data("c.json", b'{"a": 1}')
    assert len(replay_all(home).refused) == 3


def test_only_the_letters_named_are_replayed_or_discarded(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(0, role="x"), message(1, role="x"), message(2, role="x")])
    first, second, third = (letter["dead_letter_id"] for letter in open_letters(home.log))
    assert replay_all(home, ids=[first], changes={"role": "user"}).replayed == (first,)
    assert discard(home.log, [second]) == 1
    assert [letter["dead_letter_id"] for letter in open_letters(home.log)] == [third]
    assert sorted(statuses(home)) == ["discarded", "open", "replayed"]


@pytest.mark.parametrize("ids", [["dead_none"], ["x", "y"]])
def test_ids_of_no_open_letter_are_wrong_use(home: Any, ids: list[str]) -> None:
    with pytest.raises(UsageError, match="none open"):
        discard(home.log, ids)
    with pytest.raises(UsageError, match="none open"):
        replay_all(home, ids=ids)


def test_changes_that_are_no_json_are_wrong_use(home: Any) -> None:
    with pytest.raises(UsageError, match="turn_number"):
        replay_all(home, changes={"turn_number": "four"})


def test_a_conflict_cannot_be_replayed_while_the_first_stands(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(), message(content="else")])
    (detail,) = replay_all(home).refused.values()
    assert detail.startswith("key_conflict")
    assert replay_all(home, changes={"turn_number": "1"}).n_landed == 1


def test_the_table_holds_the_bytes_and_the_day_of_the_attempt(home: Any) -> None:
    home.land_data("a.jsonl", b"caf\xe9")
    (row,) = dead_letters_table(home.landed("dead_letters")).to_pylist()
    assert row["raw"] == b"caf\xe9"
    assert row["landed_on"] == home.now.date()
    assert base64.b64decode(home.landed("dead_letters")[0]["raw"]) == b"caf\xe9"
