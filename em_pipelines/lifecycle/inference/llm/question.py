"""What a model is asked about one user's facts, and how its answer is read: pure functions.

Things and facts are addressed by small numbers; no name, no user and no word that anybody wrote leaves the house. What
a number stood for is looked up again when the answer is there.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import json_repair
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.extraction.llm.closing import closed_lists
from em_pipelines.lifecycle.inference.settings import MAX_HOPS
from em_pipelines.llm.documents import last_document
from em_pipelines.llm.protocol import Message
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, RELATIONS_BY_GROUP

Ground = Mapping[str, Any]
"""A row of `em_pipelines.lifecycle.inference.infer.grounds`."""

CONCLUDABLE = [
    relation
    for group, relations in RELATIONS_BY_GROUP.items()
    if group not in {"health", "preference", "intent", "opinion", "last_resort"}
    for relation in relations
    if relation not in LITERAL_OBJECT
]
"""What may be concluded: no health, no taste, wish or view of anybody, and nothing that says no more than that things
have to do with each other."""
WITHHELD = frozenset(RELATIONS_BY_GROUP["health"])
"""Facts that are not shown, though they are without names."""

SYSTEM = f"""\
You are given facts of one person's world as numbered triples. Things are numbers with a type; nothing else is known \
of them. Say which further facts follow from two or three of these facts taken together, as JSON.

A fact follows if it is true in nearly every world in which the given ones are. Never guess tastes, feelings or plans. \
Leave out what is given, its inverse, and what merely may be. Nothing follows: an empty list.
edges: subject and object are numbers of things; facts are the numbers of the 1 to {MAX_HOPS} facts it follows from, \
in order, leading from the subject to the object: the first has the subject at one end, each goes on from where the \
one before it ended, the last ends at the object.

Things: 0 person, 1 organization, 2 project
Facts:
0: 0 created 2
1: 2 part_of 1
{{"edges":[{{"subject":0,"relation":"member_of","object":1,"facts":[0,1]}}]}}"""

_INT = {"type": "integer"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["edges"],
    "properties": {
        "edges": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["subject", "relation", "object", "facts"],
                "properties": {
                    "subject": _INT,
                    "relation": {"type": "string", "enum": CONCLUDABLE},
                    "object": _INT,
                    "facts": {"type": "array", "items": _INT},
                },
            },
        }
    },
}


class ProposedEdge(BaseModel):
    """One edge of an answer, in the numbers of the question."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    subject: int
    relation: str
    object: int
    facts: Annotated[list[int], Field(min_length=1, max_length=MAX_HOPS)]


def messages(grounds: Sequence[Ground]) -> tuple[Message, ...]:
    """The question about these facts; the same for the same facts in the same order."""
    numbers = _numbers(grounds)
    types = {row[f"{end}_id"]: row[f"{end}_type"] for row in grounds for end in ("subject", "object")}
    things = ", ".join(f"{number} {types[thing]}" for thing, number in numbers.items())
    lines = [f"Things: {things}", "Facts:"]
    lines += [
        f"{n}: {numbers[row['subject_id']]} {row['relation']} {numbers[row['object_id']]}"
        for n, row in enumerate(grounds)
    ]
    return Message("system", SYSTEM), Message("user", "\n".join(lines))


def read(text: str) -> list[ProposedEdge]:
    """The valid edges of an answer; raises UnusableAnswerError where it holds no list of edges.

    Of an answer that broke off the last edge is left out: it was being written.
    """
    document: Any = last_document(text, lambda one: isinstance(one.get("edges"), list))
    is_whole = document is not None or "edges" in closed_lists(text)
    if document is None:
        with suppress(ValueError, RecursionError):
            document = json_repair.loads(text)
    edges = document.get("edges") if isinstance(document, dict) else None
    if not isinstance(edges, list):
        raise UnusableAnswerError("reading proposed edges: found no list of edges; it is asked again")
    found = []
    for edge in edges if is_whole else edges[:-1]:
        with suppress(ValidationError):
            found.append(ProposedEdge.model_validate(edge))
    return found


def proposals(edges: Sequence[ProposedEdge], grounds: Sequence[Ground], limit: int) -> list[dict[str, Any]]:
    """The edges as rows of PROPOSALS, the first `limit` that could be meant; numbers that nothing has are dropped.

    Whether their premises lead anywhere and the conclusion may stand is judged by `infer.infer`.
    """
    things = {number: thing for thing, number in _numbers(grounds).items()}
    return [
        {
            "user_id": grounds[0]["user_id"],
            "subject_id": things[edge.subject],
            "relation": edge.relation,
            "object_id": things[edge.object],
            "premises": [grounds[n]["edge_id"] for n in edge.facts],
        }
        for edge in edges
        if edge.relation in CONCLUDABLE
        and {edge.subject, edge.object} <= things.keys()
        and all(0 <= n < len(grounds) for n in edge.facts)
    ][:limit]


def _numbers(grounds: Sequence[Ground]) -> dict[str, int]:
    """A number for each thing, in the order in which the facts name them."""
    named = (row[f"{end}_id"] for row in grounds for end in ("subject", "object"))
    return {thing: number for number, thing in enumerate(dict.fromkeys(named))}
