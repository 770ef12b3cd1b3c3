"""The report of Great Expectations: every table, counts alone, pages to read, a bound on what is loaded."""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES
from em_pipelines.settings import Settings
from quality.report import CHECK, report_asset
from quality.suites import INDEX, report
from resources.home import HomeResource

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def made(world: Any) -> tuple[dict[str, Any], dg.AssetCheckEvaluation]:
    """The metadata of one materialization of the report, and what its check found."""
    steps = [*world.home.steps.values(), world.home.inference]
    asset = report_asset([table for step in steps for table in step.outputs])
    definitions = dg.Definitions(
        assets=[asset],
        jobs=[dg.define_asset_job("quality", dg.AssetSelection.assets("quality_report"))],
        resources={"home": HomeResource.of(world.home.settings)},
        executor=dg.in_process_executor,
    )
    result = definitions.resolve_job_def("quality").execute_in_process(
        instance=world.instance, run_config=QUIET, raise_on_error=False
    )
    (event,) = result.get_asset_materialization_events()
    (found,) = result.get_asset_check_evaluations()
    return {name: value.value for name, value in event.materialization.metadata.items()}, found


def text_of(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html")))


@pytest.mark.slow
def test_the_report_looks_at_every_table_and_links_its_pages(world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like rain.", "Thank you.")
    world.make_tables()
    shown, found = made(world)
    assert (found.check_name, found.passed, found.description) == (CHECK, True, "")
    assert "| messages | 2 | 4 | 4 |" in shown["by_table"]
    assert "| edges | 1 | 1 | 1 |" in shown["by_table"], "of a state the newest day"
    assert (shown["tables_broken"], shown["data_docs"]) == (0, (world.home.data_docs / INDEX).as_uri())
    pages = text_of(world.home.data_docs)
    assert all(f"validations/{table}/" in pages for table in ("messages", "claims", "edges", "audit_trail"))
    checked = world.check("messages", "table_contract")
    assert checked.metadata["data_docs"].value == shown["data_docs"]


@pytest.mark.slow
def test_what_breaks_is_a_sentence_and_nobody_s_words_are_on_a_page(world: Any) -> None:
    world.land(1, "I like zanzibar.", "Thank you.")
    world.make_tables()
    world.change(CLAIMS, 1, lambda rows: [row | {"relation": "zanzibar", "confidence": 47.11} for row in rows] * 2)
    shown, found = made(world)
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert found.description == (
        "claims: expect_column_values_to_be_unique on claim_id: 4 rows break it; "
        "claims: expect_column_values_to_be_in_set on relation: 4 rows break it; "
        "claims: expect_column_values_to_be_between on confidence: 4 rows break it"
    )
    assert (shown["tables_broken"], found.metadata["broken"].value) == (1, 3)
    written = text_of(world.home.data_docs) + str(shown) + str(found)
    assert not [word for word in ("zanzibar", "Thank you", "47.11", "ada") if re.search(rf"\b{word}\b", written)]


@pytest.mark.slow
def test_the_pages_fetch_nothing_from_their_makers_and_replace_those_before(world: Any) -> None:
    world.land(1, "I like tea.")
    world.make_tables()
    made(world)
    (world.home.data_docs / "old.html").touch()
    made(world)
    assert "great-expectations-web-assets" not in text_of(world.home.data_docs)
    assert not (world.home.data_docs / "old.html").exists()
    assert len(list((world.home.data_docs / "validations" / "messages").rglob("*.html"))) == 1
    assert world.home.left_overs() == []


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_a_finding_and_the_other_tables_are_looked_at(world: Any) -> None:
    world.land(1, "I like this table.")
    world.make_tables()
    Path(world.home.store.lake.path(MESSAGES, date(2026, 3, 1))).write_bytes(b"")
    shown, found = made(world)
    assert not found.passed
    assert str(found.description).startswith("messages: reading messages of 2026-03-01: ")
    assert "| claims | 1 | 1 | 1 |" in shown["by_table"]
    assert (world.home.data_docs / INDEX).exists()


@pytest.mark.slow
def test_no_more_rows_are_loaded_than_the_bound(world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like this table.", "Thank you.")
    world.make_tables()
    tables = [MESSAGES, CLAIMS, EXTRACTION_ISSUES]
    found = {one.table: one for one in report(world.home.store.lake, tables, world.home.data_docs, max_rows=3)}
    sizes = {table: (one.verdict.n_rows, one.verdict.n_days, one.n_rows_there) for table, one in found.items()}
    assert sizes == {MESSAGES: (2, 1, 4), CLAIMS: (2, 2, 2), EXTRACTION_ISSUES: (2, 2, 2)}


def test_a_home_without_tables_has_a_report_of_none(settings: Settings, tmp_path: Path) -> None:
    assert report(Pipeline(settings).store.lake, [MESSAGES], tmp_path / "docs", max_rows=9) == []
    assert (tmp_path / "docs" / INDEX).exists()


@pytest.mark.slow
def test_a_run_imports_no_great_expectations(tmp_path: Path) -> None:
    log = tmp_path / "said.jsonl"
    log.write_text(
        '{"user_id": "ada", "session_id": "s", "turn_number": 0, "role": "user", "content": "I live in Graz.", '
        '"timestamp": "2026-03-02T10:00:00Z"}\n',
        encoding="utf-8",
    )
    code = (
        "import sys\n"
        "from em_pipelines.interfaces.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "assert 'dagster' in sys.modules\n"
        "assert 'great_expectations' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code, "run", str(log), "--home", str(tmp_path / "home")]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("job", ["main", "publish", "landing", "extraction"])
def test_no_job_of_a_run_makes_the_report(job: str, settings: Settings) -> None:
    from em_pipelines.definitions import build_definitions

    nodes = build_definitions(settings).resolve_job_def(job).nodes
    assert "quality_report" not in {node.name for node in nodes}
