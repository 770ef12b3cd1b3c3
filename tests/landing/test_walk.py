"""Which files are landed."""

from pathlib import Path

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.landing.reader import find_files


def test_directories_are_walked_in_order_without_hidden_and_unfinished_files(tmp_path: Path) -> None:
    names = ["b/z.jsonl", "b/a/x.jsonl", "a.jsonl", ".hidden.jsonl", ".git/x.jsonl", "c.tmp", "d.part", "README.md"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found, notes = find_files([tmp_path, tmp_path / "a.jsonl"])
    assert [(str(f.path.relative_to(tmp_path)), f.folder_user) for f in found] == [
        ("README.md", None),
        ("a.jsonl", None),
        ("b/z.jsonl", "b"),
        ("b/a/x.jsonl", "b"),
    ]
    assert notes == []


def test_prose_in_a_folder_is_skipped_by_name_where_no_format_reads_it(home, message) -> None:
    home.write("a.jsonl", [message()])
    home.write("README.md", "# Logs of March\n")
    home.write("b/notes.txt", "")
    report = home.land(home.root / "in")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {})
    assert len(report.notes) == 1
    assert "skipped README.md, b/notes.txt (taken for notes; `--format markdown` lands them)" in report.notes[0]
    assert home.land(home.root / "in", format="native").n_duplicates == 1


def test_a_path_that_does_not_exist_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        find_files([tmp_path, tmp_path / "gone"])
