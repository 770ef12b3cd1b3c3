from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.extraction.labelled import predictions
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.language.cleaning import clean_text
from em_pipelines.schema.readings import Segment, Turn
from em_pipelines.schema.vocabulary import KEYED, LITERAL_OBJECT, RELATIONS, Flag, HedgeLevel
from tests.growth import grows_with_its_length

WHEN = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
FRAGMENTS = st.sampled_from(
    [
        "I",
        "like",
        "my",
        "wife",
        "Lena",
        "who's",
        "the",
        "boss,",
        "don't",
        "if",
        "John",
        "says",
        "that",
        "she",
        "we've",
        "no",
        "longer",
        "lived",
        "in",
        "Oslo",
        "since",
        "2019",
        "may",
        "I'd",
        "want",
        "to",
        "learn",
        "to",
        "for",
        "called",
        "'s",
        "'",
        '"',
        "```",
        "and",
        "&",
        ",",
        ".",
        "?",
        "!",
        "\n",
        "next",
        "Tuesday",
        "41",
        "years",
        "old",
        "I'm",
        "a",
        "of",
        "of",
        "called",
        "U.S.",
        "was",
        "born",
        "on",
        "been",
        "used",
        "to",
        "going",
        "👏",
        "—",
        "(",
        "kids",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=40).map(" ".join))


def segment_of(*texts: str) -> Segment:
    turns = tuple(Turn(f"m{n}", n, "user", "user", text, WHEN) for n, text in enumerate(texts))
    return Segment("seg", "u1", "s1", "text", turns)


@settings(max_examples=400, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_any_text_is_read_without_failing_and_every_turn_is_accounted_for(extractor, texts: list[str]) -> None:
    cleaned = [clean_text(text) for text in texts]
    found = extractor.extract(segment_of(*cleaned))
    for claim in found.claims:
        assert 0 <= claim.start < claim.end <= len(cleaned[claim.turn_number])
        assert claim.relation in RELATIONS
        assert (claim.object is None) != (claim.value is None)
        assert (claim.value is not None) == (claim.relation in LITERAL_OBJECT)
        assert (claim.object is None) == (claim.object_type is None)
        assert claim.attribute is None or claim.relation in KEYED
        assert claim.attribute is not None or claim.relation != "has_attribute"
        assert 0 < claim.confidence <= 1
        assert claim.polarity in {1, -1}
    for mention in found.mentions:
        assert 0 <= mention.start < mention.end <= len(cleaned[mention.turn_number])
        assert mention.name
    accounted = {x.turn_number for x in (*found.claims, *found.mentions, *found.issues)}
    assert accounted == set(range(len(texts)))
    assert extractor.extract(segment_of(*cleaned)) == found


def test_version_is_stable_and_short(extractor) -> None:
    assert extractor.version == RulesExtractor(extractor.settings).version
    assert len(extractor.version) < 24
    assert extractor.name == "rules"


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 100_000,
        "I like " * 14_000,
        "I like a, " * 10_000,
        "and " * 25_000,
        "'s " * 33_000,
        "of " * 33_000,
        "my wife's " * 10_000,
        "`" * 100_000,
        "```\n" * 25_000,
        "{" * 100_000,
        "a=" * 50_000,
        '"' * 100_000,
        "<a " * 33_000,
        " " * 99_999 + "x",
        "\n" * 100_000,
        "A " * 50_000,
        "to " * 33_000,
        "I like learning to how to " * 4_000,
        "1 " * 50_000,
        "- x: " * 20_000,
        "Tom, a nurse, " * 7_000,
        "the 14th of the " * 6_000,
        "Name: Bo (7), " * 7_000,
        "I'm Bo, 27, " * 8_000,
        "I think " * 12_000,
        "maybe. " * 14_000,
        "sorry a " * 12_000,
        "oh great love " * 7_000,
        "Anna or " * 12_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_takes_no_longer_than_its_length_deserves(extractor, hostile: str) -> None:
    length = extractor.settings.max_characters
    assert grows_with_its_length(lambda text: extractor.extract(segment_of(clean_text(text))), hostile[:length])


def test_text_beyond_the_bound_is_left_unread_and_said_so() -> None:
    found = RulesExtractor(RulesSettings(max_characters=40)).extract(
        segment_of("I like moss and ferns. " * 3 + "I own a barge.")
    )
    assert "owns" not in {claim.relation for claim in found.claims}
    assert [issue.issue for issue in found.issues] == ["truncated"]


@pytest.mark.parametrize(
    ("role", "subject"), [("assistant", None), ("tool", None), ("system", None)], ids=["assistant", "tool", "system"]
)
def test_only_people_state_facts(read, role: str, subject: None) -> None:
    found = read("I like moss and I live in Delft.", role=role, subject=subject)
    assert not found.claims
    assert found.issues[0].issue == "skipped"


def test_another_human_speaks_for_herself(claims_of) -> None:
    assert claims_of("I like moss.", subject="Olga") == ["Olga | likes | moss"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My wife Lena likes moss. She works at the mill.",
         ["user | spouse_of | Lena", "Lena | likes | moss", "Lena | works_at | mill"]),
        ("My brother Piet met my brother Wim. He likes moss.",
         ["user | sibling_of | Piet", "user | sibling_of | Wim"]),
        ("My mother, Ruth, was born in Delft.", ["user | child_of | Ruth", "Ruth | born_in | Delft"]),
        ("Our twins Sam and Ilse are 9.",
         ["user | parent_of | Sam", "user | parent_of | Ilse", "Sam | has_age | 9", "Ilse | has_age | 9"]),
        ("Wim's daughter Ilse plays chess.", ["Ilse | did | chess", "Wim | parent_of | Ilse"]),
        ("My ex-wife likes moss, my ex wife likes fog.", ["wife | likes | fog"]),
        ("Wim says I like moss.", []),
        ("`user.wife` is Lena", []),
        ('She wrote "I love the fog in my town" yesterday.', []),
        ("Oh great, I love meetings, just what I needed.", ["user | dislikes | meetings"]),
        ("Oh great, I love meetings.", []),
    ],
)  # fmt: skip
def test_people_are_told_apart_and_in_doubt_nobody_is_named(claims_of, text: str, expected: list[str]) -> None:
    if "ex wife" in text:
        assert "user | spouse_of | wife" not in claims_of(text)
    else:
        assert sorted(claims_of(text)) == sorted(expected)


