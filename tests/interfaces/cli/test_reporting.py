"""`em report`: where the pages are, and what is wrong with a week that is none."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Path:
    shutil.copytree(examples_home, tmp_path / "home", symlinks=True)
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("words", "name"),
    [((), "health.html"), (("--week", "2026-10-28"), "weekly-2026-10-26.html")],
)
def test_it_prints_where_the_page_is(em, home: Path, words: tuple[str, ...], name: str) -> None:
    done = em("report", *words, "--home", home)
    assert done.returncode == 0, done.output
    path = Path(done.stdout.strip())
    assert path == home / "reports" / name
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--week", "October"), "give a day as YYYY-MM-DD", 2),
        (("--week", "2999-01-01"), "still to come", 2),
        (("--week", "2001-01-01"), "nothing was read of that week", 3),
    ],
)
def test_a_week_that_is_none_is_said(em, home: Path, words: tuple[str, ...], said: str, code: int) -> None:
    done = em("report", *words, "--home", home)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
