"""Every kind of event that is declared comes of some run, but for those that docs/audit.md says nothing makes yet."""

import dataclasses
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.governance.erasure.forget import catch_up, forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.audit_events import EventType
from em_pipelines.schema.readings import Extraction, LocalExtractor, Segment
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.snapshot import publish
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SAID = (
    ("s1", "2026-03-02T08:00:00Z", "I live in Bergen. My flatmate Torvald works at the aquarium. I like rowing."),
    ("s1", "2026-03-02T08:01:00Z", "My sister Dana lives in Graz. My mother Rosa is a vet. I own a loom."),
    ("s1", "2026-03-02T08:02:00Z", "   "),
    ("s2", "2026-03-05T09:00:00Z", "I like rowing. My colleague Birgit Moe plays chess. Birgit likes tea."),
    ("s3", "2026-03-09T09:00:00Z", "I moved to Oslo. I don't like rowing. I think Dana lives in Linz."),
    ("s3", "2026-03-09T09:01:00Z", "I'm going to Ghent on 20 March."),
    ("s4", "2026-10-20T09:00:00Z", "I like knitting."),
)
TOLD: tuple[dict[str, Any], ...] = (
    {"type": "correct", "subject": "user", "relation": "likes", "object": "tea", "new_object": "coffee"},
    {"type": "merge", "entities": ["Torvald", "Torvald Lie"]},
    {"type": "split", "entity": "Birgit", "other": "Birgit Moe"},
    {"type": "revision", "subject": "user", "relation": "owns", "object": "loom", "outcome": "verified",
     "source": "https://example.org/a"},
    {"type": "revision", "subject": "user", "relation": "owns", "object": "loom", "outcome": "changed",
     "new_object": "spinning wheel", "source": "https://example.org/b"},
    *({"type": f"probe_{what}", "probe_id": "probe_1"} for what in ("delivered", "accepted", "ignored", "deflected")),
    *({"type": f"starter_{what}", "starter_id": "starter_1"} for what in ("delivered", "engaged")),
)  # fmt: skip


class Careless(LocalExtractor):
    """The rules, which of what was said last word something that nobody said."""

    name = "rules"
    version = "careless"

    def __init__(self) -> None:
        self._rules = RulesExtractor()

    def extract(self, segment: Segment) -> Extraction:
        found = self._rules.extract(segment)
        return dataclasses.replace(
            found, claims=[*found.claims, *(dataclasses.replace(c, object="Zanzibar") for c in found.claims[-1:])]
        )


class CarelessHome(Pipeline):
    extractor = Careless()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """Eight months of somebody who says, corrects and forgets."""
    folder = tmp_path_factory.mktemp("events")
    home = CarelessHome(load_settings(home=folder / "home"))
    records: list[dict[str, Any]] = [
        {"user_id": "nora", "session_id": session, "turn_number": turn, "role": "user", "content": text,
         "timestamp": at} for turn, (session, at, text) in enumerate(SAID)
    ]  # fmt: skip
    records += [
        {"kind": "feedback", "user_id": "nora", "timestamp": f"2026-03-10T08:{minute:02}:00Z", **said}
        for minute, said in enumerate(TOLD)
    ]
    path = folder / "log.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    report = land([path], home.store.log, now=NOW, settings=home.settings.landing)
    assert not report.n_dead_letters
    catch_up(home)
    home.infer()
    return home


def events(home: Pipeline) -> list[dict[str, Any]]:
    days = home.store.lake.days(AUDIT_TRAIL)
    return list(rows_of(home.store.lake.read_days(AUDIT_TRAIL, days)))


def told_elsewhere() -> set[str]:
    """What docs/audit.md says of the kinds that do not stand in the table."""
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1] for line in page.splitlines() if ", not the table" in line]
    return set(re.findall(r"`(\w+)`", "".join(lines)))


def test_every_declared_kind_of_event_is_written(home: Pipeline) -> None:
    before = {event["event_type"] for event in events(home)}
    assert not before & {"edge_deleted_by_user", "entity_deleted_by_user"}
    assert "inference_created" in before
    certificate = forget(home, Scope(ScopeKind.ENTITY, "nora", "Dana"), now=NOW)
    written = {event["event_type"] for event in events(home)} | before
    assert {kind.value for kind in EventType} - written == told_elsewhere()
    told = [event for event in events(home) if event["component"] == "erasure"]
    assert {event["event_type"] for event in told} == {"edge_deleted_by_user", "entity_deleted_by_user"}
    assert {event["correlation_id"] for event in told} == {certificate.certificate_id}
    assert {event["user_id"] for event in told} == {event["edge_id"] for event in told} == {None}
    assert all(orjson.loads(event["metadata"])["n"] > 0 for event in told)


@pytest.mark.slow
def test_a_snapshot_tells_of_what_was_inferred_and_erased(home: Pipeline) -> None:
    forget(home, Scope(ScopeKind.SESSION, "nora", "s2"), now=NOW)
    report = publish(home.store, home.snapshots, home.time_rules)
    with duckdb.connect(str(report.path), read_only=True) as connection:
        query = "SELECT DISTINCT event_type FROM audit_trail WHERE component IN ('inference', 'erasure')"
        found = {kind for (kind,) in connection.execute(query).fetchall()}
    assert found >= {"inference_created", "edge_deleted_by_user"}


def test_what_was_inferred_is_told_once_and_leaves_no_day_out_of_date(home: Pipeline) -> None:
    before = [event["id"] for event in events(home) if event["event_type"] == "inference_created"]
    assert len(before) == len(set(before)) > 0
    home.infer(is_forced=True)
    assert [event["id"] for event in events(home) if event["event_type"] == "inference_created"] == before
    assert not [name for name, step in home.steps.items() if home.store.stale_days(step)]


@pytest.mark.slow
def test_memory_is_equal_whoever_inferred_and_erased_when(home: Pipeline, tmp_path: Path) -> None:
    hashed = state_hash(home.store, home.settings.decay)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step), is_forced=True)
    assert state_hash(home.store, home.settings.decay) == hashed


@pytest.mark.slow
def test_a_user_who_is_erased_whole_is_not_in_the_trail(home: Pipeline) -> None:
    n_facts = len(facts(home.store, FactQuery("nora", date(2026, 10, 31), is_all=True), home.settings.decay))
    assert n_facts
    certificate = forget(home, Scope(ScopeKind.USER, "nora"), now=NOW)
    told = [event for event in events(home) if event["correlation_id"] == certificate.certificate_id]
    assert {event["event_type"] for event in told} == {"edge_deleted_by_user", "entity_deleted_by_user"}
    assert "nora" not in str(events(home))
    assert not [name for name, step in home.steps.items() if home.store.stale_days(step)]
