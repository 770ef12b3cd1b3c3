"""`em verify-ledger` and `em repair`, and that a broken state is made again before anything is published."""

from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.settings import load_settings
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.ledger_entries import Act


@pytest.fixture
def home(tmp_path) -> Pipeline:
    return Pipeline(load_settings(home=tmp_path / "home"))


def test_a_ledger_that_nobody_edited_is_sound(em, home: Pipeline) -> None:
    home.path.mkdir(exist_ok=True)
    assert em("verify-ledger", "--home", home.path).stdout == "0 entries, nothing shows an edit; last hash none\n"
    ledger = Ledger(home.record, home.salt)
    entries = [
        ledger.append(Act("correct", user_id="ada", target=f"edge_{n}", at=datetime(2026, 3, 1, tzinfo=UTC)))
        for n in (1, 2)
    ]
    document = orjson.loads(em("verify-ledger", "--home", home.path, "--json").stdout)
    assert document == {"is_sound": True, "n_entries": 2, "last_hash": entries[-1].hash, "problems": []}


def test_an_edited_ledger_names_the_first_bad_entry(em, home: Pipeline) -> None:
    ledger = Ledger(home.record, home.salt)
    for n in range(3):
        ledger.append(Act("correct", user_id="ada", target=f"edge_{n}", at=datetime(2026, 3, 1, tzinfo=UTC)))
    path = home.record / "ledger.jsonl"
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(rows[0] + rows[2])
    found = em("verify-ledger", "--home", home.path)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("em: verifying the ledger: line 2: it is numbered 3: lines were removed")
    document = orjson.loads(em("verify-ledger", "--home", home.path, "--json").stdout)
    assert (document["is_sound"], document["problems"][0]["line"]) == (False, 2)


def test_a_hash_that_was_kept_elsewhere_is_looked_for(em, home: Pipeline) -> None:
    def append(target: str) -> str:
        return home.ledger.append(
            Act("correct", user_id="ada", target=target, at=datetime(2026, 3, 1, tzinfo=UTC))
        ).hash

    kept = append("edge_1")
    append("edge_2")
    assert em("verify-ledger", "--expect", kept, "--home", home.path).returncode == 0
    for name in ("ledger.jsonl", "ledger.head"):
        (home.record / name).unlink()
    assert em("verify-ledger", "--home", home.path).returncode == 0, "nobody has noted anything in this home"
    found = em("verify-ledger", "--expect", kept, "--home", home.path)
    assert (found.returncode, found.stdout) == (1, "")
    assert "it never ended with the expected hash" in found.stderr
    append("edge_3")
    document = orjson.loads(em("verify-ledger", "--expect", kept, "--home", home.path, "--json").stdout)
    assert not document["is_sound"]


@pytest.mark.parametrize("wrong", ["", "none", "a" * 63, "g" * 64, "A" * 64, "a" * 65])
def test_what_is_no_hash_is_not_looked_for(em, home: Pipeline, wrong: str) -> None:
    found = em("verify-ledger", "--expect", wrong, "--home", home.path)
    assert (found.returncode, found.stdout) == (2, "")
    assert "give 64 hex digits" in found.stderr


@pytest.fixture
def edited(em, native, tmp_path) -> Path:
    """A home of which somebody has turned every fact into its denial."""
    home = tmp_path / "home"
    log = native({"content": "I live in Oslo."}, {"content": "I love tea."})
    assert em("run", log, "--home", home).returncode == 0
    lake, day = Lake(home / "lake"), date(2026, 3, 2)
    info = lake.info(EDGES, day)
    assert info is not None
    rows = [row | {"polarity": -1} for row in lake.read(EDGES, day).to_pylist()]
    lake.write(EDGES, day, EDGES.from_rows(rows), info.inputs_digest)
    return home


@pytest.mark.slow
def test_a_state_broken_by_hand_is_made_again_by_the_run_that_would_publish_it(em, edited) -> None:
    assert "ids_match_content" in em("doctor", "--home", edited).stdout
    assert em("run", "--home", edited).returncode == 0
    facts = orjson.loads(em("facts", "--user", "ada", "--home", edited, "--json").stdout)
    assert {(fact["relation"], fact["polarity"]) for fact in facts} == {("lives_in", 1), ("likes", 1)}
    assert orjson.loads(em("quarantine", "list", "--home", edited, "--json").stdout) == []
    assert em("doctor", "--home", edited).returncode == 0


@pytest.mark.slow
def test_a_state_broken_by_hand_is_mended_by_repair(em, edited) -> None:
    home = edited
    proposed = em("repair", "--home", home)
    assert proposed.returncode == 1
    assert "make facts again from 2026-03-02 on" in proposed.stdout
    assert em("repair", "--home", home).stdout == proposed.stdout
    mended = em("repair", "--apply", "--home", home, "--json")
    assert (mended.returncode, orjson.loads(mended.stdout)["left"]) == (0, [])
    assert "Nothing is left to mend." in em("repair", "--apply", "--home", home).stdout
    assert em("doctor", "--home", home).returncode == 0
    assert em("run", "--home", home).returncode == 0


@pytest.mark.slow
def test_a_run_that_was_killed_is_marked_as_failed(em, native, tmp_path) -> None:
    import dagster as dg

    from em_pipelines.interfaces.cli.dagster_runner import LAUNCHER_TAG, reset_runs

    home = tmp_path / "home"
    assert em("run", native({"content": "I live in Oslo."}), "--home", home).returncode == 0
    opened = Pipeline(load_settings(home=home))
    with dg.DagsterInstance.from_config(str(opened.dagster_home)) as instance:
        run = instance.create_run_for_job(
            dg.GraphDefinition(name="dead").to_job(), tags={LAUNCHER_TAG: "cli"}, status=dg.DagsterRunStatus.STARTED
        )
    assert em("repair", "--home", home).returncode == 1
    with opened.lock("run"):
        assert reset_runs(opened, False) == 0, "while a run is at work, its notes are right"
    assert "marked 1 dead run as failed" in em("repair", "--apply", "--home", home).stdout
    assert em("repair", "--home", home).returncode == 0
    with dg.DagsterInstance.from_config(str(opened.dagster_home)) as instance:
        found = instance.get_run_by_id(run.run_id)
        assert found is not None
        assert found.status is dg.DagsterRunStatus.FAILURE
