"""Exports that name nobody: one sentence, one question, one dead letter a file; and what the summary says of users."""

import os
import pty
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest


def conversations(n_messages: int = 108) -> bytes:
    messages = [
        {"sender": "human" if n % 2 == 0 else "assistant", "text": f"word {n}", "created_at": "2026-03-02T08:00:00Z"}
        for n in range(n_messages)
    ]
    return orjson.dumps([{"uuid": "c1", "created_at": "2026-03-02T08:00:00Z", "chat_messages": messages}])


CODE = {
    "type": "user", "sessionId": "c5", "timestamp": "2026-03-02T08:00:00Z", "message": {"content": "I use Helix."},
}  # fmt: skip


@pytest.fixture
def export(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", conversations())
    return tmp_path / "export.zip"


def letters_of(em: Any, home: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(em("dead-letters", "list", "--home", home, "--json").stdout)
    return found


def test_an_export_that_names_nobody_is_one_sentence_and_one_letter(em, export, tmp_path) -> None:
    home = tmp_path / "home"
    done = em("land", export, "--home", home)
    assert done.returncode == 1
    assert done.stderr == (
        "em: nothing says whose the 108 messages in export.zip are: land again with --user-id NAME\n"
    )
    (letter,) = letters_of(em, home)
    assert letter["reason"] == "missing_user"
    assert letter["file"].endswith("export.zip!/conversations.json")
    assert "108 messages" in letter["detail"]


def test_landing_it_again_with_a_user_closes_the_letter(em, export, tmp_path) -> None:
    home = tmp_path / "home"
    report = orjson.loads(em("land", export, "--home", home, "--json").stdout)
    assert (report["n_rows"], report["n_landed"], report["dead_letters"]) == (108, 0, {"missing_user": 108})
    done = em("land", export, "--user-id", "ada", "--home", home)
    assert (done.returncode, done.stderr) == (0, "")
    assert letters_of(em, home) == []


def test_the_letter_is_replayed_from_the_file_as_long_as_it_lies_there(em, export, tmp_path) -> None:
    home = tmp_path / "home"
    em("land", export, "--home", home)
    assert em("dead-letters", "replay", "--all", "--home", home).returncode == 1
    done = em("dead-letters", "replay", "--all", "--user-id", "ada", "--home", home, "--json")
    assert (done.returncode, orjson.loads(done.stdout)["n_landed"]) == (0, 108)
    assert letters_of(em, home) == []


def test_a_letter_of_a_file_that_has_gone_stays_open_and_says_so(em, export, tmp_path) -> None:
    home = tmp_path / "home"
    em("land", export, "--home", home)
    export.unlink()
    done = em("dead-letters", "replay", "--all", "--user-id", "ada", "--home", home)
    assert (done.returncode, "not there any more" in done.stdout) == (1, True)


def test_the_summary_says_whose_messages_landed_how_many_and_from_when_to_when(em, tmp_path) -> None:
    for user, day in (("nora", 3), ("ivo", 5)):
        line = {"user_id": user, "session_id": "s", "role": "user", "content": "I row."}
        path = tmp_path / "logs" / f"{user}.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = [line | {"turn_number": n, "timestamp": f"2026-03-0{day + n}T08:15:00+01:00"} for n in range(2)]
        path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    done = em("land", tmp_path / "logs", "--home", tmp_path / "home")
    rows = [line.split() for line in done.stdout.splitlines()]
    cells = [[cell for cell in row if cell != "\u2502"] for row in rows]
    assert ["ivo", "2", "1", "2026-03-05", "07:15", "2026-03-06", "07:15"] in cells
    assert ["nora", "2", "1", "2026-03-03", "07:15", "2026-03-04", "07:15"] in cells
    again = orjson.loads(em("land", tmp_path / "logs", "--home", tmp_path / "other", "--json").stdout)
    assert again["users"][1] == {
        "user_id": "nora", "n_messages": 2, "n_conversations": 1, "first": "2026-03-03T07:15:00.000000+00:00",
        "last": "2026-03-04T07:15:00.000000+00:00",
    }  # fmt: skip


@pytest.mark.parametrize("is_zipped", [True, False])
def test_projects_of_claude_code_are_nobodys_by_their_folders(em, tmp_path, is_zipped) -> None:
    projects = tmp_path / "projects"
    (projects / "-srv-ada-app").mkdir(parents=True)
    (projects / "-srv-ada-app" / "c5.jsonl").write_bytes(orjson.dumps(CODE))
    if is_zipped:
        with zipfile.ZipFile(tmp_path / "projects.zip", "w") as archive:
            archive.write(projects / "-srv-ada-app" / "c5.jsonl", ".claude/projects/-srv-ada-app/c5.jsonl")
    path = tmp_path / "projects.zip" if is_zipped else projects
    done = em("land", path, "--home", tmp_path / "home")
    assert done.returncode == 1
    assert "nothing says whose the 1 message in" in done.stderr
    assert em("land", path, "--user-id", "ada", "--home", tmp_path / "home").returncode == 0


def test_a_folder_that_names_the_user_is_said(em, tmp_path) -> None:
    (tmp_path / "chats" / "nora").mkdir(parents=True)
    (tmp_path / "chats" / "nora" / "conversations.json").write_bytes(conversations(1))
    done = em("land", tmp_path / "chats", "--home", tmp_path / "home")
    assert done.returncode == 0
    assert "1 file taken to be nora's, after the folder; `--user-id NAME` says otherwise" in done.stdout


def at_a_terminal(arguments: list[object], answer: bytes) -> tuple[int, str]:
    """Runs `em` at a terminal on which somebody types an answer; the exit code, and all that was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()", *map(str, arguments)],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "COLUMNS": "160"},
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    return process.wait(60), shown.decode()


def test_at_a_terminal_it_asks_once_whose_messages_these_are(export, em, tmp_path) -> None:
    code, shown = at_a_terminal(["land", export, "--home", tmp_path / "home"], b"ada\n")
    assert code == 0
    assert shown.count("Whose messages are these?") == 1
    assert letters_of(em, tmp_path / "home") == []
    report = orjson.loads(em("land", export, "--user-id", "ada", "--home", tmp_path / "home", "--json").stdout)
    assert report["n_duplicates"] == 108


def test_at_a_terminal_it_asks_which_of_those_who_write_in_a_chat_is_the_user(em, tmp_path) -> None:
    (tmp_path / "chat.txt").write_text("15/03/2026, 18:20 - Nora: I row.\n15/03/2026, 18:21 - Ivo: I ski.\n")
    code, shown = at_a_terminal(["land", tmp_path / "chat.txt", "--home", tmp_path / "home"], b"Nora\n")
    assert (code, shown.count("Which of these names is the user's?")) == (0, 1)
    report = orjson.loads(em("users", "--home", tmp_path / "home", "--json").stdout)
    assert "nora" in str(report)


@pytest.mark.slow
def test_at_a_terminal_no_answer_is_no_user_and_what_names_users_is_not_asked_about(export, em, tmp_path) -> None:
    code, shown = at_a_terminal(["land", export, "--home", tmp_path / "home"], b"\n")
    assert (code, "land again with --user-id NAME" in shown) == (1, True)
    line = {"user_id": "ada", "session_id": "s", "turn_number": 0, "role": "user", "content": "I row."}
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps(line | {"timestamp": "2026-03-02T08:00:00Z"}))
    code, shown = at_a_terminal(["land", tmp_path / "a.jsonl", "--home", tmp_path / "home"], b"")
    assert (code, "Whose messages are these?" in shown) == (0, False)
