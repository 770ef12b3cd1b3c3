"""Jobs: the whole pipeline, each group by itself, publishing, landing the inbox, and forgetting answers of models."""

import os
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
from pydantic import Field

from em_pipelines.errors import LockedError, UsageError
from em_pipelines.governance import forgotten_answers
from em_pipelines.governance.review import Review
from em_pipelines.landing.land import land
from em_pipelines.language.counting import counted
from em_pipelines.llm.forgetting import AskedWork
from em_pipelines.schema.tables.derived import CONSOLIDATED
from em_pipelines.storage.files import make_folder
from resources.dagster_internals import AssetJob
from resources.home import HomeResource

LATEST_ONLY = dg.AssetSelection.assets("inferred_edges")
"""Tables of which only the newest day is made."""
DAILY_GROUPS = ("landing", "extraction", "episodes", "resolution", "graph", "lifecycle")
PUBLISHED = ("inferred_edges", "probes", "starters", "metrics", "snapshot", "index_packs")
"""What is made of the newest facts, for those who ask."""
ASKED = dg.AssetSelection.assets("probes", "starters")
"""What memory would like to say."""
SLEPT_ON = dg.AssetSelection.assets(*(table.name for table in CONSOLIDATED))
"""What a night makes."""
UNDATED = dg.AssetSelection.assets("revision") | LATEST_ONLY
"""Assets of these groups that have no days."""
LANDED_FOLDER = ".landed"


def build_jobs() -> dict[str, AssetJob]:
    """Returns the asset jobs by name: `main`, one a group, `publish`, `project`, `infer`, `revise`,
    `consolidate`, `proactive`, `evaluate` and `quality`."""
    jobs = {
        group: dg.define_asset_job(group, _daily(group), description=f"The daily assets of {group} alone.")
        for group in DAILY_GROUPS
    }
    jobs["main"] = dg.define_asset_job(
        "main",
        _daily(*DAILY_GROUPS) | dg.AssetSelection.assets("audit_trail", *PUBLISHED),
        description="From the landed log to what is served, for a range of days in one run.",
    )
    jobs["publish"] = dg.define_asset_job(
        "publish",
        dg.AssetSelection.assets(*PUBLISHED),
        description="What follows from the newest facts, the snapshot for analysts, and what is searched.",
    )
    jobs["project"] = dg.define_asset_job(
        "project",
        dg.AssetSelection.assets("graph_projection"),
        description="The newest entities and facts go into the graph database, if one is set.",
    )
    jobs["revise"] = dg.define_asset_job(
        "revise",
        dg.AssetSelection.assets("revision"),
        description="Stale public facts are looked up, if a verifier is set.",
    )
    jobs["infer"] = dg.define_asset_job("infer", LATEST_ONLY, description="What follows from the newest facts.")
    jobs["consolidate"] = dg.define_asset_job(
        "consolidate", SLEPT_ON, description="A night: what recurs becomes experiences and rules."
    )
    jobs["proactive"] = dg.define_asset_job(
        "proactive",
        ASKED | dg.AssetSelection.assets("snapshot"),
        description="Questions and openings that follow from the newest facts, and the snapshot that tells of them.",
    )
    jobs["evaluate"] = dg.define_asset_job(
        "evaluate", dg.AssetSelection.assets("evaluation"), description="The figures of the extractor."
    )
    jobs["quality"] = dg.define_asset_job(
        "quality",
        dg.AssetSelection.assets("quality_report", "health_report"),
        description="Great Expectations over every table, with its pages, and the health report.",
    )
    jobs["weekly"] = dg.define_asset_job(
        "weekly", dg.AssetSelection.assets("weekly_report"), description="What the last whole week brought, as a page."
    )
    return jobs


def _daily(*groups: str) -> dg.AssetSelection:
    """What is made day by day: nobody is to be asked about the world because an old day is made again."""
    return dg.AssetSelection.groups(*groups) - UNDATED


@dg.op(description="Lands every file of the inbox and moves it to .landed, so that nothing is read twice.")
def land_files(context: dg.OpExecutionContext, home: HomeResource) -> None:
    inbox = home.home.inbox
    now = datetime.now(UTC)
    with home.home.lock("landing"):
        home.home.store.log.settle()
    for path in waiting_files(inbox):
        with home.home.lock("landing"):
            if not os.path.lexists(path):  # a run that began before this one has landed it in the meantime
                continue
            user = path.relative_to(inbox).parts[0] if path.parent != inbox else None
            report = land(
                [path], home.home.store.log, now=now, settings=home.home.settings.landing, user_id=user, within=inbox
            )
            if report.holds_erased:  # what may not be kept is in it
                path.unlink()
            else:
                target = inbox / LANDED_FOLDER / now.strftime("%Y%m%dT%H%M%S") / path.relative_to(inbox)
                make_folder(target.parent)
                shutil.move(path, target)
        context.log.info(
            f"landed {counted(report.n_landed, 'record')}, {counted(report.n_duplicates, 'duplicate')}, "
            f"{counted(sum(report.n_dead_letters.values()), 'dead letter')}, {report.n_erased} erased, "
            f"{counted(report.n_requests, 'request')} to forget"
        )
    settings = home.home.settings
    Review(home.home, settings.safety, settings.review.trusted_kinds, actor="settings").settle()


def waiting_files(inbox: Path) -> list[Path]:
    """What lies in the inbox to land, in order of name: hidden ones and those still being written (.tmp, .part) wait.

    Whatever is no folder counts, so that links and FIFOs are told of once and put away.
    """
    if not inbox.is_dir():
        return []
    return sorted(
        path
        for path in inbox.rglob("*")
        if (path.is_symlink() or not path.is_dir())
        and not any(part.startswith(".") for part in path.relative_to(inbox).parts)
        and path.suffix not in {".tmp", ".part"}
    )


@dg.job(description="Lands what lies in the inbox; the days it touches are materialized by the stale_days sensor.")
def land_inbox() -> None:
    land_files()


class ForgottenAnswers(dg.Config):
    """Which answers are forgotten."""

    first_day: str = Field(description="The first day (UTC) of the messages that were asked about, YYYY-MM-DD.")
    last_day: str = Field(description="The last one, included.")
    model: str | None = Field(default=None, description="Answers of one model alone.")
    task: str | None = Field(default=None, description="Answers for one task alone, such as extraction.")
    user: str | None = Field(default=None, description="Answers about one user alone.")

    @property
    def asked(self) -> AskedWork:
        """The work; raises ValueError where a day is none, UsageError."""
        first, last = date.fromisoformat(self.first_day), date.fromisoformat(self.last_day)
        return AskedWork(first, last, self.model, self.task, self.user)


@dg.op(description="Drops what models answered about some days, and puts these days out of date.")
def drop_asked(context: dg.OpExecutionContext, config: ForgottenAnswers, home: HomeResource) -> None:
    try:
        kept = forgotten_answers.forget_answers(home.home, config.asked)
    except ValueError as error:
        raise dg.Failure(f"reading the days: {error}; give each as YYYY-MM-DD", allow_retries=False) from None
    except UsageError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    except LockedError as error:
        raise dg.Failure(str(error)) from None
    context.log.info(kept.sentence)


@dg.job(description="Forgets what models answered about some days, so that the stale_days sensor asks them again.")
def forget_answers() -> None:
    drop_asked()
