"""What somebody else concluded is judged like what rules conclude."""

from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.lifecycle.inference.infer import PROPOSALS, grounds, infer
from em_pipelines.lifecycle.inference.rules import rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.storage.duckdb_engine import connect
from tests.lifecycle.inference.oracle import edge, entity, tables

CONNECTION = connect()
EDGES = [
    edge("user", "works_on", "em"), edge("em", "made_of", "python"), edge("python", "created", "tool", 0.5),
    edge("user", "spouse_of", "tom"),
]  # fmt: skip
THINGS = [*(entity(name) for name in ("user", "tom", "wife")), *(entity(n, "tool") for n in ("em", "python", "tool"))]


def proposal(subject: str, relation: str, object_: str, *premises: int, user: str = "ada") -> dict[str, Any]:
    ids = [EDGES[number]["edge_id"] for number in premises]
    return {"user_id": user, "subject_id": subject, "relation": relation, "object_id": object_, "premises": ids}


def judged(
    *proposals: dict[str, Any], edges: list[dict[str, Any]] = EDGES, **changes: Any
) -> dict[tuple[str, str, str], Any]:
    found = infer(
        *tables(edges, THINGS), rules_of(InferenceSettings()), InferenceSettings(**changes), CONNECTION,
        pa.Table.from_pylist(list(proposals), schema=PROPOSALS),
    )  # fmt: skip
    return {(r["subject_id"], r["relation"], r["object_id"]): r for r in found.to_pylist() if r["rule_id"] == "model"}


def test_a_chain_that_leads_from_end_to_end_stands() -> None:
    found = judged(proposal("user", "uses", "python", 0, 1), proposal("tool", "interested_in", "user", 2, 1, 0))
    assert set(found) == {("user", "uses", "python"), ("tool", "interested_in", "user")}
    assert found["user", "uses", "python"]["confidence"] == 0.60
    long = found["tool", "interested_in", "user"]
    assert long["confidence"] == pytest.approx(0.5 * 0.9 * 0.9 * 0.8)
    assert (long["hops"], long["premises"]) == (3, [EDGES[n]["edge_id"] for n in (2, 1, 0)])


@pytest.mark.parametrize(
    "wrong",
    [
        proposal("user", "uses", "python", 1),  # does not begin at the subject
        proposal("user", "uses", "python", 0),  # ends elsewhere
        proposal("user", "uses", "tool", 0, 2),  # broken in between
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in [
                proposal("user", "uses", "em", 0, 1, 1),  # goes back on itself
                proposal("user", "uses", "python", 0, 1, 1),
                proposal("user", "uses", "user", 0, 0),
                proposal("user", "uses", "python"),
                proposal("user", "uses", "python", 0, 1, 2, 3),
                proposal("user", "runs", "python", 0, 1),
                proposal("user", "uses", "nowhere", 0, 1),
                proposal("user", "uses", "python", 0, 1, user="ben"),
                {**proposal("user", "uses", "python", 0, 1), "premises": [EDGES[0]["edge_id"], "edge_unheard_of"]},
                proposal("user", "works_on", "em", 0),  # said
                proposal("tom", "spouse_of", "user", 3),  # a rule says so
                proposal("user", "spouse_of", "python", 0, 1),  # another value is known
            ]
        ),
    ],
)
def test_anything_else_does_not(wrong: dict[str, Any]) -> None:
    assert judged(wrong) == {}


@pytest.mark.parametrize(
    "flaw",
    [
        {"status": "contradicted"},
        {"polarity": -1},
        pytest.param({"effective_confidence": 0.39}, marks=pytest.mark.slow),
        pytest.param({"flags": ["hypothetical"]}, marks=pytest.mark.slow),
        pytest.param({"requires_verification": True}, marks=pytest.mark.slow),
    ],
)
def test_premises_are_held_to_the_same_rule(flaw: dict[str, Any]) -> None:
    flawed = [EDGES[0], {**EDGES[1], **flaw}, *EDGES[2:]]
    assert judged(proposal("user", "uses", "python", 0, 1), edges=flawed) == {}


def test_what_was_denied_is_not_proposed_back() -> None:
    denied = [*EDGES, edge("user", "uses", "python", status="retracted")]
    assert judged(proposal("user", "uses", "python", 0, 1), edges=denied) == {}


def test_grounds_are_the_facts_between_things_that_may_be_built_on() -> None:
    rows = [*EDGES, edge("user", "likes", "python", polarity=-1), edge("wife", "friend_of", "tom")]
    joined = [
        row | {"merged_into": "user", "status": "merged"} if row["entity_id"] == "wife" else row for row in THINGS
    ]
    found = grounds(*tables(rows, joined), InferenceSettings(), CONNECTION).to_pylist()
    assert [row["edge_id"] for row in found] == sorted([*(e["edge_id"] for e in EDGES), "wife friend_of tom"])
    assert [row["subject_id"] for row in found if row["edge_id"] == "wife friend_of tom"] == ["user"]
