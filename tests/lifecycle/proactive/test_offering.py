"""What a home offers: noted, counted with what is reported, never over a limit, and gone with what is erased."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import SettingsError
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.governance.backup.archive import Archive
from em_pipelines.governance.backup.backup import back_up
from em_pipelines.governance.backup.restore import restore
from em_pipelines.governance.erasure.forget import catch_up, forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.lifecycle.proactive.delivery import Situation, Suppressed
from em_pipelines.lifecycle.proactive.offering import Offered, history, offer_probes, time_zone_of
from em_pipelines.lifecycle.proactive.offers import Entry
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.snapshot import publish_home
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

SAID = (
    "I live in Graz.", "I work at Fjordbank.", "I have a dog called Bosse.", "My sister Dana lives in Vienna.",
    "I'm planning a trip to Lisbon.",
)  # fmt: skip
NOON = datetime(2026, 6, 2, 12, tzinfo=UTC)


class Asked:
    """A home of which questions are asked."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder, self.n = folder, 0
        self.home = Pipeline(load_settings(home=folder / "home", **settings))

    @classmethod
    def like(cls, spoken: Path, folder: Path, **settings: Any) -> "Asked":
        """A copy of the home in which both have spoken."""
        shutil.copytree(spoken, folder / "home")
        made = cls(folder, **settings)
        made.n = 10  # conversations are numbered on
        return made

    def land(self, *records: dict[str, Any], make: bool = True) -> None:
        self.n += 1
        path = self.folder / f"{self.n}.jsonl"
        path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in records))
        assert land([path], self.home.store.log, now=NOON, settings=self.home.settings.landing).n_landed == len(records)
        if make:
            catch_up(self.home)
            self.home.refresh_proactive()

    def say(self, user: str, *texts: str) -> None:
        self.land(
            *(
                {
                    "user_id": user, "session_id": f"{user}-{self.n}", "turn_number": turn, "role": "user",
                    "content": text, "timestamp": f"2026-06-01T10:{turn:02}:00Z",
                }
                for turn, text in enumerate(texts)
            )
        )  # fmt: skip

    def report(self, outcome: str, probe_id: str, at: datetime, session: str | None = None, *, make: bool) -> None:
        told = {"kind": "feedback", "user_id": "ines", "type": f"probe_{outcome}", "probe_id": probe_id}
        self.land({**told, "session_id": session, "timestamp": at.isoformat()}, make=make)

    def ask(
        self,
        session: str | None = "s1",
        at: datetime = NOON,
        *,
        user: str = "ines",
        limit: int = 1,
        is_noted: bool = True,
    ) -> Offered:
        situation = Situation(at, session, 5)
        return offer_probes(self.home, user, situation, lambda _: True, limit, is_noted=is_noted)


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home in which both have spoken."""
    made = Asked(tmp_path_factory.mktemp("spoken"))
    for user in ("ines", "ben"):
        made.say(user, *SAID)
    return made.home.path


@pytest.fixture
def asked(spoken: Path, tmp_path: Path) -> Asked:
    return Asked.like(spoken, tmp_path)


def ids(offered: Offered) -> list[str]:
    return [row["probe_id"] for row in offered.rows]


def test_one_is_offered_the_one_worth_most_and_again_in_the_same_conversation(asked: Asked) -> None:
    first = asked.ask()
    assert len(first.rows) == 1
    assert ids(asked.ask()) == ids(first)
    assert [one.said for one in asked.home.offers.of("ines")].count("offered") == 1


def test_two_conversations_a_day_have_one_each_and_a_third_has_none(asked: Asked) -> None:
    first, second = (asked.ask(f"s{n}") for n in (1, 2))
    assert ids(first) != ids(second)
    third = asked.ask("s3")
    assert third.rows == ()
    limited = [one for one in third.decisions if one.target not in {*ids(first), *ids(second)}]
    assert {(one.why_not, one.until) for one in limited} == {
        (Suppressed.FREQUENCY_LIMIT, datetime(2026, 6, 3, tzinfo=UTC))
    }
    asked_already = {one.why_not for one in third.decisions} - {Suppressed.FREQUENCY_LIMIT}
    assert asked_already == {Suppressed.COOLDOWN}


def test_what_is_kept_back_stands_in_the_trail_of_the_next_snapshot(asked: Asked) -> None:
    for n in (1, 2, 3):
        asked.ask(f"s{n}")
    book = [one for one in asked.home.offers.kept_back(["ben", "ines"]) if one.reason == "frequency_limit"]
    assert {one.user_id for one in book} == {"ines"}
    path = publish_home(asked.home).path
    assert publish_home(asked.home).is_new is False, "what is not asked makes no snapshot stale"
    with connect(str(path), is_read_only=True) as connection:
        query = "SELECT user_id, metadata ->> '$.id' FROM audit_events WHERE decision_reasoning = 'frequency_limit'"
        told = connection.execute(query).fetchall()
        ids = connection.execute("SELECT count(*) - count(DISTINCT id) FROM audit_events").fetchall()
    assert sorted(told) == sorted({(one.user_id, one.target) for one in book})
    assert ids == [(0,)]


@pytest.mark.slow
def test_what_was_kept_back_from_somebody_who_is_erased_is_in_no_snapshot(asked: Asked) -> None:
    for n in (1, 2, 3):
        asked.ask(f"s{n}")
    path = publish_home(asked.home).path
    forget(asked.home, Scope(ScopeKind.USER, "ines", ""), now=NOON)
    with connect(str(path), is_read_only=True) as connection:
        assert connection.execute("SELECT DISTINCT user_id FROM probe_suppressions").fetchall() == []


def test_doctor_tells_of_a_book_that_nobody_can_read_and_of_questions_that_are_old(asked: Asked) -> None:
    asked.ask()

    def found() -> str:
        (one,) = (one for one in diagnose(asked.home) if one.subject == "questions and openings")
        return one.found

    assert found() == "as they would be made now"
    asked.land(
        {"user_id": "ines", "session_id": "x", "turn_number": 0, "role": "user", "content": "I have a cat.",
         "timestamp": "2026-06-01T12:00:00Z"}, make=False,
    )  # fmt: skip
    for step in asked.home.steps.values():
        asked.home.store.run_days(step, asked.home.store.days(step))
    assert "not what would be made" in found()
    (file,) = (asked.home.record / "offers").iterdir()
    file.write_bytes(file.read_bytes() + b"{}\n")
    assert "nobody can read" in found()


def test_who_only_looks_is_not_counted(asked: Asked) -> None:
    before = asked.ask("s1", is_noted=False)
    assert asked.home.offers.of("ines") == []
    assert len({*ids(before), *ids(asked.ask("s2")), *ids(asked.ask("s3"))}) == 2


def test_more_than_one_is_shown_no_more_often_than_it_may_be_asked(asked: Asked) -> None:
    assert len(asked.ask(limit=10, is_noted=False).rows) == 1
    assert len(asked.ask(None, limit=10, is_noted=False).rows) == 2


@pytest.mark.parametrize("make", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_is_reported_counts_at_once(asked: Asked, make: bool) -> None:
    (first,) = asked.ask().rows
    asked.report("deflected", first["probe_id"], NOON + timedelta(minutes=1), "s1", make=make)
    for days in (2, 29):
        assert first["probe_id"] not in ids(asked.ask(f"later-{days}", NOON + timedelta(days=days), limit=5))
    said = {(one.said, one.kind) for one in history(asked.home, "ines", NOON + timedelta(days=1))}
    assert said == {("offered", first["kind"]), ("deflected", first["kind"])}


@pytest.mark.slow
def test_what_was_accepted_is_not_asked_again(asked: Asked) -> None:
    (first,) = asked.ask().rows
    asked.report("accepted", first["probe_id"], NOON, "s1", make=True)
    later = asked.ask("s9", NOON + timedelta(days=9), limit=5)
    assert first["probe_id"] not in [one.target for one in later.decisions]


def test_what_is_reported_of_nobody_knows_which_question_counts_as_asked(asked: Asked) -> None:
    for n in (1, 2):
        asked.report("delivered", f"prb_unknown{n}", NOON - timedelta(hours=n), f"x{n}", make=False)
    assert asked.ask().rows == ()


def test_users_do_not_meet(asked: Asked) -> None:
    for n in range(3):
        asked.ask(f"s{n}")
    assert len(asked.ask("other", user="ben").rows) == 1


def test_whoever_asks_at_once_is_not_given_more(asked: Asked) -> None:
    with ThreadPoolExecutor(8) as threads:
        given = list(threads.map(lambda n: ids(asked.ask(f"s{n}")), range(16)))
    assert sum(len(one) for one in given) == 2


@pytest.mark.slow
def test_a_damaged_line_costs_one_offer_and_is_named(asked: Asked) -> None:
    asked.ask("s1")
    (path,) = (asked.home.record / "offers").glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b'{"at": "2026-06-02T12:00:0')
    assert asked.home.offers.damaged() == [path.name]
    assert len(asked.ask("s2").rows) == 1
    assert asked.home.offers.damaged() == [path.name], "it is told until somebody has looked"
    forget(asked.home, Scope(ScopeKind.USER, "ines", ""), now=NOON)
    assert asked.home.offers.damaged() == []


def test_reasons_are_noted_once_a_conversation_or_a_day(asked: Asked) -> None:
    for n in range(3):
        asked.ask("s1", NOON + timedelta(minutes=n))
        asked.ask(None, NOON + timedelta(hours=14, minutes=n))  # quiet hours
    kept_back = [one for one in asked.home.offers.of("ines") if one.said == "quiet_hours"]
    assert len(kept_back) == len({one.target for one in kept_back}) > 1


@pytest.mark.slow
def test_of_a_conversation_that_is_erased_the_book_knows_nothing_and_counts_all_the_same(asked: Asked) -> None:
    asked.land(
        {"user_id": "ines", "session_id": "s1", "turn_number": 0, "role": "user", "content": "Good morning.",
         "timestamp": "2026-06-02T10:00:00Z"}
    )  # fmt: skip
    asked.ask("s1")
    asked.ask("s2")
    forget(asked.home, Scope(ScopeKind.SESSION, "ines", "s1"), now=NOON)
    sessions = {one.session for one in asked.home.offers.of("ines")}
    assert asked.home.offers.session("s1") not in sessions
    assert asked.home.offers.session("s2") in sessions
    assert asked.ask("s3").rows == ()


def test_switched_off_nothing_is_offered(spoken: Path, tmp_path: Path) -> None:
    asked = Asked.like(spoken, tmp_path, proactive={"is_enabled": False})
    assert asked.ask().rows == ()


def test_a_backup_brings_the_book_back(asked: Asked) -> None:
    asked.ask("s1")
    back_up(asked.home, Archive(asked.folder / "kept"), NOON)
    other = Pipeline(load_settings(home=asked.folder / "other"))
    restore(other, Archive(asked.folder / "kept"))
    assert other.offers.of("ines") == asked.home.offers.of("ines") != []


def test_the_book_holds_nothing_that_anybody_said(asked: Asked) -> None:
    asked.ask("a-conversation")
    (path,) = (asked.home.record / "offers").glob("*.jsonl")
    written = path.name.encode() + path.read_bytes()
    for word in (b"ines", b"a-conversation", b"Bosse", b"Dana", b"Lisbon"):
        assert word not in written


@pytest.mark.slow
def test_of_a_user_nothing_stays(asked: Asked) -> None:
    asked.ask("s1")
    asked.ask("s1", user="ben")
    forget(asked.home, Scope(ScopeKind.USER, "ines", ""), now=NOON)
    assert asked.home.offers.of("ines") == []
    assert asked.ask("s4").decisions == ()
    assert len(asked.home.offers.of("ben")) > 0


@pytest.mark.slow
def test_what_is_asked_about_somebody_goes_with_them(asked: Asked) -> None:
    for n in range(60):  # until each was offered
        asked.ask(f"s{n}", NOON + timedelta(days=n / 4))
    noted = {one.about for one in asked.home.offers.of("ines")}
    forget(asked.home, Scope(ScopeKind.ENTITY, "ines", "Dana"), now=NOON)
    left = {one.about for one in asked.home.offers.of("ines")}
    assert left < noted
    later = asked.ask("z", NOON + timedelta(days=2), limit=9, is_noted=False)
    assert not any("Dana" in row["text"] for row in later.rows)


@pytest.mark.parametrize(
    ("said", "chosen", "zone"),
    [
        ((), {}, "UTC"), ((), {"time_zone": "Asia/Tokyo"}, "Asia/Tokyo"),
        ((), {"time_zone": "Asia/Tokyo", "time_zones": {"ines": "America/Lima"}}, "America/Lima"),
        (("My timezone is Europe/Lisbon.",), {"time_zones": {"ines": "America/Lima"}}, "Europe/Lisbon"),
        pytest.param(("My timezone is Middle/Earth.",), {}, "UTC", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_the_time_zone_is_what_they_said(
    spoken: Path, tmp_path: Path, said: tuple[str, ...], chosen: Any, zone: str
) -> None:
    asked = Asked.like(spoken, tmp_path, proactive=chosen)
    if said:
        asked.say("ines", *said)
    assert time_zone_of(asked.home, "ines") == zone


@pytest.mark.parametrize("name", ["Middle/Earth", "", "../../etc/passwd", "/etc/passwd"])
def test_a_time_zone_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="time zone"):
        load_settings(home=tmp_path, proactive={"time_zone": name})


def test_of_what_is_no_longer_listed_the_book_knows_the_kind(asked: Asked) -> None:
    long_ago = NOON - timedelta(days=40)
    asked.home.offers.note(
        "ines", [Entry(long_ago, "starter_of_may", "quiet_plan", "offered", None, "edg_1")], long_ago
    )
    told = {"kind": "feedback", "user_id": "ines", "type": "starter_dismissed", "starter_id": "starter_of_may"}
    asked.land({**told, "timestamp": (long_ago + timedelta(hours=1)).isoformat()}, make=False)
    (found,) = (one for one in history(asked.home, "ines", NOON) if one.said == "dismissed")
    assert (found.kind, found.about) == ("quiet_plan", "edg_1")
