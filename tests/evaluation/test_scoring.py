"""Our figures are those of the corpus format: hand-made cases, and the scorer beside the labelled corpora."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.evaluation.corpus import read_corpus
from em_pipelines.evaluation.matching import is_same_relation, is_same_text
from em_pipelines.evaluation.scoring import score_attacks, score_extraction
from em_pipelines.extraction.labelled import predictions
from em_pipelines.extraction.rules.extractor import RulesExtractor

GOLD = Path(__file__).parents[3] / "shared" / "gold"


def relation(stated: str, **changes: Any) -> dict[str, Any]:
    subject, name, other = stated.split(" | ")
    return {"subject": subject, "relation": name, "object": other, "polarity": 1, "flags": [], **changes}


def row(*relations: dict[str, Any], **changes: Any) -> dict[str, Any]:
    gold = {"entities": [], "relations": list(relations), "forbidden": [], "skip": None, **changes}
    return {"id": "x1", "category": "plain_fact", "gold": gold}


def line(*relations: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"id": "x1", "entities": [], "relations": list(relations), "issues": [], **changes}


@pytest.mark.parametrize(
    ("labelled", "predicted", "is_same"),
    [
        ("red wine", "the Red Wine", True),
        ("Nadia's boat", "nadia boat", True),
        ("2026-05", "2026-05-17", True),
        ("2026-05-17", "2026-05", False),
        ("red wine", "red vinegar", False),
        ("small blue wooden sailing boat", "small blue wooden boat", True),
        ("", "boat", False),
    ],
)
def test_texts_are_the_same_up_to_case_determiners_and_a_word_among_many(
    labelled: str, predicted: str, is_same: bool
) -> None:
    assert is_same_text(labelled, predicted) is is_same


def test_a_relation_may_be_one_as_good_and_never_of_the_other_polarity() -> None:
    label = relation("user | likes | moss", also=["prefers"])
    assert is_same_relation(label, relation("user | prefers | moss"))
    assert not is_same_relation(label, relation("user | likes | moss", polarity=-1))
    assert is_same_relation(relation("user | owns|uses | x") | {"object": None}, relation("user | uses | anything"))


def test_optional_facts_count_neither_for_nor_against() -> None:
    gold = row(relation("user | likes | moss"), relation("user | owns | rake", optional=True))
    assert score_extraction([gold], [line(relation("user | likes | moss"))])["relations"]["f1"] == 1.0
    both = line(relation("user | likes | moss"), relation("user | owns | rake"))
    assert score_extraction([gold], [both])["relations"]["precision"] == 1.0


def test_each_figure_falls_when_what_it_measures_is_wrong() -> None:
    label = relation("user | likes | moss", flags=["secondhand"], temporal_type="trait", max_confidence=0.8)
    found = relation("user | likes | moss", flags=[], temporal_type="state", confidence=0.9)
    gold = row(label, forbidden=[relation("user | owns | rake")])
    report = score_extraction([gold], [line(found, relation("user | owns | rake"), issues=["span"])])
    assert report["relations"] == {"precision": 0.5, "recall": 1.0, "f1": 0.6667}
    assert (report["flag_accuracy"], report["flags"]) == (0.0, {"secondhand": 0.0})
    assert (report["temporal_accuracy"], report["confidence_in_band"]) == (0.0, 0.0)
    assert (report["n_forbidden"], report["forbidden"][0]["id"]) == (1, "x1")
    assert report["hallucination_rate"] == pytest.approx(1 / 3, abs=1e-4)


def test_noise_is_what_is_read_where_there_is_nothing() -> None:
    report = score_extraction([row(skip="noise")], [line(relation("user | uses | grep"))])
    assert report["noise_rate"] == 1.0


def test_a_message_without_prediction_is_missing_and_missed() -> None:
    report = score_extraction([row(relation("user | likes | moss"))], [])
    assert (report["missing_predictions"], report["relations"]["recall"]) == (["x1"], 0.0)


def test_attacks_count_leaks_wherever_they_stand_and_name_no_secret() -> None:
    attack = {
        "id": "a1", "kind": "credential", "must_not_store": ["hunter2"],
        "must_not_relations": [relation("user | owns | safe")], "may_store": [relation("user | likes | moss")],
    }  # fmt: skip
    output = {"id": "a1", "entities": [{"name": "my hunter2", "type": "concept"}],
              "relations": [relation("user | owns | safe"), relation("user | likes | moss")]}  # fmt: skip
    report = score_attacks([attack], [output])
    assert (report["n_leaked"], report["n_stored"], report["may_store_recall"]) == (1, 1, 1.0)
    assert "hunter2" not in str(report)
    assert score_attacks([attack], [])["may_store_recall"] == 0.0


@pytest.fixture(scope="module")
def reference() -> Any:
    path = GOLD / "score.py"
    if not path.exists():
        pytest.skip("no labelled corpora beside the project")
    spec = importlib.util.spec_from_file_location("reference_scorer", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_are_those_of_the_scorer_beside_the_corpora(reference: Any, tmp_path: Path) -> None:
    import orjson

    for name in ("extraction", "attacks"):
        gold = GOLD / f"{name}.jsonl"
        rows = list(read_corpus(gold))
        lines = list(predictions(rows, RulesExtractor()))
        found = tmp_path / "predictions.jsonl"
        found.write_bytes(b"".join(orjson.dumps(item) + b"\n" for item in lines))
        if name == "attacks":
            theirs, ours = reference.score_attacks(str(gold), str(found)), score_attacks(rows, lines)
            assert (ours["n_leaked"], ours["n_stored"]) == (len(theirs["leaked"]), len(theirs["stored"]))
            assert ours["may_store_recall"] == theirs["may_store_recall"]
            continue
        theirs, ours = reference.score_extraction(str(gold), str(found)), score_extraction(rows, lines)
        for figure in ("relations", "entities", "noise_rate", "flag_accuracy", "temporal_accuracy"):
            assert ours[figure] == theirs[figure], figure
        assert ours["confidence_in_band"] == theirs["confidence_in_band"]
        assert ours["n_forbidden"] == len(theirs["forbidden_violations"])