def test_reported_facts_are_secondhand(read) -> None:
    claim = read("Wim says that Olga likes moss.").claims[0]
    assert (claim.subject, claim.flags, claim.confidence) == ("Olga", (Flag.SECONDHAND,), 0.72)


def test_supposed_wishes_are_only_possible_interests(read) -> None:
    (claim,) = read("If I had a bigger shed I'd want a lathe.").claims
    assert (claim.relation, claim.flags, claim.confidence) == ("might_be_interested_in", (Flag.HYPOTHETICAL,), 0.2)


def test_hedges_lower_confidence(read) -> None:
    (claim,) = read("I think I like moss.").claims
    assert (claim.hedge_level, claim.confidence) == (HedgeLevel.MODERATE, 0.65)


@pytest.mark.parametrize(
    ("text", "day", "precision"),
    [
        ("We moved to Graz in February.", date(2026, 2, 1), "month"),
        ("Yesterday we moved to Graz.", date(2026, 3, 4), "day"),
        ("I have lived in Graz since 2019.", date(2019, 1, 1), "year"),
        ("I live in Graz.", None, None),
        ("We want to visit Graz for a week.", None, None),
        ("In September we want to visit Graz for a week.", date(2026, 9, 1), "month"),
    ],
)
def test_claims_know_since_when(read, text: str, day: date | None, precision: str | None) -> None:
    (claim,) = read(text).claims
    assert (claim.valid_from, claim.valid_precision) == (day, precision)


def test_spans_point_at_the_words(read) -> None:
    text = "Well — I really like sea kale."
    claim = read(text).claims[0]
    assert text[claim.start : claim.end] == "I really like sea kale"


def test_gold_rows_become_predictions(extractor) -> None:
    row = {
        "id": "x1",
        "timestamp": "2026-03-05T18:20:00Z",
        "context": [{"speaker": "assistant", "text": "Where do you live?"}],
        "message": {"speaker": "user", "text": "We moved to Graz in February. My timezone is Europe/Vienna."},
    }
    (line,) = predictions([row], extractor)
    assert line["id"] == "x1"
    assert line["skip"] is None
    assert line["relations"][0]["valid_from"] == "2026-02"
    assert line["relations"][1]["object"] == "timezone: Europe/Vienna"
    (skipped,) = predictions([row | {"message": {"speaker": "assistant", "text": "I like moss."}}], extractor)
    assert (skipped["skip"], skipped["relations"]) == ("not_a_person", [])


def test_health_is_neither_claimed_nor_mentioned_unless_it_is_kept() -> None:
    text = "I have asthma, I take metformin and I'm allergic to wasps. I live in Graz."
    turn = Turn("m1", 0, "user", "user", text, datetime(2026, 3, 5, tzinfo=UTC))
    found = RulesExtractor().extract(Segment("seg", "u1", "s1", "text", (turn,)))
    assert [(claim.relation, claim.object) for claim in found.claims] == [("lives_in", "Graz")]
    assert [mention.name for mention in found.mentions] == ["Graz"]


def test_a_wish_in_the_middle_of_despair_is_of_the_hour(read) -> None:
    said = "I am so angry, the third refusal this year and nobody at the council calls back. I want to move to Iceland."
    (wish,) = [claim for claim in read(said).claims if claim.relation == "wants"]
    assert (wish.confidence, [flag.value for flag in wish.flags]) == (0.3, ["emotional_state"])
    calm = "I was a bit angry about the refusal. I want to move to Iceland."
    (wish,) = [claim for claim in read(calm).claims if claim.relation == "wants"]
    assert wish.confidence == 0.9
