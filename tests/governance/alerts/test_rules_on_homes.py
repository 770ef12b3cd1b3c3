"""Each rule is raised by a home that breaks it, and what is raised arrives; none by one that is well."""

import shutil
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.errors import GraphUnavailableError
from em_pipelines.governance.alerts import rules
from em_pipelines.governance.alerts.alert import Look, Severity
from em_pipelines.governance.alerts.book import AlertBook
from em_pipelines.governance.alerts.looking import Depth
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest, Message
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.serving.projection.batch_times import batch_times
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.sync_home import sync_home
from em_pipelines.settings import load_settings
from tests.conftest import Rows
from tests.governance.alerts.conftest import DAY, Ears, Reader, World

TODAY = date.fromisoformat(DAY)


@pytest.fixture
def examples(examples_home: Path, home_path: Path) -> World:
    """A home after its first start on the examples."""
    shutil.copytree(examples_home, home_path, symlinks=True)
    return World(Pipeline(load_settings(home=home_path)))


def assert_arrives(world: World, ears: Ears, look: Look, rule: str, severity: Severity = Severity.WARNING) -> None:
    """The rule is the only one that is broken, and everybody is told."""
    (alert,) = look.found
    assert (alert.rule, alert.severity) == (rule, severity)
    ears.tell(world.home, look)
    title = f"[{severity}] {alert.title}"
    assert ears.heard == ([title], [title])


@pytest.mark.parametrize(
    "later",
    [
        {"minutes": 0},
        pytest.param({"minutes": 40}, marks=pytest.mark.slow),
        pytest.param({"days": 2}, marks=pytest.mark.slow),
    ],
)
def test_a_home_that_is_well_raises_nothing(world: World, later: dict[str, float]) -> None:
    look = world.look(Depth.FULL, is_graph_set=True, **later)
    assert look.found == ()
    assert look.asked | {rules.FAILED_CHECK, rules.FAILED_RUN} == {*rules.NAMES}


@pytest.mark.parametrize(
    "later",
    [
        pytest.param({"minutes": 0}, marks=pytest.mark.slow),
        pytest.param({"minutes": 40}, marks=pytest.mark.slow),
        {"days": 2},
    ],
)
def test_the_first_start_on_the_examples_raises_nothing(examples: World, later: dict[str, float]) -> None:
    assert examples.look(Depth.FULL, is_graph_set=True, **later).found == ()


@pytest.mark.slow
def test_the_examples_raise_nothing_on_the_days_on_which_they_were_said(examples: World) -> None:
    until = datetime(2026, 11, 2, tzinfo=UTC)
    assert examples.look(days=(until - datetime.now(UTC)).total_seconds() / 86_400).found == ()


def test_the_first_run_says_nothing_of_alerts_and_has_told_nobody(examples_home: Path, examples_printed: str) -> None:
    assert "Alerts" not in examples_printed
    assert AlertBook(examples_home).read().standing == {}


def test_messages_that_nobody_reads_have_stalled(world: World, ears: Ears) -> None:
    world.land(51, "s2")
    assert world.look(minutes=4).found == ()
    assert_arrives(world, ears, world.look(minutes=6), rules.EXTRACTION_STALLED)
    world.run()
    assert world.look(minutes=6).found == ()


def test_messages_that_a_long_run_is_on_its_way_to_have_not_stalled(world: World) -> None:
    landed_at, now = datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 3, 1, 14, tzinfo=UTC)
    lots, settings = (rules.Lot(10_000, landed_at),), AlertSettings()
    for moved_minutes, is_told in ((4, False), (6, True)):
        pending = rules.Pending(lots, now - timedelta(minutes=moved_minutes), landed_at, is_at_work=True)
        assert (rules.extraction_stalled(pending, now, settings) is not None) == is_told
        assert rules.extraction_stopped(pending, now, settings) is None
    hung = rules.Pending(lots, now - timedelta(minutes=31), landed_at, is_at_work=True)
    assert rules.extraction_stopped(hung, now, settings) is not None
    assert world.look(minutes=6).found == ()


@pytest.mark.slow
def test_fifty_messages_are_not_enough_to_stall(world: World) -> None:
    world.land(50, "s2")
    assert world.look(minutes=6).found == ()


def test_messages_that_a_run_has_not_read_have_stopped(world: World, ears: Ears) -> None:
    world.land(1, "s2")
    assert world.look(minutes=40).found == (), "no run was tried"
    world.run("interactions", "messages")
    assert world.look(minutes=20).found == ()
    assert_arrives(world, ears, world.look(minutes=40), rules.EXTRACTION_STOPPED, Severity.ERROR)
    world.run()
    assert world.look(minutes=40).found == ()


@pytest.mark.slow
def test_messages_that_wait_for_a_model_have_stalled_and_stopped(
    world: World, reader: type[Reader], ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "is_down", True)
    world.land(60, "s2")
    world.run()
    assert_arrives(world, ears, world.look(minutes=6), rules.EXTRACTION_STALLED)
    found = {alert.rule for alert in world.look(minutes=40).found}
    assert found == {rules.EXTRACTION_STALLED, rules.EXTRACTION_STOPPED}


