"""An answer is read section by section, whatever state it comes in; what is missing is known, and asked again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.extraction.llm.answer import ALL_SECTIONS, Section
from em_pipelines.extraction.llm.parsing import MAX_ITEMS, Parsed, merged, parse

ENTITIES, RELATIONS, TONE, TIMES = ALL_SECTIONS
PEOPLE = [{"t": 0, "name": "Ivalo's stone tower", "type": "place"}, {"t": 1, "name": "Odalys", "type": "person"}]
FACTS = [
    {"t": 0, "subject": "user", "relation": "likes", "object": "the relations of times", "attribute": None,
     "polarity": 1, "statement": None},
    {"t": 1, "subject": "Odalys", "relation": "lives_in", "object": 'the "tone" house]:', "attribute": None,
     "polarity": -1, "statement": "Odalys left the house [it was \"cold\"]"},
    {"t": 1, "subject": "Odalys", "relation": "owns", "object": "bells", "attribute": None, "polarity": 1,
     "statement": None},
]  # fmt: skip
TONES = [{"r": 0, "hedge": "slight", "flags": ["secondhand"]}, {"r": 2, "hedge": "moderate", "flags": []}]
SPANS = [{"r": 1, "kind": "state", "when": "sometimes"}]
WHOLE: dict[str, Any] = {"entities": PEOPLE, "relations": FACTS, "tone": TONES, "times": SPANS}
COMPACT = json.dumps(WHOLE, separators=(",", ":"))
ANY_ORDER = json.dumps({name: WHOLE[name] for name in ("tone", "times", "relations", "entities")})


def items(found: Parsed, section: Section) -> list[dict[str, Any]]:
    return [item.model_dump(mode="json") for item in found.items.get(section, [])]


def everything(found: Parsed) -> dict[str, Any]:
    return {section.value: items(found, section) for section in ALL_SECTIONS}


def closed_before(text: str, end: int) -> set[Section]:
    """The sections of a sound document whose lists end within its first characters, by Python's own parser."""
    closed = set()
    for section in ALL_SECTIONS:
        key = f'"{section.value}":'
        at = next(n for n in range(len(text)) if text.startswith(key, n) and text[n + len(key) :].lstrip()[0] == "[")
        start = text.index("[", at)
        _, after = json.JSONDecoder().raw_decode(text, start)
        if after <= end:
            closed.add(section)
    return closed


