"""Whose fault an error is while a day is made."""

import signal

import duckdb
import pytest

from em_pipelines.storage.isolation import is_of_rows


class AskedToStop(BaseException):
    """What whoever is asked to stop raises, as Dagster does."""


def test_an_interruption_of_duckdb_is_nobodys_fault() -> None:
    def stop(*_: object) -> None:
        raise AskedToStop

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(BaseException) as raised:
            duckdb.sql("SELECT count(*) FROM range(100000000) a, range(1000) b WHERE a.range + b.range < 0").fetchall()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not isinstance(raised.value, Exception) or not is_of_rows(raised.value)


def test_what_a_query_says_of_its_rows_is_theirs() -> None:
    with pytest.raises(duckdb.Error) as raised:
        duckdb.sql("SELECT CAST('tea' AS INTEGER)").fetchall()
    assert is_of_rows(raised.value)
