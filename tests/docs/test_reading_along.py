"""README and docs as a reader follows them: every command in order, then every query of docs/snapshot.md.

All tests that need the example run stand in this one file, so that it is made once, however tests are spread over
processes.
"""

import re
from pathlib import Path

import pytest

from em_pipelines.serving.snapshot import LATEST
from em_pipelines.storage.duckdb_engine import connect

ROOT = Path(__file__).parents[2]
PAGES = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    if "```sh\n" in path.read_text(encoding="utf-8")
]
SNAPSHOT = "docs/snapshot.md"
ALWAYS = ("README.md",)
"""Pages that `make test` follows; the others take minutes together, and are followed by `make test-slow`."""
TABLES_AND_VIEWS = (
    "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
)
MACROS = "SELECT function_name FROM duckdb_functions() WHERE NOT internal"
MAY_BE_EMPTY = (
    "ATTACH ", "USE ", "dead_letters", "conflicts", "cost_by_model", "rules_by_month", "llm_calls",
    "left_out", "quarantine", "waiting_imports",
    "experiences", "rules", "experience_links", "promotions", "skill_profiles", "probes", "promotions_by_month",
    "promotion_gates", "failure_modes", "experience_evidence", "retention_tiers", "nights", "nights_by_month",
    "starters",
)  # fmt: skip
"""Statements, and what the examples have none of; tests/serving fills it and asks again."""


@pytest.fixture
def snapshot(walks, monkeypatch: pytest.MonkeyPatch):
    """The newest snapshot, opened from where the page's commands were run."""
    monkeypatch.chdir(walks(SNAPSHOT).checkout.path)
    with connect(f".em/snapshots/{LATEST}", is_read_only=True) as connection:
        yield connection


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ALWAYS else pytest.mark.slow) for name in PAGES]
)
def test_commands_of_a_page_run_in_order_after_make_run(name: str, walks) -> None:
    assert not walks(name).failures


def test_commands_of_the_readme_print_what_stands_below_them(walks, outputs, examples_printed) -> None:
    printed = walks("README.md").printed
    compared = outputs("README.md")
    assert len(compared) >= 4
    for command, shown in compared:
        real = examples_printed if command.text == "make run\n" else printed[command.line]
        assert is_shortened(shown.text, real), f"README.md:{shown.line} is not what is printed:\n{real}"


def is_shortened(shown: str, real: str) -> bool:
    """Whether a text is another with whole lines left out where it says … ; what follows the last line may be, too."""
    lines = [line.rstrip() for line in real.splitlines()]
    at = 0
    for number, part in enumerate(re.split(r"^…\n", shown, flags=re.MULTILINE)):
        wanted = [line.rstrip() for line in part.splitlines()]
        starts = range(at, len(lines) - len(wanted) + 1) if number else range(1)
        found = next((start for start in starts if lines[start : start + len(wanted)] == wanted), None)
        if found is None:
            return False
        at = found + len(wanted)
    return True


@pytest.mark.parametrize(
    ("shown", "is_fine"),
    [
        ("a\nb\n", True), ("a\n", True), ("b\n", False), ("a\n…\nc\n", True), ("a\n…\n", True), ("a\n…\nb\nd\n", False),
        ("…\nc\nd\n", True), ("a\n…\nd\n…\nc\n", False),
    ],
)  # fmt: skip
def test_what_is_shown_may_be_shortened_and_not_changed(shown: str, is_fine: bool) -> None:
    assert is_shortened(shown, "a\nb\nc  \nd\n") is is_fine


@pytest.mark.slow
def test_queries_of_the_snapshot_page_run_in_order_and_give_rows(snapshot, blocks) -> None:
    for query in blocks(SNAPSHOT, "sql"):
        rows = snapshot.execute(query.text).fetchall()
        assert rows or any(word in query.text for word in MAY_BE_EMPTY), f"{SNAPSHOT}:{query.line} gives no rows"


@pytest.mark.slow
def test_tables_views_and_macros_of_a_snapshot_are_those_of_its_page(snapshot, page) -> None:
    found = snapshot.execute(f"{TABLES_AND_VIEWS} UNION ALL {MACROS}").fetchall()
    assert set(re.findall(r"^\*\*`(\w+)", page(SNAPSHOT), re.MULTILINE)) == {name for (name,) in found}


@pytest.mark.slow
def test_every_table_and_view_of_a_snapshot_is_queried_on_its_page(snapshot, blocks) -> None:
    queries = " ".join(block.text for block in blocks(SNAPSHOT, "sql"))
    found = snapshot.execute(TABLES_AND_VIEWS).fetchall()
    assert found
    assert not [name for (name,) in found if not re.search(rf"\b{name}\b", queries)]
