"""What came of probes and starters so far, as feedback tells it: from the table, and from what has landed since."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

import orjson
import pyarrow.compute as pc

from em_pipelines.landing.tables import feedback_table, landing_run
from em_pipelines.lifecycle.proactive.delivery import Outcome
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

TOLD = {
    "probe_delivered": ("probe_id", "delivered"),
    "probe_accepted": ("probe_id", "accepted"),
    "probe_ignored": ("probe_id", "ignored"),
    "probe_deflected": ("probe_id", "deflected"),
    "starter_delivered": ("starter_id", "delivered"),
    "starter_engaged": ("starter_id", "engaged"),
    "starter_dismissed": ("starter_id", "dismissed"),
}
"""Types of feedback: under which name of the payload they say what they are about, and what they say of it."""
UNNAMED = "unnamed"
"""Of what feedback does not name. It counts as asked all the same: somebody was."""


def outcomes_of(rows: Iterable[Mapping[str, Any]], waiting: Mapping[str, Mapping[str, Any]]) -> Iterator[Outcome]:
    """The outcomes that rows of `feedback` tell. `waiting` are rows of probes or starters by id, or what the book
    of offers says of them: what kind they are and what about is known of those alone."""
    for row in rows:
        if row["type"] not in TOLD:
            continue
        name, said = TOLD[row["type"]]
        target = str(orjson.loads(row["payload"]).get(name) or UNNAMED)
        known = waiting.get(target, {})
        about = known.get("entity_id") or known.get("edge_id")
        yield Outcome(target, known.get("kind", ""), said, row["timestamp"], row["session_id"], about)


def feedback_of(store: Store, user_id: str, until: date, n_days: int) -> list[dict[str, Any]]:
    """The user's rows of `feedback` about probes and starters of the last `n_days` days up to `until`. Of days that are
    not as they landed the log is read, so that what was reported counts at once."""
    days = [day for day in store.log.days(FEEDBACK.name) if until - timedelta(days=n_days) <= day <= until]
    landed = store.outdated(Step.of_log(FEEDBACK, landing_run(FEEDBACK)), days, store.look())
    found: list[dict[str, Any]] = []
    for day in days:
        if day in landed:
            records = (one for one in store.log.read(FEEDBACK.name, day) if one["user_id"] == user_id)
            rows: Iterable[dict[str, Any]] = rows_of(feedback_table(records))
        else:
            rows = _by_user(store, day).get(user_id, ())
        found += [row for row in rows if row["type"] in TOLD]
    return found


def _by_user(store: Store, day: date) -> dict[str, list[dict[str, Any]]]:
    """What one day of the table says of probes and starters; read once as long as its file is the same."""

    def read() -> dict[str, list[dict[str, Any]]]:
        rows = store.lake.read(FEEDBACK, day)
        told = rows.filter(pc.is_in(rows["type"], value_set=pc.cast(list(TOLD), "string")))
        found: dict[str, list[dict[str, Any]]] = {}
        for row in rows_of(told):
            found.setdefault(row["user_id"], []).append(row)
        return found

    return store.lake.once(("outcomes", day), [FEEDBACK], [day], read)
