"""What was decided upon imported facts, and so what became of them: for whoever asks why memory does not know one.

Decides nothing: letting a fact count and turning it away are the business of `governance/review.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from em_pipelines.governance.audit.rows import Row
from em_pipelines.language.fact_keys import key_of_claim, seed_id_of
from em_pipelines.schema.ids import content_id

ACCEPT, REJECT, SEED = "accept", "reject", "seed"
WAITS, TURNED_AWAY, COUNTS = "waits_for_a_review", "turned_away", "counts_already"
UNFOLDED: Row = {"what": COUNTS, "reason": "readers see it at once; the next `em run` folds it in"}


@dataclass(frozen=True, slots=True)
class Decisions:
    """The last decision upon each imported fact of one user, by the fact's id."""

    last: dict[str, Row]

    @classmethod
    def of(cls, feedback: Iterable[Row]) -> "Decisions":
        """Those among rows of `feedback`."""
        made = [row for row in feedback if row["type"] in (ACCEPT, REJECT)]
        made.sort(key=lambda row: (row["timestamp"], row["feedback_id"]))
        return cls({orjson.loads(row["payload"])["seed_id"]: row for row in made})

    def accepted(self, seed_id: str) -> Row | None:
        """The feedback that lets a fact count; None where nothing does."""
        found = self.last.get(seed_id)
        return found if found and found["type"] == ACCEPT else None

    def fate(self, seed_id: str) -> Row:
        """What became of a fact that does not count."""
        found = self.last.get(seed_id)
        if found is None:
            return {"what": WAITS, "reason": "nobody has looked at it yet: see `em review list`"}
        day = f"{found['timestamp']:%Y-%m-%d}"
        return {"what": TURNED_AWAY, "reason": f"on {day}; `em review accept {seed_id}` lets it count after all"}


def correlation_of(feedback_id: str) -> str:
    """What all that came of one feedback shares."""
    return content_id("cor", feedback_id)


def seed_of(row: Row) -> str | None:
    """The imported fact that feedback is, or decides upon."""
    if row["type"] == SEED:
        return str(row["feedback_id"])
    return str(orjson.loads(row["payload"])["seed_id"]) if row["type"] in (ACCEPT, REJECT) else None


def seed_of_claim(claim: Row) -> str:
    """The id under which what was read in an imported note waits."""
    return seed_id_of(claim["user_id"], key_of_claim(claim))
