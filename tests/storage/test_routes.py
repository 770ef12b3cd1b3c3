"""The same log by other routes gives the same memory: whole, in halves, backwards, shuffled, late."""

import random
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

LOGS = Path(__file__).parents[2] / "examples" / "logs" / "mirela"
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def memory_of(home_path: Path, *batches: list[bytes]) -> dict[str, str]:
    """Lands batches of lines one after the other, each followed by all steps over all days."""
    home = Pipeline(load_settings(home=home_path))
    for number, lines in enumerate(batches):
        path = home_path / f"batch-{number}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\n".join(lines) + b"\n")
        report = land([path], home.store.log, now=NOW, settings=home.settings.landing)
        assert not report.n_dead_letters
        for step in home.steps.values():
            home.store.run_days(step, home.store.days(step))
    return state_hash(home.store, home.settings.decay)


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """The first fortnight, so that every route takes seconds."""
    found = [line for path in sorted(LOGS.glob("2026-*.jsonl")) for line in path.read_bytes().splitlines()]
    return [line for line in found if b'"2026-09-' in line or b'"2026-10-0' in line]


@pytest.fixture(scope="module")
def whole_home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def whole(lines, whole_home) -> dict[str, str]:
    return memory_of(whole_home, lines)


@pytest.mark.slow
def test_a_log_landed_in_two_halves(lines, whole, tmp_path) -> None:
    assert memory_of(tmp_path, lines[: len(lines) // 2], lines[len(lines) // 2 :]) == whole


@pytest.mark.slow
def test_late_data_gives_the_state_that_in_order_data_gives(lines, whole, tmp_path) -> None:
    assert memory_of(tmp_path, lines[len(lines) // 2 :], lines[: len(lines) // 2]) == whole


@pytest.mark.slow
def test_a_shuffled_log_in_three_overlapping_pieces(lines, whole, tmp_path) -> None:
    shuffled = list(lines)
    random.Random(7).shuffle(shuffled)
    third = len(lines) // 3
    assert memory_of(tmp_path, shuffled[third:], shuffled[: 2 * third], shuffled) == whole


@pytest.mark.slow
def test_other_content_gives_another_hash(lines, tmp_path) -> None:
    few = lines[:10]
    one, same, other = (memory_of(tmp_path / name, said) for name, said in zip("abc", (few, few, few[1:]), strict=True))
    assert one == same
    assert one["all"] != other["all"]


def test_making_everything_again_gives_the_same_bytes(whole, whole_home, tmp_path) -> None:
    shutil.copytree(whole_home, tmp_path, dirs_exist_ok=True)
    files = {p: p.read_bytes() for p in (tmp_path / "lake").rglob("*.parquet")}
    home = Pipeline(load_settings(home=tmp_path))
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step), is_forced=True)
    assert {p: p.read_bytes() for p in (tmp_path / "lake").rglob("*.parquet")} == files
