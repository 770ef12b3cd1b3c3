"""How a log is cut into days does not matter, and what was merged can be taken apart exactly."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SENTENCES = (
    ("Lena", "person", "My wife Lena is late."),
    ("wife", "person", "My wife is late again."),
    ("Lena", "person", "Lena sings."),
    ("Robert", "person", "Robert, or Bob as everyone calls him, is here."),
    ("Bob", "person", "Bob fell off the ladder."),
    ("Tom", "person", "My brother Tom called."),
    ("Tom", "person", "Tom from accounting called."),
    ("Tom Bexley", "person", "Tom Bexley left."),
    ("brother", "person", "My brother is away."),
    ("Max", "person", "My brother Max is away."),
    ("Katya", "person", "Ekaterina, Katya to everyone, is here."),
    ("dad", "person", "Katya's dad is here."),
    ("Paris", "place", "We went to Paris."),
    ("Paris", "person", "My friend Paris came."),
    ("New York City", "place", "I saw New York City."),
    ("NYC", "place", "NYC is loud."),
    ("New York", "place", "New York again."),
    ("Norrby", "organization", "Norrby lost."),
    ("FC Norrby", "organization", "FC Norrby won."),
    ("Norrby IF", "organization", "Norrby IF is another club, no relation."),
    ("bus", "vehicle", "The bus broke down."),
    ("team bus", "vehicle", "The team bus was sold."),
    ("Heron", "project", "Heron stays."),
    ("heron", "concept", "who owns heron"),
    ("user", "person", "I am here."),
    ("Rex", "animal", "Our dog Rex barks."),
    ("dog", "animal", "The dog barks."),
    ("it", "concept", "it barks"),
)
NAMES = sorted({name for name, _, _ in SENTENCES} - {"it", "user"})
MORE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Event = tuple[int, Any]


def events() -> st.SearchStrategy[list[tuple[str, Any]]]:
    spoken = st.tuples(st.just("said"), st.sampled_from(SENTENCES))
    pairs = st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True).map(tuple)
    merges = st.tuples(st.just("merge"), pairs)
    splits = st.tuples(
        st.just("split"), st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True).map(tuple)
    )
    return st.lists(st.one_of(spoken, spoken, spoken, spoken, merges, splits), min_size=1, max_size=14)


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: str(sorted(row.items(), key=lambda item: item[0])))


def play(items: list[tuple[str, Any]], said: Any, decided: Any) -> tuple[list[Any], list[Any]]:
    """Events as mentions and decisions, one every ten hours."""
    mentions, decisions = [], []
    for n, (kind, what) in enumerate(items):
        if kind == "said":
            mentions.append((n, said(*what, n // 2, 600 * (n % 2))))
        else:
            decisions.append((n, decided(kind == "merge", *what, day=n // 2, minute=600 * (n % 2))))
    return mentions, decisions


@pytest.mark.slow
@MORE
@given(items=events(), cuts=st.sets(st.integers(1, 13)))
def test_any_cut_of_the_log_gives_what_the_whole_gives(items, cuts, said, decided, run) -> None:
    mentions, decisions = play(items, said, decided)
    whole = run([m for _, m in mentions], [d for _, d in decisions])
    state, links, ops = None, [], []
    borders = [0, *sorted(cut for cut in cuts if cut < len(items)), len(items)]
    for first, last in pairwise(borders):
        made = run(
            [m for n, m in mentions if first <= n < last],
            [d for n, d in decisions if first <= n < last],
            previous=state,
        )
        state = made.entities
        links += made.entity_mentions.to_pylist()
        ops += made.entity_ops.to_pylist()
    assert rows_of(state) == rows_of(whole.entities)
    assert sorted(links, key=str) == sorted(whole.entity_mentions.to_pylist(), key=str)
    assert {op["op_id"] for op in ops} == {op["op_id"] for op in whole.entity_ops.to_pylist()}


@MORE
@given(items=events())
def test_merged_rows_point_straight_at_a_row_that_is_not_merged_and_bears_their_names(
    items, said, decided, run
) -> None:
    mentions, decisions = play(items, said, decided)
    rows = {
        row["entity_id"]: row for row in run([m for _, m in mentions], [d for _, d in decisions]).entities.to_pylist()
    }
    for row in rows.values():
        assert (row["status"] == "merged") == (row["merged_into"] is not None) == (row["merged_at"] is not None)
        assert len(row["aliases"]) == len(row["alias_keys"]) == len(set(row["alias_keys"]))
        if row["merged_into"]:
            into = rows[row["merged_into"]]
            assert into["merged_into"] is None
            assert row["name_key"] in (into["name_key"], *into["alias_keys"])
            assert row["aliases"] == []
        for other in row["distinct_from"]:
            assert row["entity_id"] in rows[other]["distinct_from"]


@pytest.mark.slow
@MORE
@given(items=events(), data=st.data())
def test_merge_and_split_give_back_the_table_as_it_was(items, data, said, decided, run) -> None:
    mentions, decisions = play(items, said, decided)
    before = run([m for _, m in mentions], [d for _, d in decisions]).entities
    rows = before.to_pylist()
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(row["canonical_name"], []).append(row)
    alone = [found[0] for found in by_name.values() if len(found) == 1]
    pairs = [
        (a, b)
        for a in alone
        for b in alone
        if (a["merged_into"] or a["entity_id"]) != (b["merged_into"] or b["entity_id"])
        and b["entity_id"] not in a["distinct_from"]
    ]
    if not pairs:
        return
    one, other = data.draw(st.sampled_from(pairs))
    names = (one["canonical_name"], other["canonical_name"])
    merged = run([], [decided(True, *names, day=90)], previous=before).entities
    both = {row["entity_id"]: row for row in merged.to_pylist()}
    assert _representative(both, one) is _representative(both, other)
    if other["name_key"] != "user" and one["name_key"] != "user":
        reader = _representative(both, one)
        assert reader["canonical_name"] == other["canonical_name"] or reader["name_key"] == "user"
    after = run([], [decided(False, *names, day=91)], previous=merged).entities.to_pylist()
    pair = {one["entity_id"], other["entity_id"]}
    for row in after:
        row["distinct_from"] = [name for name in row["distinct_from"] if {name, row["entity_id"]} != pair]
    assert sorted(after, key=str) == sorted(rows, key=str)


def _representative(rows: dict[str, dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    return rows[rows[row["entity_id"]]["merged_into"] or row["entity_id"]]


BEARERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "brother": (("Ben", "person", "My brother Ben is late."), ("brother", "person", "My brother Ben came by.")),
    "work": (("Ben", "person", "Ben from work is late."), ("Ben", "person", "Lunch with Ben from work.")),
    "gym": (
        ("Ben", "person", "Ben from the gym is late."),
        ("Ben", "person", "I met Ben from the gym, not my brother."),
    ),
    "son": (("Ben", "person", "My son Ben is late."), ("Ben", "person", "Ben, my son, is up.")),
    "dentist": (("Ben", "person", "Ben, my dentist, is late."), ("Ben", "person", "Ben is my dentist.")),
    "landlord": (("Ben", "person", "My landlord Ben is late."), ("landlord", "person", "My landlord Ben rang.")),
}
SURNAMES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Carver": (("Ben Carver", "person", "Ben Carver is late."), ("B. Carver", "person", "B. Carver wrote.")),
    "Ostler": (("Ben Ostler", "person", "Ben Ostler is late."), ("Ben Ostler", "person", "Ben Ostler from work rang.")),
}
"""The brother may be one of these, and these are two."""
UNTOLD = (
    ("Ben", "person", "Ben is late."),
    ("Benjamin", "person", "Benjamin is late."),
    ("Benny", "person", "Benny is late."),
    ("Ben", "person", "The other Ben is late."),
    ("Ben", "person", "Another Ben is late."),
)


@pytest.mark.slow
@MORE
@given(
    items=st.lists(
        st.one_of(
            *(st.tuples(st.just(bearer), st.sampled_from(told)) for bearer, told in {**BEARERS, **SURNAMES}.items()),
            st.tuples(st.just(""), st.sampled_from(UNTOLD)),
        ),
        min_size=2,
        max_size=16,
    ),
    data=st.data(),
)
def test_namesakes_of_whom_other_things_are_said_are_never_one_in_whatever_order(items, data, said, run) -> None:
    for order in (items, items[::-1], data.draw(st.permutations(items))):
        rows = [said(*what, n // 2, 300 * (n % 2)) for n, (_, what) in enumerate(order)]
        made = run(rows)
        thing = {row["entity_id"]: row["merged_into"] or row["entity_id"] for row in made.entities.to_pylist()}
        entity = {link["mention_id"]: thing[link["entity_id"]] for link in made.entity_mentions.to_pylist()}
        bearers: dict[str, set[str]] = {}
        for row, (bearer, _) in zip(rows, order, strict=True):
            bearers.setdefault(entity[row["mention_id"]], set()).update({bearer} - {""})
        assert all(len(found & set(BEARERS)) < 2 and len(found & set(SURNAMES)) < 2 for found in bearers.values())
