"""The checks as Dagster runs them: on the days of their run, blocking what lies downstream, surviving a broken file."""

import shutil
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from em_pipelines.governance.audit.integrity import RULES
from em_pipelines.retrieval.packs import folder_of
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables import clean, derived, extraction, graph, raw
from em_pipelines.schema.tables.clean import MESSAGES, SESSIONS
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS, EDGES, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.schema.tables.raw import INTERACTIONS
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.storage.quarantine import SetAside
from quality.checks import CONTRACT, ON_TABLES, build_checks

ASSETS = dg.AssetSelection.all().without_checks()
DAY = {"dagster/partition": "2026-03-01"}
RANGE = {"dagster/asset_partition_range_start": "2026-03-01", "dagster/asset_partition_range_end": "2026-03-02"}
Row = dict[str, Any]


def without_source(rows: list[Row]) -> list[Row]:
    return [row | {"provenance": []} for row in rows]


def without_last(rows: list[Row]) -> list[Row]:
    return rows[:-1]


def last_resort(rows: list[Row]) -> list[Row]:
    return [row | {"relation": "relates_to"} for row in rows]


def doubted(rows: list[Row]) -> list[Row]:
    return [row | {"issue": "span"} for row in rows]


def unread(rows: list[Row]) -> list[Row]:
    return [row | {"issue": "pending", "reason": "breaker_open"} for row in rows]


def set_aside(_: list[Row]) -> list[Row]:
    entry = SetAside("ada", date(2026, 3, 1), "fold", "no_cycles", "the check no_cycles fails with it", "")
    return [asdict(entry) | {"quarantine_id": entry.quarantine_id}]


def six_refused(rows: list[Row]) -> list[Row]:
    first = rows[0] | {"issue": "span"}
    return [first | {"issue_id": f"i{n}"} for n in range(6)]


def changed(**values: Any) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [row | values for row in rows]


def of_two_values(rows: list[Row]) -> list[Row]:
    """The fact again, with the user for an object: two values of a functional relation."""
    row = next(row for row in rows if row["object_id"] is not None)
    homes = [row["object_id"], row["subject_id"]]
    return [
        row | {"edge_id": f"edge_{n}", "relation": "lives_in", "object_id": x, "object_key": x}
        for n, x in enumerate(homes)
    ]


def below_itself(rows: list[Row]) -> list[Row]:
    return [
        row | {"relation": "part_of", "object_id": row["subject_id"], "object_key": row["subject_id"]} for row in rows
    ]


def ungrounded(_: list[Row]) -> list[Row]:
    """An edge that somebody wrote in by hand."""
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return [
        {
            "edge_id": "inferred_1", "user_id": "ada", "subject_id": "a", "relation": "knows", "object_id": "b",
            "confidence": 0.5, "rule_id": "rule", "premises": ["edge_nobody_said"], "hops": 1, "temporal_type": "state",
            "source_mechanism": "inferential", "privacy_level": "L2", "learned_at": noon, "as_of": noon.date(),
        }
    ]  # fmt: skip


def asked_of_nothing(_: list[Row]) -> list[Row]:
    """A question that somebody wrote in by hand."""
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return [
        {
            "probe_id": "p", "user_id": "ada", "kind": "discovery", "template": "t", "text": "Which tea?", "gap": "tea",
            "benefit": "the right one", "value": 0.5, "context_tags": [], "edge_id": "edge_nobody_said",
            "generated_at": noon, "expires_at": noon + timedelta(days=1), "status": "queued", "correlation_id": "cor",
        }
    ]  # fmt: skip


def opened_with_nothing(_: list[Row]) -> list[Row]:
    """An opening that somebody emptied."""
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return [
        {
            "starter_id": "s", "user_id": "ada", "kind": "date", "template": "t", "text": "", "value": 0.5,
            "context_tags": [], "generated_at": noon, "expires_at": noon + timedelta(days=1), "status": "queued",
            "correlation_id": "cor",
        }
    ]  # fmt: skip


