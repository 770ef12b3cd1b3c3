"""What is told, to whom and how often: once, again when it is worse or old, and when it has ended; over what fails,
what is killed and what is damaged."""

import logging
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.governance.alerts.alert import Alert, Look, Severity
from em_pipelines.governance.alerts.book import DAMAGED_FILE, FILE, LOCK, AlertBook, Silence
from em_pipelines.governance.alerts.looking import Depth
from em_pipelines.governance.alerts.rules import CORRUPTION
from em_pipelines.governance.alerts.telling import Notice, tell
from em_pipelines.home import Home
from tests.alert_servers.servers import SECRET
from tests.governance.alerts.conftest import Ears, World

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULE = "disk_full"
WARNED = Alert(RULE, Severity.WARNING, "the disk is nearly full", "It is used to 81%.", "Make room.")
FAILED = Alert(RULE, Severity.ERROR, "the disk is nearly full", "It is used to 96%.", "Make room.")
OTHER = Alert("failed_run", Severity.ERROR, "a run of main has failed", "Run 1 failed.", "Look.", about="main")
NOTHING: tuple[list[str], list[str]] = ([], [])


def found(*alerts: Alert) -> Look:
    return Look(alerts, frozenset({RULE}))


def both(*titles: str) -> tuple[list[str], list[str]]:
    return list(titles), list(titles)


@pytest.fixture
def home(home_path: Path) -> Home:
    return Home(home_path)


def test_what_stands_is_told_once_and_its_end_once(home: Home, ears: Ears) -> None:
    assert ears.tell(home, found(WARNED), NOON).n_taken == 3
    assert ears.heard == both("[warning] the disk is nearly full")
    assert ears.tell(home, found(WARNED), NOON + timedelta(minutes=1)).n_taken == 0
    ears.tell(home, found(), NOON + timedelta(minutes=2))
    assert ears.heard == both("[ended] the disk is nearly full")
    ears.tell(home, found(), NOON + timedelta(minutes=3))
    assert ears.heard == NOTHING
    assert AlertBook(home.path).read().standing == {}


def test_what_comes_back_is_told_anew(home: Home, ears: Ears) -> None:
    for minute, look in enumerate((found(WARNED), found(), found(WARNED))):
        ears.tell(home, look, NOON + timedelta(minutes=minute))
    assert ears.heard[0] == [f"[{how}] the disk is nearly full" for how in ("warning", "ended", "warning")]


def test_what_gets_worse_is_told_again_and_what_gets_better_is_not(home: Home, ears: Ears) -> None:
    for minute, alert in enumerate((WARNED, FAILED, WARNED, FAILED)):
        ears.tell(home, found(alert), NOON + timedelta(minutes=minute))
    assert ears.heard == both("[warning] the disk is nearly full", "[worse] the disk is nearly full")


def test_what_stands_for_long_is_told_again_unless_that_is_not_wanted(home: Home, ears: Ears) -> None:
    for hours in (0, 23, 24, 47, 48):
        ears.tell(home, found(WARNED), NOON + timedelta(hours=hours))
    assert ears.heard[0][1:] == ["[reminder] the disk is nearly full"] * 2
    tell(home, found(WARNED), ears.sinks, NOON + timedelta(days=900), repeat_hours=0)
    assert ears.heard == NOTHING


def test_a_rule_that_was_not_asked_has_not_ended(home: Home, ears: Ears) -> None:
    ears.tell(home, found(WARNED, OTHER), NOON)
    ears.tell(home, Look(), NOON)
    ears.tell(home, found(WARNED), NOON)
    assert len(AlertBook(home.path).read().standing) == 2
    ears.tell(home, Look((), frozenset({OTHER.rule})), NOON)
    assert ears.heard[0][2:] == ["[ended] a run of main has failed"]


def test_what_one_sink_did_not_take_is_tried_again_for_it_alone(home: Home, ears: Ears) -> None:
    ears.hook.status = 500
    assert ears.tell(home, found(WARNED), NOON).refused == {"webhook": "it answered HTTP 500"}
    assert ears.heard == ([], ["[warning] the disk is nearly full"])
    ears.hook.status = 200
    ears.box.answer = "451 later"
    assert ears.tell(home, found(WARNED), NOON).refused == {}
    assert ears.heard == (["[warning] the disk is nearly full"], [])
    assert ears.tell(home, found(), NOON).refused == {"mail": "it answered 451 (SMTPDataError)"}
    ears.box.answer = "250 OK"
    ears.tell(home, found(), NOON)
    assert ears.heard == both("[ended] the disk is nearly full")


def test_a_sink_that_fails_is_asked_once_a_time(home: Home, ears: Ears) -> None:
    asked = []

    class Broken:
        name = "broken"

        def take(self, notice: Notice) -> str | None:
            asked.append(notice)
            raise RuntimeError(SECRET)

    sent = tell(home, found(WARNED, OTHER), [Broken(), *ears.sinks], NOON, 24)
    assert sent.refused == {"broken": "it failed (RuntimeError)"}
    assert len(asked) == 1
    assert len(ears.heard[0]) == 2


def test_a_sink_that_heard_of_nothing_hears_of_no_end(home: Home, ears: Ears) -> None:
    ears.hook.status = 500
    ears.tell(home, found(WARNED), NOON)
    ears.hook.status = 200
    ears.tell(home, found(), NOON)
    assert ears.heard[0] == []


