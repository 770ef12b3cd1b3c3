"""Why something is or is not in the block of a question."""

from datetime import date

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.block import ContextQuery
from em_pipelines.retrieval.context.candidates import BELOW_FLOOR, GROUP, INCLUDED, NO_ROOM, WHY, candidates
from tests.interfaces.cli.conftest import ROOT, call_here


def fates(home: Pipeline, text: str, today: date, **more) -> dict[str, str]:
    found, _ = candidates(home, ContextQuery("ada", text, today, **more))
    assert all(one.why == WHY[one.fate] for one in found)
    return {one.hit.text: one.fate for one in found}


def test_each_candidate_says_what_became_of_it(home: Pipeline, today: date) -> None:
    found = fates(home, "Where does Dana live?", today)
    assert found["Dana lives in Graz"] == INCLUDED
    assert found["My sister Dana lives in Graz."] == INCLUDED
    assert found["user lives in Bremen"] == INCLUDED, "one fact away, and it answers"
    far = fates(home, "How was the opera last night?", today)
    assert {far[text] for text in far if text.startswith("user")} <= {BELOW_FLOOR}


def test_what_has_no_room_or_is_for_nobody_else_says_so(home: Pipeline, today: date) -> None:
    assert NO_ROOM in fates(home, "Where does Dana live?", today, budget_tokens=60).values()
    assert fates(home, "Where does Dana live?", today, is_group=True)["My sister Dana lives in Graz."] == GROUP


def test_scores_of_candidates_are_explained_by_their_shares(home: Pipeline, today: date) -> None:
    found, block = candidates(home, ContextQuery("ada", "Where does Dana live?", today, thread=("About my sister.",)))
    assert block.n_tokens > 0
    for one in found:
        if one.hit.components:
            assert one.hit.score == pytest.approx(sum(one.hit.components.values()), abs=1e-4)


def test_the_command_tells_it(home: Pipeline) -> None:
    words = ["why-not", "Where does Dana live?", "--user", "ada", "--home", str(home.path)]
    told = call_here(words, ROOT, {})
    assert told.returncode == 0, told.stderr
    assert "in the block" in told.stdout
    document = orjson.loads(call_here([*words, "--json"], ROOT, {}).stdout)
    assert {one["fate"] for one in document["candidates"]} <= WHY.keys()
    assert document["n_tokens"] > 0
