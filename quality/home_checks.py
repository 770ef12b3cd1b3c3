"""The checks of a whole home, asked once a night beside the report of Great Expectations: what no table says by itself,
and what would cost each run too much.

All stand on the asset `quality_report`, so that no run waits for them. None stops anything.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import dagster as dg
import duckdb

from em_pipelines.environment import environment
from em_pipelines.errors import CorruptLogError, CorruptTableError, EmError
from em_pipelines.governance.audit import served
from em_pipelines.governance.audit.landing_times import landings, waiting_since
from em_pipelines.governance.audit.looks import Looks
from em_pipelines.governance.audit.references import REFERRING, Pointing, broken_references
from em_pipelines.governance.audit.secrets_found import look_for_secrets
from em_pipelines.language.counting import counted
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.budget import Budget
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.serving.projection.graph_store import OpenGraph
from em_pipelines.serving.snapshot import LATEST, is_current, newest_day
from em_pipelines.storage.run_plan import plan
from quality.finding import Said
from quality.judged import calibration, judged_noise, judged_precision
from quality.report import link_to
from resources.clock import SystemClock
from resources.graph_address import is_graph_set
from resources.home import HomeResource

ASSET = "quality_report"
SECRETS, REFERENCES, USERS = "secrets", "references", "users"
"""The looks, as they are noted."""
SHOWN = 5
AGAIN = "`em run --from DAY --to DAY --full` makes the rows again from the log"


@dataclass(frozen=True, slots=True)
class HomeCheck:
    """One check: its name, what asks it of a home at an instant, and what it is about."""

    name: str
    ask: Callable[[Pipeline, datetime], Said]
    about: str


def dead_letter_rate(home: Pipeline, _: datetime) -> Said:
    """Of what was landed on a day few letters are open; the figure is the share of the last such day, 0 to 1."""
    limit = home.settings.quality.max_dead_letter_share
    days = landings(home.store.log, home.store.lake, home.settings.quality.history_days)
    failed = [one for one in days if one.share > limit]
    figure = days[-1].share if days else 0.0
    if not failed:
        return Said(figure=figure, note="" if all(one.is_known for one in days) else "the log was copied since")
    shown = ", ".join(f"{one.day}: {one.n_letters} of {one.n_letters + one.n_records}" for one in failed[-SHOWN:])
    return Said(
        f"much of what was landed was refused ({shown}): `em dead-letters list` says why; replay or discard them",
        figure,
        more={"days_failed": len(failed)},
    )


def references_exist(home: Pipeline, _: datetime) -> Said:
    """Whatever a row points at is there; the figure is the number of rows that point at nothing."""
    return _pointing(home, REFERENCES, lambda one: one.n_dangling, f"point at rows that are not there: {AGAIN}")


def users_cross_nowhere(home: Pipeline, _: datetime) -> Said:
    """No row points at what is another user's; the figure is the number of rows that do."""
    advice = f"of one user point at another's: publish nothing, find out how, and {AGAIN}"
    return _pointing(home, USERS, lambda one: one.n_crossing, advice)


def no_secrets(home: Pipeline, _: datetime) -> Said:
    """No column of text holds what masking knows for a secret; the figure is how many values do."""
    looks, lake = Looks(home.path), home.store.lake
    secrets = look_for_secrets(
        lake, looks.due(SECRETS, lake, CATALOG.values()), home.settings.quality.max_secret_megabytes
    )
    looks.note(SECRETS, secrets.looked, {(table, day) for table, day, _ in secrets.found})
    more = {"partitions": len(secrets.looked), "left": secrets.n_left, "characters": secrets.n_characters}
    note = f"{counted(secrets.n_left, 'partition')} left for the next look" if secrets.n_left else ""
    if not secrets.found:
        return Said(note=note, more=more)
    where: Counter[str] = Counter()
    for (table, day, column), n in secrets.found.items():
        where[f"{table}.{column} of {day}"] += n
    shown = ", ".join(f"{name}: {n}" for name, n in where.most_common(SHOWN))
    return Said(
        f"what looks like a secret stands in {counted(len(where), 'column')} ({shown}): `em forget` where it was said, "
        "change the secret, and run the days again with `--full`",
        float(sum(where.values())),
        more=more,
    )


