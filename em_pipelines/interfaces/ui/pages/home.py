"""The home as a whole: how it is, who is remembered in it, and whether it is sound."""

from em_pipelines.governance.alerts.book import AlertBook
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.governance.audit.status import status
from em_pipelines.interfaces.ui.asked import Asked, Done, Page
from em_pipelines.language.name_keys import name_key
from em_pipelines.serving.report.charts import charts_of
from em_pipelines.serving.report.figures import home_figures
from em_pipelines.serving.snapshot import LATEST

PAGE_ROWS = 50
FEW = 12


def show_home(asked: Asked) -> Page | Done:
    """How the home is; who comes with a token is led to their own memory."""
    if asked.visitor.user_id is not None:
        return Done("/facts", {"user": asked.visitor.user_id}, "")
    figures, book = home_figures(asked.home.snapshots / LATEST), AlertBook(asked.home.path).read()
    return Page(
        "home.html",
        {
            "figures": figures,
            "charts": charts_of(figures) if figures else [],
            "people": figures.people[:FEW] if figures else [],
            "standing": [one for one in book.standing.values() if one.ended_at is None],
            "problem": book.problem,
        },
    )


def show_people(asked: Asked) -> Page:
    """Who is remembered, by name, a page at a time."""
    figures = home_figures(asked.home.snapshots / LATEST)
    words = name_key(asked.text("q")).split()
    found = [one for one in (figures.people if figures else ()) if all(w in name_key(one["user_id"]) for w in words)]
    n_pages = max(1, -(-len(found) // PAGE_ROWS))
    page = int(asked.number("page", 1, 1, n_pages))
    return Page(
        "people.html",
        {
            "people": found[(page - 1) * PAGE_ROWS : page * PAGE_ROWS],
            "n_found": len(found),
            "q": asked.text("q"),
            "page": page,
            "n_pages": n_pages,
            "has_snapshot": figures is not None,
        },
    )


def show_soundness(asked: Asked) -> Page:
    """Every look that `em doctor` takes, and what waits. Changes nothing; on a large home it takes seconds."""
    found = status(asked.home)
    return Page("soundness.html", {"looks": diagnose(asked.home), "status": found})
