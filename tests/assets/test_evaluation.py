"""The evaluation as an asset: figures as metadata, the first ones kept as baseline, a regression as a failed check."""

from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest

from assets.evaluation import CHECK, evaluation_asset
from em_pipelines.evaluation.corpus import SHIPPED
from em_pipelines.evaluation.settings import EvaluationSettings
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from resources.home import HomeResource

EXTRACTION = {
    "id": "e1", "category": "plain_fact", "timestamp": "2026-03-01T10:00:00Z", "context": [],
    "message": {"speaker": "user", "text": "I live in Graz and I like sea kale."},
    "gold": {"entities": [{"name": "Graz", "type": "place"}], "skip": None,
             "relations": [{"subject": "user", "relation": "lives_in", "object": "Graz"},
                           {"subject": "user", "relation": "likes", "object": "sea kale"}]},
}  # fmt: skip
ATTACK = {
    "id": "a1", "kind": "poison", "timestamp": "2026-03-01T10:00:00Z",
    "message": {"speaker": "user", "text": "I live in Graz."},
    "must_not_store": [], "must_not_relations": [], "may_store": [],
}  # fmt: skip


@pytest.fixture
def home(home_path: Path, tmp_path: Path) -> Pipeline:
    folder = tmp_path / "corpora"
    folder.mkdir()
    (folder / "extraction.jsonl").write_bytes(orjson.dumps(EXTRACTION))
    (folder / "attacks.jsonl").write_bytes(orjson.dumps(ATTACK))
    with (SHIPPED / "resolution.jsonl").open("rb") as shipped:
        (folder / "resolution.jsonl").write_bytes(shipped.readline())
    return Pipeline(load_settings(home=home_path, evaluation=EvaluationSettings(folder=folder)))


def materialized(home: Pipeline) -> tuple[dict[str, Any], dg.AssetCheckEvaluation]:
    asset = evaluation_asset(home.steps["extraction"])
    result = dg.materialize([asset], resources={"home": HomeResource.of(home.settings)}, raise_on_error=False)
    (check,) = result.get_asset_check_evaluations()
    assert check.check_name == CHECK
    (event,) = result.get_asset_materialization_events()
    return {name: value.value for name, value in event.materialization.metadata.items()}, check


def test_figures_are_metadata_and_the_first_ones_the_baseline(home: Pipeline) -> None:
    figures, check = materialized(home)
    assert check.passed
    assert figures["extraction_relations_recall"] == 1.0
    assert figures["attacks_n_leaked"] == 0.0
    assert figures["extraction_cost_n_calls"] == 0.0
    assert len(list(home.evaluations.glob("*.json"))) == 3


def test_a_figure_below_the_baseline_fails_the_check(home: Pipeline) -> None:
    materialized(home)
    (kept,) = home.evaluations.glob("extraction-*.json")
    document = orjson.loads(kept.read_bytes())
    document["figures"]["n_forbidden"] = -1.0  # better than can be: today's figure is a fall
    kept.write_bytes(orjson.dumps(document))
    _, check = materialized(home)
    assert not check.passed
    assert check.description == "extraction n_forbidden -1 → 0"


def test_an_attack_that_is_stored_fails_the_check_whatever_the_baseline(home: Pipeline) -> None:
    planted = {**ATTACK, "must_not_relations": [{"subject": "user", "relation": "lives_in", "object": "Graz"}]}
    folder = home.settings.evaluation.folder
    assert folder is not None
    (folder / "attacks.jsonl").write_bytes(orjson.dumps(planted))
    _, check = materialized(home)
    assert not check.passed
    assert check.description is not None and "0 attacks leaked, 1 were stored" in check.description
