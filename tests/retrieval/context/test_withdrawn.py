"""What people take back or correct is not quoted any more; the log keeps it, and what else was said there is told."""

from datetime import date

import pytest

from em_pipelines.governance.corrections import Corrections
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.block import ContextQuery, context_block
from em_pipelines.retrieval.packs import build
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.user_search import ask

TODAY = date(2026, 3, 20)
EELS = "eels otters barge Marlin"


def quoted(home: Pipeline, question: str = EELS) -> str:
    found = " ".join(hit.text for hit in ask(home, "ada", Search(question, 10, TODAY, frozenset({"message"}))))
    block = context_block(home, ContextQuery("ada", question, TODAY)).text
    said = block.partition("<said>")[2]
    assert ("eels" in found) == ("eels" in said)
    return found


def made(home: Pipeline) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    build(home)


def test_what_a_message_takes_back_is_not_quoted_nor_is_the_message_that_names_it(bare: Pipeline, tell) -> None:
    tell(bare, "ada", "I like eels. I own a barge.", "Otters are fun to watch, eels less so.")
    assert "I like eels." in quoted(bare)
    tell(
        bare, "ada", "Forget what I said about liking eels. I work at Marlin.", session="s2", day="2026-03-09"
    )  # fmt: skip
    found = quoted(bare)
    assert "I like eels" not in found
    assert "liking eels" not in found
    assert "I own a barge." in found
    assert "I work at Marlin." in found
    assert "Otters are fun to watch" in found, "another remark is no statement of the fact"
    assert "likes eels" not in context_block(bare, ContextQuery("ada", EELS, TODAY)).text
    (first,) = [r for r in bare.store.log.read("interactions", date(2026, 3, 2)) if r["turn_number"] == 0]
    assert first["content"] == "I like eels. I own a barge."


@pytest.mark.parametrize("is_folded", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_a_command_takes_back_is_not_quoted_at_once_and_later(bare: Pipeline, tell, *, is_folded: bool) -> None:
    tell(bare, "ada", "I like eels. I own a barge.")
    Corrections(bare, "ada").retract({"relation": "likes", "object": "eels"})
    if is_folded:
        made(bare)
    assert "eels" not in quoted(bare)
    assert "I own a barge." in quoted(bare)


@pytest.mark.parametrize("is_folded", [pytest.param(False, marks=pytest.mark.slow), True])
def test_what_was_corrected_is_not_quoted(bare: Pipeline, tell, *, is_folded: bool) -> None:
    tell(bare, "ada", "I live in Marlin Bay. I like eels.")
    Corrections(bare, "ada").correct({"relation": "lives_in", "old_object": "Marlin Bay"}, "Graz")
    if is_folded:
        made(bare)
    assert "Marlin Bay" not in quoted(bare)
    assert "I like eels." in quoted(bare)


def test_what_has_changed_is_still_quoted(bare: Pipeline, tell) -> None:
    tell(bare, "ada", "I live in Bremen. I like eels.")
    tell(bare, "ada", "I moved to Graz.", session="s2", day="2026-03-09")
    assert "I live in Bremen." in quoted(bare, "Bremen")


def test_a_turn_of_which_nothing_is_left_is_no_hit(bare: Pipeline, tell) -> None:
    tell(bare, "ada", "I like eels.", "I own a barge.")
    Corrections(bare, "ada").retract({"relation": "likes", "object": "eels"})
    assert [hit.text for hit in ask(bare, "ada", Search(EELS, 10, TODAY, frozenset({"message"})))] == ["I own a barge."]
