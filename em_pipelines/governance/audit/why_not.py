"""Why memory does not know something: what became of every message in which it was said.

Searches one user's messages for words and follows each hit through the tables: refused, skipped, not read yet, read
and not stored, stored and since revised, retracted, faded or held back.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson

from em_pipelines.governance.audit.imported import (
    COUNTS,
    SEED,
    UNFOLDED,
    Decisions,
    correlation_of,
    seed_of,
    seed_of_claim,
)
from em_pipelines.governance.audit.rows import Row, World, rows_where, state_where
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.guard.screening import TRUNCATED, quotable
from em_pipelines.guard.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT
from em_pipelines.landing.dead_letters import words_of
from em_pipelines.language.sentences import Span, sentences
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.schema.readings import Withheld
from em_pipelines.schema.rows import FeedbackRow
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES
from em_pipelines.schema.tables.graph import EDGES, ENTITIES, GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import OBSERVATIONS, Act, PrivacyLevel, Status
from em_pipelines.storage.duckdb_engine import scratch
from em_pipelines.storage.lake import Lake

NEVER_SAID = "never_said"
NOT_BY_A_PERSON = "said_only_by_the_assistant"
OTHER_BRANCH = "other_branch"
"""Said in a branch of a conversation that was not continued: verdict, and reason of a dead letter."""
NOT_EXTRACTED = "not_extracted_yet"
KNOWN = "known"
NOT_KNOWN = "not_known"
NOT_RUN = "not_run"
"""What became of a message that no run has extracted."""
SHORTEST_BEGINNING = 4
"""Letters of a word that is found at the beginning of longer ones: `tea` says nothing of teams."""
MIN_SHOWN_CONFIDENCE = 0.40
"""Queries leave out what is below, unless they are asked for it."""
_REMEDIES = {
    f"{category}_withheld": f"EM_SAFETY__IS_{category.upper()}_ENABLED=true brings it back with the next run"
    for category in (HEALTH, FINANCIAL, IDENTITY_DOCUMENT)
} | {TRUNCATED: "EM_SAFETY__MAX_CHARACTERS says how much of a message is looked at"}
STATING = ("accept", "answer", "correct", "confirm", "add_facts")
"""Feedback that says what holds."""
CLAIM_ID = "claim_id"
CLAIM_FIELDS = (
    CLAIM_ID, "subject", "relation", "object", "value", "attribute", "polarity", "confidence", "span_start",
)  # fmt: skip

Says = Callable[[str | None], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for, in whose memory, on which day, and what holds there."""

    user_id: str
    text: str
    as_of: date
    min_storage_confidence: float
    decay: DecaySettings
    unfolded: Sequence[FeedbackRow] = ()
    """The user's feedback that has landed and that no run has folded yet, as rows of `feedback`."""
    unextracted: Sequence[Row] = ()
    """The user's messages that have landed and that no run has extracted yet, as rows of `messages`."""
    letters: Sequence[Row] = ()
    """The user's dead letters, as rows of `dead_letters`."""


def why_not(lake: Lake, asked: Asked) -> dict[str, Any]:
    """What became of every message of the user that holds all words of the text, oldest first.

    `verdict` sums it up: never_said, other_branch, said_only_by_the_assistant, not_extracted_yet, known or not_known.
    Case and accents do not matter; where words stand nowhere by themselves, those of four letters are found at the
    beginning of longer ones, too. Each message has its `fates`: `what` in a word, and why; and its `sentences`, each
    with the fates that are of it alone and whether it is the one that was asked about.
    """
    said, feedback = _messages(lake, asked), _feedback(lake, asked)
    begun, says = _searched(asked.text), _searched(asked.text, is_whole=True)
    if not any(map(says, (*(row["content"] for row in said), *(row["payload"] for row in feedback)))):
        says = begun
    messages = [row for row in said if says(row["content"])]
    decisions = Decisions.of(feedback)
    fates = _fates(lake, asked, messages, decisions)
    hits = [_hit(row, fates[row["message_id"]], begun) for row in messages]
    told = _told(lake, asked, says, feedback, decisions)
    letters = _letters(asked, says)
    return {
        "user_id": asked.user_id,
        "text": asked.text,
        "verdict": _verdict(messages, letters, hits, told),
        "messages": hits,
        "feedback": told,
        "dead_letters": letters,
    }


def _messages(lake: Lake, asked: Asked) -> list[Row]:
    """The user's messages, extracted or not, in the order in which they were said."""
    rows = {row["message_id"]: row for row in rows_where(lake, MESSAGES, "user_id", [asked.user_id])}
    rows |= {row["message_id"]: row for row in asked.unextracted if row["message_id"] not in rows}
    return sorted(rows.values(), key=lambda row: (row["timestamp"], row["session_id"], row["turn_number"]))


