"""What a doctor says of the book of nights and of the files that tell of them, and what mends it."""

import pytest

from em_pipelines.governance.audit.diagnosis import Diagnosis
from em_pipelines.governance.audit.repair import apply, propose
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.schema.tables.derived import EXPERIENCES
from tests.lifecycle.consolidation.conftest import Sleeper, sleeper  # noqa: F401  (a fixture)
from tests.lifecycle.consolidation.test_memory_files import failing


@pytest.fixture
def slept(sleeper: Sleeper) -> Sleeper:  # noqa: F811
    """A home with a night."""
    sleeper.land(failing())
    sleeper.night()
    return sleeper


def told(sleeper: Sleeper, subject: str) -> Diagnosis:  # noqa: F811
    return next(found for found in diagnose(sleeper.home) if found.subject == subject)


def test_what_is_well_is_said_to_be(slept: Sleeper) -> None:
    assert told(slept, "nights").is_well
    assert told(slept, "memory files") == Diagnosis("memory files", True, "3 are current")


def test_a_damaged_book_is_told_with_its_line_and_a_remedy(slept: Sleeper) -> None:
    book = slept.home.record / "consolidation.jsonl"
    book.write_bytes(book.read_bytes() + b"{half a li")

    found = told(slept, "nights")

    assert not found.is_well
    assert "line 2 is not what was written" in found.found
    assert "backup" in found.advice
    assert any(mend.subject == "nights" and not mend.mend for mend in propose(slept.home, lambda *_: 0).mends)


def test_a_rollback_of_no_night_is_damage(slept: Sleeper) -> None:
    book = slept.home.record / "consolidation.jsonl"
    book.write_bytes(book.read_bytes().replace(b'"said":"night"', b'"said":"rollback"'))

    assert "line 1 is not what was written" in told(slept, "nights").found


def test_a_book_that_is_gone_is_missed(slept: Sleeper) -> None:
    (slept.home.record / "consolidation.jsonl").unlink()

    found = told(slept, "nights")

    assert "it is gone, though tables were made of its nights" in found.found
    assert "put it back from a backup" in found.advice


def test_files_that_are_not_what_the_tables_come_to_are_told(slept: Sleeper) -> None:
    pages = sorted((slept.home.path / "memory").rglob("*.md"))
    pages[0].unlink()
    assert told(slept, "memory files").found == "1 file is not what the tables come to"
    assert told(slept, "memory files").advice == "`em run`"

    pages[1].write_text("<!-- em:end -->", encoding="utf-8")
    assert "markers em:begin and em:end are damaged" in told(slept, "memory files").found


def test_a_damaged_table_of_a_night_is_made_again(slept: Sleeper) -> None:
    before = slept.all()
    (day,) = slept.home.store.lake.days(EXPERIENCES)
    path = slept.home.path / "lake" / "experiences" / f"{day}.parquet"
    data = bytearray(path.read_bytes())
    data[8] ^= 0xFF
    path.write_bytes(data)
    assert not told(slept, "partitions").is_well

    plan = propose(slept.home, lambda *_: 0)
    apply(slept.home, plan, lambda *_: 0)

    assert slept.all() == before
    assert told(slept, "partitions").is_well
