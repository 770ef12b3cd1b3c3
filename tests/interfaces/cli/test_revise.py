"""`em revise` against a real endpoint: what it would send, what it does, and what the next `em run` makes of it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.settings import load_settings
from tests.lifecycle.revision.worlds import World
from tests.model_server.script import Call, Step, failed, rate_limited, searched
from tests.model_server.server import ModelServer

KEY = "sk-nobody-may-read-this"
ATLAS = "https://atlas.example.org/korvel"


@pytest.fixture
def home(home_path: Path) -> Path:
    """A home that knows two public facts and a private one, as of the day that has ended last."""
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    world = World()
    world.thing("Vesna", "person")
    for number, place in enumerate(("Kotor", "Perast")):
        world.fact("Korvel", "located_in", place, kinds="organization place", reinforcement_count=9 - number)
    world.fact("Vesna's Bakery", "located_in", "Kotor", kinds="organization place")
    world.fact("office", "located_in", "Kotor")
    lake = Pipeline(load_settings(home=home_path)).store.lake
    lake.write(CURRENT_EDGES, yesterday, world.edges)
    lake.write(ENTITIES, yesterday, world.entities)
    return home_path


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def script(call: Call) -> Step:
        said = {"outcome": "changed", "new_object": "Risan", "source": ATLAS}
        return searched(said if "Perast" in call.prompt else {**said, "outcome": "verified", "new_object": None}, ATLAS)

    with ModelServer(script, api_key=KEY) as found:
        yield found


@pytest.fixture
def around(home: Path, server: ModelServer) -> dict[str, str]:
    return {
        "EM_HOME": str(home), "EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": KEY,
        "EM_REVISION__IS_ENABLED": "true",
        "EM_LLM__LADDER__DELAYS_SECONDS": "[0]", "EM_LLM__N_AWAITED_TRIALS": "0",
    }  # fmt: skip


def landed(home: Path) -> list[dict[str, object]]:
    log = Pipeline(load_settings(home=home)).store.log
    return [orjson.loads(r["payload"]) for day in log.days("feedback") for r in log.read("feedback", day)]


def test_a_dry_run_shows_every_word_that_would_leave_and_asks_nobody(em, around, server, home) -> None:
    done = em("revise", "--dry-run", "--json", **around)
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert (len(found["questions"]), found["n_deferred"], found["n_withheld"]) == (2, 0, 1)
    assert "Vesna" not in done.stdout
    assert (server.requests, landed(home)) == ([], [])
    assert em("revise", **around).returncode == 0
    sent = [call.body["input"][0]["content"] for call in server.calls]
    assert [question["sent"] for question in found["questions"]] == sent
    assert all(call.body["instructions"] == found["instructions"] for call in server.calls)


def test_a_dry_run_for_people_says_the_same(em, around) -> None:
    done = em("revise", "--dry-run", **around)
    assert '"subject": "Korvel"' in done.stdout
    assert "2 facts would be sent to gpt-4.1-mini at http://127.0.0.1" in done.stdout
    off = em("revise", "--dry-run", **{**around, "EM_REVISION__IS_ENABLED": "false"})
    assert "switched off: nothing is ever sent" in off.stdout


def test_a_night_lands_its_outcomes_once(em, around, server, home) -> None:
    done = em("revise", "--json", **around)
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert {n: found[n] for n in ("due", "withheld", "asked", "verified", "changed", "unknown", "deferred")} == {
        "due": 2, "withheld": 1, "asked": 2, "verified": 1, "changed": 1, "unknown": 0, "deferred": 0,
    }  # fmt: skip
    assert [(p["outcome"], p.get("new_object")) for p in landed(home)] == [("verified", None), ("changed", "Risan")]
    again = em("revise", **around)
    assert (again.returncode, server.n_calls, len(landed(home))) == (0, 2, 2)


def test_switched_off_it_says_so_and_does_nothing(em, around, server, home) -> None:
    done = em("revise", **{**around, "EM_REVISION__IS_ENABLED": "false"})
    assert done.returncode == 0
    assert "No verifier is configured" in done.stdout
    assert (server.requests, landed(home)) == ([], [])


def test_without_a_key_it_is_wrong_use_and_the_sentence_names_the_variables(em, around) -> None:
    done = em("revise", **{**around, "EM_LLM_API_KEY": ""})
    assert done.returncode == 2
    assert "EM_REVISION_API_KEY, EM_LLM_API_KEY or OPENAI_API_KEY" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_wrong_key_is_wrong_use_and_is_not_repeated(em, around) -> None:
    done = em("revise", **{**around, "EM_LLM_API_KEY": "sk-wrong-and-secret"})
    assert done.returncode == 2
    assert "HTTP 401" in done.stderr
    assert "sk-wrong" not in done.stderr + done.stdout


@pytest.mark.parametrize("step", [failed(500), pytest.param(rate_limited(3600), marks=pytest.mark.slow)])
def test_an_endpoint_that_is_down_is_worth_a_retry_which_goes_on(em, around, server, home, step) -> None:
    script, server.script = server.script, lambda _: step
    done = em("revise", **around)
    assert done.returncode == 3
    assert "2 facts are deferred" in done.stderr
    assert landed(home) == []
    server.script = script
    assert em("revise", **around).returncode == 0
    assert len(landed(home)) == 2


def test_a_spent_budget_is_no_error_and_is_said(em, around, home) -> None:
    done = em("revise", **around, EM_REVISION__MAX_CALLS_PER_NIGHT="1")
    assert done.returncode == 0, done.stderr
    assert "at most 1 fact a night" in done.stdout
    assert len(landed(home)) == 1


def test_a_night_that_has_not_come_is_wrong_use(em, around) -> None:
    done = em("revise", "--night", "2999-01-01", **around)
    assert done.returncode == 2
    assert "has not ended" in done.stderr