def in_conflict(_: list[Row]) -> list[Row]:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return [
        {
            "contradiction_id": f"con_{n}", "user_id": "ada", "edge_id": f"edge_{n}", "other_edge_id": "edge_0",
            "entity_id": "ent_1", "reason": "polarity", "status": "open", "detected_at": noon,
        }
        for n in (1, 2, 3)
    ]  # fmt: skip


def said_ten_times(rows: list[Row]) -> list[Row]:
    """One long message, in ten conversations."""
    long = "It was a long evening, and nobody wanted to go home."
    return [rows[0] | {"message_id": f"m{n}", "session_id": f"s{n}", "content": long} for n in range(10)]


def named_often(rows: list[Row]) -> list[Row]:
    return [row | {"mention_id": f"{row['mention_id']}-{n}"} for row in rows for n in range(5)]


def unsure(rows: list[Row]) -> list[Row]:
    """What another model would say of the same."""
    return [row | {"confidence": 0.35} for row in rows]


BREAKAGES = {
    "conflict_burst": (CONTRADICTIONS, in_conflict),
    "inferences_grounded": (INFERRED_EDGES, ungrounded),
    "probes_grounded": (PROBES, asked_of_nothing),
    "starters_grounded": (STARTERS, opened_with_nothing),
    "provenance_present": (EDGES, without_source),
    "confidence_in_bounds": (EDGES, changed(confidence=1.5)),
    "ends_exist": (ENTITIES, without_last),
    "users_apart": (EDGES, changed(user_id="ben")),
    "ids_match_content": (EDGES, changed(polarity=-1)),
    "one_functional_value": (EDGES, of_two_values),
    "no_cycles": (EDGES, below_itself),
    "names_lead_home": (ENTITIES, changed(merged_into="ent_gone", status="merged")),
    "entity_ids_match_content": (ENTITIES, changed(name_key="somebody else")),
    "messages_complete": (MESSAGES, without_last),
    "extraction_coverage": (EXTRACTION_ISSUES, without_last),
    "relates_to_share": (CLAIMS, last_resort),
    "hallucination_rate": (EXTRACTION_ISSUES, doubted),
    "hallucination_spike": (EXTRACTION_ISSUES, six_refused),
    "extraction_complete": (EXTRACTION_ISSUES, unread),
    "nothing_set_aside": (QUARANTINE, set_aside),
    "duplicate_rate": (MESSAGES, said_ten_times),
    "noise_rate": (MESSAGES, changed(content="Thanks.")),
    "claims_sourced": (CLAIMS, changed(span_end=10_000)),
    "entities_drift": (MENTIONS, named_often),
    "confidence_drift": (CLAIMS, unsure),
}
WARNINGS = ("conflict_burst", "entities_drift", "confidence_drift")
COMPARED = ("entities_drift", "confidence_drift")
"""Checks that need days before the one that is broken."""


DAMAGES = {
    "half of it": lambda data: data[: len(data) // 2],
    "nothing": lambda _: b"",
    "a hole": lambda data: data[:4] + data[9:],
}


def checks(*names: tuple[str, str]) -> dg.AssetSelection:
    return dg.AssetSelection.checks(*(dg.AssetCheckKey(dg.AssetKey(asset), name) for asset, name in names))


def made(result: dg.ExecuteInProcessResult) -> set[str]:
    return {event.asset_key.to_user_string() for event in result.get_asset_materialization_events() if event.asset_key}


EVERY_NTH = 8
"""Of many checks so many are between two that the fast suite looks at."""
ON_MEANING = {check.name: check.asset for check in ON_TABLES} | {rule.name: rule.table for rule in RULES}


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if n % EVERY_NTH == 0 else pytest.mark.slow) for n, one in enumerate(ON_MEANING)],
)
def test_every_check_on_meaning_passes_on_good_tables_and_fails_on_broken_ones(
    name: str, world: Any, made_once: Callable[..., None]
) -> None:
    asset = ON_MEANING[name].name
    last = 7 if name in COMPARED else 1

    def one_day() -> None:
        world.land(1, "I like tea.", "Thank you.")
        world.make_tables()

    def a_week() -> None:
        for day in range(1, last + 1):
            world.land(day, *(f"I like tea{n}." for n in range(20)), "Thank you.")
        world.make_tables()

    made_once(world.home.path, a_week if name in COMPARED else one_day)
    good = world.check(asset, name)
    assert (good.passed, good.description) == (True, "")
    assert f"| 2026-03-0{last} |" in str(good.metadata["by_day"].value)
    world.change(BREAKAGES[name][0], last, BREAKAGES[name][1])
    bad = world.check(asset, name)
    assert not bad.passed
    assert bad.severity is (dg.AssetCheckSeverity.WARN if name in WARNINGS else dg.AssetCheckSeverity.ERROR)
    assert bad.description is not None
    assert bad.description.startswith(f"1 of 1 day fails, first 2026-03-0{last}: ")


