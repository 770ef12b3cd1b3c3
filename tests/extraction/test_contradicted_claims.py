"""True and false claims of a model about single turns, labelled by people who had not seen the code: what is served.

A line of `claims/` has `turns`, and `claims` of the last one. A false claim is built of the turn's own words; its
`label` says what is wrong with it: polarity, subject, relation, or that it is unreal (wished, supposed, joked about).
The bounds are what was measured. `short` was looked at by nobody; the others are hard on purpose.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.extraction.llm.answer import RelationItem, Section
from em_pipelines.extraction.llm.grounding import ground
from em_pipelines.extraction.llm.parsing import Parsed
from em_pipelines.extraction.rules.agreement import RulesAsSecondReader
from em_pipelines.extraction.verification import verify
from em_pipelines.schema.readings import Segment, Turn

HERE = Path(__file__).parent / "claims"
WRITTEN_AT = datetime(2026, 5, 6, 12, tzinfo=UTC)
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "least_true", "most_false"),
    [
        ("short", 0.97, 0.32),
        ("friends", 0.91, 0.74),
        ("work", 0.93, 0.71),
        ("family", 0.94, 0.73),
        ("home", 0.94, 0.65),
    ],
)
def test_true_claims_are_served_and_of_false_ones_a_part_is_held(
    name: str, least_true: float, most_false: float
) -> None:
    served: Counter[bool] = Counter()
    n: Counter[bool] = Counter()
    for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        talk = json.loads(line)
        segment = segment_of(talk["turns"])
        for claim in talk["claims"]:
            n[claim["label"] == "true"] += 1
            served[claim["label"] == "true"] += is_served(segment, claim)
    assert served[True] >= least_true * n[True]
    assert served[False] <= most_false * n[False]


def segment_of(turns: list[dict[str, str]]) -> Segment:
    """A conversation of a user with an assistant, or among people by their names."""
    said = []
    for number, turn in enumerate(turns):
        role, subject = ("assistant", None) if turn["speaker"] == "assistant" else ("user", turn["speaker"])
        said.append(Turn(f"m{number}", number, role, subject, turn["text"], WRITTEN_AT, language="en"))
    return Segment("s", "u", "c", "text", tuple(said))


def is_served(segment: Segment, claim: dict[str, Any]) -> bool:
    """Whether a model's claim, the only one of its answer, would be served."""
    ends = {name: claim[name] for name in ("subject", "relation", "object", "polarity")}
    parsed = Parsed(items={Section.RELATIONS: [RelationItem(t=claim["turn"], **ends)]})
    kept = verify(
        ground(segment, dict(enumerate(segment.turns)), parsed), segment, second_reader=RulesAsSecondReader()
    ).claims
    return any(not one.requires_verification for one in kept)
