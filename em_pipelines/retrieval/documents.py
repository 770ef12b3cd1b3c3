"""What can be found: messages, and facts as short sentences. One user's, in order of time."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MESSAGE, FACT = "message", "fact"
Row = dict[str, Any]
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("session_id", pa.string()),
        ("turn_number", pa.int64()),
        ("edge_id", pa.string()),
        ("text", pa.string()),
        ("speaker", pa.string()),
        ("role", pa.string()),
        ("said_at", pa.timestamp("us", "UTC")),
        ("confidence", pa.float32()),
        ("tags", pa.list_(pa.string())),
        ("domain", pa.string()),
        ("status", pa.string()),
        ("subject", pa.string()),
        ("relation", pa.string()),
        ("object", pa.string()),
        ("names", pa.list_(pa.string())),
        ("sources", pa.list_(pa.struct([("session_id", pa.string()), ("turn_number", pa.int64())]))),
        ("conflicts", pa.list_(pa.string())),
    ]
)
"""One row a document; from `status` on, columns are of facts alone. `turn_number` and `session_id` of a fact are those
of its first provenance; `confidence` is the effective one of a fact, 1 of a message; `names` are keys of all names of
both ends (`resolution.normalization.name_key`); `conflicts` are the facts that cannot hold beside it."""


def messages(table: pa.Table, user_id: str) -> pa.Table:
    """The user's messages as documents, in order of time and turn; those of tools and the system are left out."""
    own = table.filter(
        pc.and_(pc.equal(table["user_id"], user_id), pc.is_in(table["role"], pa.array(["user", "assistant"])))
    )
    columns = {
        "kind": pa.repeat(MESSAGE, len(own)), "session_id": own["session_id"], "turn_number": own["turn_number"],
        "text": own["content"], "speaker": pc.coalesce(own["speaker"], own["role"]), "role": own["role"],
        "said_at": own["timestamp"], "confidence": pa.repeat(1.0, len(own)), "tags": own["tags"],
        "domain": own["domain"],
    }  # fmt: skip
    return ordered(
        pa.table(
            [columns.get(field.name, pa.nulls(len(own), field.type)) for field in SCHEMA],
            names=SCHEMA.names,
        ).cast(SCHEMA)
    )


def ordered(said: pa.Table) -> pa.Table:
    """Messages in order of time and turn."""
    return said.sort_by([(name, "ascending") for name in ("said_at", "session_id", "turn_number")])


def facts(rows: Sequence[Row], conflicts: Sequence[Row], said: pa.Table) -> pa.Table:
    """Facts in every status, as `serving.facts.known` gives them, as documents: `user lives in Bremen`.

    `conflicts` are rows of `contradictions`, `said` the messages: a fact is of the domain in which all of it was said.
    """
    against: dict[str, set[str]] = defaultdict(set)
    for row in conflicts:
        if row["status"] == "open":
            against[row["edge_id"]].add(row["other_edge_id"])
            against[row["other_edge_id"]].add(row["edge_id"])
    turns = zip(*(said[name].to_pylist() for name in ("session_id", "turn_number", "domain")), strict=True)
    domains = {(session, turn): domain for session, turn, domain in turns if domain}
    return pa.Table.from_pylist([_fact(row, against, domains) for row in rows], schema=SCHEMA)


def sentence(row: Row) -> str:
    """A fact in words."""
    verb = str(row["relation"]).replace("_", " ")
    return f"{row['subject']} {'' if row['polarity'] == 1 else 'not '}{verb} {row['object']}"


def _fact(row: Row, against: Mapping[str, set[str]], domains: Mapping[tuple[str, int], str]) -> Row:
    sources = [{name: source[name] for name in ("session_id", "turn_number")} for source in row["provenance"]]
    first = sources[0] if sources else {}
    said_in = {domains.get((source["session_id"], source["turn_number"])) for source in sources}
    return {
        "kind": FACT, "session_id": first.get("session_id"), "turn_number": first.get("turn_number"),
        "edge_id": row["edge_id"], "text": sentence(row), "speaker": None, "role": None, "said_at": row["learned_at"],
        "confidence": row["effective_confidence"], "tags": [], "domain": said_in.pop() if len(said_in) == 1 else None,
        "status": row["status"], "subject": row["subject"], "relation": row["relation"], "object": row["object"],
        "names": row["end_keys"], "sources": sources, "conflicts": sorted(against[row["edge_id"]]),
    }  # fmt: skip
