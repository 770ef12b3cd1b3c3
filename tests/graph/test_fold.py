"""The fold in SQL against a naive one in Python, and what it must hold whatever the log."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.graph.fold import FoldSettings, fold
from em_pipelines.ids import content_id, edge_id, entity_id
from em_pipelines.lake import canonical
from em_pipelines.lifecycle.decay import DecaySettings, effective_confidence
from em_pipelines.sql import connect
from em_pipelines.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.tables.graph import EDGES, ENTITY_MENTIONS, GRAPH_OPS
from em_pipelines.vocabulary import FUNCTIONAL, TemporalType

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
USER = "ada"


@dataclass(frozen=True)
class Said:
    """One claim, reduced to what the fold looks at."""

    day: int = 0
    minute: int = 0
    relation: str = "likes"
    object: str = "tea"
    polarity: int = 1
    confidence: float = 0.9
    session: str = "s1"
    valid_from: date | None = None
    requires_verification: bool = False

    @property
    def timestamp(self) -> datetime:
        return START + timedelta(days=self.day, minutes=self.minute)

    @property
    def claim_id(self) -> str:
        return content_id("claim", *(getattr(self, name) for name in self.__dataclass_fields__))


def tables_of(said: list[Said]) -> tuple[pa.Table, pa.Table, pa.Table]:
    claims, mentions, links = [], {}, {}
    for one in said:
        message = content_id("msg", one.session, one.day, one.minute)
        origin: dict[str, Any] = {
            "user_id": USER, "session_id": one.session, "turn_number": one.minute, "message_id": message,
            "segment_id": "seg", "timestamp": one.timestamp, "extractor": "test", "span_start": 0, "span_end": 1,
            "correlation_id": "cor",
        }  # fmt: skip
        for name in ("user", one.object):
            key = content_id("men", message, name)
            mentions[key] = {**origin, "mention_id": key, "name": name, "entity_type": "concept", "is_explicit": True}
            links[key] = {
                "mention_id": key, "user_id": USER, "entity_id": entity_id(USER, name), "method": "exact",
                "score": 1.0, "timestamp": one.timestamp, "correlation_id": "cor",
            }  # fmt: skip
        claims.append(
            {
                **origin,
                "claim_id": one.claim_id,
                "extraction_id": "ext",
                "act": "assert",
                "subject": "user",
                "subject_type": "person",
                "relation": one.relation,
                "object": one.object,
                "object_type": "concept",
                "polarity": one.polarity,
                "temporal_type": "state",
                "valid_from": one.valid_from,
                "valid_precision": "day" if one.valid_from else None,
                "hedge_level": "none",
                "confidence": one.confidence,
                "source_mechanism": "explicit",
                "flags": [],
                "context_tags": [],
                "privacy_level": "L2",
                "requires_verification": one.requires_verification,
                "has_pasted_source": False,
            }
        )
    return (
        CLAIMS.from_rows(claims),
        MENTIONS.from_rows(list(mentions.values())),
        ENTITY_MENTIONS.from_rows(list(links.values())),
    )


CONNECTION = connect()


def fold_days(said: list[Said], previous: pa.Table | None = None) -> tuple[pa.Table, list[dict[str, Any]]]:
    """Folds day by day; returns the canonical state and all operations."""
    state = previous if previous is not None else EDGES.empty()
    ops: list[dict[str, Any]] = []
    for _, group in groupby(sorted(said, key=lambda s: s.day), key=lambda s: s.day):
        rules = {"settings": FoldSettings(), "decay": DecaySettings()}
        made = fold(state, *tables_of(list(group)), **rules, connection=CONNECTION)
        state = canonical(EDGES, made.edges)
        ops += canonical(GRAPH_OPS, made.graph_ops).to_pylist()
    return state, ops


@dataclass
class NaiveEdge:
    object: str
    polarity: int
    spell: int
    confidence: float
    last: datetime
    status: str = "active"
    sessions: list[str] = field(default_factory=list)
    n: int = 0
    valid_from: date | None = None
    valid_to: date | None = None


def naive_fold(said: list[Said]) -> set[tuple[Any, ...]]:
    """The same rules, one claim at a time, as anybody would write them down."""
    edges: dict[str, list[NaiveEdge]] = {}
    order = sorted(said, key=lambda s: (s.timestamp, s.session, s.minute, s.claim_id))
    for one in order:
        if one.confidence < FoldSettings().min_storage_confidence:
            continue
        known = edges.setdefault(one.relation, [])
        active = [e for e in known if e.status == "active"]
        same = next((e for e in active if e.object == one.object and e.polarity == one.polarity), None)
        if same:
            if one.session not in same.sessions:
                days = (one.timestamp.date() - same.last.date()).days
                left = effective_confidence(same.confidence, days, TemporalType.STATE, DecaySettings())
                same.confidence = round(min(1.0, max(left, one.confidence) + 0.10), 6)
                same.n += 1
            same.sessions.append(one.session)
            same.last = one.timestamp
            same.valid_from = same.valid_from or one.valid_from
            continue
        rivals = [
            e
            for e in active
            if (e.object == one.object and e.polarity != one.polarity)
            or (one.relation in FUNCTIONAL and e.object != one.object and e.polarity == one.polarity == 1)
        ]
        for rival in rivals:
            rival.status, rival.valid_to = "superseded", one.valid_from or one.timestamp.date()
        spell = 1 + sum(e.object == one.object and e.polarity == one.polarity for e in known)
        since = one.valid_from or (one.timestamp.date() if rivals and one.polarity == 1 else None)
        known.append(
            NaiveEdge(one.object, one.polarity, spell, one.confidence, one.timestamp, "active", [one.session], 0, since)
        )
    return {
        (
            r,
            e.object,
            e.polarity,
            e.spell,
            round(e.confidence, 6),
            e.status,
            e.n,
            len(e.sessions),
            e.valid_from,
            e.valid_to,
        )
        for r, known in edges.items()
        for e in known
    }


def as_naive(state: pa.Table) -> set[tuple[Any, ...]]:
    names = {entity_id(USER, name): name for name in NAMES}
    return {
        (
            e["relation"], names[e["object_id"]], e["polarity"], e["spell"], round(e["confidence"], 6), e["status"],
            e["reinforcement_count"], len(e["provenance"]), e["valid_from"], e["valid_to"],
        )
        for e in state.to_pylist()
    }  # fmt: skip


NAMES = ("tea", "coffee", "oslo")
SAID = st.builds(
    Said,
    day=st.sampled_from([0, 1, 45, 90]),
    minute=st.integers(0, 600),
    relation=st.sampled_from(["likes", "lives_in", "works_at"]),
    object=st.sampled_from(NAMES),
    polarity=st.sampled_from([1, 1, 1, -1]),
    confidence=st.sampled_from([0.9, 0.8, 0.45, 0.2, 0.1]),
    session=st.sampled_from(["s1", "s2", "s3"]),
    valid_from=st.sampled_from([None, None, date(2025, 6, 1)]),
)
FEW = settings(max_examples=25)  # a folded day takes some 70 ms, mostly of planning statements
LOGS = st.lists(SAID, max_size=16, unique_by=lambda s: s.claim_id)


@FEW
@given(LOGS)
def test_the_sql_fold_is_the_naive_fold(said: list[Said]) -> None:
    state, _ = fold_days(said)
    assert as_naive(state) == naive_fold(said)


@FEW
@given(LOGS, st.randoms(use_true_random=False))
def test_the_order_in_which_a_log_arrives_changes_nothing(said: list[Said], random: Any) -> None:
    shuffled = list(said)
    random.shuffle(shuffled)
    assert fold_days(said)[0].equals(fold_days(shuffled)[0])


@FEW
@given(LOGS, st.sampled_from([0, 1, 45]))
def test_a_fold_over_any_cut_of_the_log_equals_the_whole(said: list[Said], cut: int) -> None:
    whole, _ = fold_days(said)
    first, _ = fold_days([s for s in said if s.day <= cut])
    rest, _ = fold_days([s for s in said if s.day > cut], first)
    assert rest.equals(whole)


@FEW
@given(LOGS)
def test_a_functional_relation_has_one_active_value_and_every_edge_a_source(said: list[Said]) -> None:
    state, ops = fold_days(said)
    rows = state.to_pylist()
    for relation in ("lives_in", "works_at"):
        assert sum(r["relation"] == relation and r["status"] == "active" and r["polarity"] == 1 for r in rows) <= 1
    assert all(r["provenance"] and 0 <= r["confidence"] <= 1 for r in rows)
    assert len({op["op_id"] for op in ops}) == len(ops)
    assert {op["edge_id"] for op in ops} == {r["edge_id"] for r in rows}


def test_ids_made_in_sql_are_those_made_in_python() -> None:
    state, _ = fold_days([Said(object="tea")])
    row = state.to_pylist()[0]
    wanted = edge_id(USER, entity_id(USER, "user"), "likes", entity_id(USER, "tea"), None, 1, 1)
    assert row["edge_id"] == wanted


def test_a_move_supersedes_the_old_home_and_says_so() -> None:
    state, ops = fold_days(
        [
            Said(relation="lives_in", object="tea"),
            Said(relation="lives_in", object="oslo", day=40, session="s2", valid_from=date(2026, 2, 1)),
        ]
    )
    old, new = sorted(state.to_pylist(), key=lambda e: e["learned_at"])
    assert (old["status"], old["valid_to"], old["superseded_by"]) == ("superseded", date(2026, 2, 1), new["edge_id"])
    assert (new["status"], new["valid_from"], new["supersedes"]) == ("active", date(2026, 2, 1), old["edge_id"])
    assert [op["operation"] for op in ops] == ["INSERT", "REVISE", "REVISE"]


def test_what_has_to_be_verified_first_takes_no_facts_place() -> None:
    home = Said(relation="lives_in", object="oslo")
    claimed = Said(day=1, relation="lives_in", object="palace", requires_verification=True)
    state, _ = fold_days([home, claimed])
    assert state["status"].to_pylist() == ["active", "active"]
    again, _ = fold_days([Said(day=2, relation="lives_in", object="palace", session="s2")], state)
    statuses = dict(zip(zip(again["object_id"].to_pylist(), again["requires_verification"].to_pylist(), strict=True),
                        again["status"].to_pylist(), strict=True))  # fmt: skip
    assert statuses == {
        (entity_id(USER, "oslo"), False): "superseded",
        (entity_id(USER, "palace"), True): "active",
        (entity_id(USER, "palace"), False): "active",
    }
    assert len(set(again["edge_id"].to_pylist())) == 3


def test_moving_back_is_a_second_spell() -> None:
    state, _ = fold_days(
        [Said(relation="lives_in", object=o, day=d, session=f"s{d}") for d, o in enumerate(("tea", "oslo", "tea"))]
    )
    spells = sorted((e["spell"], e["status"]) for e in state.to_pylist() if e["object_id"] == entity_id(USER, "tea"))
    assert spells == [(1, "superseded"), (2, "active")]


def test_a_repeat_in_the_same_session_refreshes_the_date_alone() -> None:
    state, _ = fold_days([Said(), Said(minute=5)])
    row = state.to_pylist()[0]
    assert (row["confidence"], row["reinforcement_count"]) == (0.9, 0)
    assert row["last_reinforced"] == Said(minute=5).timestamp


def test_another_session_adds_a_tenth_to_what_is_left() -> None:
    state, _ = fold_days([Said(confidence=0.45), Said(day=60, session="s2", confidence=0.45)])
    assert state.to_pylist()[0]["confidence"] == pytest.approx(0.55)


def test_the_opposite_said_later_supersedes() -> None:
    state, _ = fold_days([Said(), Said(day=3, polarity=-1, session="s2")])
    assert sorted((e["polarity"], e["status"]) for e in state.to_pylist()) == [(-1, "active"), (1, "superseded")]
