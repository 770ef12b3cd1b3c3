"""What memory would like to ask or to say, for whoever talks with its user: what may be said now, or why nothing."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from em_pipelines.lifecycle.proactive.delivery import Decision, Situation
from em_pipelines.lifecycle.proactive.offering import Offered, offer_probes, offer_starters, situation_of
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.retrieval.tellable_asks import may_be_told
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS

QUEUED = "queued"
NOTHING_WAITS = "nothing_waits"
Kind = Literal["probes", "starters"]


@dataclass(frozen=True, slots=True)
class Asks:
    """What may be said now, worth most first; of what waits and may not be said, the decision and its row by id."""

    rows: tuple[dict[str, Any], ...]
    kept_back: tuple[Decision, ...]
    waiting: dict[str, dict[str, Any]]

    @property
    def why_none(self) -> str | None:
        """Why nothing may be said: the reason of what would be worth most, or that nothing waits; None where something
        may be."""
        if self.rows:
            return None
        reason = self.kept_back[0].why_not if self.kept_back else None
        return reason.value if reason else NOTHING_WAITS

    @property
    def until(self) -> datetime | None:
        """From when on something may be said, where nothing may now and a clock will mend it: the earliest known."""
        if self.rows:
            return None
        return min((one.until for one in self.kept_back if one.until), default=None)


def asks(  # noqa: PLR0913  (what is asked, who asks, and where)
    home: Pipeline,
    kind: Kind,
    user_id: str,
    situation: Situation,
    limit: int = 1,
    view: DomainView | None = None,
    *,
    is_noted: bool,
) -> Asks:
    """What may be said to the user in this situation, in their own time zone. With `is_noted` it counts as said."""
    table, offer = (PROBES, offer_probes) if kind == "probes" else (STARTERS, offer_starters)
    placed = situation_of(home, user_id, situation)
    found: Offered = offer(home, user_id, placed, may_be_told(home, user_id, table, view), limit, is_noted=is_noted)
    day = home.store.lake.latest(table, date.max)
    rows = rows_of(home.store.lake.find(table, day, "user_id", [user_id])) if day else ()
    kept_back = tuple(one for one in found.decisions if one.why_not is not None)
    return Asks(found.rows, kept_back, {row[table.key[0]]: row for row in rows})
