"""Each hallucination check is seen to find what it is there for, and to leave alone what only looks like it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.verification import TEMPLATE_NAMES, verify
from em_pipelines.schema.readings import HALLUCINATIONS, Claim, Extraction, Mention, Segment, Turn
from em_pipelines.schema.vocabulary import EntityType, HedgeLevel, TemporalType

SAID = "My sister Petra moved to Lund and she likes the harbour there a lot."
EARLIER = "We talked about Ottilie yesterday."
Change = Callable[[Extraction], None]


def turn(number: int, text: str) -> Turn:
    return Turn(f"m{number}", number, "user", "user", text, datetime(2026, 4, 1, tzinfo=UTC))


def segment(text: str = SAID) -> Segment:
    return Segment("s1", "u", "c", "text", (turn(3, text),), context=(turn(2, EARLIER),))


def mention(name: str, said: str = SAID, **changes: object) -> Mention:
    start = max(said.find(name), 0)
    return Mention(**{"turn_number": 3, "name": name, "entity_type": EntityType.PERSON, "start": start,
                      "end": start + len(name), **changes})  # fmt: skip


def claim(subject: str = "Petra", relation: str = "lives_in", stated: str | None = "Lund", **changes: object) -> Claim:
    found = {"turn_number": 3, "subject": subject, "subject_type": EntityType.PERSON, "relation": relation,
             "object": stated, "object_type": EntityType.PLACE, "value": None, "confidence": 0.9, "start": 0,
             "end": 33, "temporal_type": TemporalType.STATE}  # fmt: skip
    return Claim(**{**found, **changes})


def sound() -> Extraction:
    return Extraction(mentions=[mention("Petra"), mention("Lund")], claims=[claim()])


def doubts(reading: Extraction, text: str = SAID) -> list[str]:
    return [issue.issue for issue in verify(reading, segment(text)).issues]


def test_a_sound_reading_passes_untouched() -> None:
    reading = sound()
    assert verify(reading, segment()) is reading


def test_near_matches_and_possessives_are_names_that_stand_there() -> None:
    reading = Extraction(mentions=[mention("Petras", start=10, end=15), mention("harbours", start=0, end=0)])
    assert doubts(reading) == []


@pytest.mark.parametrize(
    "statement",
    [
        "Petra moved to Lund",
        "Petra moved to Lund and likes the harbour",
        "My sister Petra moved to Lund and she likes the harbour there a lot",
    ],
)
def test_a_statement_in_the_words_of_the_turn_stays(statement: str) -> None:
    reading = Extraction(mentions=[mention("Petra"), mention("Lund")], claims=[claim(statement=statement)])
    assert verify(reading, segment()) is reading


@pytest.mark.parametrize(
    "statement",
    [
        "Petra moved to Lund because of a promotion at work",
        "Petra moved to Lund with Wilhelmina",
        "Petra moved to Lund in 2019",
        "Petra never moved to Lund",
        f"Petra moved to Lund {'a lot ' * 30}",
    ],
)
def test_a_statement_that_nobody_made_is_dropped_and_its_claim_stays(statement: str) -> None:
    reading = Extraction(mentions=[mention("Petra"), mention("Lund")], claims=[claim(statement=statement)])
    kept = verify(reading, segment())
    assert [issue.issue for issue in kept.issues] == ["unsupported_statement"]
    assert kept.claims == [claim()]


def add_mention(*args: object, **changes: object) -> Change:
    return lambda reading: reading.mentions.append(mention(*args, **changes))


def add_claim(*args: object, **changes: object) -> Change:
    return lambda reading: reading.claims.append(claim(*args, **changes))


@pytest.mark.parametrize(
    ("issue", "change"),
    [
        ("span", add_mention("Wilhelmina", start=0, end=0)),
        ("context_bleed", add_mention("Ottilie", start=0, end=0)),
        ("template_leak", add_mention(TEMPLATE_NAMES[0], start=0, end=0)),
        ("template_leak", add_mention("<name>", start=0, end=0)),
        ("orphan_relation", add_claim("Petra", "knows", "Wilhelmina")),
        ("orphan_relation", add_claim("Petra", "knows", "petra")),
        ("orphan_relation", add_claim("Petra", "knows", None)),
        ("out_of_vocabulary", add_claim("Petra", "adores", "Lund")),
        ("repetition", add_claim()),
        ("unsupported_statement", add_claim("Petra", "likes", "harbour", statement="Petra likes the harbour of Malmö")),
    ],
)
def test_an_invention_is_a_named_issue(issue: str, change: Change) -> None:
    reading = sound()
    change(reading)
    assert doubts(reading) == [issue]
    assert issue in HALLUCINATIONS


@pytest.mark.parametrize("hedge", ["Maybe", "I think that", "Perhaps", "Not sure, but maybe"])
def test_high_confidence_on_a_hedged_clause_is_an_anomaly(hedge: str) -> None:
    said = f"{hedge} Petra moved to Lund."
    reading = Extraction(
        mentions=[mention("Petra", said), mention("Lund", said)],
        claims=[claim(start=said.index("Petra"), end=len(said) - 1)],
    )
    assert doubts(reading, said) == ["confidence_anomaly"]
    (halved,) = verify(reading, segment(said)).claims
    assert halved.confidence == pytest.approx(0.45)


def test_a_hedge_that_the_claim_knows_of_or_in_another_sentence_is_none() -> None:
    said = "Maybe it rains. Petra moved to Lund."
    plain = claim(start=said.index("Petra"), end=len(said) - 1)
    hedged = claim(start=0, end=33, hedge_level=HedgeLevel.MODERATE, confidence=0.65)
    mentions = [mention("Petra", said), mention("Lund", said)]
    assert doubts(Extraction(mentions=mentions, claims=[plain]), said) == []
    assert doubts(Extraction(mentions=mentions, claims=[hedged]), f"I think {said[16:]}") == []


def test_more_entities_than_half_the_words_are_too_many() -> None:
    said = "well that was one very long day for all"
    words = said.split()[:6]
    reading = Extraction(mentions=[mention(word, said) for word in words])
    assert doubts(reading, said) == ["count"]
    short = "Petra, Lund, Ada, Bo"
    assert doubts(Extraction(mentions=[mention(w, short) for w in short.split(", ")]), short) == []


def test_what_nobody_said_falls_alone() -> None:
    reading = sound()
    add_mention("Wilhelmina", start=0, end=0)(reading)
    add_claim("Petra", "knows", "Wilhelmina")(reading)
    checked = verify(reading, segment())
    assert [(c.relation, c.confidence) for c in checked.claims] == [("lives_in", 0.9)]
    assert [m.name for m in checked.mentions] == ["Petra", "Lund"]
    assert sorted((i.issue, i.severity) for i in checked.issues) == [("orphan_relation", "error"), ("span", "error")]


def test_three_refused_items_of_a_message_halve_the_others_and_no_other_message() -> None:
    reading = sound()
    for name in ("Wilhelmina", "Ottilie", "Quentin"):
        add_mention(name, start=0, end=0)(reading)
    other = turn(4, "I live in Lund.")
    reading.claims.append(claim("user", turn_number=4))
    checked = verify(reading, Segment("s1", "u", "c", "text", (turn(3, SAID), other), context=(turn(2, EARLIER),)))
    assert [(c.turn_number, c.confidence) for c in checked.claims] == [(3, 0.45), (4, 0.9)]
    assert [m.name for m in checked.mentions] == ["Petra", "Lund"]
    assert sorted(i.issue for i in checked.issues) == ["context_bleed", "many_refused", "span", "span"]


SAID_IN_OTHER_WORDS = [
    ("We even went on a hike.", "go on a hike"),
    ("My friends and mentors are my rocks, they motivate me.", "motivated by friends and mentors"),
    ("Taking care of ourselves is vital.", "taking care of oneself is vital"),
    ("I have two older sisters.", "2 sisters"),
    ("We bought the figurines on Monday.", "buy figurines"),
    ("Transitioning wasn't easy.", "the transition wasn't easy"),
]


@pytest.mark.parametrize(("text", "phrase"), SAID_IN_OTHER_WORDS)
def test_a_phrase_in_other_words_is_said(text: str, phrase: str) -> None:
    reading = Extraction(claims=[claim("user", "did", phrase, object_type=EntityType.CONCEPT)])
    assert doubts(reading, text) == []


@pytest.mark.parametrize(("text", "phrase"), SAID_IN_OTHER_WORDS)
@pytest.mark.parametrize(
    "invented", ["{} with Brindle", "{} in 1987", "sail to Hobart", "{} quarrelsome neighbours there"]
)
def test_a_phrase_with_an_invention_in_it_is_not(text: str, phrase: str, invented: str) -> None:
    stated = invented.format(phrase)
    reading = Extraction(claims=[claim("user", "did", stated, object_type=EntityType.CONCEPT)])
    if len(phrase.split()) < 3 or "quarrelsome" not in invented:
        assert doubts(reading, text) == ["orphan_relation"]


def test_what_a_turn_leaves_out_may_stand_shortly_before_it() -> None:
    talk = ("The pottery class begins on Friday.", "Which one?", "The one in town.", "Nice.", "I signed up for it.")
    claims = [claim("user", "plans", "sign up for pottery class", turn_number=4, object_type=EntityType.CONCEPT)]
    whole = Segment("s1", "u", "c", "text", tuple(turn(n, text) for n, text in enumerate(talk)))
    assert verify(Extraction(claims=claims), whole).issues == []
    far = (talk[0], *(["Nice weather."] * 5), talk[-1])
    later = [replace(said, turn_number=6) for said in claims]
    apart = Segment("s1", "u", "c", "text", tuple(turn(n, text) for n, text in enumerate(far)))
    assert [i.issue for i in verify(Extraction(claims=later), apart).issues] == ["orphan_relation"]


def test_a_literal_that_nobody_said_is_refused() -> None:
    reading = sound()
    add_claim("Petra", "has_age", None, value="46", object_type=None)(reading)
    assert doubts(reading) == ["orphan_relation"]


def test_a_relation_said_twice_in_a_message_is_kept_once_and_nobody_is_doubted() -> None:
    reading = sound()
    for _ in range(4):
        add_claim()(reading)
    checked = verify(reading, segment())
    assert [c.confidence for c in checked.claims] == [0.9]
    assert {(i.issue, i.severity) for i in checked.issues} == {("repetition", "info")}


def test_no_issue_repeats_what_was_said() -> None:
    reading = sound()
    for name in ("Wilhelmina", "Ottilie", "Quentin"):
        add_mention(name, start=0, end=0)(reading)
    told = " ".join(issue.detail for issue in verify(reading, segment()).issues)
    assert not {"Wilhelmina", "Petra", "Lund"}.intersection(told.split())


def test_ends_may_stand_in_earlier_turns_for_pronouns() -> None:
    reading = sound()
    add_claim("Ottilie", "likes", "harbour")(reading)
    assert doubts(reading) == []


@pytest.mark.parametrize(
    ("text", "ends", "is_kept"),
    [
        ("I own a cargo bike.", ("Petra", "Lund"), False),
        ("I own a cargo bike.", ("user", "Lund"), False),
        ("She moved to Lund.", ("Petra", "Lund"), True),
        ("Petra moved there.", ("Petra", "Lund"), True),
    ],
)
def test_a_turn_has_a_word_for_one_end_of_its_claim_at_least(text: str, ends: tuple[str, str], is_kept: bool) -> None:
    """That both names stand somewhere else in the conversation makes no fact of a turn about neither."""
    others = [turn(number, "Nothing new here.") for number in range(4, 9)]
    read = Segment("s1", "u", "c", "text", (turn(3, SAID), *others, turn(9, text)))
    found = verify(Extraction(claims=[claim(ends[0], "lives_in", ends[1], turn_number=9)]), read)
    assert [one.turn_number for one in found.claims] == [9] * is_kept
    assert [one.issue for one in found.issues if one.severity == "error"] == ["orphan_relation"] * (not is_kept)
