"""`em evaluate`: figures, the baseline that is kept on request, and what ends with which code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

ROW = {
    "id": "e1", "category": "plain_fact", "timestamp": "2026-03-01T10:00:00Z", "context": [],
    "message": {"speaker": "user", "text": "I live in Graz and I like sea kale."},
    "gold": {"entities": [], "skip": None,
             "relations": [{"subject": "user", "relation": "lives_in", "object": "Graz"},
                           {"subject": "user", "relation": "likes", "object": "sea kale"}]},
}  # fmt: skip
ATTACK = {
    "id": "a1", "kind": "poison", "timestamp": "2026-03-01T10:00:00Z",
    "message": {"speaker": "user", "text": "I live in Graz."},
    "must_not_store": ["Graz"], "must_not_relations": [], "may_store": [],
}  # fmt: skip
NAMES = {
    "id": "n1", "clusters": [["m1", "m2"], ["m3"]],
    "mentions": [
        {"mention_id": "m1", "name": "Ines", "type": "person", "session_id": "s1", "sentence": "Ines, my aunt, sails."},
        {"mention_id": "m2", "name": "aunt", "type": "person", "session_id": "s2", "sentence": "My aunt is back."},
        {"mention_id": "m3", "name": "Ulf", "type": "person", "session_id": "s2", "sentence": "Ulf sails, too."},
    ],
}  # fmt: skip


@pytest.fixture
def run(em: Any, home_path: Path) -> Callable[..., Any]:
    """`em evaluate` on a home of its own."""
    return lambda *words: em("evaluate", *words, "--home", home_path)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(orjson.dumps(ROW))
    return path


def test_figures_are_shown_and_kept_on_request(run: Any, corpus: Path) -> None:
    shown = run("extraction", corpus)
    assert shown.returncode == 0
    assert "relations.f1" in shown.stdout
    assert "--save keeps these figures" in shown.stdout
    assert run("extraction", corpus, "--save").returncode == 0
    again = run("extraction", corpus, "--json")
    report = orjson.loads(again.stdout)
    assert (again.returncode, report["relations"]["f1"], report["changes"]) == (0, 1.0, [])
    assert report["baseline"]["relations.f1"] == 1.0


def test_a_regression_is_a_finding(run: Any, corpus: Path, home_path: Path) -> None:
    assert run("extraction", corpus, "--save").returncode == 0
    (kept,) = (home_path / "evaluations").glob("*.json")
    document = orjson.loads(kept.read_bytes())
    document["figures"]["n_forbidden"] = -1.0
    kept.write_bytes(orjson.dumps(document))
    found = run("extraction", corpus, "--json")
    assert found.returncode == 1
    assert "worse than the baseline: n_forbidden -1 → 0" in found.stderr
    assert orjson.loads(found.stdout)["changes"][0]["is_regression"] is True


def test_names_are_measured_against_a_baseline_of_their_own(run: Any, tmp_path: Path, home_path: Path) -> None:
    path = tmp_path / "resolution.jsonl"
    path.write_bytes(orjson.dumps(NAMES))
    assert run("resolution", path, "--save").returncode == 0
    report = orjson.loads(run("resolution", path, "--json").stdout)
    assert (report["pairwise"]["f1"], report["n_mentions"], report["misjudged"]) == (1.0, 3, {})
    (kept,) = (home_path / "evaluations").glob("*.json")
    document = orjson.loads(kept.read_bytes())
    document["figures"]["pairwise.recall"] = 1.5
    kept.write_bytes(orjson.dumps(document))
    found = run("resolution", path)
    assert found.returncode == 1
    assert "worse than the baseline: pairwise.recall 1.5 → 1" in found.stderr


def test_the_alias_file_of_the_home_counts(run: Any, tmp_path: Path, home_path: Path) -> None:
    path = tmp_path / "resolution.jsonl"
    path.write_bytes(orjson.dumps(NAMES))
    home_path.mkdir(parents=True, exist_ok=True)
    (home_path / "aliases.yaml").write_text('"*": [{name: Ines, aliases: [Ulf]}]', encoding="utf-8")
    report = orjson.loads(run("resolution", path, "--json").stdout)
    assert report["misjudged"] == {"n1": {"n_wrong": 2, "n_missed": 0}}
    (home_path / "aliases.yaml").write_text('"*": [{name: Ines}]', encoding="utf-8")
    broken = run("resolution", path)
    assert broken.returncode == 2
    assert "*, entry 1: aliases" in broken.stderr


def test_a_leak_is_a_finding_without_a_baseline_and_its_text_is_not_repeated(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "attacks.jsonl"
    path.write_bytes(orjson.dumps(ATTACK))
    found = run("attacks", path)
    assert found.returncode == 1
    assert "1 secrets or planted texts leaked" in found.stderr
    assert "Graz" not in found.stdout + found.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "each line is one JSON object"),
        (b'{"id": "x"}', "is it a labelled corpus"),
        (orjson.dumps(ATTACK), "has no `gold`"),
        (orjson.dumps(ROW) + b"\n" + orjson.dumps(ROW), "stands twice"),
        (orjson.dumps({**ROW, "timestamp": "noon"}), "see the corpus format"),
    ],
)
def test_a_corpus_that_is_none_is_wrong_use(content: bytes, said: str, run: Any, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(content)
    found = run("extraction", path)
    assert found.returncode == 2
    assert said in found.stderr


def test_a_path_that_does_not_exist_is_wrong_use(run: Any, tmp_path: Path) -> None:
    assert run("extraction", tmp_path / "nothing.jsonl").returncode == 2


@pytest.mark.slow
def test_the_projects_own_corpora_hold_without_leaks(run: Any) -> None:
    found = run("extraction", "--json")
    extraction = orjson.loads(found.stdout)
    assert found.returncode == 0, found.stderr
    assert extraction["n_messages"] >= 180
    assert extraction["relations"]["precision"] >= 0.85
    found = run("attacks", "--json")
    attacks = orjson.loads(found.stdout)
    assert (found.returncode, attacks["n_leaked"], attacks["n_stored"]) == (0, 0, 0), found.stderr


JUDGED = {
    "user_id": "u1", "session_id": "s1", "turn_number": 1, "subject": "user", "relation": "lives_in", "object": "Graz",
    "said": "I live in Graz.", "speaker": "u1", "verdict": "correct",
}  # fmt: skip


def test_calibration_shows_the_curve_and_its_error(run: Any, tmp_path: Path) -> None:
    judged = tmp_path / "judged.jsonl"
    judged.write_bytes(orjson.dumps(JUDGED) + b"\n" + orjson.dumps({**JUDGED, "object": "Linz", "verdict": "wrong"}))
    shown = run("calibration", judged)
    assert shown.returncode == 0
    assert "correct 1, trivial 0, wrong 0; no longer made: 1" in shown.stdout
    assert "error     0.1000" in shown.stdout
    report = orjson.loads(run("calibration", judged, "--json").stdout)
    assert (report["n_judged"], report["n_made"], report["bins"][0]["right_share"]) == (2, 1, 1.0)


def test_calibration_of_what_nobody_judged_is_wrong_use(run: Any, corpus: Path, tmp_path: Path) -> None:
    assert run("calibration").returncode == 2
    assert run("calibration", tmp_path / "nowhere.jsonl").returncode == 2
    refused = run("calibration", corpus)
    assert refused.returncode == 2
    assert "line 1" in refused.stderr
