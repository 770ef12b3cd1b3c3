"""Landing what lies in the inbox: each file once, under the right user, and out of the way afterwards."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.landing.land import all_letters
from sensors import jobs
from sensors.jobs import LANDED_FOLDER, land_inbox, waiting_files


def run(world: Any) -> Any:
    return land_inbox.execute_in_process(
        instance=world.instance,
        resources=world.resources,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        raise_on_error=False,
    )


def landed(world: Any) -> list[tuple[str, str]]:
    """(user, content) of everything landed."""
    log = world.home.store.log
    return [(r["user_id"], r["content"]) for day in log.days("interactions") for r in log.read("interactions", day)]


def moved(world: Any) -> set[str]:
    """Files below .landed, without the instant that their folder is named by."""
    folder = world.home.inbox / LANDED_FOLDER
    return {str(Path(*p.relative_to(folder).parts[1:])) for p in folder.rglob("*") if p.is_file()}


def test_files_are_landed_and_moved_out_of_the_way(world: Any) -> None:
    world.drop("a.jsonl", world.message("2026-03-01"))
    world.drop("deep/er/b.jsonl", world.message("2026-03-02", content="I like rice."))
    assert run(world).success
    assert landed(world) == [("ada", "I like tea."), ("ada", "I like rice.")]
    assert moved(world) == {"a.jsonl", "deep/er/b.jsonl"}
    assert waiting_files(world.home.inbox) == []
    assert run(world).success
    assert len(landed(world)) == 2


def test_a_file_that_names_no_user_belongs_to_that_of_its_folder(world: Any) -> None:
    world.drop("mirela/phone/a.jsonl", world.message("2026-03-01", user_id=None))
    world.drop("mirela/b.jsonl", world.message("2026-03-02"))
    world.drop("c.jsonl", world.message("2026-03-03", user_id=None))
    assert run(world).success
    assert sorted(user for user, _ in landed(world)) == ["ada", "mirela"]
    (letter,) = all_letters(world.home.store.log).values()
    assert letter["reason"] == "missing_user"


def test_a_zip_that_is_dropped_lands_whole_and_is_put_away(world: Any) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.jsonl", world.message("2026-03-01", user_id=None))
        archive.writestr("deep/b.jsonl", world.message("2026-03-02", user_id=None))
    world.drop("mirela/export.zip", out.getvalue())
    assert run(world).success
    assert sorted(user for user, _ in landed(world)) == ["mirela", "mirela"]
    assert moved(world) == {"mirela/export.zip"}


def test_a_broken_file_becomes_dead_letters_and_is_moved_as_well(world: Any) -> None:
    world.drop("a.jsonl", b"{ no json\n" + world.message("2026-03-01"))
    assert run(world).success
    assert len(landed(world)) == 1
    assert len(all_letters(world.home.store.log)) == 1
    assert moved(world) == {"a.jsonl"}


def test_hidden_and_unfinished_files_stay_where_they_are(world: Any) -> None:
    waiting = [world.drop(name, world.message("2026-03-01")) for name in (".a.jsonl", "b.part", "c.tmp", ".d/e.jsonl")]
    assert run(world).success
    assert landed(world) == []
    assert all(path.exists() for path in waiting)


def test_a_file_that_another_run_took_in_the_meantime_is_passed_over(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world.drop("b.jsonl", world.message("2026-03-01"))
    monkeypatch.setattr(jobs, "waiting_files", lambda inbox: [inbox / "a.jsonl", here])
    assert run(world).success
    assert len(landed(world)) == 1
    assert moved(world) == {"b.jsonl"}


def test_a_landing_that_fails_leaves_the_file_for_the_next_one(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = world.drop("a.jsonl", world.message("2026-03-01"))
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError("no space left on device")

        patch.setattr("em_pipelines.storage.landed_log.write_atomically", full)
        assert not run(world).success
    assert path.exists()
    assert landed(world) == []
    assert run(world).success
    assert len(landed(world)) == 1


def test_what_the_log_of_a_run_says_names_nobody_and_quotes_nothing(world: Any) -> None:
    world.drop("a.jsonl", world.message("2026-03-01", user_id="zenobia", content="I live in Zanzibar."))
    result = run(world)
    logged = "".join(str(entry) for entry in world.instance.all_logs(result.run_id))
    assert "landed 1 record, 0 duplicates, 0 dead letters" in logged
    assert "zenobia" not in logged
    assert "Zanzibar" not in logged


def test_what_is_no_file_is_told_of_once_and_put_away_and_the_rest_lands(world: Any) -> None:
    inbox = world.home.inbox
    world.drop("ada/log.jsonl", world.message("2026-03-01"))
    os.mkfifo(inbox / "ada" / "pipe.jsonl")
    (inbox / "loop.jsonl").symlink_to("loop.jsonl")
    (inbox.parent / "outside.jsonl").write_text("secret\n")
    (inbox / "out.jsonl").symlink_to(inbox.parent / "outside.jsonl")
    assert run(world).success
    assert waiting_files(inbox) == []
    reasons = sorted(letter["reason"] for letter in all_letters(world.home.store.log).values())
    assert reasons == ["link_not_followed", "link_not_followed", "no_regular_file"]
    assert len(landed(world)) == 1
