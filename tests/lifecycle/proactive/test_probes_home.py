"""Probes of a home: what people say leaves questions, what they answer takes them away, and nothing is made twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.settings import load_settings

BEGIN = datetime(2026, 3, 2, 10, tzinfo=UTC)
LATER = datetime(2027, 6, 1, tzinfo=UTC)


def _say(home: Pipeline, *texts: str, days: float = 0) -> list[dict[str, Any]]:
    at = BEGIN + timedelta(days=days)
    records = [
        {"user_id": "ada", "session_id": f"s{days}", "turn_number": turn, "role": "user", "content": text,
         "timestamp": (at + timedelta(minutes=turn)).isoformat()}
        for turn, text in enumerate(texts)
    ]  # fmt: skip
    return _learn(home, records, f"{days}")


def _learn(home: Pipeline, records: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    file = home.path.parent / f"{name}.jsonl"
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    land([file], home.store.log, now=LATER, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    home.refresh_proactive()
    (day,) = home.store.lake.days(PROBES)
    rows: list[dict[str, Any]] = home.store.lake.read(PROBES, day).to_pylist()
    return rows


def test_words_leave_questions_and_an_answer_takes_its_question_away(tmp_path: Path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    rows = {row["template"]: row for row in _say(home, "I work at Tallybird.", "I like tea.")}
    assert "Tallybird" in rows["role_at_work"]["text"]
    assert "work" in rows["role_at_work"]["context_tags"]
    assert rows["role_at_work"]["generated_at"] == BEGIN
    delivered = {
        "kind": "feedback", "type": "probe_delivered", "user_id": "ada", "probe_id": rows["home_town"]["probe_id"],
        "timestamp": (BEGIN + timedelta(hours=1)).isoformat(),
    }  # fmt: skip
    assert {row["template"]: row["status"] for row in _learn(home, [delivered], "told")}["home_town"] == "delivered"
    after = {row["template"]: row for row in _say(home, "I work at Tallybird as a translator.", days=1)}
    assert "role_at_work" not in after
    assert after["home_town"]["status"] == "delivered"
    assert after["home_town"]["generated_at"] == rows["home_town"]["generated_at"]


def test_nobody_is_asked_for_the_birthday_of_somebody_who_has_died(tmp_path: Path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    rows = _say(
        home, "My husband Fergus loved roses.", "My sister Connie lives in Graz.",
        "It will be three years on the 9th of July since my husband Fergus died.",
    )  # fmt: skip
    asked = " ".join(row["text"] for row in rows)
    assert "Connie" in asked
    assert "Fergus" not in asked
    assert "husband" not in asked


@pytest.mark.slow
def test_nobody_is_asked_for_a_name_that_stands_beside_the_role(tmp_path: Path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    rows = _say(home, "Sneha (my fiancée) says she wants one Tamil song.", "My brother lives in Graz.")
    assert [row["text"] for row in rows if row["template"] == "kin_name" and "brother" not in row["text"]] == []


@pytest.mark.slow
def test_what_is_made_again_has_the_same_bytes(tmp_path: Path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    first = _say(home, "I live in Delft.", "I love running.", "My dog is called Bosse.")
    home.refresh_proactive(is_forced=True)
    (day,) = home.store.lake.days(PROBES)
    assert home.store.lake.read(PROBES, day).to_pylist() == first
    assert first
