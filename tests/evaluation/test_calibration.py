"""Whether confidence means what it says: the curve, its error, and what is no file of judged claims."""

import json
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.calibration import measure
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.governance.confidence_curve import curve, expected_error

EXAMPLE = Path(__file__).parents[2] / "examples" / "judged" / "claims.jsonl"
JUDGED: dict[str, Any] = {
    "user_id": "wiebke", "session_id": "s1", "turn_number": 1, "subject": "user", "relation": "member_of",
    "object": "rowing club", "polarity": 1, "said": "I joined a rowing club.", "speaker": "Wiebke",
    "verdict": "correct",
}  # fmt: skip


def written(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_the_error_is_the_distance_between_sure_and_right_weighted_by_claims() -> None:
    bins = curve([(0.9, True), (0.9, True), (0.9, False), (0.45, False), (1.0, True)])
    assert [(one.low, one.n, round(one.right_share, 3)) for one in bins] == [(0.4, 1, 0.0), (0.9, 4, 0.75)]
    assert expected_error(bins) == pytest.approx((1 * 0.45 + 4 * (0.925 - 0.75)) / 5)
    assert expected_error([]) == 0


def test_no_error_where_eight_in_ten_say_so() -> None:
    assert expected_error(curve([(0.8, n < 8) for n in range(10)])) == pytest.approx(0)


def test_messages_are_read_anew_and_claims_found_by_what_they_say(tmp_path: Path) -> None:
    of_friend = {**JUDGED, "turn_number": 2, "speaker": "Oskar", "subject": "Oskar", "said": "I joined a ROWING CLUB."}
    gone = {**JUDGED, "turn_number": 3, "object": "attic", "verdict": "wrong"}
    report = measure([written(tmp_path / "judged.jsonl", JUDGED, of_friend, gone)], RulesExtractor())
    assert (report.n_judged, report.n_made, report.verdicts) == (3, 2, {"correct": 2})
    assert sum(one.n for one in report.bins) == 2


def test_a_confidence_that_is_given_is_taken_at_its_word(tmp_path: Path) -> None:
    sure = {**JUDGED, "said": "Nothing of the kind.", "confidence": 0.35, "verdict": "trivial"}
    (only,) = measure([written(tmp_path / "judged.jsonl", sure)], RulesExtractor()).bins
    assert (only.low, only.confidence, only.right_share) == (0.3, 0.35, 0.0)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", "line 1"),
        ("[1]", "line 1"),
        ({**JUDGED, "verdict": "so-so"}, "verdict"),
        ({**JUDGED, "confidence": 1.5}, "confidence"),
        ({key: value for key, value in JUDGED.items() if key != "said"}, "said"),
        ({**JUDGED, "turn_number": -1}, "turn_number"),
    ],
)
def test_what_is_no_judged_claim_is_named(line: Any, named: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=named):
        measure([written(tmp_path / "judged.jsonl", line)], RulesExtractor())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        measure([tmp_path / "nowhere.jsonl"], RulesExtractor())


def test_the_example_is_read() -> None:
    report = measure([EXAMPLE], RulesExtractor())
    assert report.n_judged == len(EXAMPLE.read_text(encoding="utf-8").splitlines())
    assert 0 < report.n_made < report.n_judged
    assert 0 < report.error < 0.2


TALK: dict[str, Any] = {
    "turns": [
        {"speaker": "assistant", "text": "How was the move?"},
        {"speaker": "Oskar", "text": "Tiring lol. We live in Graz now.", "sentences": [
            {"text": "Tiring lol.", "labels": ["no talk", "no passing"]},
            {"text": "We live in Graz now.", "labels": ["keep fact", "keep state"]},
        ]},
    ]
}  # fmt: skip


def test_labels_of_sentences_are_compared_with_their_probability(tmp_path: Path) -> None:
    report = measure([written(tmp_path / "talk.jsonl", TALK)], RulesExtractor())
    assert (report.n_judged, report.verdicts) == (4, {"not worth keeping": 2, "worth keeping": 2})
    assert [one.right_share for one in report.bins] == [0.0, 1.0]
    assert report.error < 0.4


def test_sentences_that_are_cut_in_another_way_are_named(tmp_path: Path) -> None:
    turns = [TALK["turns"][0], {**TALK["turns"][1], "sentences": TALK["turns"][1]["sentences"][:1]}]
    with pytest.raises(UsageError, match=r"talk\.jsonl, line 1: found 1 sentences in a turn of Oskar that has 2"):
        measure([written(tmp_path / "talk.jsonl", {"turns": turns})], RulesExtractor())
    with pytest.raises(UsageError, match=r"line 1: turns\.0\.text"):
        measure([written(tmp_path / "talk.jsonl", {"turns": [{"speaker": "Oskar"}]})], RulesExtractor())
