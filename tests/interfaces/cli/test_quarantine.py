"""`em quarantine`: what was set aside is listed, shown with its words, given back, and said by `em run`."""

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.settings import load_settings
from em_pipelines.storage.quarantine import SetAside

pytestmark = pytest.mark.slow

DAY = date(2026, 3, 1)


@pytest.fixture
def home(em: Any, native: Any, tmp_path: Path) -> Path:
    """A home of two people, whose liking for chess is set aside for one of them."""
    path = tmp_path / "home"
    said = [
        {"user_id": user, "session_id": user, "content": "I live in Oslo. I like chess.",
         "timestamp": f"{DAY}T10:00:00Z"}
        for user in ("ada", "ben")
    ]  # fmt: skip
    assert em("run", native(*said), "--home", path).returncode == 0
    opened = Pipeline(load_settings(home=path))
    store, fold = opened.store, opened.steps["fold"]
    (claim,) = (
        row
        for row in store.lake.read(CLAIMS, DAY).to_pylist()
        if row["user_id"] == "ben" and row["relation"] == "likes"
    )
    inputs = store.inputs_digest(fold, DAY)
    entry = SetAside("ben", DAY, "fold", "no_cycles", "the check no_cycles fails with it", inputs, claim["claim_id"])
    store.quarantine.add([entry])
    store.reopen(fold, DAY)
    return path


def liked(em: Any, home: Path, user: str) -> list[str]:
    facts = orjson.loads(em("facts", "--user", user, "--home", home, "--json").stdout)
    return [fact["object"] for fact in facts if fact["relation"] == "likes"]


def test_a_run_says_in_a_line_what_it_set_aside_and_serves_the_rest(em: Any, home: Path) -> None:
    done = em("run", "--home", home)
    assert done.returncode == 1
    assert "em: 1 claim of 1 user set aside, everything else is served; see `em quarantine list --home" in done.stderr
    assert (liked(em, home, "ada"), liked(em, home, "ben")) == (["chess"], [])
    again = em("run", "--home", home)
    assert again.returncode == 0
    assert "Quarantine: 1 claim of 1 user set aside" in again.stdout
    looked = em("doctor", "--home", home)
    assert looked.returncode == 1
    assert "1 set aside, of 1 user" in looked.stdout


def test_what_is_set_aside_is_listed_and_shown_with_its_words(em: Any, home: Path) -> None:
    em("run", "--home", home)
    (entry,) = orjson.loads(em("quarantine", "list", "--home", home, "--json").stdout)
    assert (entry["user_id"], entry["day"], entry["what"]) == ("ben", "2026-03-01", "user likes chess")
    assert "no_cycles" in em("quarantine", "list", "--home", home).stdout
    assert orjson.loads(em("quarantine", "list", "--user", "ada", "--home", home, "--json").stdout) == []
    shown = em("quarantine", "show", entry["quarantine_id"][:12], "--home", home)
    assert "user likes chess" in shown.stdout
    assert em("quarantine", "show", "quar_zz", "--home", home).returncode == 2


@pytest.mark.parametrize("choice", ["id", "user", "all"])
def test_what_is_released_comes_back_with_the_next_run(em: Any, home: Path, choice: str) -> None:
    em("run", "--home", home)
    (entry,) = orjson.loads(em("quarantine", "list", "--home", home, "--json").stdout)
    words = {"id": [entry["quarantine_id"]], "user": ["--user", "ben"], "all": ["--all"]}[choice]
    assert em("quarantine", "release", *words, "--home", home).returncode == 0
    assert [entry.action for entry in Pipeline(load_settings(home=home)).ledger.entries()][-1] == "release"
    done = em("run", "--home", home)
    assert (done.returncode, liked(em, home, "ben")) == (0, ["chess"]), done.stderr
    assert orjson.loads(em("quarantine", "list", "--home", home, "--json").stdout) == []


@pytest.mark.parametrize("words", [[], ["--all", "--user", "ben"], ["quar_zz"], ["--user", "ada"]])
def test_a_choice_that_names_nothing_is_wrong_use(em: Any, home: Path, words: list[str]) -> None:
    refused = em("quarantine", "release", *words, "--home", home)
    assert refused.returncode == 2
    assert "em quarantine list" in refused.stderr


def test_of_nobody_nothing_is_released(em: Any, home: Path) -> None:
    refused = em("quarantine", "release", "--user", "bem", "--home", home)
    assert (refused.returncode, "did you mean 'ben'?" in refused.stderr) == (1, True)


def test_who_is_forgotten_leaves_nothing_in_quarantine(em: Any, home: Path) -> None:
    em("run", "--home", home)
    assert em("forget", "--user", "ben", "--all", "--yes", "--home", home).returncode == 0
    assert orjson.loads(em("quarantine", "list", "--home", home, "--json").stdout) == []
