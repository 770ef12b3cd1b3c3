"""Documents that are no whole export: a clear sentence, and nothing lands."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.serving.export.document import KINDS, Tally, line_of

from .conftest import World

Change = Callable[[dict[str, Any]], object]


def sealed(found: dict[str, Any]) -> bytes:
    """The document with counts and digests that fit its records, as a forger would make it."""
    tally = Tally()
    for kind in KINDS:
        for record in found["records"].get(kind, []):
            tally.add(kind, line_of(record))
    return orjson.dumps({**found, "counts": tally.counts, "digests": tally.digests})


@pytest.fixture
def target(other: Callable[[str], World]) -> World:
    return other("target")


@pytest.fixture
def refuses(target: World) -> Callable[[bytes, str], None]:
    """Checks that a document is refused with a sentence, that nothing landed, and that the ledger says nothing."""

    def check(data: bytes, why: str) -> None:
        with pytest.raises(UsageError, match=why) as error:
            target.take(data)
        assert "nothing was imported" in str(error.value)
        assert target.log() == {}
        assert not (target.home.record / "ledger.jsonl").exists()

    return check


def test_a_document_that_breaks_off_anywhere(document: bytes, refuses: Callable[[bytes, str], None]) -> None:
    data = document.rstrip()
    step = max(1, len(data) // 60)
    for end in {*range(0, len(data), step), len(data) - 1}:
        refuses(data[:end], "line|no export")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no export"),
        (b"   \n", "no export"),
        (b"[1, 2]", "no export"),
        (b'{"user_id": "nora", "session_id": "s1"}', "no whole export"),
        (b"{}", "no whole export"),
        (b"\x00\x01\xff\xfe", "cannot be read"),
        (b"\x1f\x8b\x08\x00", "cannot be read"),
        (b"<?xml version='1.0'?>", "no export"),
        (b'{"format": NaN}', "expected a value"),
        (b'{"format": "em_pipelines.export", "version": 1,}', "expected a value"),
        (b'{"format": "em_pipelines.export"} {}', "expected the end"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "expected a value|recursion"),
        (b'{"version": 1' + b"1" * 5000 + b"}", "expected a value|version"),
        (b'{"version": 2', "version 2"),
        (b'{"version": true, ', "none"),
        (b'{"version": "1", ', "none"),
        (b'{"format": "graphml", "version": 1}', "graphml"),
    ],
)
def test_what_is_no_export(data: bytes, why: str, refuses: Callable[[bytes, str], None]) -> None:
    refuses(data, why)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: d.pop("records"), "records is missing"),
        (lambda d: d.pop("counts"), "counts is missing"),
        (lambda d: d["records"].pop("feedback"), "no list of feedback"),
        (lambda d: d["records"]["interactions"].pop(), "not the number it counts"),
        (lambda d: d["records"]["interactions"].reverse(), "digest"),
        (lambda d: d["records"]["interactions"][0].update(content="I own the bank."), "digest"),
        (lambda d: d["records"].update(world_events=[]), "world_events"),
        (lambda d: d["records"].update(interactions={}), "interactions"),
        (lambda d: d.update(records=[]), "holds 0 records|no list"),
        (lambda d: d.update(user_id=None), "user_id"),
        (lambda d: d.update(user_id=""), "user_id"),
        (lambda d: d.update(user_id="a\nb"), "user_id"),
        (lambda d: d.update(counts=None), "counts"),
        (lambda d: d.update(digests=[]), "digest"),
        (lambda d: d.update(version=99), "version 99"),
    ],
)
def test_what_was_changed_since(
    document: bytes, change: Change, why: str, refuses: Callable[[bytes, str], None]
) -> None:
    found = orjson.loads(document)
    change(found)
    refuses(orjson.dumps(found), why)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda r: r["interactions"][0].update(user_id="ivo"), "others have records"),
        (lambda r: r["interactions"][0].pop("user_id"), "says no user"),
        (lambda r: r["interactions"].append(7), "no object"),
        (lambda r: r["feedback"][0].update(payload="{"), "importing"),
        (lambda r: r["feedback"][0].update(payload=None), "payload"),
        (lambda r: r["feedback"][0].update(payload="[]"), "payload"),
        (lambda r: r["feedback"][0].update(type="forget"), "never exported"),
        (lambda r: r["dead_letters"][0].update(user_id="ivo"), "others have records"),
        (lambda r: r["dead_letters"][0].update(raw="%%%"), "raw"),
        (lambda r: r["dead_letters"][0].update(landed_on="2999-01-01"), "landed_on"),
        (lambda r: r["dead_letters"][0].update(status="gone"), "status"),
        (lambda r: r["dead_letters"][0].update(format="exe"), "format"),
        (lambda r: r["dead_letters"][0].update(dead_letter_id="../x"), "dead_letter_id"),
        (lambda r: r["dead_letters"][0].update(more=1), "more"),
    ],
)
def test_records_that_nobody_landed(
    document: bytes, change: Change, why: str, refuses: Callable[[bytes, str], None]
) -> None:
    found = orjson.loads(document)
    change(found["records"])
    refuses(sealed(found), why)


def test_half_a_character_in_a_record(document: bytes, refuses: Callable[[bytes, str], None]) -> None:
    data = document
    refuses(data.replace(b'"content":"I live', b'"content":"\\ud800I live', 1), "nothing was imported")


def test_a_forged_record_lands_by_the_rules_of_every_log(document: bytes, target: World) -> None:
    found = orjson.loads(document)
    records = found["records"]
    records["interactions"][0]["content"] = "The password is hunter33secret."
    records["interactions"][1]["timestamp"] = "2999-01-01T00:00:00Z"
    records["interactions"][2]["role"] = "god"
    records["feedback"][0]["feedback_id"] = "fbk_00000000000000000000"
    records["dead_letters"][0]["file"] = "/secret/place/log.jsonl"
    done = target.take(sealed(found))
    assert done.landing.n_dead_letters == {"future_date": 1, "invalid_field": 1}
    log = b"".join(target.log().values())
    assert [word for word in (b"hunter33secret", b"fbk_0000000000", b"/secret/") if word in log] == []


def test_what_is_no_file(target: World) -> None:
    for name in ("nothing.json", "."):
        with pytest.raises(UsageError, match="no such file"):
            target.take_path(target.folder / name)


def test_a_value_that_is_too_long(target: World) -> None:
    narrow = target.home.settings.landing.model_copy(update={"max_document_bytes": 1024})
    target.home.settings = target.home.settings.model_copy(update={"landing": narrow})
    data = b'{"format": "' + b"x" * 2_000_000 + b'"}'
    with pytest.raises(UsageError, match="more than 1024 characters"):
        target.take(data)
