"""`em check`: every expectation of every table, by SQL and, if asked for, by Great Expectations."""

import shutil
from pathlib import Path

import orjson
import pytest

from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.storage.lake import Lake


@pytest.fixture
def home(tmp_path: Path, examples_home: Path) -> Path:
    """A copy of the tables of the examples, to break."""
    for folder in ("lake", "log"):
        shutil.copytree(examples_home / folder, tmp_path / "home" / folder)
    return tmp_path / "home"


@pytest.mark.slow
def test_a_sound_home_passes(em, examples_home: Path) -> None:
    done = em("check", "--home", examples_home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "claims" in done.stdout
    document = orjson.loads(em("check", "--home", examples_home, "--json").stdout)
    assert document["report"] is None
    assert {"messages", "edges", "inferred_edges"} <= {table["table"] for table in document["tables"]}
    assert all(table["ok"] and table["expectations"] > 5 for table in document["tables"])


def test_what_is_broken_is_a_finding_that_quotes_nothing(em, home: Path) -> None:
    lake = Lake(home / "lake")
    day = lake.days(CLAIMS)[0]
    rows = lake.read(CLAIMS, day).to_pylist()
    lake.write(CLAIMS, day, CLAIMS.from_rows([row | {"relation": "zanzibar"} for row in rows]))
    done = em("check", "--home", home)
    assert done.returncode == 1
    said = f"expect_column_values_to_be_in_set on relation: {len(rows)} rows break it"
    assert done.stderr.startswith("em: 1 of ")
    assert done.stderr.endswith(f" fail, first claims: {said}\n")
    assert "zanzibar" not in done.stdout + done.stderr


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_looked_at(em, home: Path) -> None:
    lake = Lake(home / "lake")
    Path(lake.path(CLAIMS, lake.days(CLAIMS)[0])).write_bytes(b"PAR1")
    done = em("check", "claims", "messages", "--home", home, "--json")
    assert done.returncode == 1
    claims, messages = orjson.loads(done.stdout)["tables"]
    assert (claims["ok"], claims["rows"], messages["ok"]) == (False, None, True)
    assert claims["broken"][0].startswith("reading claims of ")


def test_the_report_is_great_expectations_with_pages(em, home: Path) -> None:
    done = em("check", "claims", "--report", "--home", home, "--json")
    assert done.returncode == 0
    document = orjson.loads(done.stdout)
    assert [table["asked"] for table in document["tables"]] == ["SQL", "Great Expectations"]
    assert document["report"] == str(home / "quality" / "index.html")
    assert (home / "quality" / "index.html").exists()


def test_a_table_that_no_step_makes_is_wrong_use(em, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    done = em("check", "claim", "--home", tmp_path / "home")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("em: checking claim: no step makes a table of that name; there are interactions, ")


def test_a_home_without_tables_has_nothing_to_check(em, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    assert em("check", "--home", tmp_path / "home").returncode == 0
