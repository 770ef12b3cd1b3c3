"""Why memory does not know something: what became of every message in which it was said.

Searches one user's messages for words and follows each hit through the tables: refused, skipped, not read yet, read
and not stored, stored and since revised, retracted, faded or held back.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from em_pipelines.governance.audit.rows import Row, World, rows_where, state_where
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.schema.readings import Withheld
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.clean import DEAD_LETTERS, MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES
from em_pipelines.schema.tables.graph import EDGES, ENTITIES, GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import Act, PrivacyLevel, Status
from em_pipelines.storage.duckdb_engine import scratch
from em_pipelines.storage.lake import Lake
from em_pipelines.text.guard.screening import TRUNCATED, quotable
from em_pipelines.text.guard.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT

NEVER_SAID = "never_said"
NOT_BY_A_PERSON = "said_only_by_the_assistant"
KNOWN = "known"
NOT_KNOWN = "not_known"
MIN_SHOWN_CONFIDENCE = 0.40
"""Queries leave out what is below, unless they are asked for it."""
_REMEDIES = {
    f"{category}_withheld": f"EM_SAFETY__IS_{category.upper()}_ENABLED=true brings it back with the next run"
    for category in (HEALTH, FINANCIAL, IDENTITY_DOCUMENT)
} | {TRUNCATED: "EM_SAFETY__MAX_CHARACTERS says how much of a message is looked at"}
CLAIM_FIELDS = ("claim_id", "subject", "relation", "object", "value", "attribute", "polarity", "confidence")

Says = Callable[[str | None], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for, in whose memory, on which day, and what holds there."""

    user_id: str
    text: str
    as_of: date
    min_storage_confidence: float
    decay: DecaySettings


def why_not(lake: Lake, asked: Asked) -> dict[str, Any]:
    """What became of every message of the user that holds all words of the text, oldest first.

    `verdict` sums it up: never_said, said_only_by_the_assistant, known or not_known. Case and accents do not matter;
    a word is also found at the beginning of a longer one. Each message has its `fates`: `what` in a word, and why.
    """
    says = _searched(asked.text)
    messages = [row for row in rows_where(lake, MESSAGES, "user_id", [asked.user_id]) if says(row["content"])]
    fates = _fates(lake, asked, messages)
    hits = [_hit(row, fates[row["message_id"]], says) for row in messages]
    told = _told(lake, asked, says)
    letters = _letters(lake, asked, says)
    return {
        "user_id": asked.user_id,
        "text": asked.text,
        "verdict": _verdict(messages, letters, hits, told),
        "messages": hits,
        "feedback": told,
        "dead_letters": letters,
    }