def folded(text: str) -> str:
    """A text without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in plain if not unicodedata.combining(character))


def _searched(text: str, *, is_whole: bool = False) -> Says:
    ends = {True: r"(?!\w)", False: ""}
    words = [
        re.compile(rf"(?<!\w){re.escape(word)}{ends[is_whole or len(word) < SHORTEST_BEGINNING]}")
        for word in folded(text).split()
    ]
    return lambda said: bool(words) and said is not None and all(word.search(folded(said)) for word in words)


def _letters(asked: Asked, says: Says) -> list[Row]:
    """Dead letters of the user that hold the words and were not taken in since."""
    return [
        {name: row[name] for name in ("dead_letter_id", "landed_on", "reason", "status")}
        for row in asked.letters
        if row["status"] != "replayed" and says(words_of(row["raw"]))
    ]


def _hit(message: Row, fates: list[Row], says: Says) -> Row:
    """A message that holds the words, with what became of it."""
    told = [_about(fate, says) for fate in fates] or [{"what": "nothing_stated"}]
    return {
        **{name: message[name] for name in ("timestamp", "session_id", "turn_number", "role", "correlation_id")},
        "text": message["content"],
        "fates": [*told, *_unquoted(message, says)],
        "sentences": [_sentence(message, span, told, says) for span in sentences(message["content"])],
    }


def _sentence(message: Row, span: Span, fates: list[Row], says: Says) -> Row:
    """One sentence of a message: the facts that were extracted from it, and else why none was."""
    text = message["content"][slice(*span)]
    own = [fate for fate in fates if "claim" in fate and span[0] <= fate["claim"]["span_start"] < span[1]]
    whole = [fate for fate in fates if fate["what"] in (NOT_RUN, "skipped")]
    found = [*(own or whole), *_withheld_in(message, span)]
    return {"text": text, "is_asked": says(text), "fates": found or [{"what": "nothing_stated"}]}


def _withheld_in(message: Row, span: Span) -> list[Row]:
    """Why words of a sentence are not read or not quoted."""
    found = (one for one in message["withheld"] if one["span_start"] < span[1] and span[0] < one["span_end"])
    issues = dict.fromkeys(one["issue"] for one in found)
    return [{"what": "withheld", "reason": issue, "detail": _REMEDIES.get(issue, "")} for issue in issues]


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
    refused = [letter for letter in letters if letter["reason"] != OTHER_BRANCH]
    if not (refused or told):
        if all(row["subject"] is None for row in messages):
            return _unsaid(messages, letters)
        if all(map(_is_not_run, hits)):
            return NOT_EXTRACTED
    return KNOWN if any(map(_is_known, (*hits, *told))) else NOT_KNOWN


def _unsaid(messages: list[Row], letters: list[Row]) -> str:
    """The verdict on what no person said in a conversation as it went on."""
    if letters:
        return OTHER_BRANCH
    return NOT_BY_A_PERSON if messages else NEVER_SAID


def _is_not_run(hit: Row) -> bool:
    return any(fate["what"] == NOT_RUN for fate in hit["fates"])


def _is_known(hit: Row) -> bool:
    return any(fate["what"] in (KNOWN, COUNTS) and fate["is_about"] for fate in hit["fates"])


@dataclass(frozen=True, slots=True)
class _Consequences:
    """What claims or feedback did to facts: the operations by what caused them, and the facts as they stand."""

    operations: dict[str, list[Row]]
    edges: dict[str, Row]
    world: World

    @classmethod
    def of(cls, lake: Lake, asked: Asked, causes: set[str], days: set[date], by: str = CLAIM_ID) -> "_Consequences":
        """Those of claims of these ids and days; of feedback by its correlation, for one may state several facts."""
        operations: dict[str, list[Row]] = defaultdict(list)
        for op in rows_where(lake, GRAPH_OPS, by, causes, days):
            operations[op[by]].append(op)
        edges = _edges(lake, asked, {op["edge_id"] for made in operations.values() for op in made})
        return cls(operations, edges, World(lake, asked.user_id))

    @classmethod
    def of_feedback(cls, lake: Lake, asked: Asked, rows: Sequence[Row]) -> "_Consequences":
        """Those of feedback."""
        causes = {correlation_of(row["feedback_id"]) for row in rows}
        return cls.of(lake, asked, causes, {row["timestamp"].date() for row in rows}, "correlation_id")

    def fates(self, cause: str) -> list[Row]:
        """How the facts stand that feedback made or changed."""
        return [
            self.fate(self.edges[op["edge_id"]])
            for op in self.operations.get(correlation_of(cause), ())
            if op["edge_id"] in self.edges
        ]

    def fate(self, edge: Row) -> Row:
        """How a fact stands."""
        return {"what": _standing(edge), "fact": self.world.said(edge), **_left(edge)}


def _feedback(lake: Lake, asked: Asked) -> list[Row]:
    """The user's feedback, folded or not, in the order in which it was given."""
    rows = {row["feedback_id"]: row for row in rows_where(lake, FEEDBACK, "user_id", [asked.user_id])}
    rows |= {row["feedback_id"]: {**row} for row in asked.unfolded}
    return sorted(rows.values(), key=lambda row: (row["timestamp"], row["feedback_id"]))


