"""The checks of our own: what each asks of its tables, seen to hold and seen to fail."""

import random
from collections.abc import Callable
from dataclasses import astuple, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.schema.tables.raw import INTERACTIONS
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.storage.lake import Lake
from quality.finding import Finding
from quality.meaning import MEANING
from quality.rates import RATES
from tests.quality import meaning_by_day

Rows = Callable[..., pa.Table]
Ask = Callable[..., Finding]
DAY = date(2026, 3, 1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHECKS = {check.name: check for check in MEANING}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def ask(lake: Lake) -> Ask:
    """ask(name, table, …): what a check finds on a day whose tables, in the order in which it reads them, are these.

    Quarantine may be left out: nothing is in it then."""

    def find(name: str, *tables: pa.Table) -> Finding:
        reads = CHECKS[name].reads
        for declared, rows in zip(reads, [*tables, *[QUARANTINE.empty()] * (len(reads) - len(tables))], strict=True):
            lake.write(declared, DAY, rows)
        return CHECKS[name].find(lake, [DAY])[DAY]

    return find


def test_an_inferred_edge_without_ground_fails(ask: Ask, rows_of: Rows) -> None:
    edges = [
        {"edge_id": "a"}, {"edge_id": "b"}, {"edge_id": "c", "status": "retracted"}, {"edge_id": "d", "user_id": "ben"},
        {"edge_id": "e", "polarity": -1},
    ]  # fmt: skip
    known = rows_of(CURRENT_EDGES, *({"user_id": "ada"} | edge for edge in edges))
    good = {"user_id": "ada", "premises": ["a", "b"], "hops": 2, "confidence": 0.6}
    assert ask("inferences_grounded", rows_of(INFERRED_EDGES, good), known).is_success
    bad = [
        {"confidence": 0.61}, {"hops": 1}, {"premises": [], "hops": 0}, {"premises": ["a", "c"]},
        {"premises": ["a", "d"]}, {"premises": ["a", "e"]}, {"premises": ["a", "z"]},
    ]  # fmt: skip
    found = ask("inferences_grounded", rows_of(INFERRED_EDGES, good, *(good | change for change in bad)), known)
    assert (found.is_success, found.figure) == (False, len(bad))
    assert "materialize inferred_edges again" in found.advice


def test_a_question_without_words_or_ground_or_beside_another_of_its_cause_fails(ask: Ask, rows_of: Rows) -> None:
    noon_ = noon(DAY, 0)
    of = {"user_id": "ada", "status": "active", "privacy_level": "L2", "requires_verification": False}
    known = rows_of(
        CURRENT_EDGES, of | {"edge_id": "a"}, of | {"edge_id": "b", "status": "contradicted"},
        of | {"edge_id": "c", "status": "retracted"}, of | {"edge_id": "d", "privacy_level": "L3"},
        of | {"edge_id": "e", "requires_verification": True}, of | {"edge_id": "f", "user_id": "ben"},
    )  # fmt: skip
    good = {
        "probe_id": "p", "user_id": "ada", "text": "Which?", "benefit": "so that", "edge_id": "a", "other_edge_id": "b",
        "entity_id": None, "generated_at": noon_, "expires_at": noon_ + timedelta(days=1), "gap": "0",
        "kind": "discovery",
    }  # fmt: skip
    assert ask("probes_grounded", rows_of(PROBES, good, good | {"edge_id": None, "gap": "1"}), known).is_success
    bad = [
        {"text": " "}, {"benefit": ""}, {"expires_at": noon_}, {"edge_id": "c"}, {"edge_id": "d"},
        {"other_edge_id": "e"}, {"edge_id": "f"}, {"edge_id": "nobody said"},
    ]  # fmt: skip
    wrong = [good | change | {"gap": str(n)} for n, change in enumerate(bad)]
    found = ask("probes_grounded", rows_of(PROBES, *wrong), known)
    assert (found.is_success, found.figure) == (False, len(bad))
    assert ask("probes_grounded", rows_of(PROBES, good, good), known).figure == 2


def test_an_opening_without_words_or_ground_fails(ask: Ask, rows_of: Rows) -> None:
    noon_ = noon(DAY, 0)
    of = {"user_id": "ada", "status": "active", "privacy_level": "L2", "requires_verification": False}
    known = rows_of(CURRENT_EDGES, of | {"edge_id": "a"}, of | {"edge_id": "b", "privacy_level": "L4"})
    good = {
        "user_id": "ada", "text": "The fair is on.", "edge_id": "a", "experience_id": None, "world_event_id": None,
        "occasion_on": None, "generated_at": noon_, "expires_at": noon_ + timedelta(days=1), "kind": "plan",
    }  # fmt: skip
    assert ask("starters_grounded", rows_of(STARTERS, good), known).is_success
    for change in ({"text": ""}, {"expires_at": noon_}, {"edge_id": "b"}, {"edge_id": "z"}):
        assert ask("starters_grounded", rows_of(STARTERS, good | change), known).figure == 1
    assert ask("starters_grounded", rows_of(STARTERS, good, good), known).figure == 2


def test_a_message_that_nothing_came_of_fails(ask: Ask, rows_of: Rows) -> None:
    messages = rows_of(MESSAGES, *({"message_id": i} for i in "abc"))
    read = (
        rows_of(MENTIONS, {"message_id": "a"}, {"message_id": "a"}),
        rows_of(CLAIMS, {"message_id": "b"}),
        rows_of(EXTRACTION_ISSUES, {"message_id": "c"}),
    )
    assert ask("extraction_coverage", messages, *read).is_success
    found = ask("extraction_coverage", messages, read[0], read[1], EXTRACTION_ISSUES.empty())
    assert (found.is_success, round(found.figure, 3)) == (False, 0.667)
    assert "materialize claims again" in found.advice


def test_a_message_of_another_day_does_not_make_up_for_a_lost_one(ask: Ask, rows_of: Rows) -> None:
    messages = rows_of(MESSAGES, {"message_id": "a"})
    other = rows_of(CLAIMS, {"message_id": "z"})
    assert not ask("extraction_coverage", messages, MENTIONS.empty(), other, EXTRACTION_ISSUES.empty()).is_success


def test_an_interaction_that_became_no_message_fails(ask: Ask, rows_of: Rows) -> None:
    interactions = rows_of(INTERACTIONS, {}, {})
    assert ask("messages_complete", interactions, rows_of(MESSAGES, {}, {})).is_success
    found = ask("messages_complete", interactions, rows_of(MESSAGES, {}))
    assert (found.is_success, found.figure) == (False, 1)
    assert not ask("messages_complete", interactions, rows_of(MESSAGES, {}, {}, {})).is_success


@pytest.fixture
def duplicates(lake: Lake, rows_of: Rows) -> Callable[..., Finding]:
    """What `duplicate_rate` finds in twenty messages with the same words of one user, each changed by its number."""

    def find(change: Callable[[int], dict[str, Any]]) -> Finding:
        alike = {"user_id": "ada", "role": "user", "content_hash": "alike", "content": "so it was said " * 4}
        lake.write(MESSAGES, DAY, rows_of(MESSAGES, *({**alike, "timestamp": NOON, **change(n)} for n in range(20))))
        (check,) = (one for one in RATES if one.name == "duplicate_rate")
        return check.find(lake, [DAY])[DAY]

    return find


@pytest.mark.parametrize(("role", "is_success"), [("user", False), ("assistant", False), ("tool", True)])
def test_what_has_landed_in_several_conversations_is_a_copy_unless_a_tool_prints_it(
    role: str, is_success: bool, duplicates: Callable[..., Finding]
) -> None:
    found = duplicates(lambda n: {"role": role, "session_id": f"s{n}"})
    assert found.is_success is is_success
    assert "forget" not in found.advice


def test_an_import_that_was_done_twice_makes_half_of_the_messages_copies(duplicates: Callable[..., Finding]) -> None:
    found = duplicates(
        lambda n: {
            "session_id": f"import {n % 2}",
            "content_hash": f"h{n // 2}",
            "timestamp": NOON + timedelta(hours=n // 2),
        }
    )
    assert (found.is_success, found.figure) == (False, 0.5)


@pytest.mark.parametrize(
    "change",
    [
        lambda n: {"session_id": "s", "timestamp": NOON + timedelta(minutes=n)},
        lambda n: {"session_id": f"s{n}", "timestamp": NOON + timedelta(minutes=n)},
        lambda n: {"session_id": "s"},
        lambda n: {"session_id": f"s{n}", "user_id": f"user {n}"},
        lambda n: {"session_id": f"s{n}", "content": "ok, thanks"},
    ],
    ids=["in one conversation", "every hour in a new one", "of one minute", "of several people", "short"],
)
def test_people_who_repeat_themselves_are_no_duplicates(
    change: Callable[[int], dict[str, Any]], duplicates: Callable[..., Finding]
) -> None:
    found = duplicates(change)
    assert (found.is_success, found.figure) == (True, 0.0)


def test_what_is_set_aside_is_not_missed(ask: Ask, rows_of: Rows) -> None:
    aside = rows_of(QUARANTINE, {"user_id": "ben", "claim_id": None})
    both = ({"user_id": "ada"}, {"user_id": "ben"})
    assert ask("messages_complete", rows_of(INTERACTIONS, *both), rows_of(MESSAGES, both[0]), aside).is_success
    assert not ask("messages_complete", rows_of(INTERACTIONS, *both), rows_of(MESSAGES, both[1]), aside).is_success
    unread = rows_of(MESSAGES, {"user_id": "ben", "message_id": "a"})
    nothing = (MENTIONS.empty(), CLAIMS.empty(), EXTRACTION_ISSUES.empty())
    assert ask("extraction_coverage", unread, *nothing, aside).is_success
    one_claim = rows_of(QUARANTINE, {"user_id": "ben", "claim_id": "c"})
    assert not ask("extraction_coverage", unread, *nothing, one_claim).is_success


def test_whatever_is_set_aside_is_told(ask: Ask, rows_of: Rows) -> None:
    found = ask("nothing_set_aside", rows_of(QUARANTINE, {"claim_id": "c"}, {"claim_id": None}))
    assert (found.is_success, found.figure) == (False, 2.0)
    assert "em quarantine list" in found.advice


def test_three_open_conflicts_about_one_thing_are_a_warning(ask: Ask, rows_of: Rows) -> None:
    known = {"user_id": "ada", "entity_id": "a"}
    open_, settled = known | {"status": "open"}, known | {"status": "settled"}
    assert ask("conflict_burst", rows_of(CONTRADICTIONS, open_, open_, settled)).is_success
    elsewhere = open_ | {"entity_id": "b"}
    assert ask("conflict_burst", rows_of(CONTRADICTIONS, open_, open_, elsewhere)).is_success
    found = ask("conflict_burst", rows_of(CONTRADICTIONS, open_, open_, open_))
    assert (found.is_success, found.is_warning, found.figure) == (False, True, 3.0)
    assert ask("conflict_burst", CONTRADICTIONS.empty()).is_success


@pytest.mark.parametrize(("n_last_resort", "is_success"), [(0, True), (1, True), (2, False)])
def test_one_claim_in_twenty_may_use_the_last_resort(
    n_last_resort: int, is_success: bool, ask: Ask, rows_of: Rows
) -> None:
    relations = ["relates_to"] * n_last_resort + ["likes"] * (20 - n_last_resort)
    found = ask("relates_to_share", rows_of(CLAIMS, *({"relation": r} for r in relations)))
    assert found.is_success is is_success
    assert found.figure == pytest.approx(n_last_resort / 20)


@pytest.mark.parametrize(
    ("n_refused", "is_success", "is_warning"), [(0, True, True), (3, False, True), (6, False, False)]
)
def test_inventions_warn_from_two_in_a_hundred_and_fail_from_five(
    n_refused: int, is_success: bool, is_warning: bool, ask: Ask, rows_of: Rows
) -> None:
    refused = [{"issue_id": str(n), "issue": "span" if n % 2 else "orphan_relation"} for n in range(n_refused)]
    harmless = [{"issue_id": issue, "issue": issue} for issue in ("skipped", "repetition", "dangling_reference")]
    issues = rows_of(EXTRACTION_ISSUES, *refused, *harmless)
    claims = rows_of(CLAIMS, *({} for _ in range(60)))
    mentions = rows_of(MENTIONS, *({} for _ in range(40 - n_refused)))
    found = ask("hallucination_rate", claims, mentions, issues)
    assert found.figure == pytest.approx(n_refused / 100)
    assert (found.is_success, found.is_warning) == (is_success, is_warning)


@pytest.mark.parametrize("issue", ["pending", "dead_letter"])
def test_a_message_that_waits_for_a_model_fails(issue: str, ask: Ask, rows_of: Rows) -> None:
    assert ask("extraction_complete", rows_of(EXTRACTION_ISSUES, {"issue": "skipped"})).is_success
    found = ask("extraction_complete", rows_of(EXTRACTION_ISSUES, {"issue": issue}, {"issue": "skipped"}))
    assert (found.is_success, found.figure) == (False, 1)


def test_more_than_five_refused_items_in_an_hour_are_a_spike(ask: Ask, rows_of: Rows) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def refused(*minutes: int) -> pa.Table:
        rows = [{"issue_id": f"{m}", "issue": "span", "timestamp": noon + timedelta(minutes=m)} for m in minutes]
        return rows_of(EXTRACTION_ISSUES, *rows, {"issue_id": "s", "issue": "repetition", "timestamp": noon})

    assert ask("hallucination_spike", refused(0, 1, 2, 3, 4, 60, 61)).figure == 5
    assert ask("hallucination_spike", refused(0, 1, 2, 3, 4, 60)).is_success
    found = ask("hallucination_spike", refused(0, 1, 2, 3, 4, 59))
    assert (found.is_success, found.figure) == (False, 6)
    assert "`em llm forget --from 2026-03-01 --to 2026-03-01`" in found.advice


def test_a_day_on_which_nothing_was_said_passes_every_check(ask: Ask) -> None:
    nothing = (MENTIONS.empty(), CLAIMS.empty(), EXTRACTION_ISSUES.empty())
    assert ask("extraction_coverage", MESSAGES.empty(), *nothing).is_success
    assert ask("messages_complete", INTERACTIONS.empty(), MESSAGES.empty()).is_success
    assert ask("relates_to_share", CLAIMS.empty()).is_success


def noon(day: date, minutes: int) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC) + timedelta(minutes=minutes)


def some_day(rows_of: Rows, dice: random.Random, day: date) -> dict[str, pa.Table]:
    """Tables of a day on which anything may be wrong, or missing altogether."""
    ids = [f"m{n}" for n in range(6)]
    issues = ["skipped", "span", "orphan_relation", "pending", "dead_letter"]

    def rows(table: Table, most: int, **choices: list[object]) -> pa.Table:
        drawn = [{name: dice.choice(of) for name, of in choices.items()} for _ in range(dice.randint(0, most))]
        return rows_of(table, *drawn) if drawn else table.empty()

    users = ["ada", "ben"]
    tables = {
        "interactions": rows(INTERACTIONS, 3, user_id=users),
        "messages": rows(MESSAGES, 3, user_id=users, message_id=ids),
        "quarantine": rows(QUARANTINE, 2, user_id=users, claim_id=[None, "c"]),
        "mentions": rows(MENTIONS, 40, message_id=ids),
        "claims": rows(CLAIMS, 40, message_id=ids, relation=["likes"] * 30 + ["relates_to"]),
        "extraction_issues": rows(
            EXTRACTION_ISSUES,
            15,
            message_id=ids,
            issue=issues,
            segment_id=[f"s{n}" for n in range(12)],
            timestamp=[noon(day, minutes) for minutes in (0, 1, 2, 3, 30, 59, 60, 61, 119, 120)],
        ),
        "contradictions": rows(CONTRADICTIONS, 8, user_id=users, entity_id=["a", "b"], status=["open", "settled"]),
        "current_edges": rows(
            CURRENT_EDGES,
            5,
            edge_id=["a", "b", "c"],
            user_id=users,
            status=["active", "archived"],
            polarity=[1, -1],
            privacy_level=["L1", "L2", "L3"],
            requires_verification=[False, False, True],
        ),
        "probes": rows(
            PROBES,
            5,
            user_id=users,
            text=["", "Which tea is it?"],
            benefit=["so that it is the right one"],
            gap=["one", "another"],
            entity_id=[None, "e"],
            edge_id=[None, "a", "b", "z"],
            other_edge_id=[None, "c"],
            generated_at=[noon(day, 0)],
            expires_at=[noon(day, 0), noon(day, 9)],
        ),
        "starters": rows(
            STARTERS,
            5,
            user_id=users,
            text=["", "The fair is on."],
            edge_id=[None, "a", "z"],
            experience_id=[None],
            world_event_id=[None, "w"],
            occasion_on=[None, day],
            generated_at=[noon(day, 0)],
            expires_at=[noon(day, 0), noon(day, 9)],
        ),
        "inferred_edges": rows(
            INFERRED_EDGES,
            6,
            user_id=users,
            premises=[[], ["a"], ["a", "b"], ["b", "c", "a"]],
            hops=[0, 1, 2, 3, 9],
            confidence=[0.5, 0.61, -0.1],
        ),
    }
    return {name: found for name, found in tables.items() if dice.random() < 0.9}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
@pytest.mark.parametrize("name", CHECKS)
def test_asked_of_many_days_at_once_each_day_is_found_as_it_is_by_itself(
    name: str, seed: int, lake: Lake, rows_of: Rows
) -> None:
    dice, check = random.Random(f"{seed} {name}"), CHECKS[name]
    days = [DAY + timedelta(days=n) for n in range(8)]
    for day in days:
        for table, rows in some_day(rows_of, dice, day).items():
            lake.write(CATALOG[table], day, rows)
    by_itself = getattr(meaning_by_day, name)
    wanted = {day: by_itself(*(lake.read(table, day) for table in check.reads)) for day in days}
    found = check.find(lake, days)
    assert list(found) == days
    assert {day: astuple(finding) for day, finding in found.items()} == {
        day: astuple(replace(finding, advice=finding.advice.format(day=day))) for day, finding in wanted.items()
    }


def test_no_days_are_no_findings(lake: Lake) -> None:
    assert [check.find(lake, []) for check in MEANING] == [{} for _ in MEANING]


def test_days_of_an_object_store_are_found_as_those_of_a_disk(rows_of: Rows) -> None:
    lake = Lake("memory://meaning/lake")
    claims = rows_of(CLAIMS, {"relation": "relates_to"})
    lake.write(CLAIMS, DAY, claims)
    found = CHECKS["relates_to_share"].find(lake, [DAY, DAY + timedelta(days=1)])
    assert [finding.figure for finding in found.values()] == [1.0, 0.0]


def test_a_file_of_other_columns_is_reported_as_one_that_cannot_be_read(lake: Lake, rows_of: Rows) -> None:
    lake.write(CLAIMS, DAY, rows_of(CLAIMS, {}))
    lake.write(MENTIONS, DAY, rows_of(MENTIONS, {}))
    Path(lake.path(CLAIMS, DAY)).write_bytes(Path(lake.path(MENTIONS, DAY)).read_bytes())
    with pytest.raises(CorruptTableError, match="its columns differ from the declared schema"):
        CHECKS["relates_to_share"].find(lake, [DAY])
