"""Making again what an erasure has changed: nothing waits for a model, no day is left over."""

from datetime import date
from typing import Any, NoReturn

import pytest

from em_pipelines.errors import SettingsError
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.serving.snapshot import LATEST, publish
from em_pipelines.settings import load_settings

from .conftest import World, lines


def no_key(_: Any) -> Any:
    """Opens the way to models of somebody who has no key."""

    def opening() -> NoReturn:
        raise SettingsError("no key is set")

    return opening


@pytest.mark.slow
def test_without_its_model_nothing_erased_waits_and_the_next_run_makes_the_days(world: World) -> None:
    expected = {fact for fact in world.facts("nora") if "Torvald" not in fact}
    settings = load_settings(home=world.home.path, extractor="llm")
    certificate = World(Pipeline(settings, no_key), world.folder).forget("nora", entity="Torvald")
    assert certificate.waits_for_a_run == ["extraction"]
    assert world.places("torvald", of="nora") == []
    world.run_full()
    assert world.facts("nora") == expected


@pytest.mark.slow
def test_days_and_snapshots_without_input_are_deleted(empty: World) -> None:
    home = empty.home
    empty.land(*lines("nora", (("s1", "2026-03-02T08:00:00Z", "user", "I live in Bergen."),)))
    empty.make()
    home.store.run_days(home.steps["decay"], [date(2026, 3, 9)])
    publish(home.store, home.snapshots, home.time_rules)
    assert (home.snapshots / LATEST).exists()
    empty.forget("nora", user="")
    assert empty.places("bergen") == []
    assert not [day for kind in ("interactions", "feedback") for day in home.store.log.days(kind)]
    for day in home.store.lake.days(CURRENT_EDGES):
        assert home.store.lake.read(CURRENT_EDGES, day).num_rows == 0
    assert all(not home.store.stale_days(step) for step in home.steps.values())


@pytest.mark.slow
def test_snapshots_of_before_stay_as_they_were(world: World) -> None:
    later = ("s7", "2026-03-24T09:00:00Z", "user", "My colleague Wenche likes chess.")
    world.land(*lines("nora", (later,)))
    world.make()
    before = (world.home.snapshots / "2026-03-06.duckdb").read_bytes()
    world.forget("nora", entity="Wenche")
    assert (world.home.snapshots / "2026-03-06.duckdb").read_bytes() == before
    assert world.places("wenche") == []
