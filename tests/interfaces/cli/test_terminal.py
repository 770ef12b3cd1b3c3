"""What is stored was written by others: no command hands a terminal what it would obey."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from em_pipelines.interfaces.cli import console
from em_pipelines.interfaces.cli.console import CONTROL, out, print_json, print_table, say, visible, write

CLI = Path(console.__file__).parent
ESC, BEL, CSI, OVERRIDE = "\x1b", "\x07", "\x9b", "\u202e"
LINK = f"{ESC}]8;;http://example.org{BEL}here{ESC}]8;;{BEL}"
HOSTILE = f"{ESC}[2J{LINK}{CSI}31m{OVERRIDE}gnp.exe\u2066\x7f\r\u2028"
MARKUP = "\\[link=http://example.org]here[/link]"
OWN = re.compile(r"\x1b\[[0-9;]*m")
"""Colours and weights, which are rich's own."""


def content(text: str) -> str:
    return f"I live in Oslo. I love {text} and tea."


@pytest.fixture(scope="module")
def home(em, tmp_path_factory) -> Path:
    """Messages, ids, dead letters and file names full of control characters."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {"user_id": f"ada{OVERRIDE}", "session_id": f"s{HOSTILE}", "turn_number": n, "role": "user",
         "content": said, "timestamp": f"2026-03-0{n + 1}T10:00:00Z", "correlation_id": f"c{BEL}"}
        for n, said in enumerate((content(HOSTILE), content(LINK), content(MARKUP), "My cat is called Miso."))
    ]  # fmt: skip
    bad = [orjson.dumps(row) for row in rows] + [f"{HOSTILE} {MARKUP}".encode(), f'{{"role": "{LINK}'.encode()]
    path = folder / f"log{ESC}]0;title{BEL}[red].jsonl"
    path.write_bytes(b"\n".join(bad) + b"\n")
    assert em("run", path, "--home", folder / "home").returncode == 1
    return folder / "home"


USER = f"ada{OVERRIDE}"
COMMANDS = (
    ("facts", "--user", USER, "--all"),
    ("facts", "--user", f"nobody{HOSTILE}"),
    ("search", "Oslo tea", "--user", USER),
    ("context", "where do I live", "--user", USER),
    ("bootstrap", "--user", USER),
    ("why-not", "Oslo", "--user", USER),
    ("trace", f"c{BEL}"),
    ("dead-letters", "list"),
    ("dead-letters", "show", "dead_"),
    ("quarantine", "list"),
    ("doctor",),
    ("snapshot",),
    ("run",),
    ("forget", "--user", USER, "--entity", "Oslo", "--dry-run"),
    ("correct", "--user", USER, "--subject", "user", "--relation", "lives_in", "--object", f"Bergen{HOSTILE}"),
    ("extract", "--explain", content(HOSTILE)),
    ("gate", HOSTILE),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]).encode("unicode_escape").decode())
@pytest.mark.parametrize("form", [(), pytest.param(("--json",), marks=pytest.mark.slow)])
def test_no_command_prints_a_control_character(em, home: Path, words: tuple[str, ...], form: tuple[str, ...]) -> None:
    if words[0] == "dead-letters" and words[1] == "show":
        found = orjson.loads(em("dead-letters", "list", "--home", home, "--json").stdout)
        words = (*words[:2], found[0]["dead_letter_id"])
    done = em(*words, *form, "--home", home)
    assert not CONTROL.findall(done.stdout)
    assert not CONTROL.findall(done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("letter", [0, 1])
def test_a_terminal_gets_no_sequence_but_colours(em, em_command, home: Path, root: Path, letter: int) -> None:
    found = orjson.loads(em("dead-letters", "list", "--home", home, "--json").stdout)
    for words in (("dead-letters", "list"), ("dead-letters", "show", found[letter]["dead_letter_id"]),
                  ("export", "--user", USER)):  # fmt: skip
        shown = on_a_terminal([*em_command, *words, "--home", str(home)], root)
        assert shown
        assert not CONTROL.findall(OWN.sub("", shown).replace("\r\n", "\n")), words


def on_a_terminal(command: list[str], root: Path) -> str:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(root), "TERM": "xterm-256color", "COLUMNS": "200"}
    process = subprocess.Popen(command, cwd=root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # what Linux says when the other side is closed
        pass
    process.wait()
    os.close(ours)
    return b"".join(parts).decode()


def test_what_is_shown_tells_what_was_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    print_json({"text": HOSTILE + "עברית\u200f \udcff".encode("utf-8", "ignore").decode()})
    document = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert orjson.loads(document)["text"].startswith(HOSTILE)
    assert visible(f"a{ESC}b{CSI}{OVERRIDE}\udcff\tc\nd ü עברית\u200f") == (
        "a\\x1bb\\x9b\\u202e\\udcff\tc\nd ü עברית\u200f"
    )


def test_markup_in_a_cell_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    print_table("[bold]", ("a",), [(MARKUP,), ("[red]x",)])
    shown = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert shown.count(MARKUP) == 1
    assert "[red]x" in shown
    assert "[bold]" in shown


def test_nothing_but_one_module_writes_to_the_terminal() -> None:
    writing = re.compile(r"sys\.std(?:out|err)\.(?:write|buffer)|typer\.echo|(?<![\w.])print\(|Console\(|rprint")
    found = [path.name for path in CLI.glob("*.py") if path.name != "console.py" and writing.search(path.read_text())]
    assert found == []
    assert {out, say, write}
