"""Which nights stand, and what the book says of them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.errors import CorruptLogError
from em_pipelines.lifecycle.consolidation.nights import FILE, History, Line, NightBook, Said

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def night(name: str, day: int = 0) -> Line:
    return Line(Said.NIGHT, name, "", NOW + timedelta(days=day), 3)


def back(name: str) -> Line:
    return Line(Said.ROLLBACK, name, "")


def test_a_rollback_takes_later_nights_along() -> None:
    history = History((night("a"), night("b", 1), night("c", 2), back("b")))

    assert [line.target for line in history.standing] == ["a"]
    assert history.effective == (night("a"),)


def test_what_was_rolled_back_matters_once_another_night_has_come() -> None:
    lines = (night("a"), night("b", 1), back("b"), night("c", 2))

    assert [line.target for line in History(lines).standing] == ["a", "c"]
    assert History(lines).effective == lines


def test_decisions_outlive_the_night_after_which_they_were_made() -> None:
    decision = Line(Said.ACCEPT, "exp_1", "")

    assert History((night("a"), night("b", 1), decision, back("b"))).effective == (night("a"), decision)


def test_two_rollbacks_in_a_row_leave_nothing_of_their_nights() -> None:
    lines = (night("a"), night("b", 1), back("b"), back("a"))

    assert History(lines).checkpoint is None
    assert History(lines).effective == ()


def test_a_night_has_the_same_id_wherever_the_same_has_happened() -> None:
    history = History((night("a"),))

    first = history.next_night(NOW, 5, NOW)
    again = history.next_night(NOW, 7, NOW + timedelta(days=9))

    assert first.target == again.target
    assert first.target != History().next_night(NOW, 5, NOW).target


def test_the_book_gives_what_was_written(tmp_path: Path) -> None:
    book = NightBook(tmp_path)
    assert book.history() == History()

    book.append(night("a"))
    book.append(back("a"), Line(Said.DISABLE, "", ""))

    assert book.history() == History((night("a"), back("a")), is_enabled=False)


def test_decisions_about_what_is_gone_go(tmp_path: Path) -> None:
    book = NightBook(tmp_path)
    book.append(night("a"), Line(Said.ACCEPT, "exp_1", ""), Line(Said.REJECT, "exp_2", ""))

    assert book.forget({"exp_1", "a"}.__contains__) == 1
    assert [line.target for line in book.history().lines] == ["a", "exp_2"]


@pytest.mark.parametrize(
    "line", [b"{}", b"nothing", b'{"said":"night","target":"a","at":"","until":null,"n_entries":0}']
)
def test_a_damaged_book_is_refused_with_its_line(tmp_path: Path, line: bytes) -> None:
    NightBook(tmp_path).append(night("a"))
    with (tmp_path / FILE).open("ab") as file:
        file.write(line + b"\n")

    with pytest.raises(CorruptLogError, match="line 2"):
        NightBook(tmp_path).history()
