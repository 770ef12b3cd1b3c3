"""The table of imported facts that wait: at the end of a snapshot's day it is what `em review list` shows."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.governance.review import Review, Wanted
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.snapshot import publish
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Nadia Brandt\nTITLE:Cooper\nBDAY:--0503\nEND:VCARD\n"
NOTE = "---\ndate: 2026-03-02\n---\nMy sister Runa lives in Tartu.\n"


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    """A home in which a contact and a note of ida wait, after a run."""
    found = Pipeline(load_settings(home=tmp_path / "home"))
    for name, text in (("cards.vcf", CARD), ("2026-03-02.md", NOTE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        land([tmp_path / name], found.store.log, now=datetime.now(UTC), settings=found.settings.landing, user_id="ida")
    return made(found)


def made(home: Pipeline) -> Pipeline:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    home.infer()
    return home


def listed(home: Pipeline, *, is_anew: bool = False) -> list[dict[str, Any]]:
    path = publish(home.store, home.snapshots, home.time_rules, is_anew=is_anew).path
    with connect(str(path), is_read_only=True) as connection:
        return connection.sql("FROM waiting_imports ORDER BY seed_id").to_arrow_table().to_pylist()


def reviewed(review: Review) -> list[dict[str, Any]]:
    return sorted((item.as_document() for item in review.waiting()), key=lambda row: row["seed_id"])


def test_it_is_what_the_review_lists_and_follows_what_is_decided(home: Pipeline) -> None:
    review = Review(home, home.settings.safety)
    waiting = reviewed(review)
    assert {(row["kind"], row["line"]) for row in waiting} == {("contacts", 1), ("notes", 4)}
    assert ("Runa", "lives_in", "Tartu") in {(row["subject"], row["relation"], row["object"]) for row in waiting}
    assert listed(home) == waiting
    review.accept(review.waiting(Wanted(source_kind="contacts"))[:1])
    review.reject(review.waiting(Wanted(source_kind="notes")))
    left = reviewed(review)
    assert {row["kind"] for row in left} == {"contacts"}
    assert len(left) < len(waiting)
    assert listed(made(home)) == left
    assert listed(home, is_anew=True) == left
