"""Search over one user's pack: what is found, what is left out, and that nobody else is in it."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.errors import CorruptTableError
from em_pipelines.retrieval.documents import SCHEMA
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.search import Search, search
from em_pipelines.retrieval.settings import RetrievalSettings, Weights
from em_pipelines.retrieval.terms import analyse
from em_pipelines.retrieval.writing import PackOptions, write

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TODAY = date(2026, 6, 1)
SAID = [
    ("s1", "Ida", "I repaired the harpsichord on Monday."),
    ("s1", "Piet", "Did the harpsichord sound better afterwards?"),
    ("s1", "Ida", "Much better, the jacks no longer stick."),
    ("s2", "Piet", "My boat leaks again."),
    ("s2", "Ida", "Bring it to Delft, the yard has two free berths."),
    ("s3", "Ida", "We counted seventeen herons."),
]


def rows(*said: tuple[str, str, str], facts: tuple[str, ...] = ()) -> pa.Table:
    turns: dict[str, int] = {}
    made = []
    for session, speaker, text in said:
        turns[session] = turns.get(session, -1) + 1
        at = START + timedelta(days=30 * int(session[1:]) - 30, minutes=turns[session])
        made.append(
            {
                "kind": "message", "session_id": session, "turn_number": turns[session], "edge_id": None, "text": text,
                "speaker": speaker, "role": "user", "said_at": at, "confidence": 1.0, "domain": None,
                "tags": ["boats"] if "boat" in text else [],
            }
        )  # fmt: skip
    for n, text in enumerate(facts):
        made.append(
            {
                "kind": "fact", "session_id": "s1", "turn_number": 0, "edge_id": f"edge_{n}", "text": text,
                "speaker": None, "role": None, "said_at": START, "confidence": 0.5, "tags": [], "domain": None,
                "status": "active",
            }
        )  # fmt: skip
    return pa.Table.from_pylist(made, schema=SCHEMA)


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    write(tmp_path / "pack", rows(*SAID, facts=("Ida owns harpsichord", "Piet owns boat")), PackOptions(50))
    return Pack(tmp_path / "pack")


def texts(pack: Pack, question: str, **wanted: object) -> list[str]:
    found = search(pack, Search(question, 3, TODAY, **wanted), RetrievalSettings())
    return [hit.text for hit in found]


def test_the_turn_that_answers_comes_first_and_facts_stand_behind(pack: Pack) -> None:
    found = search(pack, Search("What did Ida repair?", 3, TODAY), RetrievalSettings())
    assert found[0].text == SAID[0][2]
    assert [hit.kind for hit in found] == sorted((hit.kind for hit in found), reverse=True)
    assert found[-1].kind == "fact"
    assert found[0].score == pytest.approx(sum(found[0].components.values()), abs=1e-5)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the harpsichord repaired?", SAID[0][2]),
        ("How many herons did they count?", SAID[5][2]),
        ("Where should Piet bring the boat?", SAID[4][2]),
        ("What happened in May?", SAID[5][2]),
        ("harpsichords", SAID[0][2]),
    ],
)
def test_questions_find_what_answers_them(pack: Pack, question: str, answer: str) -> None:
    assert answer in texts(pack, question)


def test_filters_leave_out_what_is_not_wanted(pack: Pack) -> None:
    assert texts(pack, "boat", sessions=frozenset({"s1"}), kinds=frozenset({"message"})) == texts(
        pack, "boat", until=START.date(), kinds=frozenset({"message"})
    )
    assert texts(pack, "boat", tags=frozenset({"boats"})) == [SAID[3][2]]
    assert texts(pack, "harpsichord", kinds=frozenset({"fact"}), min_confidence=0.6) == []
    assert texts(pack, "harpsichord", kinds=frozenset({"fact"}))[0] == "Ida owns harpsichord"


def test_of_what_nobody_speaks_little_is_found_and_nothing_breaks(pack: Pack, tmp_path: Path) -> None:
    for question in ("", "?!", "\x00", "the of and", "ünïcödé 漢字", "x" * 10_000, "'; DROP TABLE x; --"):
        search(pack, Search(question, 10, TODAY), RetrievalSettings())
    write(tmp_path / "one", rows(("s1", "Ida", "")), PackOptions(50))
    assert search(Pack(tmp_path / "one"), Search("harp", 10, TODAY), RetrievalSettings()) is not None


def test_every_component_can_be_switched_off(pack: Pack) -> None:
    for name in Weights.model_fields:
        weights = RetrievalSettings().weights.model_copy(update={name: 0.0})
        found = search(pack, Search("When did Ida repair it?", 3, TODAY), RetrievalSettings(weights=weights))
        assert all(name not in hit.components for hit in found)
    nothing = Weights(**dict.fromkeys(Weights.model_fields, 0.0))
    assert search(pack, Search("boat", 3, TODAY), RetrievalSettings(weights=nothing)) == []


def test_spread_hits_repeat_less(tmp_path: Path) -> None:
    same = [(f"s{n}", "Ida", "The kiln broke in the night.") for n in range(1, 5)]
    write(
        tmp_path / "pack",
        rows(*same, ("s5", "Ida", "Kiln bricks arrived from Hull."), ("s6", "Piet", "Good.")),
        PackOptions(3),
    )
    wanted = Search("kiln", 2, TODAY, frozenset({"message"}))
    plain, spread = (
        [hit.text for hit in search(Pack(tmp_path / "pack"), wanted, RetrievalSettings(mmr_lambda=value))]
        for value in (1.0, 0.3)
    )
    assert len(set(plain)) <= len(set(spread))
    assert len(set(spread)) == 2


def fact(edge_id: str, subject: str, relation: str, thing: str, **changes: object) -> dict[str, object]:
    return {
        "kind": "fact", "session_id": "s1", "turn_number": 0, "edge_id": edge_id,
        "text": f"{subject} {relation.replace('_', ' ')} {thing}", "said_at": START, "confidence": 0.9,
        "status": "active", "subject": subject, "relation": relation, "object": thing, "polarity": 1,
        "names": [subject.casefold(), thing.casefold()], **changes,
    }  # fmt: skip


@pytest.fixture
def known(tmp_path: Path) -> Pack:
    facts = [
        fact("e0", "Ida", "likes", "Delft"),
        fact("e1", "Ida", "lives_in", "Delft"),
        fact("e2", "Piet", "lives_in", "Hull"),
        fact("e3", "user", "works_at", "Shipyard"),
        fact("e4", "user", "works_at", "Museum", polarity=-1),
        fact("e5", "Piet", "sibling_of", "user"),
    ]
    said = pa.concat_tables([rows(*SAID), pa.Table.from_pylist(facts, schema=SCHEMA)])
    write(tmp_path / "known", said, PackOptions(50))
    return Pack(tmp_path / "known")


@pytest.mark.parametrize(
    ("question", "edge_id"),
    [
        ("Where does Ida live?", "e1"),
        ("which town did Piet move to", "e2"),
        ("Who lives in Hull?", "e2"),
        ("Where do I work?", "e3"),
        ("Who is my brother?", "e5"),
        ("What does Ida like?", "e0"),
    ],
)
def test_a_fact_that_answers_the_question_comes_first(known: Pack, question: str, edge_id: str) -> None:
    found = search(known, Search(question, 3, TODAY), RetrievalSettings())
    assert found[0].edge_id == edge_id
    assert found[0].score == pytest.approx(sum(found[0].components.values()), abs=1e-4)
    assert sum(hit.kind == "message" for hit in found) <= 3


def test_facts_that_answer_nothing_stand_behind_messages(known: Pack) -> None:
    found = search(known, Search("When was the harpsichord repaired in Delft?", 3, TODAY), RetrievalSettings())
    kinds = [hit.kind for hit in found]
    assert kinds == sorted(kinds, reverse=True)


def test_what_says_the_same_five_times_is_said_once_before_the_rest(tmp_path: Path) -> None:
    same = [(f"s{n}", "Ida", f"I really love the old ferry{mark}") for n, mark in enumerate("!.?…;", start=1)]
    write(
        tmp_path / "pack",
        rows(*same, ("s6", "Ida", "The ferry to Hull was late."), ("s7", "Piet", "No.")),
        PackOptions(3),
    )
    wanted = Search("What ferry does Ida love?", 3, TODAY, frozenset({"message"}))
    found = [hit.text for hit in search(Pack(tmp_path / "pack"), wanted, RetrievalSettings())]
    assert "The ferry to Hull was late." in found[:2]
    assert len(found) == 3


@given(st.text(max_size=80))
def test_any_question_can_be_taken_apart(text: str) -> None:
    analyse(text, frozenset({"ida", "piet"}), TODAY)


def test_dates_of_questions() -> None:
    def span(text: str) -> tuple[str, str]:
        (found,) = analyse(text, frozenset(), TODAY).spans
        return str(found.first), str(found.last)

    assert span("What did I do on 7 May 2026?") == ("2026-05-07", "2026-05-07")
    assert span("Who came in March 2026?") == ("2026-03-01", "2026-03-31")
    assert span("What about 2025?") == ("2025-01-01", "2025-12-31")
    assert span("What did I say yesterday?") == ("2026-05-31", "2026-05-31")
    assert span("on 30 February 2026") == ("2026-02-01", "2026-02-28")
    assert analyse("May I ask?", frozenset(), TODAY).spans == ()


def test_a_broken_pack_says_so(pack: Pack) -> None:
    (pack.folder / "pack.json").write_bytes(b"{")
    with pytest.raises(CorruptTableError):
        _ = pack.meta


WRITTEN = [
    ("s1", "Wei", "我妹妹小雨住在成都，她在银行工作。"),
    ("s1", "Wei", "昨天我们去爬山，天气很好。"),
    ("s1", "Yumi", "妹は大阪で陶芸を習っています。"),
    ("s2", "Minji", "여동생은 부산에서 간호사로 일해요."),
    ("s2", "Minji", "주말에는 등산을 갑니다."),
    ("s2", "Aliona", "Моя сестра живёт в Казани."),
    ("s3", "Inés", "Mi hermana abrió una panadería en Málaga."),
    ("s3", "Layla", "أختي تعمل في مستشفى في عمان."),
    ("s3", "Ida", "We counted seventeen herons."),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("小雨在哪里工作？", 0), ("谁住在成都", 0), ("爬山", 1), ("陶芸", 2), ("간호사", 3), ("부산", 3), ("등산", 4),
        ("сестра", 5), ("panaderia malaga", 6), ("مستشفى", 7), ("herons", 8),
    ],
)  # fmt: skip
def test_what_is_said_in_any_script_is_found(tmp_path: Path, question: str, answer: int) -> None:
    write(tmp_path / "pack", rows(*WRITTEN), PackOptions(50))
    assert texts(Pack(tmp_path / "pack"), question)[0] == WRITTEN[answer][2]


@pytest.mark.parametrize("n_hits", [1, 3, 5])
def test_a_number_of_hits_that_is_given_is_kept(known: Pack, n_hits: int) -> None:
    found = search(known, Search("Where does Ida live?", n_hits, TODAY, is_capped=True), RetrievalSettings())
    assert len(found) <= n_hits
    assert sum(hit.kind == "fact" for hit in found) <= max(1, n_hits // 5)
