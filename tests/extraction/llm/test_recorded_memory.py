"""A capable model's raw answers to a long conversation, all the way to memory: no thing is one with a phrase."""

from datetime import date
from functools import cached_property
from pathlib import Path

import pytest

from em_pipelines.extraction.llm.extractor import LLMExtractor
from em_pipelines.landing.land import land
from em_pipelines.language.en.clause_parser import is_beside, is_sentence
from em_pipelines.pipeline import Pipeline
from em_pipelines.resolution.linking import BY_A_PART
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.settings import load_settings
from tests.extraction.llm.conftest import extractor_over
from tests.model_server.homes import NOW, run
from tests.model_server.recorded import Recording
from tests.model_server.server import ModelServer

SHARED = Path(__file__).parents[4] / "shared"
RECORDED, TALK = SHARED / "recorded" / "locomo-26.jsonl", SHARED / "data" / "locomo" / "26.json"


@pytest.mark.slow
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded answers lie beside the project, not in it")
def test_no_thing_is_one_with_a_phrase_about_it(tmp_path: Path) -> None:
    with ModelServer(Recording.of(RECORDED)) as server:

        class Replayed(Pipeline):
            @cached_property
            def extractor(self) -> LLMExtractor:
                return extractor_over(server, tmp_path / "home")

        home = Replayed(load_settings(home=tmp_path / "home"))
        land([TALK], home.store.log, now=NOW, settings=home.settings.landing, format="locomo")
        run(home)
    day = home.store.lake.latest(ENTITIES, date.max)
    assert day is not None
    kinds = [row for row in home.store.lake.read(EDGES, day).to_pylist() if row["relation"] == "is_a"]
    assert kinds
    assert [row["object_id"] for row in kinds if row["object_id"]] == [], "a kind is one with no thing"
    rows = home.store.lake.read(ENTITIES, day).to_pylist()
    names = {row["entity_id"]: row["canonical_name"] for row in rows}
    assert [name for name in names.values() if is_sentence(name)] == []
    joined = [(names[row["entity_id"]], names[row["merged_into"]], row["links"]) for row in rows if row["merged_into"]]
    assert len(joined) > 10
    by_a_part = [pair for *pair, links in joined if BY_A_PART & {link["method"] for link in links}]
    assert [pair for pair in by_a_part if is_beside(*sorted(pair, key=len))] == []
