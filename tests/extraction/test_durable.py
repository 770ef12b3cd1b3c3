"""The pass at a session's end adds lasting facts of trusted sessions, few of them, and is off unless asked for."""

from datetime import UTC, datetime
from typing import Any

import pytest

from em_pipelines.extraction.assemble import Checks, extract
from em_pipelines.extraction.durable import lasting_facts, whole_sessions
from em_pipelines.extraction.settings import DurableSettings
from em_pipelines.schema.readings import Claim, Extraction, LocalExtractor, Mention, Segment, Turn
from em_pipelines.schema.vocabulary import EntityType, Flag, Mechanism, TemporalType

ON = DurableSettings(is_enabled=True)


class WordExtractor(LocalExtractor):
    """Reads `likes X` of every turn, but only in segments of more than one turn, as one that needs the whole would."""

    name = "words"
    version = "1"

    def extract(self, segment: Segment) -> Extraction:
        found = Extraction()
        for turn in segment.turns if len(segment.turns) > 1 else ():
            word = turn.text.split()[-1]
            start = turn.text.index(word)
            found.mentions.append(Mention(turn.turn_number, word, EntityType.FOOD, start, start + len(word)))
            found.claims.append(claim(turn.turn_number, word, start=start, end=start + len(word)))
        return found


def claim(turn_number: int, stated: str, **changes: Any) -> Claim:
    found: dict[str, Any] = {
        "turn_number": turn_number, "subject": "user", "subject_type": EntityType.PERSON, "relation": "likes",
        "object": stated, "object_type": EntityType.FOOD, "value": None, "confidence": 0.9, "start": 0, "end": 1,
        "temporal_type": TemporalType.TRAIT,
    }  # fmt: skip
    return Claim(**{**found, **changes})


def parts(n: int, trust: str = "trusted", session: str = "s1") -> list[Segment]:
    """A session of n segments with one turn each."""
    at = datetime(2026, 3, 1, tzinfo=UTC)
    turns = [Turn(f"{session}-{i}", i, "user", "user", f"I like dish{i}", at) for i in range(n)]
    return [Segment(f"{session}-{i}", "ada", session, "text", (t,), trust=trust) for i, t in enumerate(turns)]


def test_it_is_off_by_default() -> None:
    assert extract(parts(3), WordExtractor())["claims"].num_rows == 0


def test_a_session_of_several_parts_is_read_as_a_whole() -> None:
    claims = extract(parts(3), WordExtractor(), Checks(durable=ON))["claims"].to_pylist()
    assert [row["object"] for row in claims] == ["dish0", "dish1", "dish2"]
    assert {(row["source_mechanism"], row["confidence"]) for row in claims} == {("observational", 0.8)}


def test_a_session_adds_five_facts_at_most() -> None:
    tables = extract([*parts(9), *parts(7, session="s2")], WordExtractor(), Checks(durable=ON))
    by_session = [row["session_id"] for row in tables["claims"].to_pylist()]
    assert {name: by_session.count(name) for name in by_session} == {"s1": 5, "s2": 5}


@pytest.mark.parametrize("segments", [parts(1), parts(3, trust="untrusted")])
def test_a_session_in_one_part_and_one_that_is_not_trusted_are_left_alone(segments: list[Segment]) -> None:
    assert list(whole_sessions(segments, ON)) == []


def test_a_session_that_is_too_long_is_left_alone() -> None:
    assert list(whole_sessions(parts(3), replace_limit(2))) == []


def replace_limit(tokens: int) -> DurableSettings:
    return ON.model_copy(update={"max_session_tokens": tokens})


def test_only_what_lasts_and_is_new_and_plain_is_added() -> None:
    read = Extraction(
        claims=[
            claim(0, "tea"),
            claim(1, "Tea"),
            claim(2, "rain", temporal_type=TemporalType.EPISODE, relation="feels"),
            claim(3, "coffee", flags=(Flag.SECONDHAND,)),
            claim(4, "mate"),
        ]
    )
    added = lasting_facts(read, [claim(7, "the tea")], ON)
    assert [(c.object, c.source_mechanism) for c in added.claims] == [("mate", Mechanism.OBSERVATIONAL)]


def test_every_message_is_accounted_for_once() -> None:
    tables = extract(parts(3), WordExtractor(), Checks(durable=ON))
    assert [row["reason"] for row in tables["extraction_issues"].to_pylist()] == ["nothing_found"] * 3
