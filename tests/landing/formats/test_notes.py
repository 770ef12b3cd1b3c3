"""Notes in Markdown and plain text."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.landing.formats.base import Parsed, Source
from em_pipelines.landing.formats.notes import convert
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.settings import LandingSettings
from tests.landing.conftest import NOW

NOTE = """---
title: Allotment
date: 2026-09-20
tags: [Garden, "#lists"]
privacy: private
---
# Allotment

I planted *two* quince trees with [[Dana Marin|Dana]] and read
[a page](https://example.org/x) on `grafting`. ![](tree.jpg)

- I want to build a cold frame.
- [x] water the 苗 🌱

> Whoever plants a walnut
> plants it for somebody else.

```python
user.wife = "nobody"
```

| plant | bed |
| --- | --- |
| leek | two |

<div>raw</div>
"""


def said(home: Any) -> list[tuple[int, str]]:
    return [(r["turn_number"], r["content"]) for r in sorted(home.landed(), key=lambda r: r["turn_number"])]


def test_blocks_of_a_note_are_messages_known_by_their_lines(home: Any) -> None:
    home.land_data("allotment.md", NOTE, user_id="ada")
    assert said(home) == [
        (7, "Allotment"),
        (9, "I planted two quince trees with Dana and read\na page on `grafting`."),
        (12, "I want to build a cold frame."),
        (13, "water the 苗 🌱"),
        (15, "> Whoever plants a walnut\n> plants it for somebody else."),
        (22, "plant, bed"),
        (24, "leek, two"),
    ]
    record = home.landed()[0]
    assert record["session_id"].startswith("allotment.md#")
    assert (record["timestamp"][:10], record["tags"], record["note_privacy"]) == (
        "2026-09-20", ["garden", "lists"], "L3",
    )  # fmt: skip
    (marker,) = home.landed("feedback")
    assert (marker["type"], orjson.loads(marker["payload"])) == (
        "import", {"day": "2026-09-20", "file": "allotment.md"},
    )  # fmt: skip


def test_landing_again_adds_nothing_even_where_the_file_was_copied(home: Any) -> None:
    path = home.write("n.md", "I sail.\n\nI knit.\n")
    os.utime(path, (1_780_000_000, 1_780_000_000))
    home.land(path, user_id="ada")
    os.utime(path, (1_781_000_000, 1_781_000_000))
    home.now = home.now.replace(day=9)
    report = home.land(path, user_id="ada")
    assert (report.n_landed, report.n_duplicates, home.reasons()) == (0, 3, [])


def test_an_edited_note_lands_anew(home: Any) -> None:
    home.land_data("n.md", "I sail.\n", user_id="ada")
    assert home.land_data("n.md", "I row.\n\nI sail.\n", user_id="ada").n_landed == 3
    assert not home.reasons()


@pytest.mark.parametrize(
    ("name", "head", "day"),
    [
        ("n.md", "date: 2026-03-02", "2026-03-02"),
        ("n.md", "created: 2026-03-02T23:30:00+01:00", "2026-03-02"),
        ("n.md", "date: '2026-03-02 08:15'", "2026-03-02"),
        ("2026-03-02.md", "title: x", "2026-03-02"),
        ("2026-03-02.md", "date: 2026-04-02", "2026-04-02"),
        ("n.md", "title: x", "2026-05-28"),
    ],
)
def test_a_note_is_of_the_day_that_it_says_or_its_name_or_its_file(home: Any, name: str, head: str, day: str) -> None:
    path = home.write(name, f"---\n{head}\n---\nI sail.\n")
    at = datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp()
    os.utime(path, (at, at))
    home.land(path, user_id="ada")
    assert home.landed()[0]["timestamp"][:10] == day


@pytest.mark.parametrize(
    ("head", "option", "level"),
    [
        ("", None, "L2"), ("", "private", "L3"), ("", "public", "L0"), ("privacy: public", "private", "L0"),
        ("visibility: Private", None, "L3"),
    ],
)  # fmt: skip
def test_how_private_a_note_is_stands_in_it_or_is_said_while_landing(
    home: Any, head: str, option: str | None, level: str
) -> None:
    home.land_data("n.md", f"---\n{head}\n---\nI sail.\n", user_id="ada", privacy=option)
    assert home.landed()[0]["note_privacy"] == level


def test_what_was_clipped_from_the_web_is_not_trusted(home: Any) -> None:
    home.land_data("n.md", "---\nsource: https://example.org/a\n---\nI sail.\n", user_id="ada")
    assert home.landed()[0]["trust"] == "untrusted"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("n.md", "---\ntitle: [\n---\nI sail.\n", "invalid_yaml"),
        ("n.md", "---\nprivacy: secret\n---\nI sail.\n", "invalid_field"),
        ("n.md", "---\ndate: in spring\n---\nI sail.\n", "missing_timestamp"),
        ("n.md", "---\nuser: ada\nas_of: 2026-01-01\n---\n# ada\n", "unknown_format"),
        ("n.md", "---\ntitle: x\n---\n", "empty_file"),
        ("n.md", b"I s\xe4gen.\n", "not_utf8"),
        ("n.md", "   \n", "empty_file"),
    ],
)
def test_a_note_that_cannot_be_read_as_a_whole_is_one_letter_that_says_why(
    home: Any, name: str, data: str | bytes, reason: str
) -> None:
    home.land_data(name, data, user_id="ada")
    assert (home.reasons(), home.landed()) == ([reason], [])


def test_a_plain_text_has_paragraphs_and_no_marks(home: Any) -> None:
    home.land_data("diary 2026-03-02.txt", "# not a heading\nI *sail*.\n\n\n    I knit.\n", user_id="ada")
    assert said(home) == [(1, "# not a heading\nI *sail*."), (5, "I knit.")]


def test_in_a_folder_notes_are_landed_where_they_are_asked_for(home: Any) -> None:
    folder = home.write("notes/ada/n.md", "I sail.\n").parents[1]
    home.write("notes/ada/t.txt", "I knit.\n")
    report = home.land(folder)
    assert report.n_rows == 0
    assert any("n.md, ada/t.txt" in note and "--format markdown" in note for note in report.notes)
    assert home.land(folder, format="markdown").n_landed == 4
    assert {record["user_id"] for record in home.landed()} == {"ada"}


@pytest.mark.parametrize("data", ['{"broken": \n', "[1, 2"])
def test_broken_json_is_no_note_whatever_it_is_called(home: Any, data: str) -> None:
    home.land_data("x.txt", data, user_id="ada")
    assert home.reasons() == ["unknown_format"]


@given(st.text(max_size=300))
def test_whatever_a_note_says_every_block_is_a_message_of_its_own_line(text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        found = list(convert(InputFile(Path("n.md"), LandingSettings(), data), Source("n.md", "ada", landed_at=NOW)))
    except RuleError as error:
        assert error.detail
        return
    lines = [item.fields["turn_number"] for item in found if isinstance(item, Parsed) and item.kind == "interactions"]
    assert len(lines) == len(set(lines)) and all(line >= 1 for line in lines)