def test_the_end_is_owed_for_a_week_to_a_sink_that_is_not_there(home: Home, ears: Ears) -> None:
    ears.tell(home, found(WARNED), NOON)
    tell(home, found(), ears.sinks[:1], NOON, 24)
    assert AlertBook(home.path).read().standing
    tell(home, found(), ears.sinks[:1], NOON + timedelta(days=8), 24)
    assert not AlertBook(home.path).read().standing


def silence(home: Home, name: str, until: datetime) -> None:
    with home.lock(LOCK):
        book = AlertBook(home.path).read()
        book.silences[name] = Silence(name, NOON, until, "known")
        AlertBook(home.path).write(book)


@pytest.mark.parametrize("name", [OTHER.rule, OTHER.key])
def test_what_is_silenced_is_recorded_and_not_sent_until_the_silence_ends(home: Home, ears: Ears, name: str) -> None:
    silence(home, name, NOON + timedelta(hours=1))
    ears.tell(home, found(OTHER, WARNED), NOON)
    assert ears.heard == both("[warning] the disk is nearly full")
    assert OTHER.key in AlertBook(home.path).read().standing
    ears.tell(home, found(OTHER, WARNED), NOON + timedelta(hours=1))
    assert ears.heard == both("[error] a run of main has failed")
    assert AlertBook(home.path).read().silences == {}


def test_of_what_ends_while_it_is_silenced_nobody_hears(home: Home, ears: Ears) -> None:
    ears.tell(home, found(WARNED), NOON)
    silence(home, RULE, NOON + timedelta(hours=1))
    ears.tell(home, found(), NOON + timedelta(minutes=1))
    ears.tell(home, found(), NOON + timedelta(hours=2))
    assert ears.heard == both("[warning] the disk is nearly full")


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from em_pipelines.environment import environment
from em_pipelines.governance.alerts.alert import Alert, Look, Severity
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.alerts.telling import tell
from em_pipelines.home import Home
from resources.alert_sinks import open_sinks

class Fatal:
    name = "webhook"
    def __init__(self, sink): self.sink = sink
    def take(self, notice):
        why = self.sink.take(notice)
        os.kill(os.getpid(), signal.SIGKILL)

log, webhook = open_sinks(AlertSettings(), environment())
alert = Alert("disk_full", Severity.WARNING, "the disk is nearly full", "It is used to 81%.", "Make room.")
tell(Home(Path(sys.argv[1])), Look((alert,), frozenset({"disk_full"})), [log, Fatal(webhook)], datetime.now(UTC), 24)
"""


def test_a_kill_between_sending_and_noting_tells_once_more_and_loses_nothing(home: Home, ears: Ears) -> None:
    environment = {
        **os.environ,
        "EM_ALERTS_WEBHOOK_URL": ears.hook.address,
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(home.path)], env=environment, capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert set(AlertBook(home.path).read().standing[RULE].told) == {"log"}
    for _ in range(2):
        ears.tell(home, found(WARNED))
    assert ears.heard == (["[warning] the disk is nearly full"] * 2, ["[warning] the disk is nearly full"])


def test_a_process_that_was_killed_before_it_sent_has_lost_nothing(home: Home, ears: Ears) -> None:
    tell(home, found(WARNED), [], NOON, 24)
    ears.tell(home, Look(), NOON)
    assert ears.heard == both("[warning] the disk is nearly full")


def test_the_book_is_for_its_owner_and_holds_no_address(
    home: Home, ears: Ears, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        ears.hook.status = 500
        ears.tell(home, found(WARNED), NOON)
    path = home.path / FILE
    assert path.stat().st_mode & 0o777 == 0o600
    assert SECRET not in path.read_text(encoding="utf-8")
    assert SECRET not in caplog.text


def test_a_book_in_which_nothing_changes_is_not_written(home: Home, ears: Ears) -> None:
    ears.tell(home, found(WARNED), NOON)
    before = (home.path / FILE).stat().st_ino
    ears.tell(home, found(WARNED), NOON)
    assert (home.path / FILE).stat().st_ino == before


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"alerts": [{}], "silences": [], "damage": null}',
        *(pytest.param(one, marks=pytest.mark.slow) for one in [b"", b"[]", b"null", b"\xff\xfe", b'{"alerts": 7}']),
    ],
)
def test_a_damaged_book_is_named_and_stops_nothing(world: World, ears: Ears, content: bytes) -> None:
    home = world.home
    ears.tell(home, found(WARNED), NOON)
    (home.path / FILE).write_bytes(content)
    assert "no book of alerts" in str(AlertBook(home.path).read().problem)
    look = world.look(Depth.LIGHT)
    (alert,) = look.found
    assert alert.rule == CORRUPTION
    assert "book of alerts" in alert.text
    ears.hook.posted.clear()
    ears.tell(home, Look((WARNED, *look.found), look.asked), NOON)
    assert len(ears.heard[0]) == 2
    assert (home.path / DAMAGED_FILE).read_bytes() == content
    assert [one.rule for one in world.look(Depth.LIGHT).found] == [CORRUPTION]
    (home.path / DAMAGED_FILE).unlink()
    assert world.look(Depth.LIGHT).found == ()


def test_the_book_comes_back_as_it_was_written(home: Home) -> None:
    store = AlertBook(home.path)
    tell(home, found(FAILED, OTHER), [], NOON, 24)
    silence(home, RULE, NOON)
    written = store.read()
    store.write(written)
    assert store.read() == written
    assert written.problem is None
    assert written.standing[OTHER.key].alert == OTHER