@pytest.mark.slow
def test_a_home_that_was_copied_without_its_times_has_not_stopped(world: World, tmp_path: Path) -> None:
    shutil.copytree(world.home.path, tmp_path / "copy", copy_function=shutil.copy)
    copied = World(Pipeline(load_settings(home=tmp_path / "copy")))
    for path in (copied.home.path / "log").rglob("*.jsonl"):
        path.touch()  # landed, as it seems, after everything was read
    assert copied.look(minutes=40).found == ()


def test_items_that_nobody_said_are_a_spike(world: World, ears: Ears, rows_of: Rows) -> None:
    def refuse(n_items: int) -> None:
        said = ({"issue": "span", "timestamp": datetime(2026, 3, 1, 10, 9 * n, tzinfo=UTC)} for n in range(n_items))
        world.home.store.lake.write(EXTRACTION_ISSUES, TODAY, rows_of(EXTRACTION_ISSUES, *said))

    refuse(5)
    assert world.look().found == ()
    refuse(6)
    assert_arrives(world, ears, world.look(), rules.HALLUCINATION_SPIKE)
    (alert,) = world.look().found
    assert "`em llm forget --from 2026-03-01 --to 2026-03-01`" in alert.todo
    assert world.look(hours=25).found == (), "nobody has read anything since"


@pytest.mark.slow
def test_six_items_in_six_hours_are_no_spike(world: World, rows_of: Rows) -> None:
    said = ({"issue": "span", "timestamp": datetime(2026, 3, 1, 10 + n, tzinfo=UTC)} for n in range(6))
    world.home.store.lake.write(EXTRACTION_ISSUES, TODAY, rows_of(EXTRACTION_ISSUES, *said))
    assert world.look().found == ()


@pytest.mark.slow
def test_batches_of_the_graph_that_take_long_are_slow(examples: World, ears: Ears) -> None:
    sync_home(examples.home, lambda: nullcontext(InMemoryGraph()))
    times = batch_times(examples.home.path)
    assert len(times) > 20
    assert examples.look(is_graph_set=True).found == ()
    slow = examples.with_settings(alerts={"graph_p99_seconds": min(one.seconds for one in times) / 2})
    assert_arrives(slow, ears, slow.look(is_graph_set=True), rules.GRAPH_SLOW)
    few = examples.with_settings(alerts={"graph_p99_seconds": 1e-9, "graph_min_batches": len(times) + 1})
    assert few.look(is_graph_set=True).found == ()
    assert slow.look(is_graph_set=True, hours=25).found == ()


def test_a_graph_database_that_does_not_answer_is_down_until_it_does(examples: World, ears: Ears) -> None:
    def closed() -> nullcontext[InMemoryGraph]:
        raise GraphUnavailableError("opening the graph database: no answer; try again")

    with pytest.raises(GraphUnavailableError):
        sync_home(examples.home, closed)
    look = examples.look(is_graph_set=True, minutes=10)
    assert_arrives(examples, ears, look, rules.GRAPH_DOWN, Severity.ERROR)
    assert examples.look().found == (), "none is set any more"
    sync_home(examples.home, lambda: nullcontext(InMemoryGraph()))
    assert examples.look(is_graph_set=True).found == ()


@pytest.mark.parametrize(
    ("n_tokens", "severity"),
    [
        pytest.param(89, None, marks=pytest.mark.slow),
        (90, Severity.WARNING),
        pytest.param(100, Severity.ERROR, marks=pytest.mark.slow),
    ],
)
def test_a_budget_that_is_nearly_spent_is_told(
    world: World, ears: Ears, n_tokens: int, severity: Severity | None
) -> None:
    model = world.home.settings.llm.small
    asked = ChatRequest(
        "ada", "extract", model, "1", (Message("user", "hi"),), "s", {}, 9, 0, "r", "c", datetime.now(UTC)
    )
    with AnswerStore(world.home.answers) as store:
        store.save(asked, ChatAnswer(asked.key, "{}", "stop", n_tokens, 0, 1.0, 0.0), datetime.now(UTC))
    limited = world.with_settings(llm={"budget": {"max_tokens_a_day": 100}})
    if severity is None:
        assert limited.look().found == ()
    else:
        assert_arrives(limited, ears, limited.look(), rules.MODEL_BUDGET, severity)
        assert limited.look(days=1).found == (), "another day, another budget"


@pytest.mark.parametrize(("n_ignored", "is_told"), [pytest.param(6, False, marks=pytest.mark.slow), (7, True)])
def test_questions_that_are_ignored_annoy(world: World, ears: Ears, n_ignored: int, is_told: bool) -> None:
    now = datetime.now(UTC)
    world.land_rows(
        "feedback",
        (
            {"kind": "feedback", "user_id": "ada", "session_id": "s", "type": f"probe_{said}", "probe_id": f"p{n}",
             "timestamp": (now - timedelta(minutes=n + 1)).isoformat()}
            for n in range(10)
            for said in ("delivered", "ignored" if n < n_ignored else "accepted")
        ),
    )  # fmt: skip
    world.run()
    if is_told:
        assert_arrives(world, ears, world.look(), rules.PROBE_ANNOYANCE)
        world.home.refresh_proactive()
        assert world.look(days=8).found == ()
    else:
        assert world.look().found == ()


