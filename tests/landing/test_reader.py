"""Lines and documents out of whatever bytes a file holds."""

import gzip
from pathlib import Path

import pytest

from em_pipelines.landing.reader import InputFile, Line
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.settings import LandingSettings

SETTINGS = LandingSettings(max_line_bytes=1024, max_letter_bytes=1024, max_document_bytes=4096)


def file_of(tmp_path: Path, data: bytes, name: str = "log.jsonl") -> InputFile:
    path = tmp_path / name
    path.write_bytes(data)
    return InputFile(path, SETTINGS)


def plain(lines: list[Line]) -> list[tuple[int, bytes]]:
    return [(line.number, line.raw) for line in lines]


TEXT = '{"a": "ü"}\n\n{"b": 2}\r\n'
LINES = [(1, '{"a": "ü"}'.encode()), (3, b'{"b": 2}')]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_are_numbered_as_in_the_file_in_every_unicode_encoding(tmp_path: Path, encoding: str) -> None:
    file = file_of(tmp_path, TEXT.encode(encoding))
    file.check()
    assert plain(list(file.lines())) == LINES
    assert file.document().decode() == TEXT


@pytest.mark.parametrize("name", ["log.jsonl.gz", "log.jsonl"])
def test_gzip_is_unpacked_whatever_its_name(tmp_path: Path, name: str) -> None:
    assert plain(list(file_of(tmp_path, gzip.compress(TEXT.encode(), mtime=0), name).lines())) == LINES


def test_a_line_that_is_too_long_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    file = file_of(tmp_path, b"first\n" + b"x" * 300_000 + b"\nlast")
    first, bad, last = file.lines()
    assert (first.raw, last.number, last.raw) == (b"first", 3, b"last")
    assert bad.reason == "line_too_long"
    assert len(bad.raw) == SETTINGS.max_letter_bytes
    assert "300001 bytes" in bad.detail
    assert "log.jsonl" in bad.detail


def test_a_line_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    file = file_of(tmp_path, b"x" * 1024 + b"\n" + b"y" * 1025)
    assert [line.reason for line in file.lines()] == [None, "line_too_long"]


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.jsonl", "empty_file"),
        (b" \n\t\n" * 50_000, "a.jsonl", "empty_file"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "a.jsonl", "binary_file"),
        (bytes(range(1, 32)) * 10, "a.jsonl", "binary_file"),
        ("{}".encode("utf-16-le"), "a.jsonl", "binary_file"),
        (b"\xff\xfea", "a.jsonl", "not_utf8"),
        (b"no gzip", "a.jsonl.gz", "broken_gzip"),
        (gzip.compress(b"x" * 100, mtime=0)[:-12], "a.jsonl.gz", "broken_gzip"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_says_why(tmp_path: Path, data: bytes, name: str, reason: str) -> None:
    with pytest.raises(RuleError) as caught:
        file_of(tmp_path, data, name).check()
    assert caught.value.reason == reason
    assert name in caught.value.detail


def test_a_file_that_is_gone_is_unreadable_not_empty(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        InputFile(tmp_path / "gone.jsonl", SETTINGS).check()
    assert caught.value.reason == "unreadable_file"


def test_gzip_that_breaks_off_gives_its_lines_and_then_the_reason(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(b"%d\n" % (i * 7919**3) for i in range(100_000)))
    lines = list(file_of(tmp_path, packed[: len(packed) // 2], "log.jsonl.gz").lines())
    assert len(lines) > 100
    assert lines[-1].reason == "broken_gzip"


def test_a_document_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        file_of(tmp_path, b"[" + b" " * 5000 + b"]").document()
    assert caught.value.reason == "document_too_large"
