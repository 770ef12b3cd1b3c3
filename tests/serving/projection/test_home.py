"""The sync of a home: noted where it agreed, shortened where nothing differs, and told of what was erased since."""

import shutil
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from em_pipelines.errors import CorruptTableError, GraphUnavailableError, LockedError, UnsettledError
from em_pipelines.governance.audit.diagnosis import Diagnosis
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.serving.projection import sync as module
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.noted import FILE, GraphNote, Noted
from em_pipelines.serving.projection.shapes import ENTITY
from em_pipelines.serving.projection.sync import SyncReport
from em_pipelines.serving.projection.sync_home import LOCK, n_erased_since_sync, sync_home
from em_pipelines.settings import load_settings

SAID = (("ada", "I live in Oslo."), ("bob", "I live in Porto."), ("bob", "I have a dog named Rex."))
LATER = datetime(2026, 4, 1, tzinfo=UTC)


def run_steps(home: Pipeline) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which two people said something."""
    folder = tmp_path_factory.mktemp("of-two")
    home = Pipeline(load_settings(home=folder / "home"))
    log = folder / "log.jsonl"
    log.write_bytes(
        b"\n".join(
            orjson.dumps(
                {"user_id": user, "session_id": f"of-{user}", "turn_number": number, "role": "user",
                 "timestamp": "2026-03-01T10:00:00Z", "content": text}
            )
            for number, (user, text) in enumerate(SAID)
        )
    )  # fmt: skip
    land([log], home.store.log, now=LATER, settings=home.settings.landing)
    run_steps(home)
    return home.path


@pytest.fixture
def home(made: Path, home_path: Path) -> Pipeline:
    shutil.copytree(made, home_path)
    return Pipeline(load_settings(home=home_path))


def synced(home: Pipeline, graph: InMemoryGraph, **options: bool) -> SyncReport:
    return sync_home(home, lambda: nullcontext(graph), **options)


def told(home: Pipeline) -> list[Diagnosis]:
    return [d for d in diagnose(home) if d.subject == "graph database"]


def test_a_sync_that_agreed_is_noted_and_says_nothing_of_anybody(home: Pipeline) -> None:
    begun = datetime.now(UTC)
    report = synced(home, InMemoryGraph())
    noted = GraphNote(home.record).read()
    assert noted is not None
    assert begun <= noted.synced_at <= datetime.now(UTC)
    assert (noted.content, noted.checksum) == (report.content, report.checksum_held)
    assert set(orjson.loads((home.record / FILE).read_bytes())) == {"synced_at", "content", "checksum"}


def test_where_neither_side_has_changed_nothing_is_read_but_the_sums(
    home: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = InMemoryGraph()
    first = synced(home, graph)

    def read(*_: object) -> None:
        raise AssertionError("the state was read")

    monkeypatch.setattr(module, "Wanted", read)
    again = synced(home, graph)
    assert (again.is_equal, again.n_written, again.n_users, again.as_of) == (True, 0, 2, first.as_of)
    assert (again.nodes.held, again.edges.held) == (first.nodes.held, first.edges.held)
    assert again.checksum_held == first.checksum_held
    with pytest.raises(AssertionError):
        synced(home, graph, is_full=True)
    del graph.nodes[ENTITY][next(iter(graph.nodes[ENTITY]))]
    with pytest.raises(AssertionError):
        synced(home, graph)


def test_a_graph_that_does_not_agree_is_not_noted(home: Pipeline) -> None:
    class Forgetful(InMemoryGraph):
        def put_edges(self, kind: object, rows: object) -> None:
            """Writes nothing."""

    assert not synced(home, Forgetful()).is_equal
    assert not GraphNote(home.record).is_there


def test_another_graph_is_filled_whatever_the_note_says(home: Pipeline) -> None:
    synced(home, InMemoryGraph())
    assert synced(home, InMemoryGraph()).n_written > 0


def test_a_note_that_is_none_is_named_by_whoever_needs_it(home: Pipeline) -> None:
    synced(home, InMemoryGraph())
    for content in (b"", b"[]", b'{"synced_at": "yesterday"}', b'{"synced_at": 5}'):
        (home.record / FILE).write_bytes(content)
        with pytest.raises(CorruptTableError, match="it is no note of a sync"):
            synced(home, InMemoryGraph())
        assert [d.is_well for d in told(home)] == [False]


@pytest.mark.slow
def test_an_erasure_waits_for_the_next_sync_and_says_so(home: Pipeline) -> None:
    graph = InMemoryGraph()
    assert told(home) == []
    assert not forget(home, Scope(ScopeKind.SESSION, "ada", "of-ada")).waits_for_a_sync
    assert n_erased_since_sync(home) == 0
    synced(home, graph)
    assert [d.is_well for d in told(home)] == [True]
    assert set(graph.sums()) == {"bob"}
    assert forget(home, Scope(ScopeKind.ENTITY, "bob", "Rex")).waits_for_a_sync
    assert n_erased_since_sync(home) == 1
    (found,) = told(home)
    assert (found.is_well, found.advice) == (False, "`em sync-graph`")
    assert "Rex" in str(graph.nodes)
    synced(home, graph)
    assert "Rex" not in str(graph.nodes)
    assert (n_erased_since_sync(home), [d.is_well for d in told(home)]) == (0, [True])


def test_an_erasure_does_not_wait_for_a_note_that_can_be_read(home: Pipeline) -> None:
    synced(home, InMemoryGraph())
    (home.record / FILE).write_bytes(b"scribbled over")
    assert forget(home, Scope(ScopeKind.USER, "bob", "")).waits_for_a_sync


@pytest.mark.slow
def test_an_erasure_that_ends_while_a_sync_is_at_work_is_not_taken_for_carried_over(home: Pipeline) -> None:
    synced(home, InMemoryGraph())
    certificate = forget(home, Scope(ScopeKind.USER, "bob", ""))
    noted = GraphNote(home.record).read()
    assert noted is not None
    ended = datetime.fromisoformat(certificate.carried_out_at)
    for begun, n_left in ((ended - timedelta(seconds=1), 1), (ended, 1), (ended + timedelta(seconds=1), 0)):
        GraphNote(home.record).put(Noted(begun, noted.content, noted.checksum))
        assert n_erased_since_sync(home) == n_left


def test_days_that_are_being_made_anew_are_worth_a_retry_and_damage_is_not(home: Pipeline) -> None:
    day = home.store.lake.days(ENTITIES)[-1]
    whole = home.store.lake.read(ENTITIES, day)
    info = home.store.lake.info(ENTITIES, day)
    assert info is not None
    home.store.lake.write(ENTITIES, day, whole.slice(1))  # as if the resolution had just made less of it
    with pytest.raises(UnsettledError, match="do not fit together yet; try again when `em run` has ended"):
        synced(home, InMemoryGraph())
    Path(home.store.lake.path(ENTITIES, day)).write_bytes(b"PAR1 no more")
    with pytest.raises(CorruptTableError):
        synced(home, InMemoryGraph())


def test_one_sync_at_a_time(home: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Pipeline.lock
    monkeypatch.setattr(Pipeline, "lock", lambda self, name: lock(self, name, timeout_seconds=0.1))
    with home.lock(LOCK), pytest.raises(LockedError, match="taking the graph lock"):
        synced(home, InMemoryGraph())


def test_a_store_that_is_down_leaves_the_note_as_it_was(home: Pipeline) -> None:
    class Down(InMemoryGraph):
        def sums(self) -> None:  # type: ignore[override]
            raise GraphUnavailableError("talking: no answer")

    synced(home, InMemoryGraph())
    before = (home.record / FILE).read_bytes()
    with pytest.raises(GraphUnavailableError, match=r"^talking: no answer$"):
        synced(home, Down())
    assert (home.record / FILE).read_bytes() == before


def test_a_store_that_is_down_is_not_waited_for_again_unless_a_sync_is_asked_for(home: Pipeline) -> None:
    n_tries = 0

    class Down(InMemoryGraph):
        def prepare(self) -> None:
            nonlocal n_tries
            n_tries += 1
            raise GraphUnavailableError("talking: no answer")

    for _ in range(3):
        with pytest.raises(GraphUnavailableError):
            synced(home, Down(), is_asked_for=False)
    assert n_tries == 1
    with pytest.raises(GraphUnavailableError, match=r"^talking: no answer$"):
        synced(home, Down())
    with pytest.raises(GraphUnavailableError, match="not tried"):
        synced(home, InMemoryGraph(), is_asked_for=False)
    synced(home, InMemoryGraph())
    assert synced(home, InMemoryGraph(), is_asked_for=False).is_equal
