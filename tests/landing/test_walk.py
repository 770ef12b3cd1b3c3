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
        ("a.jsonl", None),
        ("b/z.jsonl", "b"),
        ("b/a/x.jsonl", "b"),
    ]
    assert len(notes) == 1
    assert "README.md" in notes[0]


def test_a_path_that_does_not_exist_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        find_files([tmp_path, tmp_path / "gone"])
