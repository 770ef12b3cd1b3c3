"""What holds for every extractor on the way into the tables."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from em_pipelines.errors import LockedError
from em_pipelines.extraction.assemble import Checks, extract, prepare, readings
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.schema.readings import Claim, Extraction, LocalExtractor, Segment
from em_pipelines.schema.vocabulary import EntityType, TemporalType
from tests.extraction.conftest import one_turn


class Recorder(LocalExtractor):
    """Keeps what it was shown."""

    name = "recorder"
    version = "1"

    def __init__(self) -> None:
        self.shown: list[str] = []

    def extract(self, segment: Segment) -> Extraction:
        self.shown += [turn.text for turn in segment.turns]
        return Extraction()


def test_nobody_reads_more_of_a_message_than_is_guarded() -> None:
    recorder = Recorder()
    long = one_turn("word " * 100)
    checks = Checks(safety=SafetySettings(max_characters=40))
    ((_, reading),) = readings([long], recorder, checks)
    assert [len(text) for text in recorder.shown] == [40]
    assert [(issue.issue, issue.reason) for issue in reading.issues] == [("truncated", "too_long")]


def test_a_message_that_gave_nothing_is_accounted_for() -> None:
    issues = extract([one_turn("I like moss.")], Recorder())["extraction_issues"].to_pylist()
    assert [(row["issue"], row["reason"]) for row in issues] == [("skipped", "nothing_found")]


class Failing(Recorder):
    """Raises at one text, as an extractor with a bug does."""

    def extract(self, segment: Segment) -> Extraction:
        if any("poison" in turn.text for turn in segment.turns):
            raise ZeroDivisionError("whatever")
        return super().extract(segment)


@pytest.mark.parametrize("place", range(3))
def test_an_extractor_that_raises_costs_one_segment(place: int) -> None:
    texts = ["I like moss.", "I like fern.", "I like rock."]
    texts[place] = "I like poison."
    segments = [replace(one_turn(text), segment_id=text) for text in texts]
    read = list(readings(segments, Failing()))
    assert [segment.segment_id for segment, _ in read] == texts
    found = [[(issue.issue, issue.reason) for issue in reading.issues] for _, reading in read]
    assert found == [[("dead_letter", "extractor_error")] if n == place else [] for n in range(3)]


class Batching(Failing):
    """Reads all at once, and so fails at all."""

    def extract_all(self, segments: Iterable[Segment]) -> Iterator[Extraction]:
        return iter([self.extract(segment) for segment in segments])

    def prepare(self, segments: Iterable[Segment]) -> None:
        list(self.extract_all(segments))


def test_one_that_reads_all_at_once_is_asked_again_one_by_one() -> None:
    segments = [one_turn(text) for text in ("I like moss.", "I like poison.", "I like rock.")]
    prepare(segments, Batching())
    found = [[issue.issue for issue in reading.issues] for _, reading in readings(segments, Batching())]
    assert found == [[], ["dead_letter"], []]


def test_what_an_error_says_reaches_no_log(caplog: pytest.LogCaptureFixture) -> None:
    class Quoting(Recorder):
        def extract(self, segment: Segment) -> Extraction:
            raise ValueError(segment.turns[0].text)

    ((_, reading),) = readings([one_turn("My door code is 4711.")], Quoting())
    assert "ValueError in extract" in caplog.text
    assert "4711" not in caplog.text + "".join(issue.detail for issue in reading.issues)


def test_a_reading_that_cannot_be_judged_is_a_dead_letter() -> None:
    class Strange(Recorder):
        def extract(self, segment: Segment) -> Extraction:
            return Extraction(mentions=[None] if "fern" in segment.turns[0].text else [])  # type: ignore[list-item]

    read = readings([one_turn("I like moss."), one_turn("I like fern.")], Strange())
    assert [[issue.issue for issue in reading.issues] for _, reading in read] == [[], ["dead_letter"]]


def test_what_is_wrong_with_the_home_is_no_message_s_fault() -> None:
    class Locked(Recorder):
        def extract(self, segment: Segment) -> Extraction:
            raise LockedError("somebody is at work")

    with pytest.raises(LockedError):
        list(readings([one_turn("I like moss.")], Locked()))


def test_a_favourite_is_liked_and_is_the_favourite_of_its_kind(extractor) -> None:
    rows = extract([one_turn("My favourite tree is the rowan.")], extractor)["claims"].to_pylist()
    assert {(row["relation"], row["object"], row["attribute"], row["value"]) for row in rows} == {
        ("likes", "rowan", None, None),
        ("has_attribute", None, "favourite tree", "rowan"),
    }
    assert len({row["claim_id"] for row in rows}) == 2


class Stating(Recorder):
    """States facts of the user, each a relation and what it is about."""

    def __init__(self, *facts: tuple[str, str]) -> None:
        super().__init__()
        self.facts = facts

    def extract(self, segment: Segment) -> Extraction:
        claims = [
            Claim(
                turn_number=segment.turns[0].turn_number, subject="user", subject_type=EntityType.PERSON,
                relation=relation, object=words, object_type=EntityType.CONCEPT, value=None, confidence=0.9, start=0,
                end=5, temporal_type=TemporalType.STATE,
            )
            for relation, words in self.facts
        ]  # fmt: skip
        return Extraction(claims=claims)


def test_what_is_liked_or_done_is_a_value_where_it_is_a_clause() -> None:
    said = "I like how it sounds in the hall, choirs and fear of heights, and I paint a boat and go rowing."
    stated = Stating(
        ("likes", "how it sounds in the hall"), ("likes", "choirs"), ("likes", "fear of heights"),
        ("did", "paint a boat"), ("did", "go rowing"), ("member_of", "choirs"),
    )  # fmt: skip
    made = extract([one_turn(said)], stated)
    assert {row["value"] for row in made["claims"].to_pylist()} == {None, "paint a boat", "go rowing"}
    names = {row["name"] for row in made["mentions"].to_pylist()}
    assert names == {"user", "choirs", "fear of heights", "how it sounds in the hall"}
