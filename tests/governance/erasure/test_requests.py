"""Requests that come in logs: kept, hidden at once, carried out once, recognised for ever."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import CorruptTableError, ErasureIncompleteError, UsageError
from em_pipelines.landing.dead_letters import open_letters, replay
from em_pipelines.landing.erasure_requests import Scope, ScopeKind, as_document, of_document
from em_pipelines.landing.land import all_letters
from em_pipelines.redaction.veils import ToldFact, hidden
from em_pipelines.schema.rows import ProvenanceItem

from .conftest import NORA, NOW, World, feedback, lines

ASKED_AT = "2026-04-01T09:00:00Z"


def sealed(world: World, scope: Scope) -> Scope:
    """A scope as a request that waits has it."""
    return world.home.book.request(scope, NOW, "user").scope


def test_a_request_in_a_log_is_kept_as_a_request_alone(world: World) -> None:
    report = world.land(feedback("nora", "forget", ASKED_AT, entity="Torvald"))
    assert (report.n_requests, report.n_landed, report.n_rows) == (1, 0, 1)
    assert world.places("forget", of="nora") == []
    (request,) = world.home.book.pending()
    assert request.scope == sealed(world, Scope(ScopeKind.ENTITY, "nora", "Torvald"))
    again = world.land(feedback("nora", "forget", ASKED_AT, entity="Torvald"))
    assert (again.n_requests, again.n_duplicates) == (0, 1)
    world.carry_out()
    assert world.home.book.pending() == []
    assert world.places("torvald", of="nora") == []
    assert world.land(feedback("nora", "forget", ASKED_AT, entity="Torvald")).n_duplicates == 1
    assert world.home.book.pending() == []


LEARNED_AT = NOW.replace(month=3)


def test_what_a_request_covers_is_hidden_before_it_is_carried_out(world: World) -> None:
    assert hidden(world.home, "nora") == ()
    world.land(feedback("nora", "forget", ASKED_AT, entity="wife"))
    (veil,) = hidden(world.home, "nora")

    def told(*ends: str, learned_at: datetime = LEARNED_AT, statement: str | None = None) -> ToldFact:
        place: ProvenanceItem = {
            "session_id": "s2", "turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "x"
        }  # fmt: skip
        return {
            "edge_id": "e", "end_keys": list(ends), "statement": statement, "provenance": [place],
            "learned_at": learned_at,
        }  # fmt: skip

    assert veil.hides(told("user", "Ylva"))
    assert not veil.hides(told("user", "Torvald"))
    assert not veil.hides(told("Ylva", learned_at=NOW))
    assert veil.hides(told("user", "Torvald", statement="I met Torvald because Ylva knew him"))
    assert not veil.hides(told("user", "Torvald", statement="I met Torvald at work"))
    assert hidden(world.home, "ivo") == ()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"all": True}, Scope(ScopeKind.USER, "nora", "")),
        ({"session_id": "s1"}, Scope(ScopeKind.SESSION, "nora", "s1")),
        ({"session_id": "s1", "entity": "Torvald"}, Scope(ScopeKind.ENTITY, "nora", "Torvald")),
        ({"fact_id": "edge_1"}, Scope(ScopeKind.FACT, "nora", "edge_1")),
    ],
)
def test_the_scope_of_a_request(empty: World, payload: dict[str, Any], expected: Scope) -> None:
    empty.land(feedback("nora", "forget", ASKED_AT, **payload))
    (request,) = empty.home.book.pending()
    assert request.scope == sealed(empty, expected)
    assert of_document(orjson.loads(orjson.dumps(as_document(request)))) == request


@pytest.mark.parametrize("payload", [{}, {"entity": "Torvald", "all": True}, {"entity": "?!"}])
def test_a_request_that_names_nothing_or_too_much_is_a_dead_letter(empty: World, payload: dict[str, Any]) -> None:
    assert empty.land(feedback("nora", "forget", ASKED_AT, **payload)).n_dead_letters == {"invalid_field": 1}
    assert empty.home.book.pending() == []


@pytest.mark.slow
def test_a_request_for_what_nobody_knows_ends_with_a_certificate_that_says_so(world: World) -> None:
    before = world.facts("nora")
    world.land(
        feedback("nora", "forget", ASKED_AT, entity="Xanthippe"),
        feedback("nora", "forget", ASKED_AT, edge_id="edge_00000000000000000000"),
        feedback("nora", "forget", ASKED_AT, entity="user"),
    )
    assert {c.result for c in world.carry_out()} == {"nothing_found"}
    assert world.facts("nora") == before
    # whose log is late: what was said before the request is cut all the same
    world.land(*lines("nora", (("s0", "2026-02-01T09:00:00Z", "user", "Xanthippe rang."),)))
    assert world.messages("nora", "s0") == ["[…]"]


@pytest.mark.slow
def test_who_is_erased_whole_has_nothing_else_to_be_forgotten(world: World) -> None:
    world.land(
        feedback("nora", "forget", ASKED_AT, entity="Torvald"), feedback("ivo", "forget", ASKED_AT, entity="Ylva")
    )
    world.forget("nora", user="")
    assert world.places("nora") == []
    assert len(list(world.home.book.certificates_folder.iterdir())) == 2
    assert world.places("ylva", of="ivo") == []


@pytest.mark.slow
def test_a_certificate_holds_nothing_of_what_was_erased(world: World) -> None:
    certificate = world.forget("nora", entity="Torvald")
    path = world.home.book.certificates_folder / f"{certificate.certificate_id}.json"
    assert orjson.loads(path.read_bytes()) == certificate.as_document()
    assert certificate.user == world.home.salt.hash("user", "nora")
    assert {"log", "lake", "snapshots", "llm", "dagster", "inbox"} <= certificate.places_searched.keys()
    assert b"nora" not in path.read_bytes()
    stones = (world.home.record / "tombstones.jsonl").read_bytes()
    assert b"nora" not in stones
    assert b"torvald" not in stones


@pytest.mark.slow
def test_what_is_found_still_keeps_the_request_and_says_where(world: World) -> None:
    stray = world.home.path / "notes.txt"
    stray.write_text('{"user_id": "nora"} asked about Torvald')
    with pytest.raises(ErasureIncompleteError, match=r"notes\.txt") as found:
        world.forget("nora", entity="Torvald")
    assert "Torvald" not in str(found.value)
    assert found.value.exit_code == 3
    assert len(world.home.book.pending()) == 1
    stray.unlink()
    (certificate,) = world.carry_out()
    assert certificate.result == "erased"
    assert world.places("torvald", of="nora") == []


@pytest.mark.slow
def test_files_of_the_inbox_that_hold_it_go_after_they_have_landed(world: World) -> None:
    waiting = world.home.inbox / "nora" / "new.jsonl"
    waiting.parent.mkdir(parents=True)
    said = (("s6", "2026-03-28T09:00:00Z", "user", "Torvald cooks. I like dumplings."),)
    waiting.write_bytes(b"\n".join(map(orjson.dumps, lines("nora", said))))
    other = world.home.inbox / "nora" / "other.jsonl"
    other.write_bytes(orjson.dumps(lines("nora", (("s5", "2026-03-29T09:00:00Z", "user", "I like tea."),))[0]))
    for path in (waiting, other):
        age(path)
    world.forget("nora", entity="Torvald")
    assert not waiting.exists()
    assert other.exists()
    assert world.messages("nora", "s6") == ["[…] I like dumplings."]
    assert ("user", "likes", "dumplings") in world.facts("nora")


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["nora", ".landed/20260401T000000/nora"])
def test_zips_of_the_inbox_that_hold_it_go_too(world: World, folder: str) -> None:
    import zipfile

    said = (("s6", "2026-03-28T09:00:00Z", "user", "Torvald cooks. I like dumplings."),)
    tea = (("s5", "2026-03-29T09:00:00Z", "user", "I like tea."),)
    (world.home.inbox / folder).mkdir(parents=True, exist_ok=True)
    for name, turns in (("new.zip", said), ("other.zip", tea)):
        with zipfile.ZipFile(world.home.inbox / folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("talk.jsonl", b"\n".join(map(orjson.dumps, lines("nora", turns))))
        age(world.home.inbox / folder / name)
    world.forget("nora", entity="Torvald")
    assert sorted(path.name for path in (world.home.inbox / folder).glob("*.zip")) == ["other.zip"]
    if folder == "nora":
        assert world.messages("nora", "s6") == ["[…] I like dumplings."]


def age(path: Path) -> None:
    import os

    os.utime(path, (1_700_000_000, 1_700_000_000))


@pytest.mark.slow
def test_dead_letters_that_hold_it_go_and_do_not_come_back(world: World) -> None:
    assert {x["user_id"] for x in open_letters(world.home.store.log)} == {"nora", "ivo", None}
    bad = {"user_id": "nora", "session_id": "s9", "turn_number": "9", "role": "user", "content": "Torvald is here.",
           "timestamp": "2026-03-22T08:00:00Z"}  # fmt: skip
    world.forget("nora", entity="Torvald")
    report = world.land(bad, name="nora.jsonl")
    assert (report.n_erased, report.n_dead_letters) == (1, {})
    letters = all_letters(world.home.store.log)
    assert [x["user_id"] for x in letters.values()].count("nora") == 0
    (of_ivo,) = [x for x in letters.values() if x["user_id"] == "ivo"]
    settings = world.home.settings.landing
    done = replay(
        world.home.store.log, [of_ivo["dead_letter_id"]], now=NOW, settings=settings, changes={"turn_number": "9"}
    )
    assert done.n_landed == 1


@pytest.mark.slow
def test_answers_of_models_about_other_texts_stay(world: World) -> None:
    before = world.answers("nora")
    world.forget("nora", entity="Torvald")
    left = world.answers("nora")
    assert left == [a for a in before if "Torvald" not in a]
    assert left


def test_a_request_that_cannot_be_read_is_never_passed_over(empty: World) -> None:
    empty.home.book.pending_folder.mkdir(parents=True)
    (empty.home.book.pending_folder / "erase_1.json").write_text("{")
    with pytest.raises(CorruptTableError, match="no request"):
        empty.carry_out()


def test_exactly_one_scope_is_named() -> None:
    for given in ((None, None, None, False), ("e", "n", None, False), (None, " ", None, False)):
        with pytest.raises(UsageError, match="exactly one"):
            Scope.named("nora", **dict(zip(("fact", "entity", "session", "is_all"), given, strict=True)))


@pytest.mark.slow
def test_a_later_erasure_of_more_ends_what_an_earlier_one_began(world: World) -> None:
    world.forget("nora", entity="Torvald")
    world.forget("nora", session="s2")
    world.forget("nora", entity="Fender Rhodes")
    assert world.places("rhodes", of="nora") == []
    assert world.places("torvald", of="nora") == []
    for stone_time in (datetime(2026, 3, 1, tzinfo=UTC), NOW):
        world.land(*lines("nora", NORA), name=f"{stone_time:%d}.jsonl")
    assert world.places("torvald", of="nora") == []
    assert world.places("rhodes", of="nora") == []
