"""`em probes`, `em starters`, `em why-probe`: what may be asked, why not, and that looking is not asking."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.interfaces.memory import Memory
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from tests.interfaces.agents.homes import run

NOW = datetime.now(UTC).replace(microsecond=0)
ANY_HOUR = {"EM_PROACTIVE__QUIET_FROM_HOUR": "0", "EM_PROACTIVE__QUIET_UNTIL_HOUR": "0"}


@pytest.fixture(scope="module")
def asked_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody of whom three questions wait, one of them expired, and one opening."""
    path = tmp_path_factory.mktemp("asks") / "home"
    memory = Memory(path, "sanne")
    at = NOW - timedelta(days=2)
    memory.store_observation("My sister Liesbeth lives in Ghent.", session_id="h1", timestamp=at)
    run(path)
    lake = memory.home.store.lake
    (edge, *_) = [fact["edge_id"] for fact in memory.facts() if fact["relation"] == "lives_in"]
    of = {
        "user_id": "sanne", "template": "t", "value": 0.5, "context_tags": [], "generated_at": at,
        "expires_at": NOW + timedelta(days=9), "status": "queued", "correlation_id": "cor_1",
    }  # fmt: skip
    probe = {**of, "kind": "verification", "benefit": "so that it is right", "gap": "whether it still holds"}
    probes = [
        {**probe, "probe_id": "probe_aaaa1", "text": "Does Liesbeth still live there?", "edge_id": edge, "value": 0.9},
        {**probe, "probe_id": "probe_aaaa2", "text": "Which oven is it?", "context_tags": ["baking"]},
        {**probe, "probe_id": "probe_bbbb3", "text": "Is it over?", "expires_at": NOW - timedelta(hours=1)},
    ]
    starter = {**of, "starter_id": "sta_cccc1", "kind": "date", "text": "Soon it is her birthday.", "edge_id": edge}
    day = lake.days(CURRENT_EDGES)[-1]
    lake.write(PROBES, day, PROBES.from_rows(probes), "test")
    lake.write(STARTERS, day, STARTERS.from_rows([starter]), "test")
    return path


@pytest.fixture
def ask(asked_home: Path, em: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *words: em(*words, "--home", str(asked_home), **ANY_HOUR)


def test_what_may_be_asked_is_listed_and_of_the_rest_why_not(ask: Any, asked_home: Path) -> None:
    found = json.loads(ask("probes", "--user", "sanne", "--context", "my bicycle", "--json").stdout)
    assert [row["probe_id"] for row in found["probes"]] == ["probe_aaaa1"]
    assert {one["id"]: one["why_not"] for one in found["kept_back"]} == {
        "probe_aaaa2": "context_mismatch", "probe_bbbb3": "expired",
    }  # fmt: skip
    shown = ask("probes", "--user", "sanne").stdout
    assert "Does Liesbeth still live there?" in shown
    assert "expired" in shown
    assert Memory(asked_home, "sanne").home.offers.of("sanne") == [], "looking is not asking"


def test_starters_are_listed_too(ask: Any) -> None:
    assert [
        row["starter_id"] for row in json.loads(ask("starters", "--user", "sanne", "--json").stdout)["starters"]
    ] == ["sta_cccc1"]


def test_a_preview_is_a_calendar(ask: Any) -> None:
    found = json.loads(ask("probes", "--user", "sanne", "--preview", "--days", "9", "--json").stdout)
    assert found["time_zone"] == "UTC"
    assert {one["probe_id"] for one in found["calendar"]} == {"probe_aaaa1", "probe_aaaa2"}
    assert "Which oven is it?" in ask("probes", "--user", "sanne", "--preview").stdout


def test_a_probe_is_explained_by_the_beginning_of_its_id(ask: Any) -> None:
    found = json.loads(ask("why-probe", "probe_aaaa1", "--json").stdout)
    assert [fact["edge_id"] for fact in found["facts"]] == [found["row"]["edge_id"]]
    shown = ask("why-probe", "probe_b").stdout
    assert "Is it over?" in shown
    assert "whether it still holds" in shown
    several = ask("why-probe", "probe_aaaa")
    assert (several.returncode, "give more" in several.stderr) == (2, True)
    unknown = ask("why-probe", "probe_nothing")
    assert (unknown.returncode, "em probes --user NAME" in unknown.stderr) == (1, True)


def test_somebody_unknown_is_named_with_who_may_be_meant(ask: Any) -> None:
    found = ask("probes", "--user", "sane")
    assert (found.returncode, "sanne" in found.stderr) == (1, True)
