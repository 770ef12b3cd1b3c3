"""Why memory does not know something, what came of one message, and what people did."""

from datetime import date

from em_pipelines.governance.audit.trace import trace
from em_pipelines.governance.audit.why_not import Asked as AskedWhyNot
from em_pipelines.governance.audit.why_not import why_not
from em_pipelines.interfaces.ui.asked import Asked, NotThereError, Page
from em_pipelines.interfaces.ui.pages.facts import check_known
from em_pipelines.schema.ids import correlation_id
from em_pipelines.serving.facts import waiting_feedback

SHOWN_ACTS = 50
SHOWN_MESSAGES = 30


def show_audit(asked: Asked) -> Page:
    """What became of words that somebody may have said, the last messages to follow, and the acts of the ledger."""
    check_known(asked)
    words = asked.text("q")
    found = None
    if words:
        home, settings = asked.home, asked.home.settings
        waits = waiting_feedback(home.store, asked.user, date.max)
        found = why_not(
            home.store.lake,
            AskedWhyNot(
                asked.user, words, asked.today, settings.fold.min_storage_confidence, settings.decay, waits
            ),
        )  # fmt: skip
    acts = list(reversed(asked.home.ledger.of_user(asked.user)))
    return Page(
        "audit.html",
        {
            "user": asked.user,
            "q": words,
            "found": found,
            "acts": acts[:SHOWN_ACTS],
            "n_acts": len(acts),
            "messages": [
                (one, correlation_id(asked.user, one.session_id, one.turn_number))
                for one in asked.memory.list_observations(limit=SHOWN_MESSAGES)
            ],
        },
    )


def show_trace(asked: Asked) -> Page:
    """Everything that came of one message or one feedback, table by table."""
    wanted = asked.text("id")
    found = trace(asked.home.store.lake, wanted, asked.user) if wanted else {}
    if not found:
        raise NotThereError(f"nothing of {asked.user} has the correlation id {wanted!r:.80}")
    tables = {
        name: [{key: value for key, value in row.items() if value not in (None, [], "")} for row in rows]
        for name, rows in found.items()
    }
    return Page("trace.html", {"user": asked.user, "id": wanted, "tables": tables})
