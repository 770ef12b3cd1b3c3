"""Tool calls of coding agents as skill invocations."""

from pathlib import Path
from typing import Any

import pytest

from em_pipelines.landing.formats.tool_calls import category_of, name_of, summary_of
from em_pipelines.landing.settings import LandingSettings

WEEK = Path(__file__).parents[3] / "examples/hooks/transcripts/week-1.jsonl"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("git push origin main", "git push"),
        ("cd src && git commit -m 'x'", "git commit"),
        ("uv run pytest -q", "pytest"),
        ("python3 -m pytest", "pytest"),
        ("CI=1 npm test", "npm test"),
        ("/usr/bin/make", "make"),
        ("docker --version", "docker"),
        ("sudo ls -l 'unended", "ls"),
        ("", "Bash"),
    ],
)
def test_a_command_is_called_by_its_program(command: str, name: str) -> None:
    assert name_of({"name": "Bash", "input": {"command": command}}) == name


def test_other_tools_keep_their_names() -> None:
    assert name_of({"name": "Edit", "input": {"command": "git push"}}) == "Edit"
    assert name_of({"input": None}) == "tool"
    assert name_of({"name": "Bash", "input": ["git"]}) == "Bash"


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("bash: rg: command not found", "command not found"),
        ("Traceback …\nValueError: 3", "ValueError"),
        ("connect ECONNRESET", "ECONNRESET"),
        ("Exit code 2\nmake: nothing worked", "exit 2"),
        ("it went wrong", "error"),
    ],
)
def test_a_failure_is_called_by_what_it_says(said: str, category: str) -> None:
    assert category_of(said) == category


def test_of_a_failure_the_last_words_are_kept() -> None:
    assert summary_of("Exit code 1\nsome context\nerror: no such ref\n---\n", has_failed=True) == "error: no such ref"
    assert summary_of("3 files\nmore", has_failed=False) == "3 files"
    assert summary_of("<tool_use_error>Read it first.</tool_use_error>", has_failed=True) == "Read it first."
    assert summary_of("---\n", has_failed=True) == ""
    assert len(summary_of("x" * 999, has_failed=False)) == 200


KEPT = LandingSettings(keeps_tool_calls=True)


def test_calls_land_where_that_is_wanted(home: Any) -> None:
    home.land(WEEK, user_id="runa", settings=KEPT)

    failed = [row for row in home.landed("skill_invocations") if row["error_category"]]
    assert {(row["skill_name"], row["error_category"]) for row in failed} == {
        ("Edit", "not read yet"), ("pytest", "ConnectionRefusedError"), ("git push", "exit 1"), ("curl", "exit 6"),
    }  # fmt: skip


def test_calls_are_no_records_of_their_own_unless_that_is_wanted(home: Any) -> None:
    home.land(WEEK, user_id="runa")
    said = home.landed()

    report = home.land(WEEK, user_id="runa", settings=KEPT)

    assert home.landed() == said
    assert report.n_landed == len(home.landed("skill_invocations")) > 0


def test_a_call_without_a_result_is_none_yet(home: Any) -> None:
    lines = WEEK.read_text().splitlines()
    begun = next(n for n, line in enumerate(lines) if '"tool_use"' in line)

    home.land_data("cut.jsonl", "\n".join(lines[: begun + 1]) + "\n", user_id="runa", settings=KEPT)

    assert home.landed("skill_invocations") == []
