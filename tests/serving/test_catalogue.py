"""The catalogue of a snapshot: it names what is there, and what it promises holds of the examples."""

from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.vocabulary import RELATIONS
from em_pipelines.serving.catalogue import catalogue

KEYS = {"name", "description", "data_type", "data_tests"}


@pytest.fixture(scope="module")
def tables(examples: Pipeline) -> list[dict[str, Any]]:
    """The tables and views of the catalogue."""
    (source,) = catalogue(examples.time_rules, source="em", database="latest")["sources"]
    return list(source["tables"])


def test_tables_and_columns_are_those_of_a_snapshot(tables, snapshot) -> None:
    told = [(table["name"], column["name"], column["data_type"]) for table in tables for column in table["columns"]]
    there = snapshot.execute("SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal")
    assert sorted(told) == sorted(there.fetchall())


def test_everything_says_what_it_is(tables) -> None:
    assert not [table["name"] for table in tables if not table["description"]]
    columns = [(table["name"], column) for table in tables for column in table["columns"]]
    assert not [(name, column["name"]) for name, column in columns if not column["description"] or {*column} - KEYS]


def test_what_the_catalogue_promises_holds_of_the_examples(tables, snapshot) -> None:
    broken, n_asked = [], 0
    for table in tables:
        for column in table["columns"]:
            for test in column.get("data_tests", ()):
                n_asked += 1
                (n,) = snapshot.execute(
                    f"SELECT count(*) FROM ({failing(test, table['name'], column['name'])})"
                ).fetchone()
                broken += [f"{table['name']}.{column['name']}: {test}"] if n else []
    assert n_asked > 300
    assert broken == []


def failing(test: str | dict[str, Any], table: str, column: str) -> str:
    """The rows that break a test, as dbt asks for them."""
    if test == "not_null":
        return f'FROM {table} WHERE "{column}" IS NULL'
    if test == "unique":
        return f'SELECT "{column}" FROM {table} WHERE "{column}" IS NOT NULL GROUP BY ALL HAVING count(*) > 1'
    assert isinstance(test, dict)
    ((kind, told),) = test.items()
    assert kind == "accepted_values"
    values, is_quoted = told["arguments"]["values"], told["arguments"]["quote"]
    listed = ", ".join(f"'{value}'" if is_quoted else str(value) for value in values)
    return f'FROM {table} WHERE "{column}" NOT IN ({listed})'


def test_closed_sets_reach_the_views_that_show_them(tables) -> None:
    columns = {(t["name"], c["name"]): c.get("data_tests", []) for t in tables for c in t["columns"]}
    relations = {"accepted_values": {"arguments": {"values": sorted(RELATIONS), "quote": True}}}
    assert columns["current_edges", "relation"] == ["not_null", relations]
    assert columns["inferred_facts", "relation"] == columns["current_facts", "relation"] == [relations]
    assert columns["facts", "status"] != columns["current_facts", "status"]
    assert columns["current_edges", "polarity"][1]["accepted_values"]["arguments"] == {
        "values": [1, -1],
        "quote": False,
    }


@pytest.mark.slow
def test_em_catalog_prints_yaml_that_parses_to_what_json_says(tmp_path) -> None:
    arguments = ["catalog", "--database", "memory", "--home", str(tmp_path / "none")]
    printed = CliRunner().invoke(app, arguments)
    as_json = CliRunner().invoke(app, [*arguments, "--json"])
    assert (printed.exit_code, as_json.exit_code) == (0, 0)
    told = yaml.safe_load(printed.stdout)
    assert told == yaml.safe_load(as_json.stdout)
    assert told["version"] == 2
    assert [(source["name"], source["database"], source["schema"]) for source in told["sources"]] == [
        ("em", "memory", "main")
    ]
    assert not (tmp_path / "none").exists()
