"""A model asked what follows: the real client, gateway and store over a scripted server."""

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.lifecycle.inference.llm import question
from em_pipelines.lifecycle.inference.llm.proposer import ModelProposer
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.llm.asking import Asking
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.settings import BudgetSettings, LadderSettings, LlmSettings
from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.steps import build_inference
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.store import Store
from resources.models import open_models
from tests.lifecycle.inference.oracle import AS_OF, edge, entity
from tests.model_server.script import Script, answer, failed
from tests.model_server.server import ModelServer

SETTINGS = InferenceSettings(is_model_enabled=True)
EDGES = [edge("user", "created", "em"), edge("em", "part_of", "acme"), edge("user", "likes", "Zarathustra")]
THINGS = [entity("user"), entity("em", "project"), entity("acme", "organization"), entity("Zarathustra", "work")]
OF_BEN = [edge("ben-a", "knows", "ben-b", user_id="ben"), edge("ben-b", "knows", "ben-c", user_id="ben")]
BENS = [entity(f"ben-{n}", user="ben") for n in "abc"]
Propose = Callable[..., tuple[ModelProposer, ModelServer]]


def following(call: Any) -> Any:
    """Says of every project somebody created and an organization has that he is one of its members."""
    lines = call.messages[-1]["content"].splitlines()
    facts = [(int(n), *words.split()) for n, words in (line.split(": ", 1) for line in lines[2:])]
    return answer(
        {
            "edges": [
                {"subject": int(a), "relation": "member_of", "object": int(d), "facts": [n, m]}
                for n, a, made, b in facts
                for m, c, part, d in facts
                if (made, part) == ("created", "part_of") and b == c
            ]
        }
    )


@pytest.fixture
def proposer(tmp_path: Path) -> Iterator[Propose]:
    """script → a proposer and the server that it asks."""
    with ExitStack() as stack:

        def make(script: Script | list[Any], **changes: Any) -> tuple[ModelProposer, ModelServer]:
            server = stack.enter_context(ModelServer(script))
            settings = LlmSettings(base_url=server.base_url, large="large", **changes)

            @asynccontextmanager
            async def open_asking() -> AsyncIterator[Asking]:
                key, clock = SecretStr("sk-test-0000000000000000"), ManualClock()
                async with open_models(tmp_path / "home", settings, key, clock=clock) as models:
                    collect = models.batches.collect if settings.mode == "batch" else None
                    yield Asking(models.gateway, models.store, models.clock, settings.retries, collect)

            return ModelProposer("large", open_asking, SETTINGS), server

        yield make


class Night:
    """A lake with a day of current edges, and the step over it."""

    def __init__(self, path: Path, edges: list[dict[str, Any]] = EDGES, things: list[dict[str, Any]] = THINGS) -> None:
        self.store = Store(LandedLog(path / "log"), Lake(path / "lake"))
        self.know(edges, things)

    def know(self, edges: list[dict[str, Any]], things: list[dict[str, Any]] = THINGS, day: date = AS_OF) -> None:
        rows = [{**row, "as_of": day} for row in edges]
        self.store.lake.write(CURRENT_EDGES, day, CURRENT_EDGES.from_rows(rows))
        self.store.lake.write(ENTITIES, day, ENTITIES.from_rows(things))

    def run(self, proposer: ModelProposer | None, day: date = AS_OF) -> dict[tuple[str, str, str], str]:
        """One night; what follows by a model, with the premises."""
        self.store.run_days(build_inference(SETTINGS, proposer), [day])
        rows = self.store.lake.read(INFERRED_EDGES, day).to_pylist()
        return {
            (r["subject_id"], r["relation"], r["object_id"]): "; ".join(r["premises"])
            for r in rows
            if r["rule_id"] == "model"
        }


FOUND = {("user", "member_of", "acme"): "user created em; em part_of acme"}


