"""The clock of whoever wrote: landed beside the instant, and no part of what a message is known by."""

from typing import Any

import orjson
import pytest

from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import is_same_content, land_record
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.tables import feedback_table, interactions_table

LATE = "2026-10-14T21:30:00-04:00"
SAME_IN_UTC = "2026-10-15T01:30:00Z"


def landed(message: Any, **fields: Any) -> dict[str, Any]:
    return land_record("interactions", message(**fields), "native")


def test_the_offset_of_a_message_is_kept_beside_the_instant(message: Any) -> None:
    record = landed(message, timestamp=LATE)
    assert (record["timestamp"], record["utc_offset_minutes"]) == ("2026-10-15T01:30:00.000000+00:00", -240)
    (row,) = interactions_table([record]).to_pylist()
    assert (row["utc_offset_minutes"], row["zone"]) == (-240, None)


def test_a_zone_gives_the_offset_of_its_day(message: Any) -> None:
    summer, winter = (
        landed(message, timestamp=at, zone="Europe/Oslo") for at in ("2026-07-01T12:00:00Z", "2026-12-01T12:00:00Z")
    )
    assert (summer["utc_offset_minutes"], winter["utc_offset_minutes"]) == (120, 60)
    assert summer["zone"] == "Europe/Oslo"


@pytest.mark.parametrize("zone", ["Atlantis/Capital", "/etc/passwd", "../UTC"])
def test_a_zone_that_is_none_is_refused(message: Any, zone: str) -> None:
    with pytest.raises(RuleError, match="zone"):
        landed(message, zone=zone)


def test_a_time_in_utc_lands_as_it_did_before_offsets_were_kept(message: Any) -> None:
    assert not {"utc_offset_minutes", "zone"} & set(landed(message))
    assert interactions_table([landed(message)])["utc_offset_minutes"].to_pylist() == [None]


def test_a_message_landed_without_its_offset_comes_again_with_it_as_a_duplicate(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(timestamp=SAME_IN_UTC)])
    report = home.land_data("b.jsonl", [message(timestamp=LATE)])
    assert (report.n_duplicates, home.reasons()) == (1, [])
    assert is_same_content(*home.landed(), landed(message, timestamp=LATE))


def test_the_day_of_the_log_stays_that_of_utc(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message(timestamp=LATE)])
    assert {name.split("/")[-2] for name in home.segments() if "interactions" in name} == {"2026-10-15"}


def test_the_id_of_feedback_hangs_on_the_instant_and_not_on_the_clock() -> None:
    said = {"user_id": "ada", "type": "forget", "entity": "Derek"}
    one, other = (land_record("feedback", {**said, "timestamp": at}, "native") for at in (LATE, SAME_IN_UTC))
    assert one["feedback_id"] == other["feedback_id"]
    assert feedback_table([one])["utc_offset_minutes"].to_pylist() == [-240]


def test_chats_keep_the_clock_of_the_zone_that_is_given(home: Any) -> None:
    chat = "05/03/2026, 19:20 - Nora: hello\n05/03/2026, 19:21 - Ivo: hi\n13/07/2026, 19:21 - Ivo: still there?\n"
    settings = LandingSettings(time_zone="Europe/Oslo", date_order="dmy")
    home.land_data("WhatsApp Chat with Ivo.txt", chat, user_id="nora", settings=settings)
    assert [record["utc_offset_minutes"] for record in home.landed()] == [60, 60, 120]


def test_an_export_with_local_and_universal_time_shows_how_far_they_are_apart(home: Any) -> None:
    message = {"id": 1, "type": "message", "date": "2026-03-05T15:20:00", "date_unixtime": "1772734800",
               "from": "Nora", "from_id": "user99", "text": "hello", "text_entities": []}  # fmt: skip
    chat = {"name": "Ivo", "type": "personal_chat", "id": 4312, "messages": [message]}
    home.land_data("result.json", orjson.dumps(chat), user_id="nora")
    assert [record["utc_offset_minutes"] for record in home.landed()] == [-180]
