"""Whose fault an error is while a day is made."""

import signal
from types import FrameType

import duckdb
import pytest

from em_pipelines.storage.isolation import is_of_rows


class AskedToStop(BaseException):
    """What whoever is asked to stop raises, as Dagster does."""


def ask_for_long() -> None:
    """A query that takes seconds: in some processes DuckDB looks for signals at its end alone."""
    duckdb.sql("SELECT count(*) FROM range(100000000) a, range(16) b WHERE a.range + b.range < 0").fetchall()


@pytest.mark.slow
def test_an_interruption_of_duckdb_is_nobodys_fault() -> None:
    def stop(_: int, frame: FrameType | None) -> None:
        while frame is not None:  # only from within the query: its error, once out, is not to be met by another
            if frame.f_code is ask_for_long.__code__:
                raise AskedToStop
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)  # again and again: DuckDB may lose the first
    try:
        with pytest.raises(BaseException) as raised:
            ask_for_long()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not isinstance(raised.value, Exception) or not is_of_rows(raised.value)


def test_what_a_query_says_of_its_rows_is_theirs() -> None:
    with pytest.raises(duckdb.Error) as raised:
        duckdb.sql("SELECT CAST('tea' AS INTEGER)").fetchall()
    assert is_of_rows(raised.value)