def memory_fresh(home: Pipeline, now: datetime) -> Said:
    """What has landed is folded, and what is folded is published, within the hours that are set; the figure is the
    number of days that wait."""
    limits = home.settings.quality
    stale = plan(home.store, home.steps.values()).days
    waiting = waiting_since(home.store.log, stale, now, limits.max_unfolded_hours)
    if waiting:
        shown = ", ".join(map(str, waiting[-SHOWN:]))
        return Said(f"{counted(len(waiting), 'day')} landed long ago and not made ({shown}): `em run`", len(waiting))
    path = home.snapshots / LATEST
    if newest_day(home.store) is None:
        return Said(note="nothing was read yet")
    if is_current(home.store, home.snapshots, home.time_rules, home.nights.history()):
        return Said()
    oldest = now - timedelta(hours=limits.max_snapshot_hours)
    if path.exists() and datetime.fromtimestamp(path.stat().st_mtime, UTC) >= oldest:
        return Said(note="the snapshot is to be made anew, and no older than it may be")
    return Said("the snapshot is not what memory holds, and has not been for long: `em run`, or `em snapshot`")


def budget_left(home: Pipeline, _: datetime) -> Said:
    """Of no budget of model calls more is used than the share at which to warn; the figure is the largest share."""
    llm = home.settings.llm
    if not home.answers.exists():
        return Said(note="no model was asked yet")
    with AnswerStore(home.answers) as store:
        budget = Budget(store, llm.budget, SystemClock())
        uses = {use.name: use for model in (llm.small, llm.model_of("large")) for use in budget.uses(model)}
    if not uses:
        return Said(note="no budget is set")
    most = max(uses.values(), key=lambda use: use.share)
    if most.share < llm.budget.warning_share:
        return Said(figure=most.share)
    is_spent = most.share >= 1
    said = "is spent, and the rest of the work waits" if is_spent else "is nearly spent"
    return Said(
        f"the budget of {most.limit:g} {most.name} {said} ({most.used:g}): see `llm_calls` for what took it, wait for "
        "the next period, or raise llm.budget",
        most.share,
        is_warning=not is_spent,
    )


def served_is_memory(open_graph: OpenGraph) -> Callable[[Pipeline, datetime], Said]:
    """The check that snapshot, tables and graph database hold the same; the figure is how many of them differ."""

    def ask(home: Pipeline, _: datetime) -> Said:
        as_of = home.store.lake.latest(CURRENT_EDGES, date.max)
        if as_of is None:
            return Said(note="there are no facts yet")
        memory = served.of_lake(home.store, as_of)
        more: dict[str, int | float | str] = {
            "nodes": memory.n_nodes, "relationships": memory.n_edges, "checksum": memory.checksum,
        }  # fmt: skip
        problems, notes = [], []
        if not is_current(home.store, home.snapshots, home.time_rules, home.nights.history()):
            notes.append("the snapshot is to be made anew, and was not compared")
        elif said := _of_snapshot(home, memory):
            problems.append(said)
        if is_graph_set(environment()):
            problems += _of_graph(open_graph, memory)
        else:
            notes.append("no graph database is set")
        return Said("; ".join(problems), float(len(problems)), note="; ".join(notes), more=more)

    return ask


def home_checks(open_graph: OpenGraph) -> tuple[HomeCheck, ...]:
    """Every check of a whole home."""
    return (
        HomeCheck(
            "dead_letter_rate",
            dead_letter_rate,
            "Of what was landed on a day at most `quality.max_dead_letter_share` are open dead letters.",
        ),
        HomeCheck("references_exist", references_exist, "Whatever a row of any table points at is there."),
        HomeCheck("users_cross_nowhere", users_cross_nowhere, "No row of one user points at a row of another."),
        HomeCheck(
            "no_secrets",
            no_secrets,
            "No column of text holds a secret that masking knows: of what was written since the last look, at most "
            "`quality.max_secret_megabytes`.",
        ),
        HomeCheck(
            "memory_fresh",
            memory_fresh,
            "Landed days are made within `quality.max_unfolded_hours`, snapshots within `quality.max_snapshot_hours`.",
        ),
        HomeCheck(
            "budget_left",
            budget_left,
            "Of every budget of model calls less than `llm.budget.warning_share` is used (warning), and never all.",
        ),
        HomeCheck(
            "judged_precision",
            judged_precision,
            "Of the sample of facts that people judge at least `quality.min_judged_precision` are right.",
        ),
        HomeCheck(
            "judged_noise",
            judged_noise,
            "Of the sample of facts that people judge less than `quality.max_noise_share` are trivial.",
        ),
        HomeCheck(
            "calibration",
            calibration,
            "Facts are as often right as they are sure, within `quality.max_calibration_error`.",
        ),
        HomeCheck(
            "served_is_memory",
            served_is_memory(open_graph),
            "Snapshot, tables and graph database hold as many nodes and relationships, with one checksum.",
        ),
    )