def _told(lake: Lake, asked: Asked, says: Says, feedback: list[Row], decisions: Decisions) -> list[Row]:
    """Feedback that names what is asked for, and how the facts stand that it made or changed; an imported fact once,
    with what was decided upon it."""
    found = [row for row in feedback if says(row["payload"])]
    seeds = {seed for row in found if row["type"] == SEED and (seed := seed_of(row))}
    shown = [row for row in found if row["type"] == SEED or seed_of(row) not in seeds]
    causes = [(decisions.accepted(str(seed_of(row))) or row) if row["type"] == SEED else row for row in shown]
    done = _Consequences.of_feedback(lake, asked, causes)
    unfolded = {row["feedback_id"] for row in asked.unfolded}
    return [
        {
            **{name: row[name] for name in ("feedback_id", "timestamp", "type", "payload")},
            "fates": _fates_of_told(cause, done, decisions, says, is_unfolded=cause["feedback_id"] in unfolded),
        }
        for row, cause in zip(shown, causes, strict=True)
    ]


def _fates_of_told(
    cause: Row, done: _Consequences, decisions: Decisions, says: Says, *, is_unfolded: bool
) -> list[Row]:
    if cause["type"] == SEED:
        return [{**decisions.fate(str(seed_of(cause))), "is_about": True}]
    if is_unfolded:
        return [{**UNFOLDED, "is_about": cause["type"] in STATING and says(_stated(orjson.loads(cause["payload"])))}]
    return [{**fate, "is_about": True} for fate in done.fates(cause["feedback_id"])]


def _stated(told: Row) -> str:
    """What feedback says that holds, without what it puts away."""
    facts = told.get("facts") or [told]
    named = ("subject", "attribute", "new_object" if "new_object" in told else "object", "value")
    return " ".join(str(fact[name]) for fact in facts for name in named if fact.get(name))


def _fates(lake: Lake, asked: Asked, messages: list[Row], decisions: Decisions) -> dict[str, list[Row]]:
    """What became of each message, by its id."""
    ids = {row["message_id"] for row in messages}
    days = {row["timestamp"].date() for row in messages}
    fates: dict[str, list[Row]] = defaultdict(list)
    for message_id in _not_run(lake, asked, messages):
        fates[message_id].append({"what": NOT_RUN})
    for issue in rows_where(lake, EXTRACTION_ISSUES, "message_id", ids, days):
        fates[issue["message_id"]].append(
            {"what": issue["issue"], "reason": issue["reason"], "detail": issue["detail"]}
        )
    claims = [one for one in rows_where(lake, CLAIMS, "message_id", ids, days) if one["relation"] not in OBSERVATIONS]
    accepted = [*filter(None, (_letting_count(claim, decisions) for claim in claims))]
    done = _Consequences.of(lake, asked, {claim["claim_id"] for claim in claims}, days)
    decided = _Consequences.of_feedback(lake, asked, accepted)
    for claim in claims:
        said = {"claim": {name: claim[name] for name in CLAIM_FIELDS}}
        if claim["act"] == Act.PROPOSE:
            fates[claim["message_id"]] += [{**fate, **said} for fate in _of_proposal(claim, decided, decisions)]
        else:
            fates[claim["message_id"]].append({**_fate(claim, done, asked), **said})
    return fates


def _not_run(lake: Lake, asked: Asked, messages: list[Row]) -> list[str]:
    """The ids of messages that no run has extracted."""
    waiting, days = {row["message_id"] for row in asked.unextracted}, lake.days(CLAIMS)
    return [
        row["message_id"] for row in messages if row["message_id"] in waiting or row["timestamp"].date() not in days
    ]


def _letting_count(claim: Row, decisions: Decisions) -> Row | None:
    """The feedback by which what was read in an imported note counts."""
    return decisions.accepted(seed_of_claim(claim)) if claim["act"] == Act.PROPOSE else None


def _of_proposal(claim: Row, done: _Consequences, decisions: Decisions) -> list[Row]:
    """What became of what was read in an imported note."""
    accepted = _letting_count(claim, decisions)
    if accepted is None:
        return [decisions.fate(seed_of_claim(claim))]
    return done.fates(accepted["feedback_id"]) or [UNFOLDED]


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
    if claim["act"] in (Act.RETRACT, Act.RETRACT_ALL):
        return {"what": "retraction", "edge_ids": [op["edge_id"] for op in made]}
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
