"""From items to claims: places in the text, dates against the day of writing, and what silence means."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.extraction.llm.answer import ALL_SECTIONS, ITEMS, Section
from em_pipelines.extraction.llm.grounding import ground
from em_pipelines.extraction.llm.parsing import Parsed
from em_pipelines.extraction.llm.stated_dates import resolve
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.verification import TEMPLATE_NAMES, verify
from em_pipelines.schema.readings import Claim, Extraction, Segment, Turn
from em_pipelines.schema.vocabulary import RELATIONS, Act, EntityType, Flag, HedgeLevel, TemporalType

WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
"""A Thursday."""
SAID = "My cousin Odalys moved to Tartu in January and keeps bees there."


def turn(number: int, text: str, subject: str | None = "user") -> Turn:
    return Turn(f"m{number}", number, "user", subject, text, WRITTEN_AT)


def segment(*turns: Turn, context: tuple[Turn, ...] = ()) -> Segment:
    return Segment("seg", "u", "s", "text", turns or (turn(7, SAID),), context)


def relation(subject: str, name: str, stated: str, **changes: Any) -> dict[str, Any]:
    return {"t": 0, "subject": subject, "relation": name, "object": stated, **changes}


def grounded(
    read: Segment | None = None, *, missing: tuple[Section, ...] = (), targets: tuple[int, ...] = (0,), **sections: Any
) -> Extraction:
    """Grounds items given as documents, by section."""
    read = read or segment()
    items = {
        section: [ITEMS[section].model_validate(item) for item in sections.get(section.value, [])]
        for section in ALL_SECTIONS
    }
    return ground(read, {index: read.turns[index] for index in targets}, Parsed(items=items, missing=missing))


def claim_of(said: str, *words: str, subject: str | None = "user", **sections: Any) -> Claim:
    (found,) = grounded(segment(turn(7, said, subject)), relations=[relation(*words)], **sections).claims
    return found


def doubts(read: Segment, **sections: Any) -> list[str]:
    return [issue.issue for issue in verify(grounded(read, **sections), read).issues]


def test_names_find_their_place_in_the_text_of_their_turn() -> None:
    found = grounded(
        entities=[{"t": 0, "name": "odalys", "type": "person"}, {"t": 0, "name": "the Tartu", "type": "place"}],
        relations=[relation("Odalys", "lives_in", "Tartu")],
    )
    assert [(m.turn_number, m.name, SAID[m.start : m.end]) for m in found.mentions] == [
        (7, "odalys", "Odalys"),
        (7, "Tartu", "Tartu"),
    ]
    (claim,) = found.claims
    assert SAID[claim.start : claim.end] == "Odalys moved to Tartu"
    assert (claim.subject_type, claim.object_type) == (EntityType.PERSON, EntityType.PLACE)


@pytest.mark.parametrize(
    ("name", "key", "kept"),
    [("has_name", "Nickname", "nickname"), ("has_name", "hobby", None), ("likes", "nickname", None),
     ("has_attribute", "Deadline", "deadline"), ("has_attribute", None, "note")],
)  # fmt: skip
def test_an_attribute_is_a_key_or_says_that_a_name_is_a_nickname(name: str, key: str | None, kept: str | None) -> None:
    said = segment(turn(7, "Call me Lu, and the deadline is June 3."))
    (claim,) = grounded(said, relations=[relation("user", name, "Lu", attribute=key)]).claims
    assert claim.attribute == kept


def test_a_retraction_has_the_form_that_the_rules_give_it() -> None:
    """Of a fact it is the fact; of a thing the words for it, and the fold says which facts are meant."""
    said = "Forget what I said about Berit liking oak stools."
    retracted = {"r": 0, "flags": ["retracted"]}
    fact = claim_of(said, "Berit", "likes", "oak stools", tone=[retracted])
    assert (fact.act, fact.subject, fact.object, fact.confidence) == (Act.RETRACT, "Berit", "oak stools", 1.0)
    thing = claim_of("Forget what I said about the oak stools.", "user", "relates_to", "oak stools", tone=[retracted])
    (by_rules,) = RulesExtractor().extract(segment(turn(7, "Forget what I said about oak stools."))).claims
    names = ("act", "subject", "relation", "object", "value", "confidence", "source_mechanism", "flags")
    assert [getattr(thing, name) for name in names] == [getattr(by_rules, name) for name in names]


def test_a_name_given_for_the_wrong_turn_goes_to_the_one_that_says_it() -> None:
    read = segment(turn(3, "We went out."), turn(4, "To Tartu, by train."))
    found = grounded(read, targets=(0, 1), entities=[{"t": 0, "name": "Tartu", "type": "place"}] * 2)
    assert [(m.turn_number, m.start) for m in found.mentions] == [(4, 3)]


@pytest.mark.parametrize(
    ("first", "speaker", "wanted"),
    [
        ("I own a cargo bike.", "user", 4),
        ("Odalys wrote. She moved.", "user", 3),  # where, an earlier conversation may have said
        ("I own a cargo bike.", "Bo", 3),  # the words are somebody else's
    ],
)
def test_a_relation_given_for_the_wrong_turn_goes_to_the_one_that_says_it(
    first: str, speaker: str, wanted: int
) -> None:
    read = segment(turn(3, first), turn(4, "Odalys lives in Tartu.", speaker))
    found = grounded(read, targets=(0, 1), relations=[relation("Odalys", "lives_in", "Tartu")])
    assert [claim.turn_number for claim in found.claims] == [wanted]


@pytest.mark.parametrize(
    ("when", "wanted", "precision"),
    [
        ("in January", date(2026, 1, 1), "month"),
        ("since May", date(2025, 5, 1), "month"),
        ("yesterday", date(2026, 3, 4), "day"),
        ("since 2019", date(2019, 1, 1), "year"),
        ("2024-02-29", date(2024, 2, 29), "day"),
        ("two weeks ago", date(2026, 2, 19), "day"),
    ],
)
def test_dates_are_resolved_against_the_day_of_the_turn(when: str, wanted: date, precision: str) -> None:
    times = [{"r": 0, "kind": "state", "when": when}]
    claim = claim_of(SAID, "Odalys", "lives_in", "Tartu", times=times)
    assert (claim.valid_from, claim.valid_precision) == (wanted, precision)
    assert claim.temporal_type is TemporalType.STATE


@pytest.mark.parametrize("when", ["", "someday", "the 99th of Maybe", "9" * 400, "in 999999999 years", "0000-00-00",
                                  "since " * 300])  # fmt: skip
def test_words_without_a_date_give_none(when: str) -> None:
    times = [{"r": 0, "kind": "state", "when": when}]
    assert claim_of(SAID, "Odalys", "lives_in", "Tartu", times=times).valid_from is None


@pytest.mark.parametrize(
    ("kind", "when", "wanted"),
    [
        ("state", "in April", date(2025, 4, 1)),
        ("episode", "in April", date(2025, 4, 1)),
        ("plan", "in April", date(2026, 4, 1)),
        ("wish", "in April", date(2026, 4, 1)),
        ("episode", "2026-03-08", date(2026, 3, 8)),
    ],
)
def test_a_date_without_a_year_has_been_unless_it_is_planned(kind: str, when: str, wanted: date) -> None:
    times = [{"r": 0, "kind": kind, "when": when}]
    assert claim_of(SAID, "Odalys", "lives_in", "Tartu", times=times).valid_from == wanted


def test_a_plan_has_the_day_that_its_own_words_say_and_none_that_is_past() -> None:
    said = "I'm going to Tartu on 4 April."
    assert claim_of(said, "user", "plans", "going to Tartu on 4 April").valid_from == date(2026, 4, 4)
    times = [{"r": 0, "kind": "plan", "when": "4 January 2026"}]
    assert claim_of(said, "user", "plans", "going to Tartu", times=times).valid_from is None


def test_an_outburst_is_an_episode_whatever_the_answer_calls_it() -> None:
    tone, times = [{"r": 0, "flags": ["emotional_state"]}], [{"r": 0, "kind": "trait", "when": None}]
    claim = claim_of("I hate this job!!", "user", "dislikes", "job", tone=tone, times=times)
    assert claim.temporal_type is TemporalType.EPISODE


def test_what_is_scheduled_is_still_to_come() -> None:
    claim = claim_of("The fair is scheduled for 4 April.", "fair", "scheduled_for", "4 April",
                     times=[{"r": 0, "kind": "state", "when": None}])  # fmt: skip
    assert claim.value == "2026-04-04"


@given(st.text(max_size=40), st.dates(date(1950, 1, 1), date(2090, 1, 1)), st.booleans())
def test_no_words_make_the_reading_of_dates_raise(words: str, written_on: date, is_past: bool) -> None:
    found = resolve(words, written_on, is_past=is_past)
    assert found is None or found.precision in {"day", "month", "year"}


@given(
    st.integers(0, 10**12), st.sampled_from(["days", "weeks", "months", "years"]), st.sampled_from(["in {}", "{} ago"])
)
def test_no_distance_makes_the_reading_of_dates_raise(number: int, unit: str, form: str) -> None:
    found = resolve(form.format(f"{number} {unit}"), date(2026, 3, 5), is_past=False)
    assert found is None or found.precision in {"day", "month", "year"}


def test_literals_keep_their_words_and_dates_become_iso() -> None:
    said = "My birthday is on 4 May, I am 46 and my shoe size is 43. The fair was last Saturday."
    assert claim_of(said, "user", "has_birthday", "4 May").value == "05-04"
    assert claim_of("My birthday is next Tuesday.", "user", "has_birthday", "next Tuesday").value == "03-10"
    assert claim_of("My birthday is next Tuesday.", "user", "has_birthday", "10 March").value == "03-10"
    assert claim_of("The loom, made a week last friday.", "loom", "happened_on", "last friday").value == "2026-02-20"
    assert claim_of("the next fair, on the 14th!", "fair", "scheduled_for", "14th").value == "2026-03-14"
    assert not grounded(segment(turn(7, said)), relations=[relation("fair", "happened_on", "5 March")]).claims
    assert claim_of(said, "user", "has_age", "46").value == "46"
    claim = claim_of(said, "user", "has_attribute", "43")
    assert (claim.attribute, claim.value, claim.object) == ("note", "43", None)
    assert claim_of(said, "fair", "happened_on", "last Saturday").value == "2026-02-28"


def test_a_missing_tone_is_taken_for_a_moderate_hedge_and_a_silent_one_for_none() -> None:
    hedged = claim_of(SAID, "Odalys", "lives_in", "Tartu", missing=(Section.TONE,))
    assert (hedged.hedge_level, hedged.confidence) == (HedgeLevel.MODERATE, 0.65)
    plain = claim_of(SAID, "Odalys", "lives_in", "Tartu")
    assert (plain.hedge_level, plain.confidence) == (HedgeLevel.NONE, 0.9)
    known = claim_of(SAID, "Odalys", "lives_in", "Tartu", missing=(Section.TONE,),
                     tone=[{"r": 0, "hedge": "slight", "flags": []}])  # fmt: skip
    assert known.confidence == 0.8, "what was salvaged counts"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("likes", "trait"), ("wants", "wish"), ("plans", "plan"), ("visited", "episode"), ("has_name", "attribute"),
     ("lives_in", "state"), ("works_at", "state")],
)  # fmt: skip
def test_missing_times_give_each_relation_its_usual_type(name: str, kind: str) -> None:
    claim = claim_of(SAID, "user", name, "Tartu", missing=(Section.TIMES,))
    assert (claim.temporal_type.value, claim.valid_from) == (kind, None)


@pytest.mark.parametrize("name", ["wants", "likes", "owns", "plans", "might_be_interested_in"])
def test_what_is_hypothetical_is_at_most_an_interest(name: str) -> None:
    tone = [{"r": 0, "hedge": "none", "flags": ["hypothetical"]}]
    claim = claim_of("If I had a boat I would sail it.", "user", name, "boat", tone=tone)
    assert (claim.relation, claim.confidence, claim.flags) == ("might_be_interested_in", 0.2, (Flag.HYPOTHETICAL,))
    silent = claim_of("If I had a boat I would sail it.", "user", "might_be_interested_in", "boat")
    assert (silent.confidence, silent.flags) == (0.2, (Flag.HYPOTHETICAL,))


@pytest.mark.parametrize("name", ["lives_in", "spouse_of", "works_at", "has_age"])
def test_what_is_hypothetical_and_no_interest_is_no_fact(name: str) -> None:
    tone = [{"r": 0, "hedge": "none", "flags": ["hypothetical"]}]
    assert grounded(relations=[relation("user", name, "Tartu")], tone=tone).claims == []


def test_flags_and_hedges_lower_the_confidence() -> None:
    tone = [{"r": 0, "hedge": "moderate", "flags": ["secondhand", "secondhand"]}]
    claim = claim_of(SAID, "Odalys", "likes", "bees", tone=tone)
    assert (claim.confidence, claim.flags) == (pytest.approx(0.52), (Flag.SECONDHAND,))


@pytest.mark.parametrize("subject", ["Wendell", "wendell", "user", "I", "me", "myself"])
def test_facts_of_another_speaker_are_theirs_however_they_are_named(subject: str) -> None:
    claim = claim_of("I keep bees.", subject, "owns", "bees", subject="Wendell")
    assert (claim.subject, claim.subject_type) == ("Wendell", EntityType.PERSON)


def test_what_another_speaker_says_of_the_user_is_of_the_user() -> None:
    claim = claim_of("You are my sister.", "Wendell", "sibling_of", "user", subject="Wendell")
    assert (claim.subject, claim.object) == ("Wendell", "user")
    claim = claim_of("You are my sister.", "user", "sibling_of", "Wendell", subject="Wendell")
    assert (claim.subject, claim.object) == ("user", "Wendell")


@pytest.mark.parametrize("pronoun", ["he", "She", "it", "they", "them", "this", "you", "their", "something"])
def test_a_pronoun_that_was_left_standing_is_nobody(pronoun: str) -> None:
    said = f"Odalys and {pronoun} moved to Tartu."
    found = grounded(
        segment(turn(7, said)),
        entities=[{"t": 0, "name": pronoun, "type": "person"}],
        relations=[relation(pronoun, "lives_in", "Tartu"), relation("Odalys", "knows", pronoun)],
    )
    assert (found.claims, found.mentions) == ([], [])
    assert [issue.issue for issue in found.issues] == ["dangling_reference"] * 2


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        ("these practices", "mindfulness practices"), ("this workshop", None), ("that", None), ("it will help", None),
        ("those are lovely", None), ("it's important to listen", "it's important to listen"),
        ("this book about war", "book about war"), ("They help everybody", None),
    ],
)  # fmt: skip
def test_what_points_at_something_is_resolved_or_refused(stated: str, wanted: str | None) -> None:
    talk = segment(
        turn(7, "These practices help. It's important to listen, says this book about war."),
        context=(turn(6, "I learned mindfulness practices."),),
    )
    found = grounded(talk, relations=[relation("user", "likes", stated)])
    assert [claim.object for claim in found.claims] == ([wanted] if wanted else [])
    assert [issue.issue for issue in found.issues] == ([] if wanted else ["dangling_reference"])


CHOIR = "Ines keeps me sane, and I painted the boat. I like how the choir sounds. Singing should be free."


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (("user", "friend_of", "Ines keeps me sane"), ("user", "friend_of", "Ines")),
        (("Ines keeps me sane", "friend_of", "user"), ("Ines", "friend_of", "user")),
        (("user", "member_of", "the choir sounds"), ("user", "member_of", "choir sounds")),
        (("user", "did", "paint the boat"), ("user", "did", "paint the boat")),
        (("user", "likes", "how the choir sounds"), ("user", "likes", "how the choir sounds")),
        (("user", "member_of", "singing should be free"), None),
        (("singing should be free", "causes", "Ines"), None),
    ],
)  # fmt: skip
def test_a_sentence_is_no_name(given: tuple[str, str, str], wanted: tuple[str, str, str] | None) -> None:
    found = grounded(
        segment(turn(7, CHOIR)),
        entities=[
            {"t": 0, "name": "Ines", "type": "person"}, {"t": 0, "name": "Ines keeps me sane", "type": "person"},
            {"t": 0, "name": "paint the boat", "type": "activity"},
        ],
        relations=[relation(*given), relation("user", "friend_of", "Ines")],
    )  # fmt: skip
    assert [mention.name for mention in found.mentions] == ["Ines"]
    *first, last = [(claim.subject, claim.relation, claim.object) for claim in found.claims]
    assert (first, last) == ([wanted] if wanted else [], ("user", "friend_of", "Ines"))
    assert [issue.issue for issue in found.issues] == ([] if wanted else ["clause_as_name"])


@pytest.mark.parametrize(
    ("text", "said", "n"),
    [
        ("The fair was yesterday.", "yesterday", 1), ("The fair was yesterday.", "2026-03-04", 1),
        ("The fair was on 13 August.", "13 August", 1), ("The fair was on 13 August.", "next Friday", 0),
        ("The fair was lovely.", "2026-03-04", 0),
    ],
)  # fmt: skip
def test_a_date_that_nobody_said_is_refused(text: str, said: str, n: int) -> None:
    found = grounded(segment(turn(7, text)), relations=[relation("fair", "happened_on", said)])
    assert (len(found.claims), len(found.issues)) == (n, 1 - n)


@pytest.mark.parametrize("pronoun", ["me", "I", "my", "myself", "Me", "us"])
def test_the_speaker_may_be_the_object(pronoun: str) -> None:
    assert claim_of("Odalys knows me well.", "Odalys", "knows", pronoun).object == "user"
    assert claim_of("Odalys knows me well.", "Odalys", "knows", pronoun, subject="Wendell").object == "Wendell"


@pytest.mark.parametrize(("name", "place"), [("US", "US"), ("IT", "IT")])
def test_names_that_look_like_pronouns_in_capitals_are_names(name: str, place: str) -> None:
    assert claim_of(f"I moved to the {name} part.", "user", "lives_in", name).object == place


def test_a_relation_out_of_context_is_an_issue_and_no_claim() -> None:
    read = segment(turn(3, "They asked me about it."), turn(4, SAID))
    found = grounded(read, targets=(1,), relations=[relation("Odalys", "lives_in", "Tartu", t=0),
                                                   relation("Odalys", "lives_in", "Tartu", t=99)])  # fmt: skip
    assert found.claims == []
    assert [(issue.turn_number, issue.issue) for issue in found.issues] == [(4, "context_bleed")] * 2


@pytest.mark.parametrize("name", ["", "  ", "...", "x" * 121, "the", "\x00"])
def test_an_end_that_is_no_name_is_an_orphan(name: str) -> None:
    found = grounded(entities=[{"t": 0, "name": name, "type": "concept"}], relations=[relation("user", "likes", name)])
    assert verify(found, segment()).claims == []
    assert "orphan_relation" in [issue.issue for issue in verify(found, segment()).issues]


@pytest.mark.parametrize(
    ("name", "issue"),
    [(TEMPLATE_NAMES[0], "template_leak"), ("<name>", "template_leak"), ("Isadora", "context_bleed"),
     ("Vilnius", "span")],
)  # fmt: skip
def test_inventions_are_found_after_grounding(name: str, issue: str) -> None:
    read = segment(turn(7, SAID), context=(turn(6, "Isadora called."),))
    assert doubts(read, entities=[{"t": 0, "name": name, "type": "person"}]) == [issue]


def test_relations_outside_the_vocabulary_and_repeated_ones_are_found_after_grounding() -> None:
    assert doubts(segment(), relations=[relation("Odalys", "adores", "Tartu")]) == ["out_of_vocabulary"]
    twice = [relation("Odalys", "lives_in", "Tartu"), relation("Odalys", "lives_in", "Tartu")]
    assert doubts(segment(), relations=twice) == ["repetition"]


NAMES = st.sampled_from(["user", "Odalys", "Tartu", "bees", "it", "", "x" * 200, "\x00", "<name>", "TARTU", "ﬁ", "İ"])
NUMBERS = st.integers(-3, 5)


@given(
    st.lists(st.fixed_dictionaries({"t": NUMBERS, "name": NAMES, "type": st.sampled_from(list(EntityType))})),
    st.lists(
        st.fixed_dictionaries(
            {"t": NUMBERS, "subject": NAMES, "relation": st.sampled_from([*sorted(RELATIONS), "adores"]),
             "object": NAMES | st.text(max_size=20), "attribute": st.none() | NAMES,
             "polarity": st.sampled_from([1, -1])}
        ),
        max_size=6,
    ),
    st.lists(st.fixed_dictionaries({"r": NUMBERS, "hedge": st.sampled_from(list(HedgeLevel)),
                                    "flags": st.lists(st.sampled_from(list(Flag)), max_size=3)})),
    st.lists(st.fixed_dictionaries({"r": NUMBERS, "kind": st.sampled_from(list(TemporalType)),
                                    "when": st.none() | st.text(max_size=12)})),
    st.sampled_from([SAID, "İİ straße ﬁ bees", "x"]),
)  # fmt: skip
def test_whatever_is_answered_turns_exist_spans_lie_inside_and_nothing_raises(
    entities: Any, relations: Any, tone: Any, times: Any, text: str
) -> None:
    read = segment(turn(7, text), turn(8, SAID, "Wendell"))
    found = grounded(read, targets=(0, 1), entities=entities, relations=relations, tone=tone, times=times)
    texts = {t.turn_number: t.text for t in read.turns}
    for item in (*found.mentions, *found.claims):
        assert 0 <= item.start <= item.end <= len(texts[item.turn_number])
    for claim in found.claims:
        assert 0 <= claim.confidence <= 1
        assert (claim.object is None) != (claim.value is None)
    assert {issue.turn_number for issue in found.issues} <= set(texts)
    verify(found, read)


def of_chat(said: str, speaker: str, *relations: dict[str, Any]) -> list[str]:
    """The claims of one turn in a chat of the user, called Ada, and Bo, as "subject relation object"."""
    texts = {"user": "Hi Bo.", "Bo": "Hi Ada."} | {speaker: said}
    turns = [
        replace(turn(n, text, who), speaker="Ada" if who == "user" else who)
        for n, (who, text) in enumerate(texts.items())
    ]
    at = list(texts).index(speaker)
    found = grounded(segment(*turns), targets=(at,), relations=[{**each, "t": at} for each in relations])
    return [f"{claim.subject} {claim.relation} {claim.object}" for claim in found.claims]


def test_a_role_of_a_models_answer_is_the_one_of_whoever_says_my() -> None:
    lives = relation("brother", "lives_in", "Oslo")
    assert of_chat("My brother lives in Oslo.", "Bo", lives) == ["Bo's brother lives_in Oslo"]
    assert of_chat("My brother lives in Oslo.", "user", lives) == ["brother lives_in Oslo"]
    assert of_chat("Your brother lives in Oslo.", "user", lives) == ["Bo's brother lives_in Oslo"]


def test_a_role_is_owned_by_whom_the_answer_says_where_the_turn_does_not() -> None:
    lives = relation("brother", "lives_in", "Oslo")
    assert of_chat("He lives in Oslo.", "Bo", relation("Bo", "sibling_of", "brother"), lives) == [
        "Bo sibling_of Bo's brother", "Bo's brother lives_in Oslo",
    ]  # fmt: skip


def test_a_role_of_a_models_answer_is_nobodys_where_its_owner_is_unclear() -> None:
    lives = relation("brother", "lives_in", "Oslo")
    assert of_chat("He lives in Oslo.", "Bo", lives) == []
    assert of_chat("My brother lives in Oslo, unlike your brother.", "Bo", lives) == []
