"""What counts for a search: each filter leaves out what it should, and nothing else."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.retrieval.documents import SCHEMA
from em_pipelines.retrieval.expansion import expanded
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.search import Search, held, search
from em_pipelines.retrieval.settings import RetrievalSettings
from em_pipelines.retrieval.terms import window
from em_pipelines.retrieval.writing import PackOptions, write

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TODAY = date(2026, 6, 1)


def said(session: str, turn: int, text: str, day: int, domain: str | None = None, tags: tuple[str, ...] = ()) -> dict:
    return {
        "kind": "message", "session_id": session, "turn_number": turn, "text": text, "speaker": "Ida", "role": "user",
        "said_at": START + timedelta(days=day, minutes=turn), "confidence": 1.0, "domain": domain, "tags": list(tags),
    }  # fmt: skip


def fact(edge: str, subject: str, relation: str, thing: str, *sources: tuple[str, int], **more: Any) -> dict[str, Any]:
    return {
        "kind": "fact", "edge_id": edge, "text": f"{subject} {relation} {thing}", "said_at": START, "confidence": 0.9,
        "status": "active", "subject": subject, "relation": relation, "object": thing,
        "names": [subject.casefold(), thing.casefold()], "conflicts": [],
        "sources": [{"session_id": s, "turn_number": t} for s, t in sources], **more,
    }  # fmt: skip


ROWS = [
    said("s1", 0, "Dana moved to the harbour.", 0, "home", ("family",)),
    said("s1", 1, "She likes the harbour.", 0, "home"),
    said("s2", 0, "The harbour report is due.", 10, "work", ("report",)),
    said("s3", 0, "Ilinca drew the harbour.", 20),
    said("s3", 1, "Jonas lent her the brushes.", 20),
    fact("e1", "Dana", "lives_in", "harbour", ("s1", 0)),
    fact("e2", "Dana", "parent_of", "Ilinca", ("s3", 0)),
    fact("e3", "Ilinca", "knows", "Jonas", ("s3", 1), confidence=0.5),
    fact("e4", "Dana", "lives_in", "Graz", conflicts=["e5"], status="contradicted"),
    fact("e5", "Dana", "lives_in", "Vienna", conflicts=["e4"], status="contradicted"),
    fact("e6", "Dana", "works_at", "harbour", status="superseded"),
]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    folder = tmp_path_factory.mktemp("packs") / "pack"
    write(folder, pa.Table.from_pylist(ROWS, schema=SCHEMA), PackOptions(3))
    return Pack(folder)


def found(pack: Pack, question: str, **wanted: Any) -> set[str]:
    hits = search(pack, Search(question, 10, TODAY, **wanted), RetrievalSettings(n_facts=10))
    return {hit.edge_id or f"{hit.session_id} {hit.turn_number}" for hit in hits}


HARBOUR = {"s1 0", "s1 1", "s2 0", "s3 0", "s3 1"}


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({}, HARBOUR | {"e1"}),
        ({"since": date(2026, 3, 12)}, {"s2 0", "s3 0", "s3 1"}),
        ({"until": date(2026, 3, 11)}, {"s1 0", "s1 1", "e1"}),
        ({"domain": "work"}, {"s2 0", "s3 0", "s3 1", "e1"}),
        ({"tags": frozenset({"family", "nobody's"})}, {"s1 0"}),
        ({"sessions": frozenset({"s2", "../s1"})}, {"s2 0"}),
        ({"entities": frozenset({"DANA"})}, {"s1 0", "s3 0", "e1"}),
        ({"entities": frozenset({"the harbour"})}, {"s1 0", "s1 1", "s2 0", "s3 0", "e1"}),
        ({"entities": frozenset({"nobody"})}, set()),
        ({"relations": frozenset({"lives_in"})}, {"s1 0", "e1"}),
        ({"min_confidence": 0.95}, HARBOUR),
        ({"standing": {"e6": 0.7}}, HARBOUR | {"e6"}),
    ],
)
def test_a_filter_leaves_out_what_it_should(pack: Pack, wanted: dict[str, Any], left: set[str]) -> None:
    assert found(pack, "harbour", **wanted) == left


def test_what_cannot_hold_together_comes_together_and_says_so(pack: Pack) -> None:
    hits = search(pack, Search("Graz", 1, TODAY, kinds=frozenset({"fact"})), RetrievalSettings())
    assert [(hit.edge_id, hit.conflicts_with) for hit in hits] == [("e4", ("e5",)), ("e5", ("e4",))]


def test_turns_around_a_hit_are_of_the_same_conversation(pack: Pack) -> None:
    hit, *_ = search(pack, Search("report", 1, TODAY, n_neighbours=2), RetrievalSettings())
    assert (hit.session_id, hit.neighbours) == ("s2", ())
    hit, *_ = search(pack, Search("brushes", 1, TODAY, n_neighbours=2), RetrievalSettings())
    assert [turn.text for turn in hit.neighbours] == ["Ilinca drew the harbour."]


def test_a_thread_brings_up_what_it_is_about(pack: Pack) -> None:
    def first(*thread: str) -> str:
        wanted = Search("harbour?", 1, TODAY, frozenset({"message"}), thread=thread)
        return search(pack, wanted, RetrievalSettings())[0].text

    assert first("We owe them a report.", "When is it due?") == "The harbour report is due."
    assert first("Ilinca is so good at drawing.", "What did Ilinca draw?") == "Ilinca drew the harbour."
    assert first("") == first(" \n") == first()


def test_expansion_leads_over_things_to_what_shares_no_word_with_the_question(pack: Pack) -> None:
    hits = search(pack, Search("moved", 1, TODAY), RetrievalSettings())
    confidence = held(pack, None)
    everything = pack.days > 0
    assert [hit.text for hit in hits if hit.kind == "message"] == ["Dana moved to the harbour."]
    one = {hit.edge_id or hit.text: hit for hit in expanded(pack, hits[:1], confidence, everything, 1)}
    assert one["e2"].path == ("s1 0", "Dana", "e2")
    assert one["Ilinca drew the harbour."].path == ("s1 0", "Dana", "e2", "s3 0")
    assert "e6" not in one
    assert "e3" not in one
    two = {hit.edge_id or hit.text: hit for hit in expanded(pack, hits[:1], confidence, everything, 2)}
    assert two["e3"].path[-1] == "e3"
    assert two["e3"].score < two["e2"].score <= hits[0].score
    assert expanded(pack, hits[:1], confidence, everything, 0) == []
    assert expanded(pack, hits[:1], confidence, ~everything, 2) == []
    assert len(expanded(pack, hits, confidence, everything, 9)) <= 8


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-04", (date(2026, 4, 1), date(2026, 4, 30))),
        ("in May", (date(2026, 5, 1), date(2026, 5, 31))),
        ("July", (date(2025, 7, 1), date(2025, 7, 31))),
        ("3 May 2024", (date(2024, 5, 3), date(2024, 5, 3))),
        ("29 February", (date(2024, 2, 29), date(2024, 2, 29))),
        ("last week", (date(2026, 5, 25), date(2026, 5, 31))),
        ("yesterday", (date(2026, 5, 31), date(2026, 5, 31))),
        ("what did I do on Friday?", (date(2026, 5, 29), date(2026, 5, 29))),
        ("from 3 to 9 May", (date(2026, 5, 3), date(2026, 5, 9))),
        ("last summer", (date(2025, 6, 1), date(2025, 8, 31))),
        ("between May and July 2024", (date(2024, 5, 1), date(2024, 7, 31))),
        ("2025", (date(2025, 1, 1), date(2025, 12, 31))),
        ("blue", None),
    ],
)
def test_words_name_a_window_of_days(text: str, days: tuple[date, date] | None) -> None:
    assert window(text, TODAY) == days
