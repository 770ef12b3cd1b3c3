"""The checks of our own: what each asks of its tables, seen to hold and seen to fail."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS
from em_pipelines.schema.tables.raw import INTERACTIONS
from quality import meaning

Rows = Callable[..., pa.Table]


def test_an_inferred_edge_without_ground_fails(rows_of: Rows) -> None:
    edges = [
        {"edge_id": "a"}, {"edge_id": "b"}, {"edge_id": "c", "status": "retracted"}, {"edge_id": "d", "user_id": "ben"},
        {"edge_id": "e", "polarity": -1},
    ]  # fmt: skip
    known = rows_of(CURRENT_EDGES, *({"user_id": "ada"} | edge for edge in edges))
    good = {"user_id": "ada", "premises": ["a", "b"], "hops": 2, "confidence": 0.6}
    assert meaning.inferences_grounded(rows_of(INFERRED_EDGES, good), known).is_success
    bad = [
        {"confidence": 0.61}, {"hops": 1}, {"premises": [], "hops": 0}, {"premises": ["a", "c"]},
        {"premises": ["a", "d"]}, {"premises": ["a", "e"]}, {"premises": ["a", "z"]},
    ]  # fmt: skip
    found = meaning.inferences_grounded(rows_of(INFERRED_EDGES, good, *(good | change for change in bad)), known)
    assert (found.is_success, found.figure) == (False, len(bad))
    assert "materialize inferred_edges again" in found.advice


def test_a_message_that_nothing_came_of_fails(rows_of: Rows) -> None:
    messages = rows_of(MESSAGES, *({"message_id": i} for i in "abc"))
    read = (
        rows_of(MENTIONS, {"message_id": "a"}, {"message_id": "a"}),
        rows_of(CLAIMS, {"message_id": "b"}),
        rows_of(EXTRACTION_ISSUES, {"message_id": "c"}),
    )
    assert meaning.extraction_coverage(messages, *read).is_success
    found = meaning.extraction_coverage(messages, read[0], read[1], EXTRACTION_ISSUES.empty())
    assert (found.is_success, round(found.figure, 3)) == (False, 0.667)
    assert "materialize claims again" in found.advice


def test_a_message_of_another_day_does_not_make_up_for_a_lost_one(rows_of: Rows) -> None:
    messages = rows_of(MESSAGES, {"message_id": "a"})
    other = rows_of(CLAIMS, {"message_id": "z"})
    assert not meaning.extraction_coverage(messages, MENTIONS.empty(), other, EXTRACTION_ISSUES.empty()).is_success


def test_an_interaction_that_became_no_message_fails(rows_of: Rows) -> None:
    interactions = rows_of(INTERACTIONS, {}, {})
    assert meaning.messages_complete(interactions, rows_of(MESSAGES, {}, {})).is_success
    found = meaning.messages_complete(interactions, rows_of(MESSAGES, {}))
    assert (found.is_success, found.figure) == (False, 1)
    assert not meaning.messages_complete(interactions, rows_of(MESSAGES, {}, {}, {})).is_success


def test_three_open_conflicts_about_one_thing_are_a_warning(rows_of: Rows) -> None:
    known = {"user_id": "ada", "entity_id": "a"}
    open_, settled = known | {"status": "open"}, known | {"status": "settled"}
    assert meaning.conflict_burst(rows_of(CONTRADICTIONS, open_, open_, settled)).is_success
    elsewhere = open_ | {"entity_id": "b"}
    assert meaning.conflict_burst(rows_of(CONTRADICTIONS, open_, open_, elsewhere)).is_success
    found = meaning.conflict_burst(rows_of(CONTRADICTIONS, open_, open_, open_))
    assert (found.is_success, found.is_warning, found.figure) == (False, True, 3.0)
    assert meaning.conflict_burst(CONTRADICTIONS.empty()).is_success


@pytest.mark.parametrize(("n_last_resort", "is_success"), [(0, True), (1, True), (2, False)])
def test_one_claim_in_twenty_may_use_the_last_resort(n_last_resort: int, is_success: bool, rows_of: Rows) -> None:
    relations = ["relates_to"] * n_last_resort + ["likes"] * (20 - n_last_resort)
    found = meaning.relates_to_share(rows_of(CLAIMS, *({"relation": r} for r in relations)))
    assert found.is_success is is_success
    assert found.figure == pytest.approx(n_last_resort / 20)


@pytest.mark.parametrize(
    ("n_doubted", "is_success", "is_warning"), [(0, True, True), (3, False, True), (6, False, False)]
)
def test_doubts_warn_from_two_in_a_hundred_and_fail_from_five(
    n_doubted: int, is_success: bool, is_warning: bool, rows_of: Rows
) -> None:
    doubts = [{"issue_id": str(n), "issue": "span" if n % 2 else "discarded"} for n in range(n_doubted)]
    issues = rows_of(EXTRACTION_ISSUES, *doubts, {"issue_id": "s", "issue": "skipped"})
    claims = rows_of(CLAIMS, *({} for _ in range(60)))
    mentions = rows_of(MENTIONS, *({} for _ in range(40 - n_doubted)))
    found = meaning.hallucination_rate(claims, mentions, issues)
    assert found.figure == pytest.approx(n_doubted / 100)
    assert (found.is_success, found.is_warning) == (is_success, is_warning)


@pytest.mark.parametrize("issue", ["pending", "dead_letter"])
def test_a_message_that_waits_for_a_model_fails(issue: str, rows_of: Rows) -> None:
    assert meaning.extraction_complete(rows_of(EXTRACTION_ISSUES, {"issue": "skipped"})).is_success
    found = meaning.extraction_complete(rows_of(EXTRACTION_ISSUES, {"issue": issue}, {"issue": "skipped"}))
    assert (found.is_success, found.figure) == (False, 1)


def test_more_than_five_discarded_extractions_in_an_hour_are_a_spike(rows_of: Rows) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def discarded(*minutes: int) -> pa.Table:
        rows = [
            {
                "issue_id": f"{m} {n}",
                "issue": "discarded",
                "segment_id": str(m),
                "timestamp": noon + timedelta(minutes=m),
            }
            for m in minutes
            for n in range(3)  # three items of one extraction are one extraction
        ]
        return rows_of(EXTRACTION_ISSUES, *rows, {"issue_id": "s", "issue": "skipped"})

    assert meaning.hallucination_spike(discarded(0, 1, 2, 3, 4, 60, 61)).figure == 5
    assert meaning.hallucination_spike(discarded(0, 1, 2, 3, 4, 60)).is_success
    found = meaning.hallucination_spike(discarded(0, 1, 2, 3, 4, 59))
    assert (found.is_success, found.figure) == (False, 6)


def test_a_day_on_which_nothing_was_said_passes_every_check() -> None:
    nothing = (MENTIONS.empty(), CLAIMS.empty(), EXTRACTION_ISSUES.empty())
    assert meaning.extraction_coverage(MESSAGES.empty(), *nothing).is_success
    assert meaning.messages_complete(INTERACTIONS.empty(), MESSAGES.empty()).is_success
    assert meaning.relates_to_share(CLAIMS.empty()).is_success