@pytest.mark.slow
def test_a_check_looks_at_the_days_of_its_run_and_at_no_other(world: Any) -> None:
    for day in (1, 2, 3):
        world.land(day, "I like tea.", "Thank you.")
    world.make_tables()
    world.change(MESSAGES, 1, without_last)
    in_range = world.check("messages", "messages_complete", **RANGE)
    assert in_range.description is not None
    assert in_range.description.startswith("1 of 2 days fails, first 2026-03-01")
    assert not world.check("messages", "messages_complete", **DAY).passed
    for tags in ({"dagster/partition": "2026-03-02"}, {}):  # by itself: the last day there is
        found = world.check("messages", "messages_complete", **tags)
        assert found.metadata["days_failed"].value == 0
        assert found.severity is dg.AssetCheckSeverity.WARN  # of the first day, which nobody has mended


@pytest.mark.slow
@pytest.mark.parametrize("table", ["sessions", "segments"])
def test_a_conversation_that_goes_on_for_days_is_no_duplicate(table: str, world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like tea.")
    world.make_tables()
    found = world.check(table, "table_contract", **RANGE)
    assert found.passed, found.description
    assert found.metadata["rows"].value == 2


@pytest.mark.slow
def test_a_suite_sees_all_days_of_its_run_and_of_a_state_only_the_last(world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like rain.")
    world.make_tables()
    messages = world.check("messages", "table_contract", **RANGE)
    assert (messages.metadata["days"].value, messages.metadata["rows"].value) == (2, 2)
    edges = world.check("edges", "table_contract", **RANGE)
    assert (edges.metadata["days"].value, edges.metadata["rows"].value) == (1, 1)


@pytest.mark.slow
def test_a_table_that_has_rows_on_every_day_fails_when_it_lost_them(world: Any) -> None:
    world.land(1, "I like tea.")
    world.make_tables()
    world.change(INTERACTIONS, 1, lambda _: [])
    found = world.check("interactions", "table_contract")
    assert not found.passed
    assert found.description == "expect_table_row_count_to_be_between on the table: found 0"


@pytest.mark.slow
def test_what_a_blocking_check_would_fail_with_is_set_aside_and_the_run_goes_on(world: Any) -> None:
    world.land(1, "I like tea, surely.")
    named = checks(("claims", CONTRACT), ("audit_trail", "nothing_set_aside"))
    result = world.run(ASSETS | named, **DAY)
    failed = [found for found in result.get_asset_check_evaluations() if not found.passed]
    assert result.success
    assert [found.check_name for found in failed] == ["nothing_set_aside"]
    (entry,) = world.home.store.quarantine.entries()
    assert (entry.user_id, entry.step, entry.rule) == ("ada", "extraction", "table_contract on claims")
    assert world.rows(CLAIMS, 1) == []
    assert made(result) >= {"interactions", "claims", "edges", "current_edges", "audit_trail"}


def test_a_blocking_check_that_fails_stops_what_lies_downstream_and_nothing_else(world: Any) -> None:
    """Tables of a step stand or fall together: resolution reads mentions, which are sound, and waits all the same."""
    world.land(1, "I like tea.")
    world.make_tables()
    world.change(CLAIMS, 1, changed(confidence=2.0))
    read = dg.AssetSelection.assets("claims", "mentions").downstream(include_self=False).without_checks()
    result = world.run(read | checks(("claims", CONTRACT), ("mentions", CONTRACT)), **DAY)
    failed = [found for found in result.get_asset_check_evaluations() if not found.passed]
    assert not result.success
    assert [(found.asset_key.to_user_string(), found.check_name) for found in failed] == [("claims", CONTRACT)]
    assert failed[0].description is not None
    assert failed[0].description.startswith("expect_column_values_to_be_between on confidence: ")
    assert not made(result)


@pytest.mark.slow
def test_what_does_not_read_a_broken_table_goes_on(world: Any) -> None:
    world.land(1, "I like tea.")
    world.make_tables()
    world.change(SESSIONS, 1, lambda rows: rows * 2)
    sessions = dg.AssetSelection.assets(SESSIONS.name)
    result = world.run((ASSETS - sessions) | checks(("sessions", CONTRACT)), **DAY)
    assert not result.success
    assert made(result) >= {"entities", "edges", "current_edges", "audit_trail"}


def blocking_checks() -> list[tuple[str, Table]]:
    """Every blocking check, with its table; those of tables that nothing else is made from have nothing to stop."""
    with_readers = [
        *(raw.INTERACTIONS, raw.FEEDBACK, clean.MESSAGES, extraction.SEGMENTS, extraction.MENTIONS, extraction.CLAIMS),
        *(extraction.EXTRACTION_ISSUES, graph.ENTITIES, graph.ENTITY_MENTIONS, graph.ENTITY_OPS, graph.EDGES),
        *(graph.GRAPH_OPS, derived.CURRENT_EDGES),
    ]  # fmt: skip
    on_meaning = [(check.name, check.asset) for check in ON_TABLES if check.is_blocking]
    on_meaning = [(name, asset) for name, asset in on_meaning if asset not in (INFERRED_EDGES, PROBES, STARTERS)]
    return [*((CONTRACT, table) for table in with_readers), *on_meaning, *((rule.name, rule.table) for rule in RULES)]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param(*one, marks=() if n % EVERY_NTH == 0 else pytest.mark.slow)
        for n, one in enumerate(blocking_checks())
    ],
    ids=lambda x: getattr(x, "name", x),
)
def test_every_blocking_check_stops_what_is_made_of_its_table(
    name: str, table: Table, world: Any, rows_of: Callable[..., Any], made_once: Callable[..., None]
) -> None:
    def one_day() -> None:
        world.land(1, "I like tea.", "Thank you.")
        world.make_tables()

    made_once(world.home.path, one_day)
    broken, change = (table, lambda _: rows_of(table, {}).to_pylist() * 2) if name == CONTRACT else BREAKAGES[name]
    world.change(broken, 1, change)
    below = dg.AssetSelection.assets(table.name).downstream(include_self=False)
    beside = dg.AssetSelection.assets(raw.WORLD_EVENTS.name)
    result = world.run(below.without_checks() | beside.without_checks() | checks((table.name, name)), **DAY)
    (found,) = result.get_asset_check_evaluations()
    assert (found.check_name, found.passed, found.blocking) == (name, False, True)
    assert not result.success
    assert made(result) == {raw.WORLD_EVENTS.name}


