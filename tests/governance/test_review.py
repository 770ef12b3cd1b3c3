"""What was imported counts when somebody has looked at it, and not before; what was turned away stays away."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.why import why
from em_pipelines.governance.corrections import Corrections
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.governance.review import Review, Wanted
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.settings import load_settings

CARDS = """BEGIN:VCARD
VERSION:3.0
FN:Nadia Brandt
TITLE:Cooper
BDAY:--0503
EMAIL:nadia@example.org
NOTE:Reads the ferry timetable for fun
END:VCARD
BEGIN:VCARD
VERSION:3.0
FN:Oskar Vinter
NOTE:Insulin in the fridge at noon
END:VCARD
"""
IDA = "ida"


def opened(folder: Path, **settings: Any) -> Pipeline:
    return Pipeline(load_settings(home=folder / "home", **settings))


def imported(home: Pipeline, data: str = CARDS, name: str = "cards.vcf", user_id: str = IDA) -> None:
    path = home.path.parent / name
    path.write_text(data, encoding="utf-8")
    with home.lock("landing"):
        land([path], home.store.log, now=datetime.now(UTC), settings=home.settings.landing, user_id=user_id)


def materialize(home: Pipeline) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


def review(home: Pipeline) -> Review:
    return Review(home, home.settings.safety, home.settings.review.trusted_kinds)


def known(home: Pipeline, user_id: str = IDA) -> set[tuple[str, str, str]]:
    return {(f["subject"], f["relation"], f["object"]) for f in Corrections(home, user_id).known(is_all=False)}


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    found = opened(tmp_path)
    imported(found)
    materialize(found)
    return found


def test_nothing_counts_before_somebody_has_looked_at_it(home: Pipeline) -> None:
    assert known(home) == set()
    waiting = review(home).waiting()
    assert [(item.said, item.file, item.line) for item in waiting][:2] == [
        ("user knows Nadia Brandt", "cards.vcf", 1),
        ("Nadia Brandt works as Cooper", "cards.vcf", 1),
    ]


def test_what_is_accepted_counts_at_once_and_after_the_fold(home: Pipeline) -> None:
    own = [item for item in review(home).waiting() if item.line == 1]
    review(home).accept(own)
    expected = {
        ("user", "knows", "Nadia Brandt"),
        ("Nadia Brandt", "works_as", "Cooper"),
        ("Nadia Brandt", "has_birthday", "05-03"),
        ("Nadia Brandt", "has_attribute", "email: nadia@example.org"),
        ("Nadia Brandt", "has_attribute", "note: Reads the ferry timetable for fun"),
    }
    assert known(home) == expected
    materialize(home)
    assert known(home) == expected
    facts = Corrections(home, IDA).known()
    assert {fact["confidence"] for fact in facts} == {0.7}
    assert {item.line for item in review(home).waiting()} == {9}


def test_facts_say_that_they_were_imported_how_private_they_are_and_where_from(home: Pipeline) -> None:
    review(home).accept(review(home).waiting(Wanted(IDA)))
    materialize(home)
    lake = home.store.lake
    edges = {row["relation"]: row for row in lake.read(EDGES, lake.days(EDGES)[-1]).to_pylist()}
    assert {edge["source_mechanism"] for edge in edges.values()} == {"imported"}
    assert edges["has_birthday"]["privacy_level"] == "L3"
    document = why(lake, edges["has_birthday"]["edge_id"], datetime.now(UTC).date(), home.settings.decay)
    assert document is not None
    (told,) = document["sources"][0]["feedback"]
    assert told["type"] == "accept"
    assert (orjson.loads(told["payload"])["file"], orjson.loads(told["payload"])["line"]) == ("cards.vcf", 1)


def test_what_was_rejected_never_comes_back_whatever_file_it_stands_in(home: Pipeline) -> None:
    (birthday,) = [item for item in review(home).waiting() if item.fact["relation"] == "has_birthday"]
    review(home).reject([birthday])
    imported(home, CARDS.replace("TITLE:Cooper", "TITLE:Smith"), name="again.vcf")
    materialize(home)
    said = [item.said for item in review(home).waiting()]
    assert "Nadia Brandt works as Smith" in said and not any("birthday" in text for text in said)
    assert [item.said for item in review(home).waiting(is_rejected=True)] == [birthday.said]
    review(home).accept(review(home).waiting())
    assert not any(relation == "has_birthday" for _, relation, _ in known(home))


def test_what_was_accepted_and_taken_back_stays_back_when_it_is_imported_again(home: Pipeline) -> None:
    review(home).accept(review(home).waiting())
    corrections = Corrections(home, IDA)
    corrections.retract({"subject": "Nadia Brandt", "relation": "works_as", "object": "Cooper"})
    imported(home, name="again.vcf")
    materialize(home)
    assert not any(relation == "works_as" for _, relation, _ in known(home))
    assert all(item.fact["relation"] != "works_as" for item in review(home).waiting())


def test_a_home_made_again_from_the_log_knows_and_waits_for_the_same(home: Pipeline, tmp_path: Path) -> None:
    review(home).accept(review(home).waiting(Wanted(IDA))[:3])
    materialize(home)
    before = (known(home), [item.seed_id for item in review(home).waiting()])
    shutil.rmtree(home.path / "lake")
    again = opened(tmp_path)
    materialize(again)
    assert (known(again), [item.seed_id for item in review(again).waiting()]) == before


def test_the_guard_has_the_last_word_whoever_accepts(home: Pipeline) -> None:
    decided = review(home).accept(review(home).waiting())
    assert [item.said for item in decided.withheld] == ["Oskar Vinter (note) Insulin in the fridge at noon"]
    materialize(home)
    assert not any("Insulin" in obj for _, _, obj in known(home))


def test_decisions_are_in_the_ledger_one_entry_a_person(home: Pipeline) -> None:
    imported(home, name="other.vcf", user_id="jon")
    review(home).accept(review(home).waiting(Wanted(IDA)))
    review(home).reject(review(home).waiting(Wanted("jon")))
    assert [(entry.action, entry.count) for entry in home.ledger.entries()] == [("accept", 6), ("reject", 7)]


def test_users_never_meet(home: Pipeline) -> None:
    imported(home, name="other.vcf", user_id="jon")
    review(home).accept(review(home).waiting(Wanted("jon")))
    materialize(home)
    assert known(home) == set() and known(home, "jon")
    assert {item.user_id for item in review(home).waiting()} >= {IDA}


def test_an_answer_with_a_date_of_its_own_can_go_back_to_what_was_said_before(home: Pipeline) -> None:
    said = {"kind": "feedback", "user_id": IDA, "type": "answer", "relation": "lives_in"}
    days = (("Linz", "2026-03-01"), ("Steyr", "2026-04-01"), ("Linz", "2026-05-01"))
    lines = [
        orjson.dumps({**said, "object": town, "dated": f"{day}T10:00:00+00:00", "timestamp": f"{day}T10:00:00Z"})
        for town, day in days
    ]
    imported(home, b"\n".join(lines).decode(), name="answers.jsonl")
    materialize(home)
    assert known(home) == {("user", "lives_in", "Linz")}


def test_choosing_what_does_not_wait_is_wrong_use(home: Pipeline) -> None:
    with pytest.raises(UsageError, match="0 of those that wait"):
        review(home).choose(Wanted(ids=("seed_nothing",)))
    with pytest.raises(UsageError, match="of those that wait begin with"):
        review(home).choose(Wanted(ids=("seed_",)))


def test_what_the_settings_trust_counts_as_it_lands(tmp_path: Path) -> None:
    home = opened(tmp_path, review={"trusted_kinds": ("contacts",)})
    imported(home)
    review(home).settle()
    materialize(home)
    assert ("Nadia Brandt", "has_birthday", "05-03") in known(home)


@pytest.mark.parametrize("is_accepted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_forgetting_takes_what_waits_and_what_counts_and_landing_again_brings_nothing_back(
    home: Pipeline, is_accepted: bool
) -> None:
    if is_accepted:
        review(home).accept(review(home).waiting())
        materialize(home)
    forget(home, Scope(ScopeKind.ENTITY, IDA, "Nadia Brandt"))
    imported(home, name="again.vcf")
    materialize(home)
    text = "".join(path.read_text() for path in (home.path / "log").rglob("*.jsonl"))
    assert "Nadia" not in text and "nadia@" not in text
    assert not any("Nadia" in item.said for item in review(home).waiting())
    assert not any("Nadia" in subject for subject, _, _ in known(home))


NOTE = """---
date: 2026-09-20
privacy: private
---
I moved to Leoben in May. My brother Radu works as a ferryman.

