"""Memory from Python: what each method does, when it is seen, and that it lasts."""

import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.memory import Memory

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)
HOSTILE = ("", " ", "a\x00b", "x" * 300, "a\nb")


def said(memory: Memory) -> set[tuple[str, str, str]]:
    return {(f["subject"], f["relation"], f["object"]) for f in memory.facts()}


def edge_of(memory: Memory, relation: str, object_: str) -> str:
    return str(next(f["edge_id"] for f in memory.facts() if (f["relation"], f["object"]) == (relation, object_)))


def sessions_found(memory: Memory, query: str) -> list[str | None]:
    return [hit.session_id for hit in memory.retrieve_memories(query, kinds=["message"])]


def rebuilt(memory: Memory, rerun: Callable[[], None]) -> Memory:
    """The memory after every table and pack was deleted and made again from the log."""
    for name in ("lake", "packs"):
        shutil.rmtree(memory.home.path / name)
    rerun()
    return Memory(memory.home.path, memory.user)


def test_an_observation_is_listed_at_once_and_learned_from_by_the_next_run(
    nora: Memory, rerun: Callable[[], None]
) -> None:
    stored = nora.store_observation("I work at Nordlys.", session_id="s7", timestamp=NOON, tags=["Work"])
    assert (stored.n_new, stored.turns) == (1, (0,))
    (one,) = nora.list_observations(session_id="s7")
    assert (one.content, one.tags, one.awaits_run, one.memory_type) == (
        "I work at Nordlys.",
        ("work",),
        True,
        "observation",
    )
    assert nora.search_by_tag(" WORK ") == [one]
    assert "s7" not in sessions_found(nora, "Nordlys")
    rerun()
    (now,) = nora.list_observations(session_id="s7")
    assert not now.awaits_run
    assert ("user", "works_at", "Nordlys") in said(nora)
    assert nora.retrieve_memories("Who works at Nordlys?")[0].session_id == "s7"
    assert [hit.session_id for hit in nora.retrieve_memories("Nordlys", kinds=["message"], tags=["work"])] == ["s7"]


def test_storing_twice_stores_once(nora: Memory) -> None:
    first = nora.store_observation("I sail.", session_id="s7")
    again = nora.store_observation("I sail.", session_id="s7")
    by_turn = nora.store_observation("I sail.", session_id="s7", turn_number=0)
    assert [(s.n_new, s.n_known, s.turns) for s in (first, again, by_turn)] == [
        (1, 0, (0,)),
        (0, 1, (0,)),
        (0, 1, (0,)),
    ]
    assert nora.store_observation("I row.", session_id="s7").turns == (1,)
    assert len(nora.list_observations(session_id="s7")) == 2


def test_a_turn_that_stands_with_other_content_is_refused(nora: Memory) -> None:
    with pytest.raises(UsageError, match="turn 0 of this session has landed with other content"):
        nora.store_observation("I live in Oslo.", session_id="s1", turn_number=0)
    assert len(nora.list_observations()) == 3


def test_one_wrong_message_leaves_all_of_them_out(nora: Memory) -> None:
    with pytest.raises(UsageError, match="message 2: role"):
        nora.store_messages("s8", [{"role": "user", "content": "Fine."}, {"role": "judge", "content": "No."}])
    assert not nora.list_observations(session_id="s8")