@pytest.mark.slow
def test_checks_of_a_step_are_one_op_and_each_can_be_asked_for_alone(world: Any) -> None:
    steps = [*world.home.steps.values(), world.home.inference]
    built = build_checks(steps)
    assert [check.node_def.name for check in built] == [f"check_{step.name}" for step in steps]
    assert all(check.can_subset for check in built)
    world.land(1, "I like tea.", "Thank you.")
    world.make_tables()
    result = world.run(checks(("claims", "relates_to_share"), ("extraction_issues", CONTRACT)), **DAY)
    assert result.success
    found = {(e.asset_key.to_user_string(), e.check_name) for e in result.get_asset_check_evaluations()}
    assert found == {("claims", "relates_to_share"), ("extraction_issues", CONTRACT)}
    assert [event.step_key for event in result.all_events if event.is_step_success] == ["check_extraction"]


@pytest.mark.slow
def test_a_check_that_does_not_block_fails_and_the_run_goes_on(world: Any) -> None:
    world.land(1, "I relate to tea.")
    result = world.run(ASSETS | checks(("claims", "relates_to_share"), ("claims", "extraction_coverage")), **DAY)
    failed = {found.check_name for found in result.get_asset_check_evaluations() if not found.passed}
    assert failed == {"relates_to_share"}
    assert result.success
    assert "current_edges" in made(result)


