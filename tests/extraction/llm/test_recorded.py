"""A capable model's raw answers to a long conversation, as they came: what of them is kept, and what is refused."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.extraction.llm.answer import ITEMS, Section
from em_pipelines.extraction.llm.grounding import ground
from em_pipelines.extraction.llm.parsing import Parsed
from em_pipelines.extraction.rules.agreement import RulesAsSecondReader
from em_pipelines.extraction.verification import verify
from em_pipelines.schema.readings import UNSUPPORTED, Extraction, Segment, Turn

SHARED = Path(__file__).parents[4] / "shared"
RECORDED, TALK = SHARED / "recorded" / "locomo-26.jsonl", SHARED / "data" / "locomo" / "26.json"
SPOKEN = {"user", "melanie", "caroline", "mel"}
N_TURNS = 20
"""Of one segment; a session of that conversation has about as many."""
N_CONTEXT = 4
pytestmark = pytest.mark.skipif(not RECORDED.exists(), reason="the recorded answers lie beside the project, not in it")
Reading = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """The readings of some turns, the number of the first, and those of the turns shown before them."""

    first: int
    readings: list[Reading]
    earlier: list[Reading]


def turns_of(readings: list[Reading], first: int) -> tuple[Turn, ...]:
    return tuple(
        Turn(f"m{n}", n, "user", reading["by"], reading["said"], datetime(2023, 5, 8, tzinfo=UTC))
        for n, reading in enumerate(readings, first)
    )


def read(part: Part, readings: list[Reading]) -> Extraction:
    """The readings of the turns of a part as one answer, grounded and verified."""
    sections: dict[Section, list[Any]] = {section: [] for section in Section}
    for index, reading in enumerate(readings):
        n_before = len(sections[Section.RELATIONS])
        for section in (Section.ENTITIES, Section.RELATIONS):
            sections[section] += [
                ITEMS[section].model_validate({"t": index, **item}) for item in reading[section.value]
            ]
        for section in (Section.TONE, Section.TIMES):
            items = ({**item, "r": n_before + item["r"]} for item in reading[section.value])
            sections[section] += [ITEMS[section].model_validate(item) for item in items]
    context = turns_of(part.earlier, part.first - len(part.earlier))
    segment = Segment(f"s{part.first}", "caroline", "c", "text", turns_of(readings, part.first), context)
    found = ground(segment, dict(enumerate(segment.turns)), Parsed(items=sections))
    return verify(found, segment, second_reader=RulesAsSecondReader())


def opening(text: str) -> str:
    """The first letters of a line: a long one was cut where a model was shown it."""
    return re.sub(r"\W+", "", text).casefold()[:40]


@pytest.fixture(scope="module")
def recorded() -> list[Reading]:
    """The readings, each with who said its line."""
    readings = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    talk = json.loads(TALK.read_text(encoding="utf-8"))
    lines = [line for key in talk if re.fullmatch(r"session_\d+", key) for line in talk[key]]
    speakers = {opening(line["text"]): line["speaker"] for line in lines}
    names = {"Caroline": "user", "Melanie": "Melanie"}
    return [{**reading, "by": names[speakers[opening(reading["said"])]]} for reading in readings]


@pytest.fixture(scope="module")
def parts(recorded: list[Reading]) -> list[Part]:
    starts = range(0, len(recorded), N_TURNS)
    return [Part(n, recorded[n : n + N_TURNS], recorded[max(0, n - N_CONTEXT) : n]) for n in starts]


def letters(text: str) -> set[str]:
    """The words of a text by their first four letters: a rough measure that shares nothing with what it measures."""
    return {word[:4] for word in re.findall(r"[a-z]{3,}", text.casefold())}


def is_grounded(relation: dict[str, Any], said: str) -> bool:
    """Whether most words of each end stand in what was said, or it is somebody who speaks."""
    ends = [relation[end] for end in ("subject", "object") if relation[end].casefold() not in SPOKEN]
    return all(len(letters(end) & letters(said)) * 2 >= len(letters(end)) for end in ends)


def test_what_its_turns_say_is_kept(parts: list[Part]) -> None:
    n_grounded = n_kept = n_refused = 0
    for part in parts:
        talk = [*part.earlier, *part.readings]
        for n, reading in enumerate(part.readings, len(part.earlier)):
            said = " ".join(turn["said"] for turn in talk[max(0, n - N_CONTEXT) : n + 1])
            n_grounded += sum(is_grounded(relation, said) for relation in reading["relations"])
        found = read(part, part.readings)
        n_kept += len(found.claims)
        n_refused += sum(issue.issue in UNSUPPORTED for issue in found.issues)
        assert found.claims, "no segment is lost whole"
    assert n_grounded > 550
    assert n_kept >= 0.97 * n_grounded
    assert n_refused < 0.02 * (n_kept + n_refused)


def test_what_its_turns_say_is_not_contradicted(parts: list[Part]) -> None:
    claims = [claim for part in parts for claim in read(part, part.readings).claims]
    assert sum(claim.requires_verification for claim in claims) <= 0.01 * len(claims)


def test_openings_are_worth_what_later_turns_are(parts: list[Part]) -> None:
    for part in parts:
        opening = {part.first + n for n, reading in enumerate(part.readings[:4]) if reading["relations"]}
        kept = {claim.turn_number: claim.confidence for claim in read(part, part.readings).claims}
        assert opening <= kept.keys()


INVENTIONS = (
    {"subject": "Brindlewick"}, {"object": "Brindlewick"}, {"object": "sailing to Hobart"},
    {"object": "her 1987 motorbike"}, {"subject": "Oswin", "object": "Tromso"},
)  # fmt: skip


@pytest.mark.parametrize("invention", INVENTIONS, ids=str)
def test_inventions_are_refused_one_by_one_and_nothing_with_them(parts: list[Part], invention: dict[str, str]) -> None:
    for part in parts:
        whole = read(part, part.readings)
        changed = [dict(reading) for reading in part.readings]
        place = next(n for n, reading in enumerate(changed) if reading["relations"])
        planted = {**changed[place]["relations"][0], **invention}
        changed[place]["relations"] = [*changed[place]["relations"], planted]
        found = read(part, changed)
        assert [(c.subject, c.relation, c.object) for c in found.claims] == [
            (c.subject, c.relation, c.object) for c in whole.claims
        ]
        assert len(found.issues) == len(whole.issues) + 1


def test_an_invented_name_is_refused_where_it_is_listed_as_an_entity_too(parts: list[Part]) -> None:
    for part in parts:
        changed = [dict(reading) for reading in part.readings]
        changed[0]["entities"] = [*changed[0]["entities"], {"name": "Brindlewick", "type": "person"}]
        planted = {"subject": "Brindlewick", "relation": "likes", "object": "Hobart", "attribute": None, "polarity": 1}
        changed[0]["relations"] = [planted, *changed[0]["relations"]]
        changed[0]["tone"] = changed[0]["times"] = []
        found = read(part, changed)
        assert "Brindlewick" not in {mention.name for mention in found.mentions}
        assert "Brindlewick" not in {claim.subject for claim in found.claims}