I no longer play the tuba. I quit my job.
"""


def noted(home: Pipeline, data: str = NOTE, name: str = "diary.md") -> None:
    imported(home, data, name)
    materialize(home)


def test_what_is_read_in_a_note_waits_and_names_nothing_before(tmp_path: Path) -> None:
    home = opened(tmp_path)
    noted(home)
    said = {(item.said, item.file, item.line) for item in review(home).waiting()}
    assert {
        ("user lives in Leoben", "diary.md", 5),
        ("user sibling of Radu", "diary.md", 5),
        ("Radu works as ferryman", "diary.md", 5),
    } <= said
    assert known(home) == set()
    assert not home.store.lake.read_days(ENTITIES, home.store.lake.days(ENTITIES)).num_rows


def test_what_an_old_note_takes_back_or_ends_changes_nothing(home: Pipeline) -> None:
    review(home).accept(review(home).waiting())
    lines = {"user_id": IDA, "session_id": "s", "turn_number": 0, "role": "user", "timestamp": "2026-03-01T10:00:00Z"}
    imported(home, orjson.dumps({**lines, "content": "I work as a luthier."}).decode(), name="said.jsonl")
    noted(home)
    assert ("user", "works_as", "luthier") in known(home)


def test_accepted_notes_count_at_their_confidence_since_when_they_say_and_as_private_as_they_are(
    tmp_path: Path,
) -> None:
    home = opened(tmp_path)
    noted(home)
    review(home).accept(review(home).waiting())
    materialize(home)
    facts = {(f["subject"], f["relation"], f["object"]): f for f in Corrections(home, IDA).known(is_all=False)}
    assert {fact["confidence"] for fact in facts.values()} == {0.6}
    assert str(facts["user", "lives_in", "Leoben"]["valid_from"]).startswith("2026-05")
    edges = home.store.lake.read(EDGES, home.store.lake.days(EDGES)[-1]).to_pylist()
    assert {(edge["privacy_level"], edge["source_mechanism"]) for edge in edges} == {("L3", "imported")}


def test_an_edited_note_asks_for_what_is_new_alone(tmp_path: Path) -> None:
    home = opened(tmp_path)
    noted(home)
    review(home).reject(review(home).waiting())
    noted(home, NOTE + "\nI like quinces.\n")
    assert [item.said for item in review(home).waiting()] == ["user likes quinces"]


def test_notes_that_are_trusted_count_when_they_have_been_read(tmp_path: Path) -> None:
    home = opened(tmp_path)
    imported(home, NOTE, "diary.md")
    assert not review(home).settle(["diary.md"]).decided
    materialize(home)
    assert review(home).settle().decided
    materialize(home)
    assert ("user", "lives_in", "Leoben") in known(home)
    assert not review(home).settle().decided


@pytest.mark.slow
def test_a_note_is_forgotten_with_all_that_was_read_in_it(tmp_path: Path) -> None:
    home = opened(tmp_path)
    noted(home)
    review(home).accept(review(home).waiting()[:1])
    materialize(home)
    forget(home, Scope(ScopeKind.ENTITY, IDA, "Radu"))
    noted(home)
    assert "Radu" not in "".join(path.read_text() for path in (home.path / "log").rglob("*.jsonl"))
    assert not any("Radu" in item.said for item in review(home).waiting())
