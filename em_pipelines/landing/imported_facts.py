"""Imported facts and what became of them: which wait, which were turned away; `governance.review` decides.

What waits is what has landed as `seed` and nobody has decided upon, and what was read in imported notes (claims of
the act `propose`). A fact is known by what it says, so what was decided once does not come again, from whatever file.
Pure: feedback comes as records of the log or as rows of the table, which have the same fields here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson
import pyarrow as pa

from em_pipelines.landing.records import IMPORT, SEED
from em_pipelines.language.fact_keys import key_of_claim, seed_id_of
from em_pipelines.schema.rows import ClaimRow

NOTES = "notes"
ACCEPT, REJECT = "accept", "reject"
DECISIONS = (ACCEPT, REJECT)
TOLD = (SEED, IMPORT, *DECISIONS)
"""The types of feedback that say anything here."""
WAITING_SCHEMA = pa.schema(
    [
        ("seed_id", pa.string()),
        ("user_id", pa.string()),
        ("kind", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("session_id", pa.string()),
        ("subject", pa.string()),
        ("relation", pa.string()),
        ("object", pa.string()),
        ("attribute", pa.string()),
        ("statement", pa.string()),
        ("polarity", pa.int64()),
        ("confidence", pa.float64()),
    ]
)
"""What is shown of an imported fact, wherever it is."""
_SAID = ("subject", "relation", "object", "attribute", "statement")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An imported fact that waits: where it stands (`line` from 1), what it says, and all of it as feedback."""

    seed_id: str
    user_id: str
    source_kind: str
    file: str | None
    line: int | None
    session_id: str | None
    fact: dict[str, Any]

    @property
    def said(self) -> str:
        """The fact in words of the vocabulary."""
        key, relation = self.fact.get("attribute"), self.fact["relation"].replace("_", " ")
        no = "not " if self.fact.get("polarity", 1) < 0 else ""
        return f"{no}{self.fact['subject']} {f'({key})' if key else relation} {self.fact['object']}"

    def as_document(self) -> dict[str, Any]:
        """In the fields of `WAITING_SCHEMA`."""
        return {
            "seed_id": self.seed_id, "user_id": self.user_id, "kind": self.source_kind, "file": self.file,
            "line": self.line, "session_id": self.session_id, **{name: self.fact.get(name) for name in _SAID},
            "polarity": self.fact.get("polarity", 1), "confidence": self.fact.get("confidence"),
        }  # fmt: skip


def undecided(
    feedback: Iterable[Mapping[str, Any]], proposed: Iterable[ClaimRow], *, is_rejected: bool = False
) -> list[Waiting]:
    """What waits, by user, file and line; with `is_rejected` what was turned away instead.

    `feedback` is of the types `TOLD` and of all days, `proposed` the claims of the act `propose`.
    """
    told = list(feedback)
    verdicts = _verdicts(told)
    items = {item.seed_id: item for item in (*_seeds(told), *_proposals(told, proposed))}
    wanted = REJECT if is_rejected else None
    found = [item for item in items.values() if verdicts.get(item.seed_id) == wanted]
    return sorted(found, key=lambda item: (item.user_id, item.file or "", item.line or 0))


def days_of_notes(feedback: Iterable[Mapping[str, Any]]) -> list[date]:
    """The days on which an imported note was written: no other has claims that are proposed."""
    days = {orjson.loads(one["payload"])["day"] for one in feedback if one["type"] == IMPORT}
    return sorted(date.fromisoformat(day) for day in days)


def waiting_table(items: Iterable[Waiting]) -> pa.Table:
    """Imported facts in the columns of `WAITING_SCHEMA`."""
    return pa.Table.from_pylist([item.as_document() for item in items], WAITING_SCHEMA)


def _verdicts(feedback: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The last decision upon each imported fact."""
    decisions = sorted(
        (r for r in feedback if r["type"] in DECISIONS), key=lambda r: (r["timestamp"], r["feedback_id"])
    )
    return {orjson.loads(record["payload"])["seed_id"]: record["type"] for record in decisions}


def _seeds(feedback: Iterable[Mapping[str, Any]]) -> Iterator[Waiting]:
    for record in feedback:
        if record["type"] == SEED:
            fact = orjson.loads(record["payload"])
            place = (fact.get("source_kind", ""), fact.get("file"), fact.get("line"))
            yield Waiting(record["feedback_id"], record["user_id"], *place, record.get("session_id"), fact)


def _proposals(feedback: Iterable[Mapping[str, Any]], proposed: Iterable[ClaimRow]) -> Iterator[Waiting]:
    """What was read in imported notes."""
    files: dict[tuple[str, str | None], str | None] = {
        (record["user_id"], record["session_id"]): orjson.loads(record["payload"]).get("file")
        for record in feedback
        if record["type"] == IMPORT
    }
    for claim in proposed:
        yield _of_claim(claim, files.get((claim["user_id"], claim["session_id"])))


def _of_claim(claim: ClaimRow, file: str | None) -> Waiting:
    """A claim that was read in a note, as an imported fact."""
    fields = (
        "subject", "subject_type", "relation", "object_type", "attribute", "polarity", "temporal_type", "statement",
        "confidence", "valid_from", "valid_to", "valid_precision", "flags",
    )  # fmt: skip
    said = {name: claim[name] for name in fields if claim[name] is not None}  # type: ignore[literal-required]
    fact = {
        **said, "object": claim["object"] if claim["object"] is not None else claim["value"], "source_kind": NOTES,
        "privacy_floor": claim["privacy_level"], "file": file,
        "line": claim["turn_number"],
    }  # fmt: skip
    seed_id = seed_id_of(claim["user_id"], key_of_claim(claim))
    return Waiting(seed_id, claim["user_id"], NOTES, fact["file"], fact["line"], claim["session_id"], fact)
