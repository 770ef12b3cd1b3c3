"""Identifiers: hashes of what identifies a thing, so that a rebuild from the logs gives the same ones.

Add a function here when a table gets a new kind of row; never hash wall time, file names or anything else that
depends on the route by which a record arrived.
"""

import hashlib
from collections.abc import Iterable

SEPARATOR = b"\x1f"


def content_id(kind: str, *parts: object) -> str:
    """Returns `kind_` and 20 hex digits (80 bits) of SHA-256 over the parts, in order.

    Parts carry their length in bytes, so ("ab", "c") and ("a", "bc") differ; None differs from "". By the birthday
    bound 80 bits hold 10^9 rows of one kind with a collision chance below 10^-6. `graph/sql/macros.sql` has the same
    function for SQL.
    """
    encoded = [kind.encode()]
    for part in parts:
        if part is None:
            encoded.append(b"-")
            continue
        data = str(part).encode("utf-8", "surrogatepass")
        encoded.append(b"%d:%s" % (len(data), data))
    return f"{kind}_{hashlib.sha256(SEPARATOR.join(encoded)).hexdigest()[:20]}"


def message_id(user_id: str, session_id: str, turn_number: int) -> str:
    """The id of one message; (user_id, session_id, turn_number) is the idempotency key of the log."""
    return content_id("msg", user_id, session_id, turn_number)


def correlation_id(user_id: str, session_id: str, turn_number: int) -> str:
    """What ties everything that came of one message together; the same on every run."""
    return content_id("cor", user_id, session_id, turn_number)


def entity_id(user_id: str, name_key: str, discriminator: str = "") -> str:
    """The id of an entity of one user.

    `name_key` is the normalised name under which it was first seen; `discriminator` tells namesakes apart.
    """
    return content_id("ent", user_id, name_key, discriminator)


def edge_id(
    user_id: str,
    subject_id: str,
    relation: str,
    object_key: str,
    attribute: str | None,
    polarity: int,
    spell: int,
) -> str:
    """The id of a fact.

    `object_key` is the object's entity id or the literal's normalised text. `spell` counts the times this fact
    became active (1, 2, …): who moves away and back again lives there in two spells, with validities of their own.
    """
    return content_id("edge", user_id, subject_id, relation, object_key, attribute, polarity, spell)


def digest(parts: Iterable[str]) -> str:
    """SHA-256 over parts in order, each on a line of its own."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