def test_nine_questions_are_too_few_to_annoy() -> None:
    assert rules.probe_annoyance(rules.Answered(9, 9), AlertSettings()) is None


def test_damage_is_found_once_a_day_and_ends_when_it_is_mended(world: World, ears: Ears) -> None:
    assert world.look().found == ()
    day = world.home.store.lake.days(EXTRACTION_ISSUES)[0]
    path = Path(str(world.home.store.lake.local_file(EXTRACTION_ISSUES, day)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    assert_arrives(world, ears, world.look(Depth.FULL), rules.CORRUPTION, Severity.ERROR)
    assert [alert.rule for alert in world.look(Depth.LIGHT).found] == [rules.CORRUPTION]
    path.write_bytes(whole)
    assert world.look(Depth.LIGHT).found == (), "a run looks again at what is damaged"
    assert world.look(Depth.DUE, hours=25).found == ()


def test_damage_that_shows_at_a_glance_is_told_at_once(world: World, ears: Ears) -> None:
    world.look()
    next((world.home.path / "log").rglob("*.jsonl")).unlink()
    look = world.look()
    assert "manifest.jsonl" in look.found[0].text
    assert_arrives(world, ears, look, rules.CORRUPTION, Severity.ERROR)


def test_a_figure_that_cannot_be_read_keeps_no_other_back_and_is_damage(world: World) -> None:
    world.home.answers.parent.mkdir()
    world.home.answers.write_bytes(b"this is no database, and was one" * 100)
    full = world.with_settings(alerts={"disk_share": 1e-9})
    look = full.look()
    assert {alert.rule for alert in look.found} == {rules.CORRUPTION, rules.DISK_FULL}
    assert rules.MODEL_BUDGET not in look.asked


def test_questions_that_are_behind_their_cause_for_a_day_are_stale(examples: World, ears: Ears) -> None:
    lake = examples.home.store.lake
    day = lake.days(CURRENT_EDGES)[-1]
    lake.write(CURRENT_EDGES, day, lake.read(CURRENT_EDGES, day).slice(1), "another")
    assert examples.look(Depth.LIGHT, hours=1).found == ()
    look = examples.look(Depth.LIGHT, hours=25)
    assert "probes" in look.found[0].text
    assert "starters" in look.found[0].text
    assert_arrives(examples, ears, look, rules.STALE_OUTGOING)
    examples.home.refresh_proactive()
    assert examples.look(Depth.LIGHT, hours=25).found == ()


@pytest.mark.slow
def test_a_graph_that_is_behind_the_facts_for_a_day_is_stale(examples: World, ears: Ears) -> None:
    graph = InMemoryGraph()
    sync_home(examples.home, lambda: nullcontext(graph))
    assert examples.look(is_graph_set=True, hours=25).found == ()
    lake = examples.home.store.lake
    day = lake.days(CURRENT_EDGES)[-1]
    lake.write(CURRENT_EDGES, day, lake.read(CURRENT_EDGES, day).slice(1), "another")
    examples.home.refresh_proactive()
    assert examples.look(Depth.LIGHT, hours=25).found == ()
    assert_arrives(examples, ears, examples.look(Depth.LIGHT, is_graph_set=True, hours=25), rules.STALE_OUTGOING)
    sync_home(examples.home, lambda: nullcontext(graph))
    assert examples.look(Depth.LIGHT, is_graph_set=True, hours=25).found == ()


def test_a_batch_that_does_not_come_back_is_stale(world: World, ears: Ears) -> None:
    with AnswerStore(world.home.answers) as store:
        queue = BatchQueue(store.database)
        batch = queue.intend("model", [], datetime.now(UTC))
        assert world.look(hours=23).found == ()
        assert_arrives(world, ears, world.look(hours=25), rules.STALE_OUTGOING)
        queue.released(batch)
    assert world.look(hours=25).found == ()


def test_a_disk_that_is_nearly_full_is_told(world: World, ears: Ears) -> None:
    warned = world.with_settings(alerts={"disk_share": 1e-9, "disk_error_share": 1.0})
    assert_arrives(warned, ears, warned.look(), rules.DISK_FULL)
    full = world.with_settings(alerts={"disk_share": 1e-9, "disk_error_share": 1e-9})
    ears.tell(full.home, full.look())
    assert ears.heard == (["[worse] the disk is nearly full"],) * 2


def test_no_alert_quotes_anybody(world: World) -> None:
    world.land(60, "s2")
    texts = " ".join(f"{alert.title} {alert.text} {alert.todo}" for alert in world.look(minutes=6).found)
    assert texts
    assert "ada" not in texts.split()
    assert "tea" not in texts
