"""Inferred facts as they are read: by the engine, on the command line, in the snapshot."""

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.lifecycle.inference.inferred_facts import InferenceQuery, inferred_facts
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect
from tests.interfaces.cli.conftest import ROOT, call_here

LAST = date(2026, 11, 1)


@pytest.fixture(scope="module")
def home(examples_home: Path) -> Pipeline:
    return Pipeline(load_settings(home=examples_home))


def read(home: Pipeline, **query: Any) -> list[dict[str, Any]]:
    wanted = InferenceQuery(**{"as_of": LAST, **query})
    return inferred_facts(home.store, wanted, home.settings.inference, home.settings.decay)


def em(*words: object) -> Any:
    done = call_here([str(word) for word in words], ROOT, {})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_aunt_is_found_with_the_rule_and_its_premises(home: Pipeline) -> None:
    (found,) = [f for f in read(home, user_id="mirela") if f["rule"] == "aunt-or-uncle"]
    assert (found["subject"], found["relation"], found["object"]) == ("Ilinca", "relates_to", "user")
    assert found["because"] == ["Ilinca child_of Dana", "user sibling_of Dana"]
    assert (found["status"], len(found["premises"])) == ("inferred", 2)
    assert found["confidence"] <= 0.60


def test_what_is_read_is_what_was_published(home: Pipeline) -> None:
    with connect(str(home.snapshots / "latest.duckdb"), is_read_only=True) as connection:
        rows = connection.execute(
            "SELECT edge_id, round(confidence, 4), rule_id, because FROM inferred_facts"
        ).fetchall()
    assert sorted(rows) == sorted((f["edge_id"], f["confidence"], f["rule"], f["because"]) for f in read(home))


@pytest.mark.slow
def test_before_it_was_said_nothing_follows_from_it(home: Pipeline) -> None:
    early = read(home, user_id="mirela", as_of=date(2026, 9, 25))
    assert early
    assert "aunt-or-uncle" not in {f["rule"] for f in early}
    assert read(home, user_id="mirela", known_at=date(2026, 9, 25)) != read(home, user_id="mirela")


def test_of_one_user_and_of_one_name(home: Pipeline) -> None:
    assert {f["user_id"] for f in read(home)} >= {"mirela", "tobias"}
    assert {f["user_id"] for f in read(home, user_id="tobias")} == {"tobias"}
    assert all("Dana" in (f["subject"], f["object"]) for f in read(home, user_id="mirela", entity="Dana"))
    assert read(home, user_id="mirela", entity="Dana")
    assert read(home, user_id="nobody") == []


@pytest.mark.slow
def test_em_infer_shows_what_follows_now(examples_home: Path, home: Pipeline) -> None:
    asked = ("infer", "--as-of", LAST, "--home", examples_home)
    assert orjson.loads(em(*asked, "--json")) == read(home)
    assert orjson.loads(em(*asked, "--user", "mirela", "--json")) == read(home, user_id="mirela")
    shown = em(*asked)
    assert "aunt-or-uncle" in shown
    assert "user sibling_of" in shown


@pytest.mark.slow
def test_facts_list_what_follows_only_where_it_is_wanted(examples_home: Path, home: Pipeline) -> None:
    asked = ("facts", "--user", "mirela", "--as-of", LAST, "--home", examples_home)
    plain = orjson.loads(em(*asked, "--json"))
    both = orjson.loads(em(*asked, "--inferred", "--json"))
    assert both == [*plain, *read(home, user_id="mirela")]
    assert {fact["status"] for fact in plain} <= {"active", "contradicted"}
    assert "more follow from them" in em(*asked, "--inferred")
    assert "more follow from them" not in em(*asked)