@pytest.mark.slow
def test_a_partitioned_check_has_a_row_for_each_day_that_fails_and_one_when_it_is_mended(world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like tea.", "Thank you.")
    world.make_tables()
    kept = world.rows(EXTRACTION_ISSUES, 1)
    world.change(EXTRACTION_ISSUES, 1, unread)
    assert not world.check("extraction_issues", "extraction_complete", **RANGE).passed
    assert world.days_of_check("extraction_issues", "extraction_complete") == {"2026-03-01": False, "2026-03-02": True}
    world.change(EXTRACTION_ISSUES, 1, lambda _: kept)
    assert world.check("extraction_issues", "extraction_complete", **RANGE).passed
    assert world.days_of_check("extraction_issues", "extraction_complete") == {"2026-03-01": True, "2026-03-02": True}


@pytest.mark.parametrize(
    ("asset", "name", "broken"),
    [
        pytest.param("claims", "relates_to_share", (CLAIMS, last_resort), marks=pytest.mark.slow),
        pytest.param("claims", "extraction_coverage", (EXTRACTION_ISSUES, without_last), marks=pytest.mark.slow),
        ("messages", CONTRACT, (MESSAGES, lambda rows: rows * 2)),
    ],
)
def test_a_day_that_fails_is_not_hidden_by_others_that_pass(asset: str, name: str, broken: Any, world: Any) -> None:
    for day in (1, 2, 3):
        world.land(day, "I like tea.", "Thank you.")
    world.make_tables()
    kept = world.rows(broken[0], 1)
    world.change(broken[0], 1, broken[1])
    first = world.check(asset, name, **RANGE)
    assert (first.passed, first.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert world.days_of_check(asset, name)["2026-03-01"] is False
    later = world.check(asset, name, **{"dagster/partition": "2026-03-03"})
    assert (later.passed, later.severity) == (False, dg.AssetCheckSeverity.WARN), "it stops nothing"
    assert str(later.description).startswith("2026-03-01 failed in an earlier run and has not been asked about since")
    assert later.metadata["days_unmended"].value == ["2026-03-01"]
    assert "is_left_over" in later.metadata, "it was told when it happened"
    assert "is_left_over" not in first.metadata
    assert world.stands(asset, name) == "FAILED"
    again = world.check(asset, name, **{"dagster/partition": "2026-03-03"})
    assert again.metadata["days_unmended"].value == ["2026-03-01"]
    world.change(broken[0], 1, lambda _: kept)
    mended = world.check(asset, name, **DAY)
    assert (mended.passed, mended.metadata["days_unmended"].value) == (True, [])
    assert world.days_of_check(asset, name)["2026-03-01"] is True
    assert world.stands(asset, name) == "SUCCEEDED"


@pytest.mark.slow
def test_days_of_a_range_have_rows_and_the_one_that_fails_is_the_last(world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like tea.", "Thank you.")
    world.make_tables()
    world.change(CLAIMS, 1, last_resort)
    assert not world.check("claims", "relates_to_share", **RANGE).passed
    assert world.days_of_check("claims", "relates_to_share") == {"2026-03-01": False, "2026-03-02": True}
    assert world.stands("claims", "relates_to_share") == "FAILED"


@pytest.mark.slow
def test_a_state_that_is_whole_again_mends_the_days_before(world: Any) -> None:
    world.land(1, "I like tea.", "Thank you.")
    world.make_tables()
    world.change(EDGES, 1, changed(confidence=1.5))
    assert not world.check("edges", "confidence_in_bounds", **DAY).passed
    world.change(EDGES, 1, changed(confidence=0.9))
    world.land(2, "I like cocoa.")
    world.make_tables()
    found = world.check("edges", "confidence_in_bounds", **{"dagster/partition": "2026-03-02"})
    assert (found.passed, found.metadata["days_unmended"].value) == (True, [])


@pytest.mark.slow
def test_the_first_days_are_too_few_to_compare(world: Any) -> None:
    for day in (1, 2):
        world.land(day, *(f"I like tea{n}." for n in range(25)))
    world.make_tables()
    for asset, name in (("mentions", "entities_drift"), ("claims", "confidence_drift")):
        found = world.check(asset, name, **RANGE)
        assert (found.passed, found.description) == (True, "too little to compare")


def test_a_rate_between_the_two_thresholds_is_a_warning(world: Any) -> None:
    world.land(1, *(f"I like tea{n}." for n in range(30)), "Thank you.", "Thanks.")
    world.make_tables()
    world.change(EXTRACTION_ISSUES, 1, doubted)  # two of sixty-two
    found = world.check("claims", "hallucination_rate")
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)


@pytest.mark.parametrize("name", ["table_contract", pytest.param("messages_complete", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "left", ["half of it", *(pytest.param(one, marks=pytest.mark.slow) for one in DAMAGES if one != "half of it")]
)
def test_a_corrupt_file_fails_the_check_with_a_sentence(name: str, left: str, world: Any) -> None:
    world.land(1, "I like tea.")
    world.make_tables()
    path = Path(world.home.store.lake.path(MESSAGES, date(2026, 3, 1)))
    path.write_bytes(DAMAGES[left](path.read_bytes()))
    found = world.check("messages", name)
    assert not found.passed
    assert found.description is not None
    assert found.description.startswith("reading messages of 2026-03-01: ")
    assert "em repair --apply" in found.description


def test_a_file_of_another_schema_is_a_broken_expectation_and_the_other_days_are_looked_at(world: Any) -> None:
    for day in (1, 2):
        world.land(day, "I like tea.")
    world.make_tables()
    lake, first = world.home.store.lake, date(2026, 3, 1)
    Path(lake.path(MESSAGES, first)).write_bytes(Path(lake.path(SESSIONS, first)).read_bytes())
    found = world.check("messages", "table_contract", **RANGE)
    assert not found.passed
    said = "expect_table_columns_to_match_ordered_list on the table: in 1 of 2 files its columns differ from the "
    assert str(found.description).startswith(f"{said}declared schema, first 2026-03-01: missing: message_id, ")
    assert found.metadata["rows"].value == 1


@pytest.mark.slow
def test_a_day_without_partition_passes(world: Any) -> None:
    world.land(1, "I like tea.")
    world.make_tables()
    assert world.check("messages", "table_contract", **{"dagster/partition": "2026-03-02"}).passed
    assert world.check("edges", "provenance_present", **{"dagster/partition": "2026-03-02"}).passed


@pytest.mark.slow
def test_packs_are_made_with_their_size_and_the_loss_of_one_is_seen(world: Any) -> None:
    world.land(1, "I like tea.", "Thank you.")
    world.make_tables()
    (event,) = world.run(dg.AssetSelection.assets("index_packs").without_checks()).get_asset_materialization_events()
    shown = {name: value.value for name, value in event.materialization.metadata.items()}
    assert (shown["packs_made"], shown["packs"], shown["dagster/row_count"]) == (1, 1, 3)
    assert shown["megabytes"] >= 0
    assert world.check("index_packs", "packs_whole").passed
    world.land(2, "I like cocoa.")
    world.make_tables()
    older = world.check("index_packs", "packs_whole")
    assert (older.passed, older.severity) == (False, dg.AssetCheckSeverity.WARN)
    shutil.rmtree(folder_of(world.home, "ada"))
    lost = world.check("index_packs", "packs_whole")
    assert (lost.passed, lost.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert lost.description == "1 of 1 pack is lost or damaged; materialize index_packs, or `em run`"
    world.run(dg.AssetSelection.assets("index_packs"))
    assert world.check("index_packs", "packs_whole").passed