def folded(text: str) -> str:
    """A text without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in plain if not unicodedata.combining(character))


def _searched(text: str) -> Says:
    words = [re.compile(rf"(?<!\w){re.escape(word)}") for word in folded(text).split()]
    return lambda said: bool(words) and said is not None and all(word.search(folded(said)) for word in words)


def _letters(lake: Lake, asked: Asked, says: Says) -> list[Row]:
    """Dead letters of the user that hold the words and were not taken in since."""
    letters = (row for row in rows_where(lake, DEAD_LETTERS, "user_id", [asked.user_id]) if row["status"] != "replayed")
    return [
        {name: row[name] for name in ("dead_letter_id", "landed_on", "reason", "status")}
        for row in letters
        if says(row["raw"].decode("utf-8", "replace"))
    ]


def _hit(message: Row, fates: list[Row], says: Says) -> Row:
    """A message that holds the words, with what became of it."""
    return {
        **{name: message[name] for name in ("timestamp", "session_id", "turn_number", "role", "correlation_id")},
        "text": message["content"],
        "fates": [*([_about(fate, says) for fate in fates] or [{"what": "nothing_stated"}]), *_unquoted(message, says)],
    }


def _unquoted(message: Row, says: Says) -> list[Row]:
    """Why search and quotes leave the words out, where the guard took them out of the message."""
    found = [Withheld(**one) for one in message["withheld"]]
    if says(quotable(message["content"], found)):
        return []
    issues = dict.fromkeys(one.issue for one in found)
    alone = [
        issue for issue in issues if not says(quotable(message["content"], (x for x in found if x.issue == issue)))
    ]
    return [{"what": "not_quoted", "reason": issue, "detail": _REMEDIES.get(issue, "")} for issue in alone or issues]


def _about(fate: Row, says: Says) -> Row:
    """Whether a claim is about what was asked, and not merely said beside it."""
    if "claim" not in fate:
        return fate
    claim = fate["claim"]
    ends = (claim["subject"], claim["object"], claim["value"], claim["attribute"], claim["relation"])
    return {**fate, "is_about": says(" ".join(str(end) for end in ends if end).replace("_", " "))}


def _verdict(messages: list[Row], letters: list[Row], hits: list[Row], told: list[Row]) -> str:
    if not (messages or letters or told):
        return NEVER_SAID
    if not (letters or told) and all(row["subject"] is None for row in messages):
        return NOT_BY_A_PERSON
    return KNOWN if any(map(_is_known, (*hits, *told))) else NOT_KNOWN


def _is_known(hit: Row) -> bool:
    return any(fate["what"] == KNOWN and fate["is_about"] for fate in hit["fates"])


@dataclass(frozen=True, slots=True)
class _Consequences:
    """What claims or feedback did to facts: the operations by what caused them, and the facts as they stand."""

    operations: dict[str, list[Row]]
    edges: dict[str, Row]
    world: World

    @classmethod
    def of(cls, lake: Lake, asked: Asked, causes: set[str], days: set[date]) -> "_Consequences":
        """Those of claims and feedback of these ids and days."""
        operations: dict[str, list[Row]] = defaultdict(list)
        for op in rows_where(lake, GRAPH_OPS, "claim_id", causes, days):
            operations[op["claim_id"]].append(op)
        edges = _edges(lake, asked, {op["edge_id"] for made in operations.values() for op in made})
        return cls(operations, edges, World(lake, asked.user_id))

    def fate(self, edge: Row) -> Row:
        """How a fact stands."""
        return {"what": _standing(edge), "fact": self.world.said(edge), **_left(edge)}


def _told(lake: Lake, asked: Asked, says: Says) -> list[Row]:
    """Feedback that names what is asked for, and how the facts stand that it made or changed."""
    feedback = [row for row in rows_where(lake, FEEDBACK, "user_id", [asked.user_id]) if says(row["payload"])]
    days = {row["timestamp"].date() for row in feedback}
    done = _Consequences.of(lake, asked, {row["feedback_id"] for row in feedback}, days)
    return [
        {
            **{name: row[name] for name in ("feedback_id", "timestamp", "type")},
            "fates": [
                {**done.fate(done.edges[op["edge_id"]]), "is_about": True}
                for op in done.operations.get(row["feedback_id"], ())
                if op["edge_id"] in done.edges
            ],
        }
        for row in feedback
    ]


def _fates(lake: Lake, asked: Asked, messages: list[Row]) -> dict[str, list[Row]]:
    """What became of each message, by its id."""
    ids = {row["message_id"] for row in messages}
    days = {row["timestamp"].date() for row in messages}
    fates: dict[str, list[Row]] = defaultdict(list)
    for row in messages:
        if row["timestamp"].date() not in lake.days(CLAIMS):
            fates[row["message_id"]].append({"what": "not_run"})
    for issue in rows_where(lake, EXTRACTION_ISSUES, "message_id", ids, days):
        fates[issue["message_id"]].append(
            {"what": issue["issue"], "reason": issue["reason"], "detail": issue["detail"]}
        )
    claims = rows_where(lake, CLAIMS, "message_id", ids, days)
    done = _Consequences.of(lake, asked, {claim["claim_id"] for claim in claims}, days)
    for claim in claims:
        fates[claim["message_id"]].append(
            {**_fate(claim, done, asked), "claim": {name: claim[name] for name in CLAIM_FIELDS}}
        )
    return fates


def _edges(lake: Lake, asked: Asked, ids: set[str]) -> dict[str, Row]:
    """The facts as they stand on the day that is asked about."""
    edges = EDGES.from_rows(state_where(lake, EDGES, "edge_id", ids))
    with scratch() as connection:
        standing = current_edges(edges, ENTITIES.empty(), asked.as_of, asked.decay.keeping(), connection).to_table()
        return {row["edge_id"]: row for row in rows_of(standing)}


def _fate(claim: Row, done: _Consequences, asked: Asked) -> Row:
    """What became of one claim, by the fact that says what it says."""
    if claim["confidence"] < asked.min_storage_confidence:
        return {"what": "below_min_storage_confidence", "min_storage_confidence": asked.min_storage_confidence}
    made = done.operations.get(claim["claim_id"], [])
    if claim["act"] == Act.RETRACT:
        return {"what": "retraction", "edge_ids": [op["edge_id"] for op in made]}
    if claim["act"] == Act.PROPOSE:
        return {"what": "waits_for_a_review", "reason": "it was read in an imported note; see `em review list`"}
    if not made:
        return {"what": "not_stored", "reason": "an end of it is no thing that memory could name"}
    edge_id = next((op for op in made if _makes(op)), made[0])["edge_id"]
    edge = done.edges.get(edge_id)
    return done.fate(edge) if edge else {"what": "deleted", "edge_id": edge_id}


def _makes(operation: Row) -> bool:
    """Whether it wrote or strengthened a fact; any other changed one that the claim replaces."""
    return operation["before"] is None or operation["operation"] in {"REINFORCE", "CONFIRM"}


def _standing(edge: Row) -> str:
    if edge["requires_verification"] or edge["privacy_level"] == PrivacyLevel.PRIVILEGED:
        return "requires_verification"
    if edge["status"] not in {Status.ACTIVE, Status.CONTRADICTED}:
        return str(edge["status"])
    if edge["effective_confidence"] < MIN_SHOWN_CONFIDENCE:
        return "faded"
    return KNOWN if edge["status"] == Status.ACTIVE else "contradicted"


def _left(edge: Row) -> Row:
    return {"effective_confidence": edge["effective_confidence"], "superseded_by": edge["superseded_by"]}