def test_a_sound_answer_is_read_whole() -> None:
    found = parse(json.dumps(WHOLE))
    assert everything(found) == WHOLE
    assert (found.missing, found.is_repaired, found.n_invalid) == ((), False, 0)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{COMPACT}\n```",
        f"Here's what I found in turn [0]:\n{COMPACT}\nLet me know if that's all.",
        COMPACT.replace("}]", "},]").replace("}]}", "}],}"),
        json.dumps([WHOLE]),
        COMPACT[:-1],
        f"Here it is:\n```json\n{COMPACT[:-1]},\n```\nAnything else?",
        json.dumps({name: WHOLE[name] for name in ("entities", "relations")})
        + json.dumps({name: WHOLE[name] for name in ("tone", "times")}),
    ],
)
def test_what_a_model_wraps_around_its_answer_or_leaves_off_at_the_end_costs_nothing(text: str) -> None:
    found = parse(text)
    assert everything(found) == WHOLE
    assert (found.missing, found.is_repaired) == ((), True)


OTHER: dict[str, Any] = {**WHOLE, "entities": [], "relations": [{**FACTS[0], "object": "quicksand"}], "tone": []}


@pytest.mark.parametrize(
    "text",
    [
        f"A draft: {json.dumps(OTHER)}\nThe answer: {COMPACT}",
        f'{COMPACT}\n{{"relations": {json.dumps(OTHER["relations"])}}}',
        f"Of the talk {{about towers}}, here it is: {COMPACT} Hope it {{helps}}!",
        f'The form is {{"entities": "a list", "relations": "a list"}}. {COMPACT}',
        f"Of the talk {{about towers}}: {COMPACT[:-1]} Hope it {{helps}}!",
        json.dumps({"facts": WHOLE}),
        COMPACT[:-1] + ',"relations":[]}',
        '{"entities":[],"relations":[],"tone":[],"times":[],' + COMPACT[1:],
    ],
)
def test_of_several_documents_the_last_complete_one_that_is_valid_is_read(text: str) -> None:
    found = parse(text)
    assert everything(found) == WHOLE
    assert found.missing == ()


def test_other_documents_are_kept_beside_it_and_empty_ones_are_not() -> None:
    nothing = json.dumps({name: [] for name in WHOLE})
    found = parse(f"{COMPACT}\nHad it been meant, I would have written: {json.dumps(OTHER)}\nElse {nothing}")
    assert everything(found)["relations"][0]["object"] == "quicksand"
    assert [everything(one) for one in found.alternatives] == [WHOLE]
    assert (everything(parse(f"It is {nothing}")), parse(COMPACT).alternatives) == (json.loads(nothing), ())


def test_single_quotes_and_bare_keys_are_repaired() -> None:
    quoted = "{'entities': [{'t': 0, 'name': 'Odalys', 'type': 'person'}], 'relations': [], 'tone': [], 'times': []}"
    bare = '{entities: [{t: 0, name: "Odalys", type: "person"}], relations: [], tone: [], times: []}'
    for text in (quoted, bare):
        found = parse(text)
        assert items(found, ENTITIES) == [{"t": 0, "name": "Odalys", "type": "person"}]
        assert (found.missing, found.is_repaired) == ((), True)


@pytest.mark.parametrize("text", [COMPACT, json.dumps(WHOLE, indent=1), ANY_ORDER])
def test_cut_at_any_character_the_sections_that_stand_are_those_that_were_closed(text: str) -> None:
    for end in range(len(text)):
        found = parse(text[:end])
        closed = closed_before(text, end)
        if RELATIONS not in closed:  # what is numbered by relations that are to be asked again is asked again with them
            closed -= {TONE, TIMES}
        assert set(ALL_SECTIONS) - set(found.missing) == closed, text[:end]
        for section in closed:
            assert items(found, section) == WHOLE[section.value], text[:end]


@pytest.mark.parametrize("text", [COMPACT, ANY_ORDER])
def test_cut_at_any_character_and_merged_with_a_follow_up_it_is_the_whole(text: str) -> None:
    for end in range(len(text)):
        found = parse(text[:end])
        if found.missing:
            rest = json.dumps({section.value: WHOLE[section.value] for section in found.missing})
            found = merged(found, parse(rest, wanted=found.missing))
        assert everything(found) == WHOLE, text[:end]
        assert found.missing == ()


def test_what_was_salvaged_of_a_cut_section_was_said_whole() -> None:
    for end in range(len(COMPACT)):
        found = parse(COMPACT[:end])
        for section in ALL_SECTIONS:
            salvaged = items(found, section)
            assert salvaged == WHOLE[section.value][: len(salvaged)], COMPACT[:end]


@given(st.text(max_size=300))
def test_no_text_makes_it_raise(text: str) -> None:
    parse(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(st.fixed_dictionaries({}, optional={section.value: JSON for section in ALL_SECTIONS}), st.integers(0, 400))
def test_no_document_makes_it_raise_whole_or_cut(document: dict[str, Any], end: int) -> None:
    text = json.dumps(document)
    parse(text)
    parse(text[:end])


@pytest.mark.parametrize(
    "text",
    ["[" * 60_000, '{"entities":' * 5_000, '{"entities":' + "[" * 3_000, "null", "", "\x00", '"only words"', "42",
     '{"entities": {"t": 0}, "relations": "none", "tone": null, "times": 7}'],
)  # fmt: skip
def test_an_answer_without_any_section_misses_all_of_them(text: str) -> None:
    assert parse(text).missing == ALL_SECTIONS


def test_invalid_items_are_dropped_counted_and_those_behind_them_renumbered() -> None:
    relations = [FACTS[0], {"t": "x"}, FACTS[1], 5, FACTS[2]]
    tone = [{"r": 0, "hedge": "slight", "flags": []}, {"r": 1, "hedge": "strong", "flags": []},
            {"r": 4, "hedge": "moderate", "flags": []}, {"r": 9, "hedge": "strong", "flags": []}]  # fmt: skip
    times = [{"r": 2, "kind": "state", "when": None}]
    text = json.dumps({"entities": PEOPLE, "relations": relations, "tone": tone, "times": times})
    found = parse(text)
    assert items(found, RELATIONS) == FACTS
    assert [(i["r"], i["hedge"]) for i in items(found, TONE)] == [(0, "slight"), (2, "moderate")]
    assert [i["r"] for i in items(found, TIMES)] == [1]
    assert (found.n_invalid, found.missing) == (2, ())


def test_a_section_of_mostly_invalid_items_is_missing() -> None:
    found = parse(json.dumps({**WHOLE, "entities": [*PEOPLE, 1, 2, 3]}))
    assert found.missing == (ENTITIES,)


def test_tone_and_times_are_asked_again_with_the_relations_that_they_number() -> None:
    found = parse(json.dumps({**WHOLE, "relations": [FACTS[0], 1, 2, 3]}))
    assert found.missing == (RELATIONS, TONE, TIMES)


def test_numbers_in_quotes_are_numbers() -> None:
    text = '{"relations":[{"t":"1","subject":"user","relation":"likes","object":"tar","polarity":"-1"}]}'
    found = parse(text, wanted=(RELATIONS,))
    assert [(i["t"], i["polarity"]) for i in items(found, RELATIONS)] == [(1, -1)]


def test_a_name_that_no_file_can_hold_is_invalid() -> None:
    text = '{"entities":[{"t":0,"name":"Odalys","type":"person"},{"t":0,"name":"\\ud83d","type":"person"}]}'
    found = parse(text, wanted=(ENTITIES,))
    assert [i["name"] for i in items(found, ENTITIES)] == ["Odalys"]
    assert found.n_invalid == 1


def test_words_of_closed_lists_are_read_in_any_case_and_unknown_keys_ignored() -> None:
    text = '{"entities":[{"t":"0","name":"Odalys","type":" Person ","why":"named"}]}'
    found = parse(text, wanted=(ENTITIES,))
    assert items(found, ENTITIES) == [{"t": 0, "name": "Odalys", "type": "person"}]


def test_a_model_that_goes_round_in_circles_is_not_believed() -> None:
    found = parse(json.dumps({**WHOLE, "entities": PEOPLE * 2 * MAX_ITEMS}))
    assert found.missing == (ENTITIES,)
    assert len(items(found, ENTITIES)) == MAX_ITEMS


def test_a_follow_up_that_is_cut_again_leaves_its_section_missing() -> None:
    first = parse(json.dumps({"entities": PEOPLE, "relations": FACTS}))
    again = parse('{"tone": [], "times": [{"r": 1,', wanted=first.missing)
    found = merged(first, again)
    assert (found.missing, found.is_repaired) == ((TIMES,), True)
    assert items(found, RELATIONS) == FACTS
