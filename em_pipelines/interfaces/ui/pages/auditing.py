"""Why memory does not know something, what came of one message, and what people did."""

from datetime import date, datetime
from itertools import chain
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.trace import trace
from em_pipelines.governance.audit.why_not import (
    KNOWN,
    NEVER_SAID,
    NOT_BY_A_PERSON,
    NOT_EXTRACTED,
    NOT_KNOWN,
    OTHER_BRANCH,
    why_not,
)
from em_pipelines.governance.audit.why_not import Asked as AskedWhyNot
from em_pipelines.interfaces.agents.observations import unextracted
from em_pipelines.interfaces.ui.asked import Asked, NotThereError, Page
from em_pipelines.interfaces.ui.pages.facts import check_known, known
from em_pipelines.interfaces.ui.pages.told import told_of_memory
from em_pipelines.landing.dead_letters import letters_of
from em_pipelines.schema.ids import correlation_id
from em_pipelines.serving.facts import SHOWN, waiting_feedback

VERDICTS = {
    NEVER_SAID: "It was never said.",
    NOT_BY_A_PERSON: "It was said, but by no person.",
    OTHER_BRANCH: "It was said in a branch of the conversation that was not continued.",
    NOT_EXTRACTED: "It was said, and no run has extracted it yet.",
    KNOWN: "Memory knows it.",
    NOT_KNOWN: "Memory does not tell it; below is what became of what was said.",
}
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
                asked.user, words, asked.today, settings.fold.min_storage_confidence, settings.decay, waits,
                unextracted(home, asked.user), letters_of(home.store.log, asked.user),
            ),
        )  # fmt: skip
    acts = list(reversed(asked.home.ledger.of_user(asked.user)))
    facts = known(asked, is_all=True)
    status = {fact["edge_id"]: fact["status"] for fact in facts}
    marks = {asked.home.ledger.mark_of(fact["edge_id"], asked.user): fact for fact in facts} if acts else {}
    messages = asked.memory.list_observations(limit=SHOWN_MESSAGES + 1, before=_before(asked), is_archived=None)
    last = messages[SHOWN_MESSAGES - 1] if len(messages) > SHOWN_MESSAGES else None
    said = told_of_memory(asked)
    return Page(
        "audit.html",
        {
            "user": asked.user,
            "q": words,
            "found": found,
            "verdict": _verdict(found, status) if found else "",
            "status": status,
            "told": said[:SHOWN_ACTS],
            "n_told": len(said),
            "acts": [(one, marks.get(one.target)) for one in acts[:SHOWN_ACTS]],
            "n_acts": len(acts),
            "messages": [
                (one, correlation_id(asked.user, one.session_id, one.turn_number)) for one in messages[:SHOWN_MESSAGES]
            ],
            "older": f"{last.timestamp.isoformat()}|{last.turn_number}|{last.session_id}" if last else None,
            "is_newest": not asked.text("before"),
        },
    )


def _before(asked: Asked) -> tuple[datetime, str, int] | None:
    """Where the messages go on: behind the one that the address names. Raises UsageError."""
    said = asked.text("before")
    if not said:
        return None
    at, _, rest = said.partition("|")
    turn, _, session_id = rest.partition("|")
    try:
        return datetime.fromisoformat(at), session_id, int(turn)
    except ValueError as error:
        raise UsageError("reading on: this address is cut off; begin with the newest messages") from error


def _verdict(found: dict[str, Any], status: dict[str, str]) -> str:
    """What became of the words, in a sentence; `status` is how facts stand now, with what no run has read yet."""
    fates = [fate for message in found["messages"] for fate in message["fates"] if "fact" in fate]
    standing = [fate for fate in fates if status.get(fate["fact"]["edge_id"]) in SHOWN]
    if found["verdict"] == NOT_KNOWN and standing:
        return "Not in these words; below is what memory made of what was said."
    told = chain.from_iterable(given["fates"] for given in found["feedback"])
    is_still = not fates or any(fate["is_about"] for fate in (*standing, *told))
    if found["verdict"] == KNOWN and not is_still:
        return "Memory knew it, and it was taken back or corrected."
    return VERDICTS[found["verdict"]]


def show_trace(asked: Asked) -> Page:
    """Everything that came of one message or one feedback, table by table; of a message that no run has extracted yet,
    that it waits."""
    wanted = asked.text("id")
    found = trace(asked.home.store.lake, wanted, asked.user) if wanted else {}
    waiting = [] if found else _waiting(asked, wanted)
    if not found and not waiting:
        raise NotThereError(f"nothing of {asked.user} has the correlation id {wanted!r:.80}")
    tables = {
        name: [{key: value for key, value in row.items() if value not in (None, [], "")} for row in rows]
        for name, rows in found.items()
    }
    return Page("trace.html", {"user": asked.user, "id": wanted, "tables": tables, "waiting": waiting})


def _waiting(asked: Asked, wanted: str) -> list[dict[str, Any]]:
    """The message of a correlation id, if no run has extracted it yet."""
    return [row for row in unextracted(asked.home, asked.user) if _is_of(row, wanted)]


def _is_of(message: dict[str, Any], wanted: str) -> bool:
    """Whether a message has a correlation id, its log's own or the one that follows from its place."""
    place = (message["user_id"], message["session_id"], message["turn_number"])
    return wanted in (message["correlation_id"], correlation_id(*place))