def test_a_model_adds_what_no_rule_says(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(following)
    night = Night(tmp_path)
    assert night.run(asked) == FOUND
    assert server.n_calls == 1
    (row,) = [r for r in night.store.lake.read(INFERRED_EDGES, AS_OF).to_pylist() if r["rule_id"] == "model"]
    assert (row["confidence"], row["hops"], row["source_mechanism"]) == (0.60, 2, "inferential")


def test_no_name_and_no_user_leaves_the_house(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(following)
    Night(tmp_path, [*EDGES, *OF_BEN], [*THINGS, *BENS]).run(asked)
    assert server.n_calls == 2, "one question a user"
    for word in ("Zarathustra", "acme", "ada", "ben-", "user created"):
        assert not server.has_seen(word)
    assert {call.body["model"] for call in server.calls} == {"large"}


def test_facts_that_are_what_they_were_are_not_asked_about_again(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(following)
    night = Night(tmp_path)
    night.run(asked)
    night.store.lake.delete(INFERRED_EDGES, AS_OF)
    assert night.run(asked) == FOUND
    later = AS_OF + timedelta(days=9)
    night.know([{**row, "effective_confidence": 0.8} for row in EDGES], day=later)
    assert night.run(asked, later) == FOUND
    assert server.n_calls == 1
    night.know([*EDGES, edge("user", "knows", "tom")], [*THINGS, entity("tom")], later + timedelta(days=1))
    night.run(asked, later + timedelta(days=1))
    assert server.n_calls == 2


def test_what_a_retracted_premise_carried_is_gone(proposer: Propose, tmp_path: Path) -> None:
    asked, _ = proposer(following)
    night = Night(tmp_path)
    night.run(asked)
    night.know([EDGES[0], {**EDGES[1], "status": "retracted"}, EDGES[2]])
    assert night.run(asked) == {}


@pytest.mark.parametrize(
    "edges",
    [
        [{"subject": 0, "relation": "member_of", "object": 9, "facts": [0, 1]}],
        [{"subject": 0, "relation": "member_of", "object": 2, "facts": [0, 17]}],
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in [
                [{"subject": 0, "relation": "member_of", "object": 2, "facts": [-1, 1]}],
                [{"subject": 0, "relation": "runs", "object": 2, "facts": [0, 1]}],
                [{"subject": 0, "relation": "likes", "object": 2, "facts": [0, 1]}],
                [{"subject": 0, "relation": "member_of", "object": 2, "facts": []}],
                [{"subject": 0, "relation": "member_of", "object": 2, "facts": [0]}],
                [{"subject": 0, "relation": "member_of", "object": 2}],
                ["member_of"],
                [],
            ]
        ),
    ],
)
def test_what_cannot_be_meant_is_dropped(proposer: Propose, tmp_path: Path, edges: list[Any]) -> None:
    asked, server = proposer([answer({"edges": edges})])
    assert Night(tmp_path).run(asked) == {}
    assert server.n_calls == 1


def test_the_night_goes_on_without_a_model_and_says_so(
    proposer: Propose, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked, server = proposer([failed()], ladder=LadderSettings(delays_seconds=()))
    night = Night(tmp_path, [*EDGES, edge("user", "friend_of", "tom")], [*THINGS, entity("tom")])
    with caplog.at_level(logging.WARNING):
        assert night.run(asked) == {}
    assert "gave no answer about 1 users" in caplog.text
    rules = {row["rule_id"] for row in night.store.lake.read(INFERRED_EDGES, AS_OF).to_pylist()}
    assert rules == {"inverse", "symmetric"}
    step = build_inference(SETTINGS, asked)
    assert night.store.is_incomplete(step, AS_OF)
    server.script = following
    assert night.run(asked) == FOUND
    assert night.store.is_current(step, AS_OF)


def test_a_spent_budget_asks_nobody(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(following, budget=BudgetSettings(max_calls_a_night=0))
    assert Night(tmp_path).run(asked) == {}
    assert server.n_calls == 0


def test_an_answer_that_is_none_is_asked_for_again(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(lambda call: answer("nothing today") if call.number == 1 else following(call))
    assert Night(tmp_path).run(asked) == FOUND
    assert server.n_calls == 2


def test_a_model_that_is_never_understood_is_given_up(
    proposer: Propose, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked, server = proposer([answer("nothing today")])
    night = Night(tmp_path)
    assert night.run(asked) == {}
    assert "never a readable one about 1" in caplog.text
    assert night.store.is_current(build_inference(SETTINGS, asked), AS_OF), "asking again would give the same again"
    assert server.n_calls == 4


def test_in_batch_mode_the_answer_comes_with_a_later_run(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(following, mode="batch")
    night = Night(tmp_path)
    assert night.run(asked) == {}
    assert night.run(asked) == FOUND
    assert server.n_calls == 1


def test_a_single_fact_is_no_question(proposer: Propose, tmp_path: Path) -> None:
    asked, server = proposer(following)
    Night(tmp_path, EDGES[:1]).run(asked)
    assert server.n_calls == 0


def test_an_answer_that_broke_off_loses_its_last_edge() -> None:
    edges = [{"subject": n, "relation": "part_of", "object": 9, "facts": [0, 1]} for n in range(3)]
    whole = json.dumps({"edges": edges})
    assert [edge.subject for edge in question.read(whole)] == [0, 1, 2]
    assert [edge.subject for edge in question.read(whole[:-12])] == [0, 1]
    assert [edge.subject for edge in question.read(f"```json\n{whole[:-1]},")] == [0, 1, 2], "the list was closed"


@pytest.mark.parametrize("text", ["", "none", "[]", "{}", '{"edges": {}}', "[" * 50_000])
def test_an_answer_without_edges_is_none(text: str) -> None:
    with pytest.raises(UnusableAnswerError):
        question.read(text)
