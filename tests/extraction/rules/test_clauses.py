import pytest

from em_pipelines.extraction.rules.modifiers import Modifiers, set_modifiers
from em_pipelines.language.en.clause_parser import parse_clauses
from em_pipelines.language.en.clauses import Clause
from em_pipelines.language.en.cues import find_phrases
from em_pipelines.language.en.tokens import Token, sentences, tokenise
from em_pipelines.schema.vocabulary import HedgeLevel


def read(text: str) -> tuple[list[Token], list[Clause], list[Modifiers]]:
    tokens = tokenise(text)
    phrases = find_phrases(tokens)
    clauses: list[Clause] = []
    modifiers: list[Modifiers] = []
    for start, stop in sentences(tokens, text):
        here = parse_clauses(tokens, start, stop).clauses
        clauses += here
        modifiers += set_modifiers(here, tokens, start, stop, phrases)
    return tokens, clauses, modifiers


def summary(text: str) -> list[tuple[str, str]]:
    tokens, clauses, _ = read(text)
    found = []
    for clause in clauses:
        if clause.pronoun is not None:
            who = tokens[clause.pronoun].low
        else:
            who = "+".join(" ".join(t.low for t in tokens[p.first : p.end]) for p in clause.subject)
        found.append((who, clause.verb.lemmas[0]))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't own a boat, but my aunt Gerd sails every week.", [("i", "own"), ("aunt gerd", "sail")]),
        ("Olga and Piet report to me.", [("olga+piet", "report")]),
        ("I call Wim, who runs the mill and hates eels.", [("i", "call"), ("wim", "run"), ("wim", "hate")]),
        ("I like plums and Nadja likes pears.", [("i", "like"), ("nadja", "like")]),
        ("The lock on the gate causes trouble.", [("lock", "cause")]),
        ("My mother, Ruth, was born in Delft.", [("ruth", "bear")]),
        ("im based in Delft and dont drive", [("i", "base"), ("i", "drive")]),
    ],
)
def test_clauses_come_apart_at_their_verbs_with_their_subjects(text: str, expected: list[tuple[str, str]]) -> None:
    assert summary(text) == expected


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I don't like fog.", "is_negated"),
        ("I no longer like fog.", "has_ended"),
        ("I used to like fog.", "used_to"),
        ("I was born there.", "is_passive"),
        ("I'm building a raft.", "is_progressive"),
        ("I've lost it.", "is_perfect"),
        ("I'm going to build a raft.", "is_future"),
        ("Do you build rafts?", "is_inverted"),
    ],
)
def test_verb_group_notes_negation_tense_and_voice(text: str, attribute: str) -> None:
    assert getattr(read(text)[1][0].verb, attribute)


@pytest.mark.parametrize(
    ("text", "n", "attribute"),
    [
        ("If I had a raft I'd sail.", 0, "is_supposed"),
        ("If I had a raft I'd sail.", 1, "is_hypothetical"),
        ("I'd sail if I had a raft.", 0, "is_hypothetical"),
        ("I wish I had a raft.", 1, "is_supposed"),
        ("Had we sailed, we'd know.", 0, "is_supposed"),
        ("Do you think I sail?", 1, "is_question"),
        ("Wim says that Olga sails.", 1, "is_reported"),
        ("I heard that Olga sails.", 1, "is_secondhand"),
        ("I don't sail any more.", 0, "has_ended"),
        ("When I lived in Delft I sailed.", 0, "is_timed"),
    ],
)
def test_modifiers_reach_their_clause(text: str, n: int, attribute: str) -> None:
    assert getattr(read(text)[2][n], attribute)


@pytest.mark.parametrize(
    "text",
    [
        "After all this time I like fog.",
        "After all those months: I like fog.",
        "After two weeks of rain, I like fog.",
        "After all, I like fog.",
        "After all that I like fog.",
    ],
)
def test_what_comes_after_a_span_of_time_holds_now(text: str) -> None:
    assert not read(text)[2][-1].is_timed


@pytest.mark.parametrize(
    "text",
    [
        "After this week I sail.",
        "After the summer I sail.",
        "After lunch I sail.",
        "After my year abroad I sail.",
        "Before all this time passed I sailed.",
        "Until last year, I liked fog.",
        "After the week when I sailed, I slept.",
    ],
)
def test_what_comes_after_or_before_another_time_need_not(text: str) -> None:
    assert any(modifiers.is_timed for modifiers in read(text)[2])


def test_but_ends_a_condition() -> None:
    _, _, modifiers = read("If I had a raft I'd sail, but I own a bike.")
    assert not modifiers[2].is_hypothetical


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("I'm pretty sure I own a map.", HedgeLevel.SLIGHT),
        ("I sort of like fog.", HedgeLevel.MODERATE),
        ("I think I like fog.", HedgeLevel.MODERATE),
        ("Maybe I like fog.", HedgeLevel.STRONG),
        ("I like fog.", HedgeLevel.NONE),
    ],
)
def test_hedges_weaken_the_clause_they_stand_with(text: str, level: HedgeLevel) -> None:
    assert read(text)[2][-1].hedge is level


def test_wrapped_lines_are_one_sentence_and_paragraphs_are_not() -> None:
    wrapped = "I have been meaning to tell you for quite some time that I\nlike fog a lot."
    tokens = tokenise(wrapped)
    assert len(sentences(tokens, wrapped)) == 1
    short = "Hello\nI like fog"
    assert len(sentences(tokenise(short), short)) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We both love figs.", ["user | likes | figs"]),
        ("They all left.", []),
        ("Wim's got a kiln.", ["Wim | owns | kiln"]),
        ("We have a dog and a barge.", ["user | has_pet | dog", "user | owns | barge"]),
        ("I just want peace and quiet.", ["user | wants | peace and quiet"]),
        ("My uncle Wim has a daughter in Delft who plays chess.",
         ["user | knows | Wim", "Wim | parent_of | Wim's daughter"]),
        ("Ruth is my stepdaughter, not my daughter.", ["user | parent_of | Ruth"]),
    ],
)  # fmt: skip
def test_subjects_and_objects_stay_whole(claims_of, text: str, expected: list[str]) -> None:
    assert sorted(claims_of(text)) == sorted(expected)
