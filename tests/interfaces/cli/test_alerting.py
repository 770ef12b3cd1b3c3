"""`em alerts`: what stands is listed, the sinks are tried, and what is silenced is kept quiet."""

import shutil
from pathlib import Path

import orjson
import pytest

from tests.alert_servers.servers import SECRET, Hook, webhook
from tests.interfaces.cli.conftest import Em

FULL = {"EM_ALERTS__DISK_SHARE": "0.000000001", "EM_ALERTS__DISK_ERROR_SHARE": "1"}


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))


def listed(em: Em, home: Path, *words: str, **environment: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = orjson.loads(em("alerts", *words, "--json", "--home", home, **environment).stdout)
    return found


def test_what_stands_is_told_listed_and_has_ended(em: Em, home: Path) -> None:
    with webhook() as hook:
        told = {"EM_ALERTS_WEBHOOK_URL": hook.address}
        assert em("alerts", "--now", "--home", home, **told).returncode == 0
        done = em("alerts", "--now", "--home", home, **told, **FULL)
        assert done.returncode == 1
        assert "em: 1 alert stands, first the disk is nearly full" in done.stderr
        (alert,) = listed(em, home)
        assert (alert["name"], alert["severity"], alert["told"]) == ("disk_full", "warning", ["log", "webhook"])
        assert em("alerts", "--home", home).returncode == 0
        assert em("alerts", "--now", "--home", home, **told).returncode == 0
        assert listed(em, home) == []
    assert [text.split("*")[1] for text in hook.posted] == [
        "[warning] the disk is nearly full",
        "[ended] the disk is nearly full",
    ]


def test_a_run_says_in_a_line_what_stands_and_nothing_where_all_is_well(em: Em, home: Path) -> None:
    assert "Alerts" not in em("run", "--home", home).stdout
    done = em("run", "--home", home, **FULL)
    assert done.returncode == 0
    assert f"Alerts: 1 alert stands, first the disk is nearly full; see `em alerts --home {home}`\n" in done.stdout


def test_a_run_that_fails_for_damage_tells_of_it(em: Em, home: Path) -> None:
    with webhook() as hook:
        next((home / "log" / "interactions").rglob("*.jsonl")).unlink()
        done = em("run", "--home", home, EM_ALERTS_WEBHOOK_URL=hook.address)
    assert done.returncode == 2
    assert "Alerts: 1 alert stands, first the home is damaged" in done.stdout
    assert [text.split("*")[1] for text in hook.posted] == ["[error] the home is damaged"]


def test_a_book_that_cannot_be_written_ends_no_run(em: Em, home: Path) -> None:
    (home / "alerts").write_bytes(b"in the way")
    done = em("run", "--home", home, **FULL)
    assert done.returncode == 0
    assert "telling of alerts:" in done.stderr


@pytest.mark.slow
def test_what_is_silenced_is_listed_and_not_sent(em: Em, home: Path) -> None:
    with webhook() as hook:
        told = {"EM_ALERTS_WEBHOOK_URL": hook.address}
        said = em("alerts", "silence", "disk_full", "--hours", 2, "--reason", "known", "--home", home)
        assert "Nothing is sent of disk_full until" in said.stdout
        assert em("alerts", "--now", "--home", home, **told, **FULL).returncode == 0
        assert [(one["name"], one["reason"]) for one in listed(em, home)] == [("disk_full", "known")]
        assert [(one["name"], one["reason"]) for one in listed(em, home, "silences")] == [("disk_full", "known")]
        assert "Alerts" not in em("run", "--home", home, **told, **FULL).stdout
        assert hook.posted == []
        assert em("alerts", "unsilence", "disk_full", "--home", home).returncode == 0
        assert em("alerts", "--now", "--home", home, **told, **FULL).returncode == 1
    assert len(hook.posted) == 1


def test_names_that_are_none_are_answered_with_the_nearest(em: Em, home: Path) -> None:
    done = em("alerts", "silence", "disk_ful", "--hours", 2, "--reason", "known", "--home", home)
    assert (done.returncode, "did you mean 'disk_full'?" in done.stderr) == (2, True)
    done = em("alerts", "unsilence", "disk_full", "--home", home)
    assert (done.returncode, "is not silenced" in done.stderr) == (1, True)
    assert em("alerts", "silence", "disk_full", "--home", home).returncode == 2


@pytest.mark.parametrize("status", [200, 500])
def test_a_test_says_which_sink_took_it(em: Em, tmp_path: Path, status: int) -> None:
    with webhook() as hook:
        hook.status = status
        done = em("alerts", "test", "--home", tmp_path / "none", EM_ALERTS_WEBHOOK_URL=hook.address)
    assert done.returncode == (status != 200)
    assert ("webhook: it answered HTTP 500" in done.stderr) == (status != 200)
    assert SECRET not in done.stdout + done.stderr
    assert isinstance(hook, Hook)
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_a_damaged_book_is_named(em: Em, home: Path) -> None:
    em("alerts", "--now", "--home", home)
    (home / "alerts" / "book.json").write_bytes(b"{")
    done = em("alerts", "--home", home)
    assert (done.returncode, "no book of alerts" in done.stderr) == (1, True)
    done = em("alerts", "--now", "--home", home)
    assert (done.returncode, "first the home is damaged" in done.stderr) == (1, True)


def test_no_command_shows_a_password(em: Em, home: Path) -> None:
    given = {"EM_ALERTS_SMTP_USER": "post", "EM_ALERTS_SMTP_PASSWORD": SECRET, "EM_ALERTS_WEBHOOK_URL": SECRET}
    for words in (("settings",), ("alerts", "--home", home), ("alerts", "test", "--home", home)):
        done = em(*words, **given)
        assert SECRET not in done.stdout + done.stderr
