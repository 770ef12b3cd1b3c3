"""How well the block holds what answers, measured on a conversation of a few turns."""

from pathlib import Path

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.context import dates_of, measure
from em_pipelines.pipeline import opener
from em_pipelines.settings import load_settings

LOCOMO = Path(__file__).parents[2].parent / "shared" / "data" / "locomo"
TURNS = ["I bought a harpsichord in May.", "How lovely!", "My boat leaks again.", "Then bring it to Delft."]
QUESTIONS = [
    {"question": "What did Ida buy in May?", "evidence": ["D1:1"], "category": 4},
    {"question": "Where should the boat go?", "evidence": ["D1:3; D1:4"], "category": 1},
    {"question": "What colour is the moon of Jupiter?", "evidence": ["D1:99"], "category": 4},
    {"question": "Which boat is adversarial?", "evidence": ["D1:3"], "category": 5},
]


def conversation(folder: Path, **changes) -> Path:
    turns = [{"speaker": ("Ida", "Piet")[n % 2], "dia_id": f"D1:{n + 1}", "text": text} for n, text in enumerate(TURNS)]
    document = {
        "speaker_a": "Ida", "speaker_b": "Piet", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns,
        "qa": QUESTIONS, **changes,
    }  # fmt: skip
    path = folder / "talk.json"
    path.write_bytes(orjson.dumps(document))
    return path


def test_questions_that_have_evidence_are_measured(tmp_path: Path) -> None:
    report = measure([conversation(tmp_path)], opener(load_settings()))
    assert report.all.n_questions == 2
    assert set(report.by_category) == {"single-hop", "multi-hop"}
    assert report.all.evidence_share == report.all.words_share == 1.0
    assert report.by_conversation.keys() == {"talk"}
    assert 0 < report.all.n_tokens <= 800


@pytest.mark.parametrize(
    ("answer", "dates", "rest"),
    [
        ("7 May 2023", ["2023-05-07"], ""),
        ("In June 2023", ["2023-06"], ""),
        ("2022", ["2022"], ""),
        ("the Sunday before 25 May 2023", ["2023-05-21"], ""),
        ("a harpsichord", [], "a harpsichord"),
        ("13 August", [], "13 august"),
    ],
)
def test_dates_of_expected_answers_are_read(answer: str, dates: list[str], rest: str) -> None:
    assert dates_of(answer) == (dates, rest)


def test_a_date_counts_as_it_was_meant_and_where_it_was_said(tmp_path: Path) -> None:
    turns = ["We sold the loom yesterday.", "Well done!", "The boat sank on 7 May 2021."]
    said = [{"speaker": "Ida", "dia_id": f"D1:{n + 1}", "text": text} for n, text in enumerate(turns)]
    asked = [
        {"question": "When was the loom sold?", "evidence": ["D1:1"], "category": 2, "answer": "7 May 2023"},
        {"question": "When did the loom sink?", "evidence": ["D1:1"], "category": 4, "answer": "7 May 2021"},
    ]
    report = measure([conversation(tmp_path, session_1=said, qa=asked)], opener(load_settings()))
    assert {name: held.answer_share for name, held in report.by_category.items()} == {
        "temporal": 1.0,
        "single-hop": 0.0,
    }


def test_a_block_with_no_room_holds_nothing(tmp_path: Path) -> None:
    settings = load_settings()
    tight = settings.model_copy(update={"context": settings.context.model_copy(update={"budget_tokens": 40})})
    report = measure([conversation(tmp_path)], opener(tight))
    assert (report.all.evidence_share, report.all.recall) == (0.0, 0.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"qa": 3}', "no json"])
def test_what_is_no_conversation_with_questions_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "talk.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        measure([path], opener(load_settings()))


@pytest.mark.slow
@pytest.mark.skipif(not LOCOMO.is_dir(), reason="the conversations of LoCoMo are not beside the project")
def test_most_questions_find_what_answers_them_in_the_block() -> None:
    report = measure(sorted(LOCOMO.glob("*.json")), opener(load_settings()))
    assert report.all.evidence_share >= 0.80
    assert report.all.words_share >= 0.80
    assert report.by_category["temporal"].answer_share >= 0.80
