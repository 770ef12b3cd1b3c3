"""What can be found: messages, and facts as short sentences. One user's, in order of time."""

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.lake import rows_of

MESSAGE, FACT = "message", "fact"
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
    ]
)
"""One row a document. `turn_number` and `session_id` of a fact are those of its first provenance; `confidence` is the
effective one of a fact, 1 of a message."""


def messages(table: pa.Table, user_id: str) -> pa.Table:
    """The user's messages as documents, in order of time and turn; those of tools and the system are left out."""
    own = table.filter(
        pc.and_(pc.equal(table["user_id"], user_id), pc.is_in(table["role"], pa.array(["user", "assistant"])))
    )
    order = [("timestamp", "ascending"), ("session_id", "ascending"), ("turn_number", "ascending")]
    rows = [
        {
            "kind": MESSAGE, "session_id": row["session_id"], "turn_number": row["turn_number"], "edge_id": None,
            "text": row["content"], "speaker": row["speaker"] or row["role"], "role": row["role"],
            "said_at": row["timestamp"], "confidence": 1.0, "tags": row["tags"], "domain": row["domain"],
        }
        for row in rows_of(own.sort_by(order))
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def facts(rows: list[dict[str, object]]) -> pa.Table:
    """Facts as `em facts` gives them, as documents: `user lives in Bremen`."""
    return pa.Table.from_pylist([_fact(row) for row in rows], schema=SCHEMA)


def sentence(row: dict[str, object]) -> str:
    """A fact in words."""
    verb = str(row["relation"]).replace("_", " ")
    return f"{row['subject']} {'' if row['polarity'] == 1 else 'not '}{verb} {row['object']}"


def _fact(row: dict[str, object]) -> dict[str, object]:
    sources, said_at = row["provenance"], datetime.fromisoformat(str(row["learned_at"]))
    first = sources[0] if isinstance(sources, list) and sources else {}
    return {
        "kind": FACT, "session_id": first.get("session_id"), "turn_number": first.get("turn_number"),
        "edge_id": row["edge_id"], "text": sentence(row), "speaker": None, "role": None, "said_at": said_at,
        "confidence": row["confidence"], "tags": [], "domain": None,
    }  # fmt: skip