def build_home_checks(open_graph: OpenGraph) -> dg.AssetChecksDefinition:
    """The checks of the home, one op; each can be run by itself."""
    checks = home_checks(open_graph)

    @dg.multi_asset_check(
        name="check_home",
        specs=[dg.AssetCheckSpec(check.name, asset=ASSET, description=check.about) for check in checks],
        description="All checks of what no table says by itself.",
        can_subset=True,
    )
    def check_home(context: dg.AssetCheckExecutionContext, home: HomeResource) -> Iterator[dg.AssetCheckResult]:
        docs = link_to(home.home.data_docs)
        wanted = {key.name for key in context.selected_asset_check_keys}
        with home.home.lock("quality"):
            for check in checks:
                if check.name in wanted:
                    yield _result(check, home.home, docs)

    return check_home


def _result(check: HomeCheck, home: Pipeline, docs: Mapping[str, dg.MetadataValue]) -> dg.AssetCheckResult:
    try:
        said = check.ask(home, datetime.now(UTC))
    except (CorruptLogError, CorruptTableError) as error:
        said = Said(str(error))
    return dg.AssetCheckResult(
        asset_key=ASSET,
        check_name=check.name,
        passed=not said.problem,
        severity=dg.AssetCheckSeverity.WARN if said.is_warning else dg.AssetCheckSeverity.ERROR,
        description="; ".join(part for part in (said.problem, said.note) if part),
        metadata={"figure": float(said.figure), **said.more, **docs},
    )


def _pointing(home: Pipeline, name: str, count: Callable[[Pointing], int], advice: str) -> Said:
    """What is wrong with references, of what was written since the look of that name, or wrong then."""
    looks, lake = Looks(home.path), home.store.lake
    due = looks.due(name, lake, REFERRING)
    tables = {one.table.name: one.table for one in due}
    found = [
        (pointing, count(pointing))
        for table in tables.values()
        for pointing in broken_references(lake, table, sorted(one.day for one in due if one.table is table))
    ]
    wrong = [(one, n_rows) for one, n_rows in found if n_rows]
    looks.note(name, due, {(one.reference.table.name, one.day) for one, _ in wrong})
    more = {"partitions": len(due)}
    if not wrong:
        return Said(more=more)
    n = sum(n_rows for _, n_rows in wrong)
    shown = ", ".join(f"{one.reference.name} of {one.day}: {n_rows}" for one, n_rows in wrong[:SHOWN])
    return Said(f"{counted(n, 'row')} ({shown}) {advice}", float(n), more=more)


def _of_snapshot(home: Pipeline, memory: served.Served) -> str:
    """What is wrong with the snapshot; empty where nothing is."""
    advice = "`em snapshot` after its file was deleted"
    try:
        found = served.of_snapshot(home.snapshots)
    except duckdb.Error:
        return f"the snapshot cannot be read: {advice}"
    if found.miscounted:
        return f"the snapshot has lost or gained rows of {', '.join(found.miscounted[:SHOWN])}: {advice}"
    return "" if found == memory else f"the snapshot {_differs(found, memory)}: {advice}"


def _of_graph(open_graph: OpenGraph, memory: served.Served) -> list[str]:
    try:
        with open_graph() as graph:
            found = served.of_graph(graph)
    except EmError as error:
        return [f"the graph database could not be asked: {error}"]
    return [] if found == memory else [f"the graph database {_differs(found, memory)}: `em sync-graph --full`"]


def _differs(found: served.Served, memory: served.Served) -> str:
    if (found.n_nodes, found.n_edges) == (memory.n_nodes, memory.n_edges):
        return "holds as much as memory and not the same"
    return (
        f"holds {found.n_nodes} nodes and {found.n_edges} relationships where memory holds {memory.n_nodes} and "
        f"{memory.n_edges}"
    )
