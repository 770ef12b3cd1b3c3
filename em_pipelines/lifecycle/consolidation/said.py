"""What was said again and again: tastes that several conversations repeat, moods that became traits, and observations
about one thing, from which a reflection comes."""

from collections.abc import Iterable, Mapping
from typing import Any

from em_pipelines.guard.passages import sentences
from em_pipelines.guard.screening import quotable
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.lifecycle.consolidation.evidence import (
    PREFERENCE,
    REFLECTION,
    STATE,
    Cluster,
    Evidence,
    clusters,
    words_of,
)
from em_pipelines.schema.readings import Withheld
from em_pipelines.schema.vocabulary import RELATIONS_BY_GROUP, USER, Flag, PrivacyLevel, Status, TemporalType

Row = Mapping[str, Any]
REPEATED = frozenset({"INSERT", "REINFORCE", "CONFIRM"})
TASTES = frozenset({*RELATIONS_BY_GROUP["preference"], "uses", "follows"})
"""What is a habit or a taste once it has been repeated; other facts are what they are without it."""
OPEN_LEVELS = frozenset({PrivacyLevel.PUBLIC.value, PrivacyLevel.GENERIC.value, PrivacyLevel.PERSONAL.value})
"""What may become an experience: no birthdays and addresses, and no claims of rank."""
NOTED = ("decision", "learning", "event")
"""Kinds of observations that are kept on purpose; what was merely said becomes facts."""
LONGEST_QUOTE = 160


def clusters_of_facts(ops: Iterable[Row], edges: Iterable[Row], names: Mapping[str, str]) -> list[Cluster]:
    """What was said in several conversations of the person itself. `ops` are rows of graph_ops, `edges` of
    current_edges; `names` give the name of each entity by its id."""
    known = {edge["edge_id"]: edge for edge in edges if _may_count(edge, names)}
    evidence = [
        Evidence(
            op["op_id"], op["user_id"], _kind(edge), edge["relation"], edge["edge_id"], op["session_id"],
            op["timestamp"], turn_number=op["turn_number"],
        )
        for op in ops
        if op["operation"] in REPEATED and (edge := known.get(op["edge_id"]))
    ]  # fmt: skip
    return [_of_fact(group, known[group[0].key], names) for group in clusters(evidence)]


def _may_count(edge: Row, names: Mapping[str, str]) -> bool:
    is_own = names.get(edge["subject_id"]) == USER and (edge["value"] or edge["object_id"] in names)
    is_open = edge["privacy_level"] in OPEN_LEVELS and not edge["requires_verification"]
    return bool(is_own and is_open and edge["status"] != Status.RETRACTED and (_is_taste(edge) or _is_mood(edge)))


def _is_taste(edge: Row) -> bool:
    return edge["relation"] in TASTES and edge["temporal_type"] != TemporalType.EPISODE


def _is_mood(edge: Row) -> bool:
    return Flag.EMOTIONAL_STATE in edge["flags"] and edge["temporal_type"] != TemporalType.EPISODE


def _kind(edge: Row) -> str:
    return STATE if _is_mood(edge) else PREFERENCE


def _of_fact(evidence: list[Evidence], edge: Row, names: Mapping[str, str]) -> Cluster:
    first = evidence[0]
    verb = edge["relation"].replace("_", " ")
    thing = edge["value"] or names[edge["object_id"]]
    stands = edge["status"] in (Status.ACTIVE, "archived")
    return Cluster(
        user_id=first.user_id,
        kind=first.kind,
        component=first.component,
        key=first.key,
        evidence=tuple(evidence),
        objection=None if stands else str(edge["status"]),
        label=f"{'' if edge['polarity'] == 1 else 'not '}{verb} {thing}",
        tags=tuple(edge["context_tags"]),
    )


def clusters_of_observations(messages: Iterable[Row]) -> list[Cluster]:
    """Decisions, learnings and events that bear one tag; `messages` are rows of messages of those kinds."""
    evidence, quotes = [], {}
    for row in messages:
        quote = _quote(row)
        if row["memory_type"] not in NOTED or row["role"] == "tool" or row["trust"] != "trusted" or not quote:
            continue
        quotes[row["message_id"]] = quote
        evidence += [
            Evidence(
                row["message_id"], row["user_id"], REFLECTION, row["memory_type"], tag, row["session_id"],
                row["timestamp"], quote, words_of(""), turn_number=row["turn_number"],
            )
            for tag in row["tags"]
        ]  # fmt: skip
    return [
        Cluster(g[0].user_id, REFLECTION, g[0].component, g[0].key, tuple(g), label=g[-1].message, tags=(g[0].key,))
        for g in clusters(evidence)
    ]


def _quote(row: Row) -> str:
    """The first sentence of what may be quoted of a message; nothing of one that nobody has guarded."""
    if row["withheld"] is None:
        return ""
    text = quotable(row["content"], [Withheld(**found) for found in row["withheld"]]).replace(CODE_MARK, " ").strip()
    first = next((text[start:end].strip() for start, end in sentences(text) if text[start:end].strip()), "")
    return first if len(first) <= LONGEST_QUOTE else f"{first[: LONGEST_QUOTE - 1]}…"
