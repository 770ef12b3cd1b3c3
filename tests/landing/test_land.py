"""Landing as a whole: nothing is lost, nothing counts twice, and the route makes no difference."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.landing.land import land
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.tables import dead_letters_table, interactions_table
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog

SMALL = LandingSettings(max_buffer_records=3)


def tables(home: Any) -> tuple[Any, Any]:
    letters = dead_letters_table(home.landed("dead_letters"))
    return interactions_table(home.landed()), letters.drop_columns(["line_number", "file"])


@pytest.fixture
def lines(message: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """Forty messages of three sessions over five days, two of them wrong."""
    good = [message(i, session_id=f"s{i % 3}", timestamp=f"2026-03-0{1 + i % 5}T10:00:{i:02}Z") for i in range(38)]
    return [*good, message(-1), message(99, role="narrator")]


def test_the_numbers_of_a_report_add_up(home: Any, lines: list[dict[str, Any]]) -> None:
    report = home.land_data("a.jsonl", [*lines, lines[0]])
    assert (report.n_rows, report.n_landed, report.n_duplicates, report.n_refused) == (41, 38, 1, 2)
    assert report.n_dead_letters == {"invalid_field": 2}
    assert report.n_new_dead_letters == 2
    assert report.days == {date(2026, 3, d) for d in range(1, 6)}
    assert len(report.files) == 1


@pytest.mark.parametrize("settings", [LandingSettings(), SMALL, LandingSettings(max_buffer_bytes=1)])
def test_landing_the_same_file_twice_changes_nothing(
    home: Any, lines: list[dict[str, Any]], settings: LandingSettings
) -> None:
    path = home.write("a.jsonl", [*lines, {"type": "forget", "user_id": "ada", "timestamp": "2026-03-05T18:20:00Z"}])
    home.land(path, settings=settings)
    before = home.segments()
    report = home.land(path, settings=settings)
    assert home.segments() == before
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (0, 39, 2)
    assert report.n_new_dead_letters == 0
    assert report.days == frozenset()


def test_a_bad_file_landed_on_another_day_adds_no_second_letter(home: Any, lines: list[dict[str, Any]]) -> None:
    path = home.write("a.jsonl", lines)
    home.land(path)
    before = home.segments()
    home.now = datetime(2026, 12, 2, tzinfo=UTC)
    home.land(path)
    assert home.segments() == before


def test_halves_shuffles_and_buffers_of_any_size_give_the_same_tables(
    new_home: Callable[[str], Any], lines: list[dict[str, Any]]
) -> None:
    whole = new_home("whole")
    whole.land_data("a.jsonl", lines)
    halves = new_home("halves")
    halves.land_data("a.jsonl", lines[20:])
    halves.land_data("a.jsonl", lines[:25])
    shuffled = new_home("shuffled")
    mixed = lines * 2
    random.Random(7).shuffle(mixed)
    shuffled.land_data("a.jsonl", mixed, settings=SMALL)
    assert tables(whole) == tables(halves) == tables(shuffled)


@pytest.mark.parametrize("n_appends", [0, 1, 3, 6])
def test_killed_half_way_and_repeated_it_ends_where_an_unbroken_run_does(
    new_home: Callable[[str], Any],
    lines: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    n_appends: int,
) -> None:
    lines = [*lines, lines[0] | {"content": "else"}]
    unbroken, killed = new_home("unbroken"), new_home("killed")
    unbroken.land_data("a.jsonl", lines, settings=SMALL)
    append, n_left = LandedLog.append, n_appends

    def dying_append(self: LandedLog, kind: str, day: date, records: list[Record]) -> None:
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            raise KeyboardInterrupt
        append(self, kind, day, records)

    path = killed.write("a.jsonl", lines)
    monkeypatch.setattr(LandedLog, "append", dying_append)
    with pytest.raises(KeyboardInterrupt):
        killed.land(path, settings=SMALL)
    monkeypatch.undo()
    killed.land(path, settings=SMALL)
    assert tables(killed) == tables(unbroken)


@pytest.mark.parametrize("settings", [LandingSettings(), LandingSettings(max_buffer_records=1)])
@pytest.mark.parametrize("change", [{"content": "else"}, {"role": "assistant"}, {"timestamp": "2026-04-01T00:00:00Z"}])
def test_a_known_key_with_other_content_is_a_conflict_and_the_first_stands(
    home: Any, message: Any, settings: LandingSettings, change: dict[str, Any]
) -> None:
    report = home.land_data("a.jsonl", [message(), message(**change)], settings=settings)
    assert report.n_dead_letters == {"key_conflict": 1}
    assert [r["content"] for r in home.landed()] == ["message 0"]
    assert home.the_letter()["line_number"] == 2


def test_a_key_that_landed_on_another_day_long_ago_is_a_conflict(home: Any, message: Any) -> None:
    home.land_data("a.jsonl", [message()])
    report = home.land_data("b.jsonl", [message(timestamp="2026-05-01T00:00:00Z"), message()])
    assert report.n_dead_letters == {"key_conflict": 1}
    assert report.n_duplicates == 1
    assert len(home.landed()) == 1


def test_what_is_not_said_may_differ_in_a_duplicate(home: Any, message: Any) -> None:
    report = home.land_data("a.jsonl", [message(), message(agent_id="x", source_id="1", entities_mentioned=["y"])])
    assert (report.n_landed, report.n_duplicates) == (1, 1)


def test_dates_beyond_the_clocks_skew_or_before_the_earliest_day_are_refused(home: Any, message: Any) -> None:
    report = home.land_data(
        "a.jsonl",
        [
            message(0, timestamp="2026-12-01T13:00:00Z"),
            message(1, timestamp="2026-12-01T13:00:00.000001Z"),
            message(2, timestamp="2010-01-01T00:00:00Z"),
            message(3, timestamp="2009-12-31T23:59:59Z"),
        ],
    )
    assert report.n_landed == 2
    assert report.n_dead_letters == {"future_date": 1, "too_old": 1}


def test_secrets_are_masked_in_the_log_and_in_dead_letters(home: Any, message: Any) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    home.land_data("a.jsonl", [message(0, content=f"it is {secret}"), message(-1, content=f"it is {secret}")])
    assert home.landed()[0]["content"] == "it is [masked:github_token]"
    assert b"it is [masked:github_token]" in home.the_letter()["raw"]
    assert all(secret.encode() not in data for data in home.segments().values())


def test_progress_is_told_and_ends_with_the_number_of_rows(home: Any, message: Any) -> None:
    told: list[int] = []
    home.land_data("a.jsonl", [message(i) for i in range(2500)], on_progress=told.append)
    assert told == [1000, 2000, 2500]


def test_wrong_use_is_told_before_anything_lands(home: Any, message: Any) -> None:
    path = home.write("a.jsonl", [message()])
    with pytest.raises(UsageError):
        home.land(path, path.with_name("gone.jsonl"))
    with pytest.raises(UsageError):
        home.land(path, format="smoke-signals")
    with pytest.raises(UsageError):
        home.land(path, user_id=" ")
    with pytest.raises(UsageError):
        land([path], home.log, now=datetime(2026, 1, 1), settings=LandingSettings())  # noqa: DTZ001 the wrong use
    assert home.segments() == {}


def test_the_examples_land_without_a_single_dead_letter(home: Any, request: pytest.FixtureRequest) -> None:
    folder = request.config.rootpath / "examples" / "logs"
    report = home.land(folder)
    assert report.n_dead_letters == {}
    assert report.n_duplicates == 0
    assert report.n_landed == report.n_rows > 0


def test_a_conversation_goes_to_the_log_in_one_piece_so_that_none_of_it_is_looked_up(
    home: Any, message: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[date] = []
    monkeypatch.setattr(LandedLog, "read", lambda self, kind, day: read.append(day) or iter(()))
    lines = [message(turn, session_id=f"s{session}") for session in range(6) for turn in range(5)]
    report = home.land_data("a.jsonl", lines, settings=LandingSettings(max_buffer_records=4))
    assert (report.n_landed, read) == (30, [])


def test_a_conversation_of_more_than_two_buffers_is_cut_all_the_same(home: Any, message: Any) -> None:
    report = home.land_data("a.jsonl", [message(n) for n in range(25)], settings=SMALL)
    assert report.n_landed == 25
    assert len(home.segments()) == 5


def test_a_report_says_whose_messages_landed_and_of_which_file_what_was_read(home: Any, message: Any) -> None:
    home.write("a.jsonl", [message(0), message(1, session_id="s2", timestamp="2026-04-01T00:00:00Z"), message(0)])
    home.write("nora/b.jsonl", [message(0, user_id=None)])
    report = home.land(home.root / "in")
    ada = report.users["ada"]
    assert (ada.n_messages, ada.n_conversations, ada.first[:10], ada.last[:10]) == (2, 2, "2026-03-05", "2026-04-01")
    assert list(report.users) == ["ada", "nora"]
    read = [(one.file.rpartition("/in/")[2], one.format, one.n_rows, one.user_id) for one in report.read]
    assert read == [("a.jsonl", "native", 3, None), ("nora/b.jsonl", "native", 1, "nora")]
