"""Two people of one name and of different owners, told of in one message, are two from the message to the facts."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.settings import load_settings

DAY = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("said", "nurse", "in_bergen"),
    [
        ("Ann's brother Tom is a nurse, Bea's brother Tom lives in Bergen.", "Ann's brother Tom", "Bea's brother Tom"),
        ("My brother Tom is a nurse. Bea's brother Tom lives in Bergen.", "Tom", "Bea's brother Tom"),
        ("Ann's brother Tom is a nurse, and Tom lives in Bergen.", "Tom", "Tom"),
    ],
)  # fmt: skip
def test_the_namesakes_of_two_owners_are_two(tmp_path: Path, said: str, nurse: str, in_bergen: str) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    message = {"user_id": "ada", "session_id": "s1", "turn_number": 0, "role": "user", "content": said}
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({**message, "timestamp": f"{DAY}T10:00:00Z"}) + "\n", encoding="utf-8")
    land([log], home.store.log, now=datetime(2026, 4, 1, tzinfo=UTC), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    known = facts(home.store, FactQuery("ada", DAY), home.settings.decay)
    told = {fact["relation"]: fact["subject"] for fact in known}
    assert (told["works_as"], told["lives_in"]) == (nurse, in_bergen)
    siblings = [fact["object"] for fact in known if fact["relation"] == "sibling_of"]
    assert sorted(siblings) == sorted({nurse, in_bergen})
