"""What memory would like to ask or to say, when, and why not now. Looking is not asking: nothing is noted."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from em_pipelines.interfaces.agents.probes import Asks, Kind, asks
from em_pipelines.interfaces.ui.asked import Asked, NotThereError, Page
from em_pipelines.interfaces.ui.pages.facts import check_known
from em_pipelines.lifecycle.proactive.delivery import Situation
from em_pipelines.lifecycle.proactive.explained import explained
from em_pipelines.lifecycle.proactive.offering import OPEN, history, situation_of
from em_pipelines.lifecycle.proactive.preview import preview
from em_pipelines.retrieval.tellable_asks import may_be_told
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.outgoing import PROBES

MOST = 20
AHEAD_DAYS = 14


def show_probes(asked: Asked) -> Page:
    """Questions and openings: what may be said now, what not and why, and a calendar of the days ahead."""
    check_known(asked)
    now = datetime.now(UTC)
    situation = situation_of(asked.home, asked.user, Situation(now, context=asked.text("context") or None))
    zone = ZoneInfo(situation.time_zone)
    day = asked.home.store.lake.latest(PROBES, date.max)
    is_told = may_be_told(asked.home, asked.user, PROBES, None)
    rows = rows_of(asked.home.store.lake.find(PROBES, day, "user_id", [asked.user])) if day else ()
    waiting = [row for row in rows if row["status"] in OPEN and is_told(row)]
    ahead = preview(waiting, situation, history(asked.home, asked.user, now), asked.home.settings.proactive, AHEAD_DAYS)
    return Page(
        "probes.html",
        {
            "user": asked.user,
            "context": asked.text("context"),
            "time_zone": situation.time_zone,
            "probes": _asks(asked, "probes", now),
            "starters": _asks(asked, "starters", now),
            "calendar": [(one.at.astimezone(zone), one.row) for one in ahead],
            "n_days": AHEAD_DAYS,
            "zone": zone,
        },
    )


def show_why(asked: Asked) -> Page:
    """Why a question or an opening would come: the facts it rests on, what was decided, and what came of it."""
    found = explained(asked.home, asked.text("id"), datetime.now(UTC)) if asked.text("id") else None
    if found is None or found["user_id"] != asked.user:
        raise NotThereError("nothing that waits has that id; what was answered, corrected or forgotten is gone")
    return Page("why_probe.html", {"user": asked.user, "found": found})


def _asks(asked: Asked, kind: Kind, now: datetime) -> Asks:
    situation = Situation(now, context=asked.text("context") or None)
    return asks(asked.home, kind, asked.user, situation, MOST, is_noted=False)
