"""What recurs: lessons and rules of a person, what stands behind each, and the nights that made them."""

from datetime import UTC, datetime

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.nights_trail import why_experience
from em_pipelines.interfaces.ui.asked import Asked, Done, NotThereError, Page
from em_pipelines.interfaces.ui.pages.facts import check_known
from em_pipelines.lifecycle.consolidation.night import experiences, roll_back
from em_pipelines.retrieval import packs
from em_pipelines.serving.snapshot import LATEST, publish_home


def show_experience(asked: Asked) -> Page:
    """The lessons of one person, strongest first, and the nights where who runs the home looks."""
    check_known(asked)
    history = asked.home.nights.history()
    standing = {night.target for night in history.standing}
    nights = [
        {"id": line.target, "until": line.until, "n_entries": line.n_entries, "stands": line.target in standing}
        for line in history.lines
        if line.said == "night"
    ]
    found = sorted(experiences(asked.home, asked.user), key=lambda row: (-row["strength"], row["experience_id"]))
    may_see_nights = asked.visitor.user_id is None
    return Page(
        "experience.html",
        {"user": asked.user, "found": found, "nights": nights[::-1] if may_see_nights else None},
    )


def show_evidence(asked: Asked) -> Page:
    """What stands behind one lesson."""
    found = why_experience(asked.home.store.lake, asked.text("id"))
    if found is None or found["user_id"] != asked.user:
        raise NotThereError(f"nothing that recurs for {asked.user} has that id")
    return Page("evidence.html", {"user": asked.user, "found": found})


def roll_night_back(asked: Asked) -> Done:
    """Takes a night back, and those after it."""
    if not asked.text("id"):
        raise UsageError("rolling back: no night is named")
    withdrawn = roll_back(asked.home, asked.text("id"), datetime.now(UTC))
    packs.build(asked.home)
    if (asked.home.snapshots / LATEST).exists():
        with asked.home.inferred_on(None):
            publish_home(asked.home)
    return Done("/experience", {"user": asked.user}, f"Rolled back: {', '.join(withdrawn)}.")
