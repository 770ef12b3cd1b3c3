"""How nobody is asked: phrasings good and bad, half of them (blind.yaml) by a hand that had not seen the patterns; and
every template, filled."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from em_pipelines.lifecycle.proactive.starter_wordings import load_occasions
from em_pipelines.lifecycle.proactive.validator import objections, starter_objections

PHRASINGS = sorted(Path(__file__).with_name("phrasings").glob("*.yaml"))
TEMPLATES = Path(__file__).parents[3] / "em_pipelines/lifecycle/proactive/templates.yaml"


def phrasings(kind: str) -> list[Any]:
    listed = [
        {**one, "of": path.stem} for path in PHRASINGS for one in yaml.safe_load(path.read_text(encoding="utf-8"))[kind]
    ]
    return [pytest.param(one, id=one["text"][:60]) for one in listed]


@pytest.mark.parametrize("one", phrasings("bad"))
def test_nobody_is_asked_like_this(one: dict[str, str]) -> None:
    found = objections(one["text"], one["benefit"])
    assert found
    assert one["why"] in found or one["of"] != "own", "who knows the names of the kinds says which it is"


@pytest.mark.parametrize("one", phrasings("good"))
def test_one_may_ask_like_this(one: dict[str, str]) -> None:
    assert objections(one["text"], one["benefit"]) == ()


def test_there_are_as_many_as_it_takes() -> None:
    assert len(phrasings("bad")) >= 60
    assert len(phrasings("good")) >= 60


@pytest.mark.parametrize(
    "thing", ["the trip to Lisbon", "Dana", "running", "your sister Dana", "C++", "Zoë O'Brien-Łukasz", "honey cake"]
)
def test_every_template_passes_with_whatever_it_is_about(thing: str) -> None:
    filled = {"object": thing, "whose": f"{thing}'s", "other": "Vienna"}
    templates = yaml.safe_load(TEMPLATES.read_text(encoding="utf-8"))
    found = {
        (name, wording, objections(wording.format(**filled), template["benefit"]))
        for name, template in templates.items()
        for wording in template["wordings"]
    }
    assert {one for one in found if one[2]} == set()


def test_every_wording_of_a_starter_passes() -> None:
    slots = {
        "object": "The trip to Turku", "whose": "Rui's", "day": "1 April", "month": "April", "title": "Harbour fair",
        "where": "Turku, 1 April", "skill": "pytest",
    }  # fmt: skip
    texts = [wording.format(**slots) for occasion in load_occasions().values() for wording in occasion.wordings]
    assert {text: starter_objections(text) for text in texts if starter_objections(text)} == {}


def test_a_starter_leads_with_something_to_do_and_a_way_out() -> None:
    good = "Rui's birthday is on Friday. Shall I look for a present? If not, just ignore this."
    assert starter_objections(good) == ()
    assert "no_way_to_dismiss" in starter_objections("Rui's birthday is on Friday. Shall I look for a present?")
    assert "no_action" in starter_objections("Rui's birthday is on Friday. If not, just ignore this.")
    assert starter_objections("Rui's birthday is on FRIDAY! Shall I click here? If not, just ignore this.")