@pytest.mark.parametrize(
    "wrong",
    [{"tags": ["x" * 65]}, {"memory_type": "dream"}, {"timestamp": datetime(2099, 1, 1, tzinfo=UTC)},
     {"turn_number": -1}, {"session_id": ""}, {"session_id": "a\x00"}, {"trust": "maybe"}],
)  # fmt: skip
def test_what_breaks_a_rule_of_landing_is_refused(nora: Memory, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        nora.store_observation("Hello.", **{"session_id": "s8", **wrong})


def test_secrets_are_masked_before_they_are_stored(nora: Memory) -> None:
    nora.store_observation("my password is hunter2secret!", session_id="s8", tags=["hunter"])
    (one,) = nora.list_observations(session_id="s8")
    assert "hunter2secret" not in one.content
    assert nora.store_observation("my password is hunter2secret!", session_id="s8", tags=["hunter"]).n_known == 1
    assert not [p for p in nora.home.path.rglob("*") if p.is_file() and b"hunter2secret" in p.read_bytes()]


def test_listing_pages_from_the_newest(nora: Memory) -> None:
    first = nora.list_observations(limit=2)
    last = first[-1]
    rest = nora.list_observations(limit=2, before=(last.timestamp, last.session_id, last.turn_number))
    assert [one.content[:6] for one in (*first, *rest)] == ["My wif", "I was ", "I live"]
    assert nora.list_observations(since=date(2026, 3, 5)) == first[:1]
    assert nora.list_observations(until=date(2026, 3, 2)) == [first[1], *rest]


def test_an_archived_observation_is_neither_found_nor_listed_until_it_is_restored(
    nora: Memory, rerun: Callable[[], None]
) -> None:
    assert "s2" in sessions_found(nora, "cloudberries")
    nora.archive_observation("s2", 0)
    for memory in (nora, rebuilt(nora, rerun)):
        assert "s2" not in sessions_found(memory, "cloudberries")
        assert not memory.list_observations(session_id="s2")
        assert memory.list_observations(session_id="s2", is_archived=True)[0].is_archived
        assert ("Ylva", "likes", "cloudberries") in said(memory)
    nora.archive_observation("s2", 0, is_archived=False)
    assert nora.list_observations(session_id="s2")


def test_archiving_what_is_not_there_says_so(nora: Memory) -> None:
    with pytest.raises(UsageError, match="has no turn 9"):
        nora.archive_observation("s2", 9)


@pytest.mark.slow
def test_added_facts_and_corrections_are_seen_at_once_and_after_a_rebuild(
    nora: Memory, rerun: Callable[[], None]
) -> None:
    nora.add_facts([{"relation": "speaks", "object": "Norwegian"}], timestamp=NOON)
    nora.add_facts([{"relation": "speaks", "object": "Norwegian"}], timestamp=NOON)
    nora.correct("Tromsø", edge_id=edge_of(nora, "lives_in", "Bergen"))
    nora.retract(subject="Ylva", relation="likes", object="cloudberries")
    for memory in (nora, rebuilt(nora, rerun)):
        found = said(memory)
        assert {("user", "speaks", "Norwegian"), ("user", "lives_in", "Tromsø")} <= found
        assert not {("user", "lives_in", "Bergen"), ("Ylva", "likes", "cloudberries")} & found


def test_what_was_taken_back_is_not_found_by_a_question_any_more(nora: Memory) -> None:
    found = {hit.text for hit in nora.retrieve_memories("cloudberries", kinds=["fact"])}
    nora.retract(subject="Ylva", relation="likes", object="cloudberries")
    assert found - {hit.text for hit in nora.retrieve_memories("cloudberries", kinds=["fact"])} == {
        "Ylva likes cloudberries"
    }


def test_what_is_no_fact_is_refused(nora: Memory) -> None:
    for wrong in ([], [{"relation": "adores", "object": "x"}], [{"relation": "likes"}]):
        with pytest.raises(UsageError):
            nora.add_facts(wrong)
    with pytest.raises(UsageError, match="edge_id"):
        nora.confirm()
    with pytest.raises(UsageError, match="no fact with id edge_none"):
        nora.retract(edge_id="edge_none")


@pytest.mark.slow
def test_forgetting_gives_a_certificate_and_stays_away(nora: Memory, rerun: Callable[[], None]) -> None:
    nora.store_observation("Torvald came by.", session_id="s7", timestamp=NOON, tags=["torvald", "visit"])
    certificate = nora.forget(entity="Torvald")
    assert (certificate.result, certificate.n_found_after) == ("erased", 0)
    assert nora.search_by_tag("visit")[0].tags == ("visit",)
    again = nora.store_observation("Torvald came by.", session_id="s7", turn_number=0, timestamp=NOON, tags=["torvald"])
    assert again.n_new == 0
    assert not [one for one in rebuilt(nora, rerun).list_observations() if "Torvald" in one.content]
    assert [one for one in Memory(nora.home, "ivo").list_observations() if "Torvald" in one.content]
    with pytest.raises(UsageError, match="exactly one"):
        nora.forget()


def test_nothing_of_another_user_is_seen(nora: Memory) -> None:
    ivo = Memory(nora.home, "ivo")
    theirs = edge_of(ivo, "lives_in", "Narvik")
    shown = repr([nora.facts(is_all=True), nora.list_observations(is_archived=None), nora.retrieve_memories("Narvik")])
    assert "Narvik" not in shown
    assert "Quillon" not in shown
    for act in (lambda: nora.correct("Oslo", edge_id=theirs), lambda: nora.forget(edge_id=theirs)):
        with pytest.raises(UsageError):
            act()
    nora.archive_observation("s1", 0)
    assert ivo.list_observations(session_id="s1")


@pytest.mark.parametrize("user", HOSTILE)
def test_ids_that_no_log_could_have_are_refused(home: Path, user: str) -> None:
    with pytest.raises(UsageError, match="user id"):
        Memory(home, user)


@pytest.mark.parametrize("user", ["../ivo", "ivo'--", 'ivo" OR 1=1', "{user_id: 'ivo'}", "ivo\u202e"])
def test_hostile_ids_are_users_of_their_own(home: Path, user: str) -> None:
    memory = Memory(home, user)
    assert memory.facts() == memory.list_observations() == memory.retrieve_memories("Narvik") == []
    memory.store_observation("I like rye.", session_id="../s1")
    assert [one.session_id for one in memory.list_observations()] == ["../s1"]
