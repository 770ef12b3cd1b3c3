"""Decay: monotone, bounded, composing; the SQL is the Python formula; expiry and archival come on their day."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.graph.confidence_decay import Curve, DecaySettings, effective_confidence
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.vocabulary import TemporalType
from em_pipelines.storage.duckdb_engine import connect

SAID = datetime(2026, 1, 1, 9, tzinfo=UTC)
CURVES = st.sampled_from([DecaySettings(curve=c, archive_days=100_000) for c in Curve])
KEEPING = DecaySettings(archive_days=100_000)
TYPES = st.sampled_from(list(TemporalType))
SHARE = st.floats(0, 1)
CONNECTION = connect()


def edge(temporal_type: str = "state", confidence: float = 0.9, **changes: object) -> dict[str, object]:
    return {
        "edge_id": "edge_1", "user_id": "ada", "subject_id": "ent_user", "relation": "wants", "object_id": "ent_1",
        "object_key": "ent_1", "spell": 1, "polarity": 1, "temporal_type": temporal_type, "learned_at": SAID,
        "last_reinforced": SAID, "confidence": confidence, "reinforcement_count": 0, "hedge_level": "none",
        "source_mechanism": "explicit", "flags": [], "context_tags": [], "privacy_level": "L2",
        "requires_verification": False, "has_pasted_source": False, "status": "active",
        "provenance": [{"session_id": "s", "turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "x"}],
        **changes,
    }  # fmt: skip


def on(row: dict[str, object], days: int, settings: DecaySettings | None = None) -> dict[str, object]:
    as_of = SAID.date() + timedelta(days=days)
    return standing([row], as_of, settings)[0]


def standing(
    rows: list[dict[str, object]],
    as_of: date,
    settings: DecaySettings | None = None,
    merged: dict[str, str] | None = None,
) -> list[dict[str, object]]:
    registry = [
        {
            "entity_id": name, "user_id": "ada", "canonical_name": name, "name_key": name, "aliases": [],
            "alias_keys": [], "entity_type": "concept", "first_seen": SAID, "last_referenced": SAID, "mention_count": 1,
            "importance": 0.1, "certainty": 0.3, "privacy_level": "L2", "requires_verification": False,
            "qualifiers": [], "merged_into": into, "distinct_from": [],
        "links": [], "discriminator": "", "status": "merged",
        }
        for name, into in (merged or {}).items()
    ]  # fmt: skip
    tables = (EDGES.from_rows(rows), ENTITIES.from_rows(registry))
    return list(current_edges(*tables, as_of, settings or KEEPING, CONNECTION).to_table().to_pylist())


def source(session: str) -> dict[str, object]:
    return {"session_id": session, "turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "x"}


def test_what_one_conversation_with_pasted_blocks_says_is_never_quite_sure() -> None:
    alone = edge(has_pasted_source=True)
    assert on(alone, 0)["effective_confidence"] == 0.84
    assert on({**alone, "confidence": 0.5}, 0)["effective_confidence"] == 0.5
    twice = {**alone, "provenance": [source("s"), source("s")]}
    assert on(twice, 0)["effective_confidence"] == 0.84, "a second turn of one conversation is no second source"


def test_a_second_conversation_or_the_users_own_word_lifts_the_bound() -> None:
    supported = edge(has_pasted_source=True, provenance=[source("s"), source("t")])
    assert on(supported, 0)["effective_confidence"] == 0.9
    assert on(edge(has_pasted_source=True, source_mechanism="user_correction"), 0)["effective_confidence"] == 0.9


@given(SHARE, st.integers(0, 2000), st.integers(0, 2000), TYPES, CURVES)
def test_decay_composes(confidence: float, a: int, b: int, kind: TemporalType, settings: DecaySettings) -> None:
    twice = effective_confidence(effective_confidence(confidence, a, kind, settings), b, kind, settings)
    assert twice == pytest.approx(effective_confidence(confidence, a + b, kind, settings), abs=1e-9)


@given(SHARE, st.integers(-10, 2000), st.integers(0, 500), TYPES, CURVES)
def test_decay_is_monotone_and_bounded(
    c: float, days: int, more: int, kind: TemporalType, settings: DecaySettings
) -> None:
    before, after = (effective_confidence(c, d, kind, settings) for d in (days, days + more))
    assert 0 <= after <= before <= c + 1e-12  # rounded at the twelfth digit


@pytest.mark.slow
@given(SHARE, st.integers(0, 2000), TYPES, CURVES)
def test_the_sql_is_the_formula(confidence: float, days: int, kind: TemporalType, settings: DecaySettings) -> None:
    found = on(edge(kind.value, confidence), days, settings)["effective_confidence"]
    assert found == pytest.approx(effective_confidence(confidence, days, kind, settings), abs=1e-12)


@pytest.mark.parametrize(("kind", "left"), [("attribute", 0.9), ("trait", 0.86), ("state", 0.8), ("wish", 0.7)])
def test_sixty_days_cost_what_the_table_says(kind: str, left: float) -> None:
    assert on(edge(kind), 60)["effective_confidence"] == pytest.approx(left)


@pytest.mark.parametrize(("days", "status"), [(179, "active"), (180, "expired")])
def test_a_wish_expires_half_a_year_after_its_last_mention(days: int, status: str) -> None:
    assert on(edge("wish", 1.0), days)["status"] == status


@pytest.mark.parametrize(("days", "status"), [(39, "active"), (40, "expired")])
def test_a_dated_event_expires_thirty_days_after_its_date(days: int, status: str) -> None:
    row = edge("plan", relation="scheduled_for", object_id=None, value="2026-01-11", object_key="2026-01-11")
    assert on(row, days)["status"] == status


@pytest.mark.parametrize(
    ("first_day", "precision", "last_day"),
    [
        (date(2026, 2, 1), "month", date(2026, 2, 28)),
        (date(2026, 1, 1), "year", date(2026, 12, 31)),
        (date(2026, 1, 20), "day", date(2026, 1, 20)),
    ],
)
def test_a_plan_goes_thirty_days_after_the_end_of_what_was_said_of_its_day(
    first_day: date, precision: str, last_day: date
) -> None:
    plan = edge("plan", 1.0, valid_from=first_day, valid_precision=precision, last_reinforced=SAID)
    kept = DecaySettings(archive_days=100_000, archive_below_confidence=0.0)
    days = (last_day - SAID.date()).days
    assert [on(plan, days + n, kept)["status"] for n in (29, 30)] == ["active", "expired"]


def test_an_event_of_a_month_goes_thirty_days_after_its_end() -> None:
    row = edge("plan", relation="scheduled_for", object_id=None, value="2026-02", object_key="2026-02")
    days = (date(2026, 2, 28) - SAID.date()).days
    assert [on(row, days + n)["status"] for n in (29, 30)] == ["active", "expired"]


def test_a_wish_for_a_day_goes_with_that_day() -> None:
    ahead = edge("wish", 1.0, valid_from=date(2026, 1, 20), valid_precision="day")
    assert [on(ahead, 19 + n)["status"] for n in (29, 30)] == ["active", "expired"]
    since = edge("wish", 1.0, valid_from=date(2019, 1, 1), valid_precision="year")
    assert [on(since, days)["status"] for days in (179, 180)] == ["active", "expired"]


def test_a_dated_plan_expires_after_its_date_and_an_undated_one_fades() -> None:
    assert on(edge("plan", valid_from=date(2026, 1, 11)), 40)["status"] == "expired"
    assert on(edge("plan"), 40)["status"] == "active"


def test_what_has_faded_below_a_tenth_is_archived() -> None:
    assert on(edge("episode", 0.3), 60)["status"] == "active"
    assert on(edge("episode", 0.3), 61)["status"] == "archived"


def test_a_superseded_fact_stays_superseded() -> None:
    assert on(edge(status="superseded"), 900)["status"] == "superseded"


def test_the_archive_keeps_half_a_year_and_no_longer() -> None:
    faded = edge(confidence=0.5)  # 0.05 a month: below a tenth from day 241 on
    days = [241, 241 + 179, 241 + 180]
    found = [standing([faded], SAID.date() + timedelta(days=d), DecaySettings()) for d in days]
    assert [[row["status"] for row in rows] for rows in found] == [["archived"], ["archived"], []]


def test_what_is_superseded_is_no_archive_and_stays() -> None:
    old = edge(confidence=0.5, status="superseded")
    assert len(standing([old], SAID.date() + timedelta(days=2000), DecaySettings())) == 1


def test_facts_on_two_names_of_one_thing_are_read_as_one() -> None:
    one = edge(edge_id="edge_1", subject_id="ent_wife", confidence=0.8)
    two = edge(edge_id="edge_2", subject_id="ent_lena", confidence=0.9)
    apart = standing([one, two], SAID.date())
    assert {row["status"] for row in apart} == {"active"}
    joined = {r["edge_id"]: r for r in standing([one, two], SAID.date(), merged={"ent_wife": "ent_lena"})}
    assert {r["subject_id"] for r in joined.values()} == {"ent_lena"}
    assert (joined["edge_2"]["status"], joined["edge_1"]["status"]) == ("active", "superseded")
    assert joined["edge_1"]["superseded_by"] == "edge_2"
