"""What would be asked of somebody in the days to come, if they talked in every hour and answered nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from em_pipelines.lifecycle.proactive.delivery import Outcome, Situation, acceptance_of_kind, decide
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

HOUR = timedelta(hours=1)
IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Asking:
    """A row that would be said at an instant."""

    at: datetime
    row: Mapping[str, Any]


def preview(
    waiting: Sequence[Mapping[str, Any]],
    situation: Situation,
    known: Sequence[Outcome],
    settings: ProactiveSettings,
    n_days: int,
) -> list[Asking]:
    """The probes that would be asked in the `n_days` days from the situation's instant on, in order.

    Each hour is a conversation of its own, and what is asked in it is ignored: what waits is asked again after its
    cooldown, and ever more seldom. No probe comes into being in the meantime.
    """
    so_far, found = list(known), []
    for n in range(24 * n_days):
        moment = replace(situation, now=situation.now + n * HOUR, session_id=f"preview {n}")
        open_ = [row for row in waiting if row["generated_at"] <= moment.now < row["expires_at"]]
        said = [row for row in open_ if decide(row, moment, so_far, settings).is_said]
        if not said:
            continue
        row = min(said, key=lambda r: (-r["value"] * acceptance_of_kind(so_far, r["kind"], settings), r["probe_id"]))
        about = row["entity_id"] or row["edge_id"]
        so_far.append(Outcome(row["probe_id"], row["kind"], IGNORED, moment.now, moment.session_id, about))
        found.append(Asking(moment.now, row))
    return found
