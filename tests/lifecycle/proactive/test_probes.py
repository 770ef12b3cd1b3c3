"""Probes: every kind of gap is found where it is, gone where it is answered, and nothing hidden is asked."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.errors import PatternError
from em_pipelines.graph.confidence_decay import Curve, DecaySettings, effective_confidence
from em_pipelines.lifecycle.proactive.gaps import load_gaps
from em_pipelines.lifecycle.proactive.probes import ProbesRun
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.schema.ids import content_id, correlation_id
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.schema.vocabulary import LASTING, TemporalType
from tests.lifecycle.proactive.known import TODAY, WIDE, Known, asked, at, probes

World = Callable[[Known], Any]
STALE = {"days_ago": 220.0}
WEAK = {"days_ago": 300.0}
HEDGED = {"hedge_level": "moderate", "confidence": 0.65}
UNSURE = {"flags": ["attribution_uncertain"], "confidence": 0.5}


def _either(relation: str, one: str, other: str, kind: str) -> World:
    return lambda k: k.against(k.fact(relation, one, kind), k.fact(relation, other, kind))


def _whether(relation: str, name: str, kind: str) -> World:
    return lambda k: k.against(k.fact(relation, name, kind, polarity=-1), k.fact(relation, name, kind))


def _retracted(k: Known) -> None:
    likes = k.fact("likes", "oak stools", "product", of="Berit", of_kind="person", status="contradicted")
    wants = k.fact("wants", "oak stools", "product", status="contradicted")
    k.against(wants, likes, reason="retraction")


def _namesakes(k: Known) -> None:
    k.fact("likes", "tea", "food")
    k.thing("Ben", "person", qualifiers=["neighbour"], mention_count=4)
    k.thing("Ben", "person", qualifiers=["colleague"], mention_count=4, discriminator="colleague")


FOUND: dict[str, tuple[World, str]] = {
    "occupation": (lambda k: k.fact("likes", "tea", "food"), "work"),
    "home_town": (lambda k: k.fact("likes", "tea", "food"), "town"),
    "own_name": (lambda k: k.fact("likes", "tea", "food"), ""),
    "pastime": (lambda k: k.fact("lives_in", "Delft", "place"), "free day"),
    "plans_ahead": (lambda k: k.fact("likes", "tea", "food"), ""),
    "tools": (lambda k: k.fact("works_as", "web designer"), "programs"),
    "tools_for": (lambda k: k.fact("works_on", "Larkfield", "project"), "for Larkfield"),
    "role_at_work": (lambda k: k.fact("works_at", "Tallybird", "organization"), "at Tallybird"),
    "workplace": (lambda k: k.fact("works_as", "electrician"), "as an electrician"),
    "current_work": (lambda k: k.fact("works_as", "web designer"), "desk"),
    "place_of_study": (lambda k: k.fact("studies", "cello"), "the cello"),
    "subject_of_study": (lambda k: k.fact("studies_at", "Weser Academy", "organization"), "at Weser Academy"),
    "way_around": (lambda k: k.fact("lives_in", "svendborg", "place"), "in Svendborg"),
    "diet": (lambda k: k.fact("likes", "ramen", "food"), "food"),
    "pet_name": (lambda k: k.fact("has_pet", "dog", "animal"), "your dog"),
    "pet_kind": (lambda k: k.fact("has_pet", "Bosse", "animal"), "animal is Bosse"),
    "kin_name": (lambda k: k.fact("sibling_of", "brother", "person"), "your brother"),
    "close_birthday": (lambda k: k.fact("partner_of", "Rui", "person"), "Rui's birthday"),
    "plan_date": (lambda k: k.fact("plans", "trip to Bologna"), "the trip to Bologna"),
    "undertaking_date": (lambda k: k.fact("plans", "switching editors", "activity"), "switching editors"),
    "who_is_it": (
        lambda k: (k.fact("likes", "tea", "food"), k.thing("Maria", "person", mention_count=5)),
        "is Maria to you",
    ),
    "pursuit": (lambda k: k.fact("did", "bouldering", "activity"), "bouldering"),
    "still_works_at": (lambda k: k.fact("works_at", "Tallybird", "organization", **STALE), "at Tallybird"),
    "still_works_as": (lambda k: k.fact("works_as", "crane operator", **STALE), "as a crane operator"),
    "still_lives_in": (lambda k: k.fact("lives_in", "Delft", "place", **STALE), "Delft"),
    "still_studies_at": (lambda k: k.fact("studies_at", "Weser Academy", "organization", **STALE), "at Weser Academy"),
    "still_studies": (lambda k: k.fact("studies", "portuguese", **STALE), "Portuguese"),
    "still_works_on": (lambda k: k.fact("works_on", "thesis", "project", **STALE), "the thesis"),
    "still_member_of": (lambda k: k.fact("member_of", "choir", "organization", **STALE), "the choir"),
    "still_uses": (lambda k: k.fact("uses", "Zed", "tool", **STALE), "Zed"),
    "still_uses_own": (lambda k: k.fact("uses", "Canon R8", "product", **STALE), "your Canon R8"),
    "still_owns": (lambda k: k.fact("owns", "wooden boat", "vehicle", **STALE), "your wooden boat"),
    "still_likes": (lambda k: k.fact("likes", "running", "activity", days_ago=500), "running"),
    "still_dislikes": (lambda k: k.fact("dislikes", "coriander", "food", days_ago=500), "coriander"),
    "still_prefers": (lambda k: k.fact("prefers", "tea", "food", days_ago=500), "tea"),
    "still_reports_to": (lambda k: k.fact("reports_to", "Tomás", "person", **STALE), "Tomás"),
    "which_home": (_either("lives_in", "Delft", "Porto", "place"), "Delft or "),
    "which_workplace": (_either("works_at", "Tallybird", "Norrvik Freight", "organization"), "Tallybird or "),
    "which_work": (_either("works_as", "baker", "electrician", "concept"), "an electrician"),
    "which_school": (_either("studies_at", "Weser Academy", "Hunte College", "organization"), "Hunte College"),
    "which_manager": (_either("reports_to", "Tomás", "Noor", "person"), "Noor"),
    "which_preferred": (_either("prefers", "tea", "coffee", "food"), "coffee"),
    "whether_likes": (_whether("likes", "karaoke", "activity"), "karaoke"),
    "whether_uses": (_whether("uses", "Zed", "tool"), "Zed"),
    "whether_works_at": (_whether("works_at", "Tallybird", "organization"), "Tallybird"),
    "whether_lives_in": (_whether("lives_in", "Porto", "place"), "Porto"),
    "which_retracted": (_retracted, "oak stools"),
    "one_or_two": (_namesakes, "your neighbour Ben"),
    "own_taste": (lambda k: k.fact("likes", "jazz", **UNSURE), "jazz"),
    "own_home": (lambda k: k.fact("lives_in", "Delft", "place", **UNSURE), "Delft"),
    "own_workplace": (lambda k: k.fact("works_at", "Tallybird", "organization", **UNSURE), "Tallybird"),
    "which_kind": (lambda k: k.fact("likes", "music", context_tags=["music"]), "of music"),
    "where_to": (lambda k: k.fact("plans", "trip"), "your trip"),
    "second_choice": (lambda k: k.fact("prefers", "coffee", "food"), "coffee"),
    "how_much": (lambda k: k.fact("likes", "karaoke", "activity", **HEDGED), "karaoke"),
}
"""What is known, by the gap that it leaves, and words of the question."""

ANSWERED: dict[str, World] = {
    "occupation": lambda k: k.fact("works_as", "baker"),
    "home_town": lambda k: k.fact("lives_in", "Delft", "place"),
    "own_name": lambda k: k.fact("has_name", value="Ada Lund"),
    "pastime": lambda k: k.fact("likes", "tea", "food"),
    "plans_ahead": lambda k: k.fact("plans", "trip to Porto"),
    "tools": lambda k: k.fact("uses", "Zed", "tool"),
    "tools_for": lambda k: k.fact("uses", "Zed", "tool"),
    "role_at_work": lambda k: k.fact("works_as", "baker"),
    "workplace": lambda k: k.fact("works_at", "Tallybird", "organization"),
    "current_work": lambda k: k.fact("works_on", "thesis", "project"),
    "place_of_study": lambda k: k.fact("studies_at", "Weser Academy", "organization"),
    "subject_of_study": lambda k: k.fact("studies", "physics"),
    "way_around": lambda k: k.fact("owns", "bicycle", "vehicle"),
    "diet": lambda k: k.fact("follows", "vegetarian", polarity=-1),
    "pet_name": lambda k: k.fact("has_name", value="Miso", of="dog", of_kind="animal"),
    "pet_kind": lambda k: k.fact("is_a", "cat", "animal", of="Bosse", of_kind="animal"),
    "kin_name": lambda k: k.fact("has_name", value="Piet", of="brother", of_kind="person"),
    "close_birthday": lambda k: k.fact("has_birthday", value="05-03", of="Rui", of_kind="person", privacy_level="L3"),
    "plan_date": lambda k: k.fact("scheduled_for", value="2026-07-01", of="trip to Bologna", of_kind="concept"),
    "undertaking_date": lambda k: k.fact("scheduled_for", value="2026-07", of="switching editors", of_kind="activity"),
    "who_is_it": lambda k: k.fact("friend_of", "user", "person", of="Maria"),
    "pursuit": lambda k: k.fact("dislikes", "bouldering", "activity"),
    "which_kind": lambda k: k.fact("likes", "jazz", context_tags=["music"]),
}
"""What closes the gap of discovery or refinement of the same name."""


def _crowd(templates: Iterable[str], answers: Mapping[str, World] = {}, **changes: Any) -> Known:
    """A user for each gap, so that one run tries all of them; `changes` go into every fact."""
    known = Known()
    for template in templates:
        alone = Known()
        FOUND[template][0](alone)
        alone.facts = [{**row, **changes} for row in alone.facts]
        answers.get(template, lambda _: None)(alone)
        known.facts += [{**row, "user_id": template, "edge_id": f"{template}-{row['edge_id']}"} for row in alone.facts]
        known.things |= {f"{template}-{key}": {**row, "user_id": template} for key, row in alone.things.items()}
        known.pairs += [
            {**row, "user_id": template, **{name: f"{template}-{row[name]}" for name in ("edge_id", "other_edge_id")}}
            for row in alone.pairs
        ]
    return known


def _of_own_user(known: Known) -> dict[str, dict[str, Any]]:
    rows = [row for row in probes(known) if row["template"] == row["user_id"]]
    assert len({row["template"] for row in rows}) == len(rows)
    return {row["template"]: row for row in rows}


@cache
def _found() -> dict[str, dict[str, Any]]:
    return _of_own_user(_crowd(FOUND))


@cache
def _left() -> dict[str, dict[str, Any]]:
    return _of_own_user(_crowd(ANSWERED, ANSWERED))


@pytest.mark.parametrize("template", sorted(FOUND))
def test_each_kind_of_gap_is_found_and_asked_in_words_of_its_own(template: str) -> None:
    found = [_found()[template]]
    assert FOUND[template][1] in found[0]["text"]
    assert found[0]["text"].count("?") == 1
    assert found[0]["kind"] == load_gaps()[template].kind


def test_no_kind_of_gap_is_left_out_here() -> None:
    gaps = load_gaps()
    assert set(FOUND) == set(gaps)
    may_be_answered = {name for name, gap in gaps.items() if gap.missing}
    assert may_be_answered <= set(ANSWERED)


@pytest.mark.parametrize("template", sorted(ANSWERED))
def test_a_gap_that_is_answered_is_not_asked_about(template: str) -> None:
    assert template not in _left()


HIDING: dict[str, dict[str, Any]] = {
    "third level": {"privacy_level": "L3"},
    "privileged": {"privacy_level": "L4", "requires_verification": True},
    "unverified": {"requires_verification": True},
    "retracted": {"status": "retracted"},
    "superseded": {"status": "superseded"},
    "expired": {"status": "expired"},
    "archived": {"status": "archived"},
    "hypothetical": {"flags": ["hypothetical"]},
    "sarcastic": {"flags": ["sarcasm_detected"]},
    "mood": {"flags": ["emotional_state"]},
    "hearsay": {"flags": ["secondhand"]},
    "given up": {"flags": ["abandoned_intent"]},
    "pasted": {"has_pasted_source": True},
    "shared": {"source_mechanism": "shared"},
    "about health": {"context_tags": ["health"]},
    "about money": {"context_tags": ["money"]},
    "over": {"valid_to": TODAY},
    "in confidence": {"statement": "between you and me, that is so"},
    "to be kept quiet": {"statement": "Please don't tell anybody about it"},
    "of somebody dead": {"statement": "Three years ago she passed away"},
    "of a loss": {"statement": "since the divorce"},
}
OF_THINGS = sorted(
    name for name, (world, _) in FOUND.items()
    if load_gaps()[name].shape and load_gaps()[name].form not in {"person", "namesakes", "either", "whether"}
)  # fmt: skip
ALWAYS = ("in confidence", "privileged", "retracted")
"""Of which `make test` asks, too."""


@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=() if how in ALWAYS else pytest.mark.slow) for how in sorted(HIDING)]
)
def test_nothing_that_is_hidden_is_asked_about_or_named(how: str) -> None:
    assert _of_own_user(_crowd(OF_THINGS, **HIDING[how])) == {}
    assert set(OF_THINGS) <= set(_found())


def test_what_was_said_beside_a_confidence_is_not_asked_about_either() -> None:
    known = Known()
    provenance = [{"session_id": "s", "turn_number": 4, "span_start": 0, "span_end": 1, "extraction_id": "x"}]
    known.fact("works_at", "Tallybird", "organization", provenance=provenance)
    assert "role_at_work" in asked(known)
    known.fact("plans", "trip to Porto", provenance=provenance, statement="it's a secret that I go to Porto")
    assert not any("Tallybird" in text or "Porto" in text for text in asked(known).values())


def test_things_that_are_private_or_unverified_are_not_named() -> None:
    for changes in ({"privacy_level": "L3"}, {"requires_verification": True}):
        known = Known()
        known.thing("Tallybird", "organization", **changes)
        known.fact("works_at", "Tallybird", "organization", **STALE)
        assert not any("Tallybird" in text for text in asked(known).values())


def test_facts_that_cannot_change_are_never_asked_about_again() -> None:
    known = Known()
    for relation in LASTING:
        known.fact(relation, "Rui", "person", days_ago=3000, effective_confidence=0.2)
    assert {row["kind"] for row in probes(known)} == {"discovery"}
    asked_again = {relation for gap in load_gaps().values() if gap.form == "stale" for relation in gap.premise}
    assert asked_again.isdisjoint(LASTING)


@pytest.mark.parametrize("curve", list(Curve))
@pytest.mark.parametrize(
    "confidence", [0.8, *(pytest.param(one, marks=pytest.mark.slow) for one in [0.61, 0.66, 0.9, 0.9499, 1.0])]
)
def test_a_fact_goes_stale_on_the_first_day_on_which_decay_has_it_below_the_bound(
    curve: Curve, confidence: float
) -> None:
    decay = DecaySettings(curve=curve)
    last = at(900)
    n_days = next(
        n for n in range(900) if effective_confidence(confidence, n, TemporalType.STATE, decay) < 0.6
    )  # fmt: skip
    known = Known()
    known.fact("lives_in", "Delft", "place", days_ago=900, confidence=confidence, effective_confidence=0.2)
    row = next(row for row in probes(known, decay=decay) if row["template"] == "still_lives_in")
    midnight = datetime(last.year, last.month, last.day, tzinfo=UTC)
    assert row["generated_at"] == midnight + timedelta(days=n_days)


def test_a_fact_that_was_asked_about_and_goes_stale_again_is_another_question() -> None:
    ids = set()
    for days_ago in (300, 230):
        known = Known()
        known.fact("lives_in", "Delft", "place", days_ago=days_ago)
        ids |= {row["probe_id"] for row in probes(known) if row["template"] == "still_lives_in"}
    assert len(ids) == 2


def test_what_was_said_with_a_hedge_does_not_go_stale_but_what_was_imported_does() -> None:
    known = Known()
    known.fact("lives_in", "Delft", "place", confidence=0.45, hedge_level="strong", days_ago=50)
    assert "still_lives_in" not in asked(known)
    known = Known()
    known.fact("lives_in", "Delft", "place", confidence=0.6, source_mechanism="imported", days_ago=50)
    assert "still_lives_in" in asked(known)


def _many(n_users: int, seed: int) -> Known:
    drawn, known = Random(seed), Known()
    worlds = [world for world, _ in FOUND.values()]
    for number in range(n_users):
        alone = Known()
        for world in drawn.sample(worlds, 8):
            world(alone)
        rename = {key: f"{key}-{number}" for key in alone.things}
        seen: set[str] = set()
        for row in alone.facts:
            if row["edge_id"] in seen:
                continue
            seen.add(row["edge_id"])
            known.facts.append(
                {**row, "user_id": f"user{number}", "edge_id": f"{row['edge_id']}-{number}",
                 "subject_id": rename[row["subject_id"]], "object_id": rename.get(row["object_id"])}
            )  # fmt: skip
        for key, row in alone.things.items():
            known.things[rename[key]] = {**row, "entity_id": rename[key], "user_id": f"user{number}"}
    return known


def test_the_same_is_asked_whatever_the_order_of_rows_and_however_often() -> None:
    known = _many(30, seed=1)
    first = probes(known, ProactiveSettings())
    assert len(first) > 100
    Random(2).shuffle(known.facts)
    known.things = dict(sorted(known.things.items(), reverse=True))
    assert probes(known, ProactiveSettings()) == first


def test_users_do_not_change_what_others_are_asked() -> None:
    known = _many(12, seed=3)
    together = probes(known, ProactiveSettings())
    for user in ("user0", "user7"):
        alone = Known()
        alone.facts = [row for row in known.facts if row["user_id"] == user]
        alone.things = {key: row for key, row in known.things.items() if row["user_id"] == user}
        assert probes(alone, ProactiveSettings()) == [row for row in together if row["user_id"] == user]


def test_nobody_has_more_waiting_than_the_limit_nor_several_of_one_thing() -> None:
    known = Known()
    for number in range(400):
        known.fact("likes", f"Tune{number}", "work", days_ago=500)
        known.fact("uses", f"Tool{number}", "tool", **STALE)
    for relation in ("works_at", "member_of", "studies_at"):
        known.fact(relation, "Tallybird", "organization", **STALE)
    rows = probes(known, ProactiveSettings())
    assert len(rows) <= 10
    assert len({row["template"] for row in rows}) >= 5
    assert sum("Tallybird" in row["text"] for row in rows) == 1
    assert rows[0]["value"] == max(row["value"] for row in probes(known))


@pytest.mark.slow
def test_what_waits_is_what_is_worth_most() -> None:
    known = _many(20, seed=5)
    few = ProactiveSettings(max_waiting=3, max_per_entity=50, max_per_template=50, min_value=0)
    for user in ("user1", "user4", "user9"):
        every = [row["probe_id"] for row in probes(known) if row["user_id"] == user and row["status"] == "queued"]
        kept = [row["probe_id"] for row in probes(known, few) if row["user_id"] == user and row["status"] == "queued"]
        assert len(every) > len(kept) == few.max_waiting
        assert kept == every[: few.max_waiting]


def test_of_one_thing_and_of_one_wording_the_best_is_kept() -> None:
    known = Known()
    known.fact("works_at", "Tallybird", "organization", **STALE)
    known.fact("member_of", "Tallybird", "organization", **STALE)
    assert "still_member_of" in asked(known)
    assert {"still_works_at"} == {
        row["template"] for row in probes(known, ProactiveSettings(max_per_entity=1)) if "Tallybird" in row["text"]
    }
    known = Known()
    for number in range(9):
        known.thing(f"Tool{number}", "tool", importance=number / 10)
        known.fact("uses", f"Tool{number}", "tool", **STALE)
    told = " ".join(row["text"] for row in probes(known, ProactiveSettings()))
    assert all((f"Tool{number}" in told) == (number in {7, 8}) for number in range(9))


@pytest.mark.slow
def test_values_lie_between_0_and_1_and_grow_with_importance_and_late_talk() -> None:
    values = {}
    for name, importance, days in (("often", 1.0, 1), ("seldom", 0.0, 1), ("long_ago", 1.0, 80)):
        known = Known()
        known.thing("Tallybird", "organization", importance=importance, last_referenced=at(days))
        known.fact("works_at", "Tallybird", "organization", days_ago=days)
        values[name] = next(row["value"] for row in probes(known) if row["template"] == "role_at_work")
    assert 0 < values["long_ago"] < values["often"] <= 1
    assert 0 < values["seldom"] < values["often"]
    assert values["often"] == pytest.approx(0.80 * (0.55 + 0.20 + 0.15 + 0.10 / 5))


def test_somebody_new_is_asked_a_few_plain_things_and_somebody_unknown_nothing() -> None:
    assert probes(Known()) == []
    known = Known()
    known.fact("likes", "tea", "food")
    first = probes(known, ProactiveSettings())
    assert {"home_town", "occupation"} <= {row["template"] for row in first}
    assert all(row["generated_at"] == at(5) and row["status"] == "queued" for row in first)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("delivered", marks=pytest.mark.slow),
        "accepted",
        pytest.param("ignored", marks=pytest.mark.slow),
        pytest.param("deflected", marks=pytest.mark.slow),
    ],
)
def test_what_came_of_a_question_is_its_status(said: str) -> None:
    known = Known()
    known.fact("likes", "tea", "food")
    asked_first = next(row for row in probes(known) if row["template"] == "home_town")
    known.said("probe_delivered", asked_first["probe_id"], days_ago=2)
    known.said(f"probe_{said}", asked_first["probe_id"], days_ago=1)
    known.said("probe_accepted", asked_first["probe_id"], user="somebody-else", days_ago=0)
    row = next(row for row in probes(known) if row["probe_id"] == asked_first["probe_id"])
    assert row == {**asked_first, "status": said}


def test_what_nobody_has_spoken_of_for_long_is_no_longer_asked() -> None:
    known, long = Known(), WIDE.probe_days + 10
    known.thing("user", "person", last_referenced=at(long))
    known.thing("tea", "food", last_referenced=at(long))
    known.fact("likes", "tea", "food", days_ago=long)
    rows = probes(known)
    assert rows
    assert {row["status"] for row in rows} == {"expired"}
    assert all(row["expires_at"] == at(long) + timedelta(days=WIDE.probe_days) for row in rows)


def test_a_question_hangs_together_with_the_message_that_it_comes_of() -> None:
    known = Known()
    known.fact("works_at", "Tallybird", "organization")
    rows = {row["template"]: row for row in probes(known)}
    assert rows["role_at_work"]["correlation_id"] == correlation_id("ada", "s0", 1)
    assert rows["role_at_work"]["edge_id"] == known.facts[0]["edge_id"]
    assert rows["role_at_work"]["entity_id"] == known.thing("Tallybird")
    assert rows["role_at_work"]["probe_id"] == content_id("probe", "ada", "discovery", "role_at_work")
    assert {"work", "tallybird", "organization"} <= set(rows["role_at_work"]["context_tags"])


def test_the_person_is_not_asked_who_they_are_by_a_name_of_their_own() -> None:
    known = Known()
    known.fact("likes", "tea", "food", user="caroline")
    for name in ("Caroline", "Caro", "Maria"):
        known.thing(name, "person", user="caroline", mention_count=50)
    texts = " ".join(row["text"] for row in probes(known))
    assert "Maria" in texts
    assert "Caro" not in texts


def test_settled_contradictions_and_those_with_a_side_that_fell_are_not_asked_about() -> None:
    known = Known()
    known.against(known.fact("lives_in", "Delft", "place"), known.fact("lives_in", "Porto", "place"), status="settled")
    assert "which_home" not in asked(known)
    known = Known()
    older = known.fact("lives_in", "Porto", "place", status="superseded")
    known.against(known.fact("lives_in", "Delft", "place"), older)
    assert "which_home" not in asked(known)


@pytest.mark.slow
def test_what_is_liked_and_disliked_is_asked_about_whichever_was_said_last() -> None:
    for relations in (("likes", "dislikes"), ("dislikes", "likes")):
        known = Known()
        older, newer = (known.fact(relation, "karaoke", "activity", status="contradicted") for relation in relations)
        known.against(newer, older)
        assert "karaoke" in asked(known)["whether_likes"]


def test_what_is_disputed_or_hardly_known_is_not_taken_for_granted_in_other_questions() -> None:
    for changes in ({"status": "contradicted"}, {"confidence": 0.3}):
        known = Known()
        known.fact("works_at", "Tallybird", "organization", **changes)
        assert not any("Tallybird" in text for text in asked(known).values())


def test_namesakes_that_somebody_told_apart_are_left() -> None:
    known = Known()
    _namesakes(known)
    other = known.thing("Ben", "person", discriminator="colleague")
    known.things[known.thing("Ben", "person")]["distinct_from"] = [other]
    assert "one_or_two" not in asked(known)


def test_a_text_with_objections_is_not_asked() -> None:
    known = Known()
    known.fact("works_at", "Tallybird", "organization")
    texts = asked(known, objections=lambda text, benefit: ("names a firm",) if "Tallybird" in text else ())
    assert "home_town" in texts
    assert "role_at_work" not in texts


def test_nothing_is_asked_where_that_is_switched_off_or_nobody_has_said_anything() -> None:
    known = Known()
    known.fact("likes", "tea", "food")
    assert probes(known, ProactiveSettings(is_enabled=False)) == []
    empty = ProbesRun(WIDE, DecaySettings()).run(TODAY, Known().tables(), [])["probes"]
    assert empty.equals(pa.Table.from_pylist([], schema=PROBES.schema))


def test_files_that_do_not_fit_together_are_refused(tmp_path: Any) -> None:
    gaps, templates = tmp_path / "gaps.yaml", tmp_path / "templates.yaml"
    gaps.write_text("one: {kind: discovery, form: cold, missing: lives_at, worth: 0.5}\n")
    templates.write_text("one: {gap: where, benefit: so that, topics: home, wordings: [Where do you live?]}\n")
    with pytest.raises(PatternError, match="lives_at"):
        load_gaps(gaps, templates)
    templates.write_text("two: {gap: where, benefit: so that, topics: home, wordings: [Where do you live?]}\n")
    with pytest.raises(PatternError, match="one, two"):
        load_gaps(gaps, templates)
