"""The section of a block with the question that memory would like to ask: one at most, and said to come last."""

from datetime import UTC, date, datetime

from em_pipelines.lifecycle.proactive.delivery import Situation
from em_pipelines.lifecycle.proactive.offering import offer_probes, situation_of
from em_pipelines.retrieval.context.sections import Line, element
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.tellable_asks import may_be_told
from em_pipelines.retrieval.user_search import seen_from
from em_pipelines.schema.tables.outgoing import PROBES

AFTER = "after answering"
"""When it may be asked: only once what the person wants is served."""


def question(  # noqa: PLR0913  (who is asked, of what, how far into which conversation)
    home: SearchableHome,
    user_id: str,
    context: str,
    domain: str | None,
    session_id: str | None,
    turn_number: int | None,
    *,
    is_noted: bool = False,
) -> Line | None:
    """The probe that may be asked now and fits the context, as a line; None where there is none. With `is_noted` it
    counts as asked."""
    day = home.store.lake.latest(PROBES, date.max)
    if day is None or home.store.lake.find(PROBES, day, "user_id", [user_id]).num_rows == 0:
        return None
    moment = Situation(datetime.now(UTC), session_id, turn_number, context=context)
    is_told = may_be_told(home, user_id, PROBES, seen_from(home, user_id, domain))
    found = offer_probes(home, user_id, situation_of(home, user_id, moment), is_told, 1, is_noted=is_noted)
    if not found.rows:
        return None
    (row,) = found.rows
    told = {"id": row["probe_id"], "ask": AFTER, "benefit": row["benefit"]}
    return Line(element("probe", row["text"], told), probe_ids=(row["probe_id"],))
