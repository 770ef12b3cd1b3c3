"""Answers of a few words: each question of our own that is answered so becomes a fact, and is asked no more."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.landing.land import land
from em_pipelines.lifecycle.proactive.gaps import load_gaps
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Segment, Turn
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.settings import load_settings

TOLD_AT, LONG_AGO = datetime(2026, 1, 30, 10, tzinfo=UTC), datetime(2025, 4, 25, 10, tzinfo=UTC)
ASKED_AT = datetime(2026, 9, 7, 10, tzinfo=UTC)
"""Late enough that what was told is no longer sure."""
HERE, LATELY = ASKED_AT - timedelta(days=2), ASKED_AT - timedelta(days=1)

ANSWERS: dict[str, tuple[str, ...]] = {
    "occupation": ("A welder.", "Nursing"),
    "home_town": ("Graz.", "I'm in Graz", "Graz, we moved here in May"),
    "own_name": ("Kit.", "Call me Kit"),
    "pastime": ("Bouldering and baking.", "Long walks, mostly"),
    "plans_ahead": ("A trip to Lisbon", "my sister's wedding in June"),
    "tools": ("Excel and Figma", "mostly Inkscape"),
    "tools_for": ("Excel and Figma", "mostly Inkscape"),
    "role_at_work": ("A welder.", "project manager"),
    "workplace": ("Fjordbank", "At the Karolinska"),
    "current_work": ("A migration tool", "the Tallybird relaunch"),
    "place_of_study": ("At the folk high school", "Weser Academy"),
    "subject_of_study": ("Law", "physics and maths"),
    "way_around": ("By bike.", "Tram, mostly"),
    "diet": ("Olives.", "No mushrooms please", "vegan"),
    "pet_name": ("Bosse.", "Her name is Bosse"),
    "pet_kind": ("A beagle", "She's a cat"),
    "kin_name": ("Tomasz.", "He's called Tomasz"),
    "close_birthday": ("12 May", "on the 3rd of June"),
    "plan_date": ("In October.", "12 November", "next month"),
    "undertaking_date": ("In October.", "next month"),
    "who_is_it": ("My uncle.", "a friend from work"),
    "pursuit": ("Yes", "yes please!"),
    "which_home": ("{other}.", "{other} now, we moved"),
    "which_workplace": ("{other}",),
    "which_work": ("{other}",),
    "which_school": ("{object}.",),
    "which_manager": ("{other}",),
    "which_preferred": ("{object}", "{other} these days"),
    "which_kind": ("Jazz, mostly.",),
    "where_to": ("Lisbon", "To Lisbon"),
    "second_choice": ("Soy milk",),
    "how_much": ("Often", "now and then"),
    "whether_likes": ("Yes", "Not so much"),
}
POLAR = ("Yes", "Yes, still", "No", "Not any more", "Nope, not since May")
TASTES = {"likes", "dislikes", "prefers"}
UNREAD = {"one_or_two", "which_retracted"}
"""That two people are one is never made a fact of: it would join what is known of both. Of what
was wrong the answer is a retraction, or a statement."""

SLOTS: dict[str, tuple[str, str]] = {
    "role_at_work": ("Fjordbank", ""),
    "workplace": ("a nurse", ""),
    "tools_for": ("the allotment app", ""),
    "place_of_study": ("Dutch", ""),
    "subject_of_study": ("Lund", ""),
    "way_around": ("Graz", ""),
    "pet_name": ("your dog", ""),
    "pet_kind": ("Bosse", ""),
    "kin_name": ("your brother", ""),
    "close_birthday": ("Dana", ""),
    "plan_date": ("your trip to Lisbon", ""),
    "undertaking_date": ("selling the barge", ""),
    "who_is_it": ("Egon", ""),
    "still_works_as": ("a nurse", ""),
    "still_member_of": ("the choir", ""),
    "still_uses_own": ("your cargo bike", ""),
    "still_owns": ("your cargo bike", ""),
    "still_dislikes": ("olives", ""),
    "still_prefers": ("rye bread", ""),
    "which_home": ("Delft", "Porto"),
    "which_workplace": ("Fjordbank", "Norrvik"),
    "which_work": ("a nurse", "a teacher"),
    "which_school": ("Lund", "Graz"),
    "which_manager": ("Joost", "Mia"),
    "which_preferred": ("tea", "coffee"),
    "which_kind": ("music", ""),
    "where_to": ("your trip", ""),
    "second_choice": ("oat milk", ""),
    **dict.fromkeys(("pursuit", "still_likes", "whether_likes", "own_taste", "how_much"), ("chess", "")),
    **dict.fromkeys(("still_lives_in", "whether_lives_in", "own_home"), ("Delft", "")),
    **dict.fromkeys(("still_studies", "still_studies_at"), ("Lund", "")),
}
NAMED = ("Fjordbank", "")


def _asked() -> Iterable[tuple[str, str, str]]:
    """Each wording of each gap with each of its answers."""
    for template, gap in load_gaps().items():
        thing, other = SLOTS.get(template, NAMED)
        for wording in gap.wordings:
            question = wording.format(object=thing, other=other, whose=f"{thing}'s")
            for answer in ANSWERS.get(template, POLAR):
                if template not in UNREAD:
                    yield template, question, answer.format(object=thing, other=other)


@pytest.fixture(scope="module")
def extractor() -> RulesExtractor:
    return RulesExtractor(RulesSettings())


def test_every_wording_of_a_question_is_understood_with_an_answer_of_a_few_words(extractor: RulesExtractor) -> None:
    unread = [
        (template, question, answer)
        for template, question, answer in _asked()
        if _about(template).isdisjoint(_relations(extractor, question, answer))
    ]
    assert unread == []


def _about(template: str) -> set[str]:
    """The relations of which a gap is: a question of a role may be answered by the relation that it stands for."""
    gap = load_gaps()[template]
    relations = {*gap.premise, *gap.missing}
    return relations | TASTES if relations & TASTES else relations


def _relations(extractor: RulesExtractor, question: str, answer: str) -> set[str]:
    turns = (
        Turn("m0", 0, "assistant", None, question, ASKED_AT),
        Turn("m1", 1, "user", "user", answer, ASKED_AT),
    )
    said = extractor.extract(Segment("seg", "u1", "s1", "text", turns[1:], turns[:1]))
    return {claim.relation for claim in said.claims}


TOLD: dict[str, tuple[datetime, tuple[str, ...]]] = {
    "occupation": (HERE, ("I like tea.",)),
    "home_town": (HERE, ("I like tea.",)),
    "own_name": (HERE, ("I like tea.",)),
    "pastime": (HERE, ("I live in Delft.",)),
    "plans_ahead": (HERE, ("I like tea.",)),
    "tools": (HERE, ("I work as a web designer.",)),
    "tools_for": (HERE, ("I'm working on Larkfield.",)),
    "role_at_work": (HERE, ("I work at Tallybird.",)),
    "workplace": (HERE, ("I work as an electrician.",)),
    "current_work": (HERE, ("I work as a web designer.",)),
    "place_of_study": (HERE, ("I study Dutch.",)),
    "subject_of_study": (HERE, ("I study at Weser Academy.",)),
    "way_around": (HERE, ("I live in Svendborg.",)),
    "diet": (HERE, ("I love ramen.",)),
    "pet_name": (HERE, ("I have a dog.",)),
    "kin_name": (HERE, ("My brother lives in Graz.",)),
    "close_birthday": (HERE, ("My brother Rui lives in Graz.",)),
    "plan_date": (HERE, ("I'm planning a trip to Bologna.",)),
    "undertaking_date": (HERE, ("I'm planning on selling the barge.",)),
    "still_works_at": (TOLD_AT, ("I work at Tallybird.",)),
    "still_works_as": (TOLD_AT, ("I work as a crane operator.",)),
    "still_lives_in": (TOLD_AT, ("I live in Delft.",)),
    "still_studies_at": (TOLD_AT, ("I study at Weser Academy.",)),
    "still_studies": (TOLD_AT, ("I'm learning Portuguese.",)),
    "still_member_of": (TOLD_AT, ("I'm a member of the choir.",)),
    "still_uses": (TOLD_AT, ("I use Inkscape for work.",)),
    "still_likes": (LONG_AGO, ("I like running.",)),
    "still_dislikes": (LONG_AGO, ("I hate coriander.",)),
    "still_prefers": (LONG_AGO, ("I prefer tea.",)),
    "still_reports_to": (TOLD_AT, ("I report to Joost.",)),
    "which_kind": (HERE, ("I love music.",)),
    "second_choice": (HERE, ("I prefer coffee.",)),
}
"""What each user says for the gap of the same name to be there, and when."""


@pytest.mark.slow
def test_a_question_that_was_answered_in_a_word_is_not_asked_again(tmp_path: Path) -> None:
    wide = {"max_waiting": 60, "max_per_entity": 9, "max_per_template": 9, "min_value": 0.01}
    settings = load_settings(home=tmp_path / "home")
    proactive = settings.proactive.model_copy(update=wide)
    home = Pipeline(settings.model_copy(update={"proactive": proactive}))
    told = [_message(user, "told", "user", text, at) for user, (at, texts) in TOLD.items() for text in texts] + [
        _message(user, "hello", "user", "Hello there.", LATELY) for user in TOLD
    ]
    asked = _own(_learn(home, told, tmp_path))
    assert set(TOLD) - set(asked) == set()
    replies = []
    for user, text in asked.items():
        replies.append(_message(user, "asked", "assistant", text, ASKED_AT))
        answer = ANSWERS.get(user, POLAR)[0].format(object="", other="")
        replies.append(_message(user, "asked", "user", answer, ASKED_AT, turn=1))
    assert _own(_learn(home, replies, tmp_path)) == {}


def _message(user: str, session: str, role: str, text: str, at: datetime, turn: int = 0) -> dict[str, Any]:
    return {
        "user_id": user, "session_id": f"{user}-{session}", "turn_number": turn, "role": role, "content": text,
        "timestamp": (at + timedelta(minutes=turn)).isoformat(),
    }  # fmt: skip


def _learn(home: Pipeline, records: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    file = folder / f"{records[0]['session_id']}.jsonl"
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    land([file], home.store.log, now=ASKED_AT + timedelta(days=1), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    home.refresh_proactive()
    (day,) = home.store.lake.days(PROBES)
    rows: list[dict[str, Any]] = home.store.lake.read(PROBES, day).to_pylist()
    return rows


def _own(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The question of each user that is of the gap of the user's name."""
    return {row["user_id"]: row["text"] for row in rows if row["template"] == row["user_id"]}
