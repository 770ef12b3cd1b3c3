"""The health report of a night and the report of a week, each one HTML file without anything from elsewhere.

HOME/reports/health.html           how the home is: graph, pipeline, workers, models, quality, trends
HOME/reports/weekly-2026-10-26.html  the week that began on that Monday: learned, forgotten, corrected, and its cost

They hold figures and no name, word or id of anybody, so erasures have nothing to take out of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from em_pipelines.errors import EmError, NotMadeError
from em_pipelines.governance.alerts.book import AlertBook, Standing
from em_pipelines.governance.audit.status import Status, status
from em_pipelines.governance.judging import Report as Judged
from em_pipelines.governance.judging import report as judged
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.language.counting import counted
from em_pipelines.llm.budget import BudgetUse
from em_pipelines.serving.report.charts import charts_of
from em_pipelines.serving.report.figures import HomeFigures, home_figures
from em_pipelines.serving.snapshot import LATEST
from em_pipelines.storage.files import make_folder, write_atomically
from em_pipelines.storage.histograms import BUCKETS_MS, FOLDER, Histogram, read_note
from em_pipelines.storage.ledger_entries import Entry

REPORTS = "reports"
HEALTH, WEEKLY = "health.html", "weekly-{:%Y-%m-%d}.html"
ERASING = ("erase", "forget")
"""How the ledger's words for erasures begin."""
RECENT_DAYS = 14
CHANGES = (
    ("n_people", "people who spoke"), ("n_messages", "messages"), ("n_learned", "facts learned"),
    ("n_reinforced", "said again or confirmed"), ("n_changed", "changed"), ("n_taken_back", "taken back"),
    ("n_by_people", "put right by people"), ("n_forgotten", "erasures carried out"), ("n_calls", "calls of models"),
    ("cost_usd", "cost, US dollars"),
)  # fmt: skip
"""The rows of a weekly report."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a step took: how often it was timed, the mean, and a bound that 95 of 100 stayed within (None: above the
    last bucket), in milliseconds."""

    step: str
    n: int
    mean_ms: float
    p95_ms: float | None


def write_health(home: RebuildableHome, now: datetime, budgets: tuple[BudgetUse, ...] = ()) -> Path:
    """Writes the health report and returns its path. Raises NotMadeError where there is no snapshot yet."""
    figures = _figures(home)
    found = status(home)
    shown = {
        "now": now,
        "figures": figures,
        "status": found,
        "waiting": _waiting(found),
        "standing": _standing(home),
        "timings": list(_timings(home.path / FOLDER)),
        "budgets": budgets,
        "judged": _judged(home),
        "quality": figures.rows["quality_days"][:RECENT_DAYS],
        "charts": charts_of(figures),
    }
    return _written(home, HEALTH, "health.html", shown)


def write_weekly(home: RebuildableHome, now: datetime, *, week: date | None = None, keep_weeks: int = 52) -> Path:
    """Writes the report of the week that a day is in, the last whole one before `now` if none is given, and returns its
    path. Raises NotMadeError where there is no snapshot yet, or nothing happened in that week or before."""
    figures = _figures(home)
    wanted = monday(week) if week else monday(now.date()) - timedelta(days=7)
    entries = home.ledger.entries()
    rows = [{**row, "n_forgotten": _n_forgotten(entries, row["week"])} for row in figures.rows["weeks"]]
    told = [row for row in rows if row["week"] <= wanted]
    if not told:
        raise NotMadeError(f"writing the report of the week of {wanted}: nothing was read of that week, or before it")
    here = next((row for row in told if row["week"] == wanted), None) or _quiet(wanted, entries)
    before = next((row for row in told if row["week"] == wanted - timedelta(days=7)), None)
    shown = {
        "now": now,
        "week": wanted,
        "changes": [(label, here[name], before[name] if before else None) for name, label in CHANGES],
        "learned": [row for row in figures.rows["learned_weeks"] if row["week"] == wanted],
        "weeks": told[:8][::-1],
        "totals": figures.totals,
        "as_of": figures.as_of,
        "charts": [chart for chart in charts_of(figures) if chart.title in ("What is known", "How sure")],
    }
    path = _written(home, WEEKLY.format(wanted), "weekly.html", shown)
    for old in sorted(path.parent.glob(WEEKLY.split("{", maxsplit=1)[0] + "*.html"))[:-keep_weeks]:
        old.unlink(missing_ok=True)
    return path


def monday(day: date) -> date:
    """The first day of its week."""
    return day - timedelta(days=day.weekday())


def _figures(home: RebuildableHome) -> HomeFigures:
    found = home_figures(home.snapshots / LATEST)
    if found is None:
        raise NotMadeError("writing a report: there is no snapshot yet; `em run` makes one")
    return found


def _written(home: RebuildableHome, name: str, template: str, shown: dict[str, Any]) -> Path:
    folder = home.path / REPORTS
    make_folder(folder)
    write_atomically(folder / name, _environment().get_template(template).render(shown).encode())
    return folder / name


def _waiting(found: Status) -> list[tuple[str, int]]:
    """What waits, as far as it is known, and how much of it."""
    counts = (
        ("messages that no run has read", found.n_landed if found.users is not None else None),
        ("days out of date", found.n_outdated_days),
        ("corrections said since the last run", found.n_pending_feedback),
        ("requests to forget", found.n_requests),
        ("dead letters", found.n_dead_letters),
        ("in quarantine", found.n_quarantined),
        ("imported facts to review", found.n_to_review),
        ("messages for a model", sum((found.n_waiting_for_model or {}).values())),
    )
    return [(what, n) for what, n in counts if n is not None]


def _standing(home: RebuildableHome) -> list[Standing]:
    """The alerts that stand, the worst first."""
    standing = [one for one in AlertBook(home.path).read().standing.values() if one.ended_at is None]
    return sorted(standing, key=lambda one: (-one.alert.severity.rank, one.since))


def _judged(home: RebuildableHome) -> Judged | None:
    """What people said of facts; None where nobody did, or the book cannot be read."""
    try:
        found = judged(home)
    except EmError:
        return None  # the checks of judgements name what is wrong with the book
    return found if found.n_judged else None


def _timings(folder: Path) -> Iterator[Timing]:
    """The steps, by name, each over all that was noted of it."""
    for note in sorted(folder.glob("*.json")):
        whole = Histogram()
        for one in read_note(note).values():
            whole.join(one)
        if n := sum(whole.counts):
            yield Timing(note.stem.replace("_", " "), n, whole.sum_ms / n, _p95(whole, n))


def _p95(durations: Histogram, n: int) -> float | None:
    reached = 0
    for count, bound in zip(durations.counts, BUCKETS_MS, strict=False):
        reached += count
        if reached >= 0.95 * n:
            return bound
    return None


def _n_forgotten(entries: list[Entry], week: date) -> int:
    """Erasures that were carried out in a week."""
    return sum(
        entry.action.startswith(ERASING) and monday(entry.at.astimezone(UTC).date()) == week for entry in entries
    )


def _quiet(week: date, entries: list[Entry]) -> dict[str, Any]:
    """A week in which nobody spoke."""
    return {name: 0 for name, _ in CHANGES} | {"week": week, "n_forgotten": _n_forgotten(entries, week)}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("em_pipelines.governance.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(counted=counted)
    made.filters.update(words=lambda value: str(value).replace("_", " "))
    return made
