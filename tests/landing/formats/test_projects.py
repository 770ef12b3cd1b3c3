"""Which project a folder is of."""

from typing import Any

import pytest

from em_pipelines.landing.formats.projects import project_of

HOME = "/" + "home/ada"
MAC = "/" + "Users/ada"


@pytest.mark.parametrize(("folder", "project"), [
    (f"{HOME}/lantern", "lantern"),
    (f"{MAC}/code/lantern", "lantern"),
    (f"{HOME}/src/forge/lantern/", "lantern"),
    (f"{HOME}/go/src/github.com/ada/lantern", "lantern"),
    (f"{HOME}/code/lantern/packages/core", "lantern"),
    (f"{HOME}/code/lantern/frontend", "lantern"),
    (f"{HOME}/code/lantern/../harbour", "harbour"),
    (f"{HOME}/code/Lantern App", "Lantern App"),
    (f"{HOME}/code/lantern/.claude/worktrees/fix-tides", "lantern"),
    (f"{HOME}/code/lantern/.worktrees/fix-tides/src", "lantern"),
    (f"{HOME}/code/lantern.worktrees/fix-tides", "lantern"),
    (f"{HOME}/code/web", "web"),
    (f"/{'workspaces/lantern'}", "lantern"),
    (f"/{'srv/lantern'}", "lantern"),
    ("C:\\Users\\Ada\\dev\\lantern\\src", "lantern"),
    ("D:/dev/lantern", "lantern"),
    (f"/{'mnt/c/Users/Ada/code/lantern'}", "lantern"),
    ("\\\\disk\\share\\code\\lantern", "lantern"),
])  # fmt: skip
def test_parts_and_checkouts_of_a_repository_are_of_it(folder: str, project: str) -> None:
    assert project_of(folder) == project


@pytest.mark.parametrize(
    "folder",
    [HOME, MAC, "/", "", "/workspace", f"{HOME}/code", "lantern", "..", None, 7, ["/x"], f"/{'x' * 101}", "/a\nb"],
)
def test_a_folder_of_folders_and_what_is_none_tell_no_project(folder: object) -> None:
    assert project_of(folder) is None


def event(said: str, n: int, **more: Any) -> dict[str, Any]:
    base = {"type": "user", "sessionId": "s1", "uuid": f"u{n}", "timestamp": f"2026-09-25T08:1{n}:11Z"}
    return base | {"message": {"role": "user", "content": said}} | more


def test_messages_are_of_the_project_that_their_session_began_in(home: Any) -> None:
    lines = [
        event("where are we", 0),
        event("fix it", 1, cwd="/disk/ada/lantern"),
        event("and there", 2, cwd="/disk/ada/harbour"),
        event("in another", 3, sessionId="s2", cwd="/disk/ada/harbour"),
    ]
    home.land_data("session.jsonl", lines, user_id="ada")
    assert [(r["session_id"], r["domain"]) for r in home.landed()] == [
        ("s1", None), ("s1", "lantern"), ("s1", "lantern"), ("s2", "harbour")
    ]  # fmt: skip


def test_a_transcript_that_landed_without_its_project_is_a_duplicate(home: Any) -> None:
    home.land_data("old.jsonl", [event("fix it", 0)], user_id="ada")
    report = home.land_data("new.jsonl", [event("fix it", 0, cwd="/disk/ada/lantern")], user_id="ada")
    assert (report.n_landed, report.n_duplicates, home.reasons()) == (0, 1, [])


def test_two_domains_of_one_message_are_a_conflict(home: Any) -> None:
    home.land_data("old.jsonl", [event("fix it", 0, cwd="/disk/ada/lantern")], user_id="ada")
    home.land_data("new.jsonl", [event("fix it", 0, cwd="/disk/ada/harbour")], user_id="ada")
    assert home.reasons() == ["key_conflict"]
