"""Answers to the questionnaire in a file of YAML."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.landing.formats.questionnaire import questions
from em_pipelines.schema.feedback_payloads import read_payload
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, RELATIONS, EntityType

ANSWERS = """questionnaire: 1
user: ada
answered_at: 2026-10-30T18:00:00Z
answers:
  name: Ada
  birthday: 1988-04-12
  home: 'Linz'
  likes: [linocut, no, 007]
  dislikes:
    - "calls: early ones"
  work:
  studies: ~
  has_attribute: {shoe size: 38, 好きな色: 青}
  has_pet: Miso 🐈
"""


def test_answers_are_taken_as_they_are_written_and_wait_for_nobody(home: Any) -> None:
    home.land_data("me.yaml", ANSWERS)
    assert home.facts() == [
        ("user", "has_name", "Ada"),
        ("user", "has_birthday", "1988-04-12"),
        ("user", "lives_in", "Linz"),
        ("user", "likes", "linocut"),
        ("user", "likes", "no"),
        ("user", "likes", "007"),
        ("user", "dislikes", "calls: early ones"),
        ("user", "shoe size", "38"),
        ("user", "好きな色", "青"),
        ("user", "has_pet", "Miso 🐈"),
    ]
    records = home.landed("feedback")
    assert {(r["user_id"], r["type"], r["timestamp"][:10]) for r in records} == {("ada", "answer", "2026-10-30")}
    assert {orjson.loads(r["payload"])["confidence"] for r in records} == {0.9}
    assert orjson.loads(records[3]["payload"])["line"] == 8
    assert not home.reasons()


def test_landing_again_adds_nothing_and_a_later_answer_is_a_new_one(home: Any) -> None:
    home.land_data("me.yaml", ANSWERS)
    assert home.land_data("copy.yaml", ANSWERS).n_landed == 0
    later = ANSWERS.replace("2026-10-30", "2026-11-30")
    assert home.land_data("me.yaml", later).n_landed == 10


def test_without_a_date_the_same_answer_is_known_on_any_day(home: Any) -> None:
    plain = "questionnaire: 1\nhome: Linz\n"
    home.land_data("me.yaml", plain, user_id="ada")
    home.now = home.now.replace(day=9)
    assert home.land_data("me.yaml", plain, user_id="ada").n_duplicates == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("lieks: tea", "did you mean likes?"),
        ("favourite_colour_of_my_aunt: x", "--list"),
        ("home: {town: Linz}", "a text or a list of texts"),
        ("has_attribute: 38", "keys with texts"),
        ("likes: [[tea]]", "a text or a list of texts"),
        ("? [a, b]\n: x", "nothing asks"),
    ],
)
def test_an_answer_that_nothing_asks_for_is_refused_alone(home: Any, line: str, why: str) -> None:
    home.land_data("me.yaml", f"questionnaire: 1\nname: Ada\n{line}\n", user_id="ada")
    assert home.facts() == [("user", "has_name", "Ada")]
    letter = home.the_letter()
    assert (letter["reason"], letter["line_number"]) == ("unknown_answer", 3)
    assert why in letter["detail"]
    again = home.land_data("again.yaml", letter["raw"], user_id="ada", format="questionnaire")
    assert again.n_dead_letters == {"unknown_answer": 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("questionnaire: [", "invalid_yaml"),
        ("questionnaire: 1\n- a", "invalid_yaml"),
        ("- a\n- b\n", "invalid_yaml"),
        ("questionnaire: 1\nhome: !!python/object/apply:os.getcwd []\n", None),
        ("questionnaire: 1\nname: Ada\n", "missing_user"),
    ],
)
def test_a_file_that_is_no_questionnaire_is_one_letter(home: Any, data: str, reason: str | None) -> None:
    home.land_data("me.yaml", data, format="questionnaire", user_id=None if reason == "missing_user" else "ada")
    assert home.reasons() == ([reason] if reason else [])
    assert home.facts() == []


def test_questions_ask_for_what_the_vocabulary_has() -> None:
    assert len({question.id for question in questions()}) == len(questions())
    for question in questions():
        assert question.relation in RELATIONS, question.id
        assert question.object_type is None or EntityType(question.object_type)
        assert (question.relation == "has_attribute") == (question.attribute is not None)
        assert question.object_type is None or question.relation not in LITERAL_OBJECT


@given(st.text(max_size=200))
def test_whatever_a_file_says_it_lands_or_is_refused_with_a_reason(text: str) -> None:
    from pathlib import Path

    from em_pipelines.landing.formats.base import Ignored, Parsed, Rejected, Source
    from em_pipelines.landing.formats.questionnaire import convert
    from em_pipelines.landing.reader import InputFile
    from em_pipelines.landing.reasons import RuleError
    from em_pipelines.landing.settings import LandingSettings
    from tests.landing.conftest import NOW

    file = InputFile(Path("me.yaml"), LandingSettings(), f"questionnaire: 1\nlikes: {text}".encode("utf-8", "replace"))
    try:
        found = list(convert(file, Source("me.yaml", "ada", landed_at=NOW)))
    except RuleError as error:
        assert error.detail
        return
    for item in found:
        assert isinstance(item, Parsed | Ignored) or (isinstance(item, Rejected) and item.detail)
        if isinstance(item, Parsed) and item.fields["object"]:
            assert read_payload("answer", item.fields)
