"""What waits for somebody to look at it: imported facts, lessons, what is unsure, and what was set aside."""

import sys
from datetime import UTC, datetime

from em_pipelines.errors import UsageError
from em_pipelines.governance.judging import Verdict, queue
from em_pipelines.governance.judging import judge as note_judgement
from em_pipelines.governance.review import Review, Wanted
from em_pipelines.interfaces.ui.asked import Asked, Done, Page
from em_pipelines.interfaces.ui.pages.facts import check_known, known
from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.night import decide as decide_upon_experience
from em_pipelines.lifecycle.consolidation.nights import Said
from em_pipelines.lifecycle.consolidation.reviewed import PREFIX, waiting

UNSURE_BELOW = 0.6
SHOWN, SHOWN_TO_JUDGE = 50, 5


def show_review(asked: Asked) -> Page:
    """What waits of one person."""
    check_known(asked)
    to_judge = queue(asked.home, asked.user, SHOWN_TO_JUDGE)
    asked_about = {one.edge_id for one in to_judge}  # once on a page: the two ask for different things
    unsure = [fact for fact in known(asked) if fact["confidence"] < UNSURE_BELOW and fact["edge_id"] not in asked_about]
    imported = _review(asked).waiting(Wanted(asked.user))
    return Page(
        "review.html",
        {
            "user": asked.user,
            "imported": imported[:SHOWN],
            "n_imported": len(imported),
            "experiences": waiting(asked.home, asked.user)[:SHOWN],
            "to_judge": to_judge,
            "unsure": sorted(unsure, key=lambda fact: fact["confidence"])[:SHOWN],
            "n_unsure": len(unsure),
            "set_aside": [one for one in asked.home.store.quarantine.entries() if one.user_id == asked.user][:SHOWN],
        },
    )


def decide(asked: Asked) -> Done:
    """Lets something that waits count, or turns it away."""
    how, wanted = asked.text("how"), asked.text("id")
    if how not in ("accept", "reject") or not wanted:
        raise UsageError("deciding: say what is meant, and whether it is accepted or rejected")
    if wanted.startswith(PREFIX):
        said = Said.ACCEPT if how == "accept" else Said.REJECT
        decide_upon_experience(asked.home, [wanted], said, datetime.now(UTC), user_id=asked.user)
        return _back(asked, "Noted; it is served from now on." if how == "accept" else "Turned away.")
    review = _review(asked)
    items = (review.choose_to_accept if how == "accept" else review.choose)(Wanted(asked.user, ids=[wanted]))
    found = review.accept(items) if how == "accept" else review.reject(items)
    if found.withheld:
        return _back(asked, f"{counted(len(found.withheld), 'fact')} kept away by the guard; it waits still.")
    return _back(asked, "Accepted: it counts from now on." if how == "accept" else "Turned away for good.")


def judge(asked: Asked) -> Done:
    """Notes what somebody says of a fact: it makes no fact and changes none, and tells how good memory is."""
    wanted, said = asked.text("id"), asked.text("how")
    if said not in set(Verdict) or not any(one.edge_id == wanted for one in queue(asked.home, asked.user, sys.maxsize)):
        raise UsageError("judging: say which fact of those that wait is meant, and whether it is right")
    note_judgement(asked.home, wanted, Verdict(said), datetime.now(UTC), by=asked.visitor.user_id or "user")
    return _back(asked, f"Counted as {said}. The fact stays as it is; its own page puts it right.")


def release(asked: Asked) -> Done:
    """Takes something out of quarantine, so that the next run tries it again."""
    entries = [
        one
        for one in asked.home.store.quarantine.entries()
        if one.user_id == asked.user and one.quarantine_id == asked.text("id")
    ]
    if not entries:
        raise UsageError("releasing: nothing of this person is set aside under that id")
    asked.home.release(entries)
    return _back(asked, "Released; the next run makes its day again.")


def _review(asked: Asked) -> Review:
    return Review(asked.home, asked.home.settings.safety, asked.home.settings.review.trusted_kinds)


def _back(asked: Asked, said: str) -> Done:
    return Done("/review", {"user": asked.user}, said)
