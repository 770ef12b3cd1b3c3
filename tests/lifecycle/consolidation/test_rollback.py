"""A night that is rolled back leaves everything as it was: MEMORY.md, SKILL.md, tables, their footers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.lifecycle.consolidation.documents.memory_files import render
from em_pipelines.lifecycle.consolidation.night import SWITCHED_OFF, experiences, switch
from em_pipelines.lifecycle.consolidation.nights import Said
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.lifecycle.consolidation.calls import call
from tests.lifecycle.consolidation.conftest import NOW, Sleeper
from tests.lifecycle.consolidation.test_memory_files import failing


def rules(sleeper: Sleeper) -> set[str]:
    return {row["component"] for row in experiences(sleeper.home) if row["kind"] == "failure"}


def test_what_a_night_made_is_gone_and_the_same_evidence_does_not_bring_it_back(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    before = sleeper.all()
    night = sleeper.night().consolidation_id
    assert rules(sleeper) == {"ship"}

    sleeper.roll_back(str(night))
    assert sleeper.all() == before == {}
    sleeper.night()

    assert rules(sleeper) == set()
    assert b"## Rules" not in b"".join(sleeper.files().values())


def test_newer_evidence_may_bring_it_back(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    sleeper.roll_back(str(sleeper.night().consolidation_id))
    sleeper.land(failing(first_day=10))
    sleeper.night()

    assert rules(sleeper) == {"ship"}
    (row,) = (row for row in experiences(sleeper.home) if row["kind"] == "failure")
    assert row["n_occurrences"] == 4


def test_a_rejected_rule_waits_for_newer_evidence_too(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    sleeper.night()
    (row,) = (row for row in experiences(sleeper.home) if row["kind"] == "failure")
    sleeper.decide(row["experience_id"], Said.REJECT)
    assert rules(sleeper) == set()
    sleeper.land(failing(first_day=10, skill="sail"))
    sleeper.night()
    assert rules(sleeper) == {"sail"}
    sleeper.land(failing(first_day=20))
    sleeper.night()

    assert rules(sleeper) == {"sail", "ship"}


def test_the_switch_stops_nights_and_says_so_and_what_stands_is_kept(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    sleeper.night()
    before = sleeper.all()
    switch(sleeper.home, NOW, is_enabled=False)
    sleeper.land(failing(first_day=10, skill="sail"))

    report = sleeper.night()
    assert report.note == SWITCHED_OFF
    assert sleeper.all() == before
    switch(sleeper.home, NOW, is_enabled=True)
    assert sleeper.night().note is None


def test_the_switch_waits_for_no_night_that_is_at_work(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    with sleeper.home.lock("consolidation"):
        switch(sleeper.home.another(), NOW, is_enabled=False)

    assert sleeper.night().note == SWITCHED_OFF


@pytest.mark.slow
def test_a_night_comes_though_more_was_erased_than_has_come(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    sleeper.night()
    for day in (0, 2):
        forget(sleeper.home, Scope(ScopeKind.SESSION, "ada", f"ada-{day}"), now=NOW)
    sleeper.land([call("idle", hours=500, session="later")])

    assert sleeper.night().note is None


def test_a_night_that_was_killed_between_the_book_and_the_tables_is_completed(sleeper: Sleeper, tmp_path: Path) -> None:
    other = Sleeper(Pipeline(load_settings(home=tmp_path / "other")), tmp_path)
    for one in (sleeper, other):
        one.land(failing())
    sleeper.night()
    (line,) = sleeper.home.nights.history().lines
    other.home.nights.append(line)

    other.home.refresh_consolidation()

    assert other.tables() == sleeper.tables()
    assert sorted(other.files().values()) == sorted(sleeper.files().values())


def test_files_that_were_lost_come_back_as_they_were(sleeper: Sleeper) -> None:
    sleeper.land(failing())
    sleeper.night()
    before = sleeper.all()
    for path in (sleeper.home.path / "memory").rglob("*.md"):
        path.write_bytes(b"")

    render(sleeper.home)

    assert sleeper.all() == before


SKILLS = ("ship", "sail", "dock")


class Sequence:
    """A home whose nights, rollbacks and decisions follow one another, held against what stood before each night."""

    def __init__(self, sleeper: Sleeper) -> None:
        self.sleeper = sleeper
        self.day = 0
        self.before: dict[str, dict[str, bytes]] = {}

    def evidence(self, which: int) -> None:
        """Things fail, each in its own way; what stood before earlier nights may have other evidence now."""
        chosen = SKILLS[which % len(SKILLS)]
        calls: list[dict[str, Any]] = failing(2 + which % 3, skill=chosen, first_day=self.day)
        self.sleeper.land([*calls, call("idle", hours=24 * self.day + 5, session=f"idle-{self.day}")])
        self.day += 3
        self.before.clear()

    def night(self, _: int) -> None:
        before = self.sleeper.all()
        report = self.sleeper.night()
        if report.note is None:
            self.before[str(report.consolidation_id)] = before

    def roll_back(self, which: int) -> None:
        standing = self.sleeper.home.nights.history().standing
        if not standing:
            return
        target = standing[which % len(standing)].target
        self.sleeper.roll_back(target)
        if target in self.before:
            assert self.sleeper.all() == self.before[target]
        self.before = {name: held for name, held in self.before.items() if name in self.standing()}

    def decide(self, which: int) -> None:
        found = experiences(self.sleeper.home)
        if found:
            said = (Said.ACCEPT, Said.REJECT)[which % 2]
            self.sleeper.decide(found[which % len(found)]["experience_id"], said)
            self.before.clear()  # a decision outlives the night

    def standing(self) -> set[str]:
        return {night.target for night in self.sleeper.home.nights.history().standing}


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Sleeper]:
    def made() -> Sleeper:
        folder = tmp_path_factory.mktemp("sequence")
        return Sleeper(Pipeline(load_settings(home=folder / "home")), folder)

    return made


OPERATIONS = st.sampled_from(("evidence", "night", "night", "roll_back", "roll_back", "decide"))


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(OPERATIONS, st.integers(0, 11)), min_size=4, max_size=12))
def test_any_sequence_of_nights_rollbacks_and_decisions_can_be_taken_back(
    fresh: Callable[[], Sleeper], operations: list[tuple[str, int]]
) -> None:
    sequence = Sequence(fresh())
    for which in (0, 1):
        sequence.evidence(which)
    for name, which in operations:
        getattr(sequence, name)(which)
        assert sequence.sleeper.home.refresh_consolidation().made == ()
    held = sequence.sleeper.all()
    sequence.sleeper.home.refresh_consolidation(is_forced=True)
    assert sequence.sleeper.all() == held
