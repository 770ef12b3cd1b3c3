"""Whether what somebody says is right would count: past the guard, and a value that its relation can hold."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from em_pipelines.extraction.feedback_claims import Assertion, Origin, stated
from em_pipelines.extraction.feedback_statements import FEEDBACK, spoken
from em_pipelines.extraction.literals import is_literal_of
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.schema.feedback_payloads import FactNamed
from em_pipelines.schema.rows import FeedbackRow
from em_pipelines.schema.vocabulary import Mechanism

MAX_NAME = 500
KEPT_AWAY = (
    "the guard keeps it away, as it does what gives orders, holds markup or a secret, or tells of health or income "
    "while those are switched off; nothing was noted"
)
FORMS = {"has_birthday": "no day: give it as 1990-05-04, 05-04 or 4 May", "has_age": "no age: give it as a number"}
"""Relations whose value is useless where it says something else."""


def objection(row: FeedbackRow, said: Mapping[str, Any], safety: SafetySettings) -> str | None:
    """Why the value of a correction, or of a fact that is confirmed by what it says, would come to nothing; None where
    it would count. A fact that is meant by its id says its own value, which counted once."""
    relation = said.get("relation")
    is_named = row["type"] == "confirm" and relation and not said.get("edge_id")
    right = said.get("object") if is_named else said.get("new_object")
    if right is None:
        return None
    if relation in FORMS and not is_literal_of(relation, str(right), row["timestamp"].date()):
        return f"{right!r:.80} is {FORMS[relation]}; nothing was noted"
    read = spoken([row], safety)
    if read.claims or any(act.claim for act in read.targeted):
        return None
    return KEPT_AWAY


def is_name_kept_away(name: str, safety: SafetySettings) -> bool:
    """Whether the guard would keep a name away, as it does what gives orders or holds markup."""
    told = FactNamed(relation="knows", object=name[:MAX_NAME])
    at = datetime(1970, 1, 1, tzinfo=UTC)
    origin: Origin = {
        "user_id": "", "session_id": "", "turn_number": 0, "message_id": "", "segment_id": "", "timestamp": at,
        "extractor": FEEDBACK, "correlation_id": "",
    }  # fmt: skip
    return stated(origin, Assertion(told, name[:MAX_NAME], 1.0, Mechanism.USER_CORRECTION), safety) is None
