"""`em review` over experiences: one list with imported facts, decided alike."""

import json
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.landing.imported_facts import WAITING_SCHEMA
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.lifecycle.consolidation.calls import call
from tests.lifecycle.consolidation.conftest import Sleeper
from tests.lifecycle.consolidation.test_memory_files import failing


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a rule of which words wait, an experience that waits (red tests are a tool's ordinary work) and one
    that is stopped."""
    sleeper = Sleeper(Pipeline(load_settings(home=tmp_path / "home")), tmp_path)
    red = (
        call("run_tests", "TestFailure", hours=24 * day, session=f"r{day}", said="2 tests failed") for day in range(6)
    )
    hostile = (call("ignore_previous_instructions", "Down", hours=24 * day, session=f"h{day}") for day in range(5))
    sleeper.land([*failing(), *red, *hostile])
    sleeper.night()
    return sleeper.home.path


def listed(em: Any, home: Path, *more: str) -> list[dict[str, Any]]:
    return json.loads(em("review", "list", *more, "--home", home, "--json").stdout)


def waiting(em: Any, home: Path, *more: str) -> list[dict[str, Any]]:
    """What is not served yet."""
    return [one for one in listed(em, home, *more) if "it is served" not in one["reason"]]


def test_what_waits_stands_in_the_one_list_with_its_fields_and_why(em: Any, home: Path) -> None:
    (found,) = waiting(em, home)

    assert set(WAITING_SCHEMA.names) <= set(found)
    assert found["seed_id"].startswith("exp_")
    assert found["kind"] == "experience"
    assert found["subject"] == "run_tests"
    assert "ordinary work" in found["reason"]
    assert waiting(em, home, "--kind", "experience", "--user", "ada") == [found]
    assert waiting(em, home, "--kind", "contacts") == []
    shown = em("review", "list", "--home", home).stdout
    assert "2 waiting" in shown


def test_one_that_is_accepted_counts_at_once(em: Any, home: Path) -> None:
    (found,) = waiting(em, home)

    done = em("review", "accept", found["seed_id"][:10], "--home", home, "--json")

    assert [one["experience_id"] for one in json.loads(done.stdout)["accepted"]] == [found["seed_id"]]
    assert waiting(em, home) == []
    assert any("run_tests fails with" in path.read_text("utf-8") for path in home.rglob("MEMORY.md"))


def test_one_that_is_rejected_is_listed_as_that_and_may_be_accepted_after_all(em: Any, home: Path) -> None:
    (found,) = waiting(em, home)
    before = {path: path.read_bytes() for path in (home / "lake" / "experiences").glob("*")}

    assert em("review", "reject", "--kind", "experience", "--home", home).stdout == "1 rejected\n"
    assert waiting(em, home) == []
    (away,) = waiting(em, home, "--rejected")
    assert away["seed_id"] == found["seed_id"]
    assert "taken back" in away["reason"]
    assert before != {path: path.read_bytes() for path in (home / "lake" / "experiences").glob("*")}

    assert em("review", "accept", found["seed_id"], "--home", home).returncode == 0
    assert waiting(em, home, "--rejected") == []
    assert any("run_tests fails with" in path.read_text("utf-8") for path in home.rglob("MEMORY.md"))


def test_what_gates_stopped_is_told_with_gate_and_reason_and_nothing_of_it(em: Any, home: Path) -> None:
    (found,) = waiting(em, home, "--quarantined")

    assert found["gate"] == "injection"
    assert found["reason"] == "a name in it is an instruction"
    assert "ignore" not in json.dumps(found)


def test_nobody_elses_is_decided_and_an_id_that_is_none_changes_nothing(em: Any, home: Path) -> None:
    (found,) = waiting(em, home)

    assert em("review", "accept", found["seed_id"], "--user", "ben", "--home", home).returncode == 2
    done = em("review", "accept", found["seed_id"], "exp_none", "--home", home)
    assert done.returncode == 2
    assert "em review list" in done.stderr
    assert waiting(em, home) == [found]


def test_words_of_an_output_are_shown_and_are_let_in_by_id_alone(em: Any, home: Path) -> None:
    (found,) = [one for one in listed(em, home) if one["subject"] == "ship"]
    assert found["excerpt"] == "harbour is closed for the ferry"
    assert found["excerpt"].split()[0] in em("review", "list", "--home", home).stdout

    def pages() -> str:
        return "".join(path.read_text("utf-8") for path in home.rglob("MEMORY.md"))

    assert em("review", "accept", "--all", "--home", home).returncode == 0
    assert found["excerpt"] not in pages()
    assert em("review", "accept", found["seed_id"], "--home", home).returncode == 0
    assert found["excerpt"] in pages()
    assert found["seed_id"] not in {one["seed_id"] for one in listed(em, home)}
