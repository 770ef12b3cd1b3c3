"""Memory as LangGraph's store: what LangGraph's own store in memory answers, and what an append-only log adds to it."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from em_pipelines.errors import NotMadeError, UsageError
from em_pipelines.interfaces.langgraph import MemoryStore
from em_pipelines.interfaces.memory import Memory

ROOT = Path(__file__).parents[2]
NOTES = ("nora", "notes")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> MemoryStore:
    return MemoryStore(home)


def values(found: Any) -> Any:
    return [(one.namespace, one.key, one.value) for one in found]


def fill(store: BaseStore) -> list[Any]:
    """What a store answers to the same operations, without times and scores."""
    store.put(NOTES, "tone", {"text": "Likes short answers.", "weight": 1, "of": {"by": "agent"}})
    store.put(NOTES, "food", {"text": "Grüße: no meat 🌱", "weight": 3})
    store.put(("nora", "notes", "old"), "a", {"weight": 2})
    store.put(("ivo", "notes"), "tone", {"text": "Likes long answers."})
    store.put(NOTES, "tone", {"text": "Likes very short answers.", "weight": 4, "of": {"by": "agent"}})
    store.put(NOTES, "gone", {"text": "x"})
    store.delete(NOTES, "gone")
    store.delete(NOTES, "never there")
    store.put(NOTES, "back", {"text": "x"})
    store.delete(NOTES, "back")
    store.put(NOTES, "back", {"text": "y", "weight": 0})
    one = store.get(NOTES, "tone")
    return [
        one and (one.namespace, one.key, one.value),
        [store.get(NOTES, key) for key in ("gone", "none")],
        sorted(values(store.search(("nora",)))),
        sorted(values(store.search(NOTES, filter={"weight": {"$gte": 3}, "text": {"$ne": "y"}}))),
        sorted(values(store.search(NOTES, filter={"of": {"by": "agent"}}))),
        sorted(values(store.search(("nora", "notes", "old"), filter={"weight": 2}))),
        len(store.search(("nora",), limit=2)),
        len(store.search(("nora",), limit=10, offset=3)),
        store.list_namespaces(prefix=("nora",)),
        store.list_namespaces(prefix=("nora",), max_depth=2),
        store.list_namespaces(prefix=("nora", "*"), suffix=("old",)),
        store.batch([GetOp(NOTES, "food"), PutOp(NOTES, "food", None), PutOp(NOTES, "food", {"n": 1})])[0].value,  # type: ignore[union-attr]
        store.get(NOTES, "food").value,  # type: ignore[union-attr]
        store.get(("nora",), "tone"),
    ]


def test_it_answers_as_langgraphs_own_store_does(store: MemoryStore, home: Path) -> None:
    answers = fill(store)
    assert answers == fill(InMemoryStore())
    again = MemoryStore(home)
    assert values(again.search(("nora",))) == values(store.search(("nora",)))


def test_times_tell_when_it_was_put_first_and_last(store: MemoryStore) -> None:
    before = datetime.now(UTC)
    store.put(NOTES, "tone", {"text": "short"})
    first = store.get(NOTES, "tone")
    store.put(NOTES, "tone", {"text": "short"})
    assert first
    assert store.get(NOTES, "tone") == first
    assert before <= first.created_at == first.updated_at <= datetime.now(UTC)


def test_search_ranks_by_words_of_the_fields_that_are_indexed(store: MemoryStore) -> None:
    store.put(NOTES, "a", {"text": "Trams run late on Sundays.", "more": "rye"})
    store.put(NOTES, "b", {"text": "Likes rye bread."})
    store.put(NOTES, "c", {"text": "rye"}, index=False)
    store.put(NOTES, "d", {"text": "Cats.", "more": "rye"}, index=["text"])
    found = store.search(NOTES, query="Which bread, rye?")
    assert [one.key for one in found][:2] == ["b", "a"]
    assert [one.score for one in found][2:] == [0.0, 0.0]
    assert {one.score for one in store.search(NOTES, query="zebra")} == {0.0}
    assert {one.score for one in store.search(NOTES)} == {None}


def test_operators_that_compare_what_cannot_be_compared_fit_nothing(store: MemoryStore) -> None:
    store.put(NOTES, "a", {"n": "text"})
    store.put(NOTES, "b", {"n": 4})
    assert [one.key for one in store.search(NOTES, filter={"n": {"$gt": 3}})] == ["b"]
    with pytest.raises(UsageError, match="operators"):
        store.search(NOTES, filter={"n": {"$near": 3}})


def test_facts_that_were_learned_are_found_read_and_retracted(store: MemoryStore, home: Path) -> None:
    memory, facts = Memory(home, "nora"), ("nora", "em", "facts")
    assert store.search(facts) == []
    memory.add("My sister Dana lives in Graz. I like rye.", learn=True)
    (found,) = store.search(facts, query="Where does Dana live?", filter={"relation": "lives_in"})
    assert (found.value["object"], "Graz" in found.value["content"], found.score is not None) == ("Graz", True, True)
    assert store.get(facts, found.key) == found
    assert len(store.search(facts)) == len(memory.facts())
    with pytest.raises(InvalidNamespaceError, match=r"Memory\.add"):
        store.put(facts, "x", {"relation": "likes", "object": "tea"})
    store.delete(facts, found.key)
    assert store.get(facts, found.key) is None
    assert "lives_in" not in {fact["relation"] for fact in memory.facts()}
    Memory(home, "ivo").add("Hello.")
    with pytest.raises(NotMadeError):
        store.search(("ivo", "em", "facts"))


@pytest.mark.slow
def test_documents_are_the_agents_words_and_no_facts(store: MemoryStore, home: Path) -> None:
    store.put(NOTES, "home", {"text": "I live in Graz. User lives in Graz."})
    memory = Memory(home, "nora")
    memory.run()
    assert memory.facts() == []
    assert "Graz" in memory.search("Graz")[0].text
    store.put(NOTES, "home", {"text": "Moved to Linz."})
    assert "lives in Graz" not in repr([memory.search("Graz"), memory.list_observations()])


@pytest.mark.slow
def test_what_is_forgotten_is_gone_from_the_store(store: MemoryStore, home: Path) -> None:
    store.put(NOTES, "a", {"text": "Torvald called."})
    store.put(("nora", "todo"), "a", {"text": "Call back."})
    Memory(home, "nora").forget(session_id="langgraph.notes")
    assert store.get(NOTES, "a") is None
    assert store.list_namespaces(prefix=("nora",)) == [("nora", "todo")]
    assert not [p for p in home.rglob("*") if p.is_file() and b"Torvald" in p.read_bytes()]
    store.put(NOTES, "a", {"text": "New."})
    assert values(store.search(NOTES)) == [(NOTES, "a", {"text": "New."})]


@pytest.mark.slow
def test_an_erased_name_leaves_no_document_that_says_it(store: MemoryStore, home: Path) -> None:
    memory = Memory(home, "nora")
    memory.add("My friend Torvald lives in Bergen.", session_id="s1", learn=True)
    store.put(NOTES, "a", {"text": "Torvald called.", "more": "Call back."})
    store.put(NOTES, "b", {"text": "Likes rye."})
    assert memory.forget(entity="Torvald").result == "erased"
    assert "Torvald" not in repr(store.search(NOTES))
    assert [one.key for one in MemoryStore(home).search(NOTES)][-1] == "b"
    assert not [p for p in home.rglob("*") if p.is_file() and b"Torvald" in p.read_bytes()]


def test_secrets_are_masked_and_what_masking_would_break_is_refused(store: MemoryStore, home: Path) -> None:
    store.put(NOTES, "a", {"text": "my password is hunter2secret!", "card": 4111111111111111})
    assert "hunter2secret" not in repr(store.search(NOTES))
    assert not [p for p in home.rglob("*") if p.is_file() and b"hunter2secret" in p.read_bytes()]
    with pytest.raises(UsageError, match="secret"):
        store.put(NOTES, "sk-proj-aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW", {"text": "x"})


def test_a_store_of_one_user_needs_no_user_in_its_namespaces(store: MemoryStore, home: Path) -> None:
    own = MemoryStore(home, "nora@example.org")
    own.put(("notes",), "a", {"n": 1})
    store.put(NOTES, "a", {"n": 2})
    assert values(own.search(())) == [(("notes",), "a", {"n": 1})]
    assert own.list_namespaces() == [("notes",)]
    assert repr(own) == f"MemoryStore({str(home)!r}, 'nora@example.org')"


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda s: s.search(()), InvalidNamespaceError),
        (lambda s: s.list_namespaces(), InvalidNamespaceError),
        (lambda s: s.list_namespaces(prefix=("*", "notes")), InvalidNamespaceError),
        (lambda s: s.put((), "a", {}), InvalidNamespaceError),
        (lambda s: s.put(("nora", "a.b"), "a", {}), InvalidNamespaceError),
        (lambda s: s.batch([PutOp(("nora", "a.b"), "a", {})]), InvalidNamespaceError),
        (lambda s: s.put(NOTES, "", {}), UsageError),
        (lambda s: s.put(NOTES, "a", {"x": {1, 2}}), UsageError),
        (lambda s: s.put(NOTES, "a", {"x": "\ud800"}), UsageError),
        (lambda s: s.put(("nora", "x" * 300), "a", {}), UsageError),
        (lambda s: s.put(NOTES, "a", {}, ttl=5), NotImplementedError),
        (lambda s: s.batch([PutOp(NOTES, "a", {}, ttl=5.0)]), NotImplementedError),
        (lambda s: s.batch(["get"]), TypeError),
    ],
)
def test_wrong_use_says_so_and_keeps_nothing(store: MemoryStore, act: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        act(store)
    assert store.search(("nora",)) == []


@pytest.mark.parametrize(
    ("missing", "adapter", "extra"),
    [
        ("langgraph.store.base", "langgraph", "langgraph"),
        pytest.param("agents.memory", "openai_agents", "openai-agents", marks=pytest.mark.slow),
    ],
)
def test_without_its_extra_an_adapter_says_which_one(missing: str, adapter: str, extra: str) -> None:
    code = f"import sys; sys.modules['{missing}'] = None; import em_pipelines.interfaces.{adapter}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith(f"install the extra {extra}")


def test_tasks_and_threads_share_a_store(store: MemoryStore, home: Path) -> None:
    async def put(who: BaseStore, n: int) -> None:
        await who.aput(NOTES, f"key {n}", {"n": n})
        await asyncio.to_thread(who.put, NOTES, f"thread {n}", {"n": n})
        assert (await who.aget(NOTES, f"key {n}")) is not None

    async def both() -> int:
        other = MemoryStore(home)
        await asyncio.gather(*(put(who, n) for n in range(4) for who in (store, other)))
        return len(await store.asearch(NOTES, limit=100))

    assert asyncio.run(both()) == 8
    assert len(MemoryStore(home).batch([SearchOp(NOTES, limit=100)])[0]) == 8  # type: ignore[arg-type]
