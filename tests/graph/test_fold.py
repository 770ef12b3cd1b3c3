"""The fold in SQL against a naive one in Python, and what it must hold whatever the log."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.graph.confidence_decay import DecaySettings, effective_confidence
from em_pipelines.graph.relations import install_edge_macros
from em_pipelines.graph.rounds import FoldSettings
from em_pipelines.language.values import attribute_key
from em_pipelines.schema.ids import edge_id, entity_id
from em_pipelines.schema.vocabulary import FUNCTIONAL, TemporalType
from em_pipelines.storage.duckdb_engine import connect
from tests.folding.log import START, USER, Folded, Joined, Said, Told, fold_days

NAMES = ("tea", "coffee", "oslo")
FAMILY = {"likes": "preference", "dislikes": "preference", "prefers": "preference"}
TONES = {("likes", 1): 1, ("likes", -1): -1, ("prefers", 1): 1, ("dislikes", 1): -1}
TAKEN_TOGETHER = {"likes": {"likes", "prefers"}, "prefers": {"likes", "prefers"}}
DOUBTS = {"secondhand", "attribution_uncertain", "sarcasm_detected", "hypothetical"}


@dataclass
class NaiveEdge:
    relation: str
    object: str
    polarity: int
    spell: int
    confidence: float
    last: datetime
    mechanism: str
    flags: tuple[str, ...]
    status: str = "active"
    sessions: list[str] = field(default_factory=list)
    n: int = 0
    valid_from: date | None = None
    valid_to: date | None = None
    superseded_by: "NaiveEdge | None" = None

    def left(self, when: datetime) -> float:
        days = (when.date() - self.last.date()).days
        return effective_confidence(self.confidence, days, TemporalType.STATE, DecaySettings())

    @property
    def stands(self) -> bool:
        return self.status in ("active", "contradicted")


class Naive:
    """The same rules, one statement at a time, as anybody would write them down."""

    def __init__(self) -> None:
        self.edges: list[NaiveEdge] = []

    def hear(self, one: Said) -> None:
        if one.act == "retract":
            self._retract(one)
        elif one.confidence >= FoldSettings().min_storage_confidence:
            self._assert(one)

    def _rivals(self, one: Said) -> list[NaiveEdge]:
        def collides(e: NaiveEdge) -> bool:
            if e.relation == one.relation:
                if e.object == one.object:
                    return e.polarity != one.polarity
                return one.relation in FUNCTIONAL and e.polarity == one.polarity == 1
            tones = [TONES.get((x.relation, x.polarity), 0) for x in (e, one)]
            return e.object == one.object and tones[0] * tones[1] == -1

        return [e for e in self.edges if e.stands and collides(e)]

    def _assert(self, one: Said) -> None:
        same = next((e for e in self.edges if e.stands and self._is_same(e, one)), None)
        rivals = self._rivals(one)
        strongest = max((e.left(one.timestamp) for e in rivals), default=0.0)
        is_decided = one.mechanism == "user_correction"
        is_plain = one.mechanism == "explicit" and one.hedge in ("none", "slight") and not DOUBTS & set(one.flags)
        is_clear = is_decided or is_plain or one.confidence >= strongest
        own_words = [
            e for e in rivals if e.mechanism in ("explicit", "user_correction") and "secondhand" not in e.flags
        ]
        is_weak = one.mechanism in ("inferential", "imported", "shared") or "secondhand" in one.flags
        is_overruled = bool(own_words) and is_weak and not is_decided
        if same is not None:
            self._reinforce(same, one, is_decided)
            if is_clear and not is_overruled:
                same.status = "active"
                self._supersede(rivals, same, one)
            return
        spells = [e for e in self.edges if self._is_same(e, one)]
        since = one.valid_from
        if rivals and is_clear and not is_overruled and one.polarity == 1:
            since = since or one.timestamp.date()
        new = NaiveEdge(
            one.relation, one.object, one.polarity, 1 + max((e.spell for e in spells), default=0), one.confidence,
            one.timestamp, one.mechanism, one.flags, sessions=[one.session], valid_from=since,
        )  # fmt: skip
        self.edges.append(new)
        if rivals and is_overruled:
            new.status = "superseded"
            new.superseded_by = max(rivals, key=lambda e: e.left(one.timestamp))
        elif is_clear:
            self._supersede(rivals, new, one)
        elif rivals:
            for e in [new, *rivals]:
                e.status = "contradicted"

    def _is_same(self, e: NaiveEdge, one: Said) -> bool:
        return (e.relation, e.object, e.polarity) == (one.relation, one.object, one.polarity)

    def _reinforce(self, same: NaiveEdge, one: Said, is_decided: bool) -> None:
        is_repeat = one.session in same.sessions
        if not is_repeat or is_decided:
            same.confidence = round(min(1.0, max(same.left(one.timestamp), one.confidence) + 0.10), 6)
        if not is_repeat:
            same.n += 1
        if is_decided:
            same.mechanism = "user_correction"
        same.sessions.append(one.session)
        same.last = max(same.last, one.timestamp)
        same.valid_from = same.valid_from or one.valid_from

    def _supersede(self, rivals: list[NaiveEdge], winner: NaiveEdge, one: Said) -> None:
        for e in rivals:
            e.status, e.superseded_by = "superseded", winner
            ended = one.valid_from or one.timestamp.date()
            e.valid_to = max(ended, e.valid_from or ended)  # nothing ends before it began

    def _retract(self, one: Said) -> None:
        relations = TAKEN_TOGETHER.get(one.relation, {one.relation})
        meant = [
            e
            for e in self.edges
            if e.relation in relations and e.object == one.object and e.polarity == one.polarity
            and e.status != "retracted"
        ]  # fmt: skip
        for relation in sorted({e.relation for e in meant}):
            group = [e for e in meant if e.relation == relation]
            standing = [e for e in group if e.stands]
            slot = [e for e in self.edges if self._slot(e) == self._slot(group[0])]
            doubted = [e for e in slot if e.status == "contradicted" and e not in group]
            displaced = [e for e in slot if e.status == "superseded" and any(e.superseded_by is s for s in standing)]
            for e in group:
                e.status = "retracted"
            back = [e for e in displaced if e not in group] + (doubted if standing and len(doubted) == 1 else [])
            for e in back:
                e.status, e.superseded_by, e.valid_to = "active", None, None

    def _slot(self, e: NaiveEdge) -> tuple[str, str]:
        return FAMILY.get(e.relation, e.relation), "" if e.relation in FUNCTIONAL else e.object


def naive_fold(said: list[Said]) -> set[tuple[Any, ...]]:
    found = Naive()
    order = sorted(said, key=lambda s: (s.timestamp, s.session, s.minute, s.act == "assert", s.claim_id))
    for one in order:
        found.hear(one)
    return {
        (
            e.relation, e.object, e.polarity, e.spell, round(e.confidence, 6), e.status, e.n, len(e.sessions),
            e.valid_from, e.valid_to,
        )
        for e in found.edges
    }  # fmt: skip


def as_naive(state: Folded) -> set[tuple[Any, ...]]:
    names = {entity_id(USER, name): name for name in NAMES}
    return {
        (
            e["relation"], names[e["object_id"]], e["polarity"], e["spell"], round(e["confidence"], 6), e["status"],
            e["reinforcement_count"], len(e["provenance"]), e["valid_from"], e["valid_to"],
        )
        for e in state.rows()
    }  # fmt: skip


SAID = st.builds(
    Said,
    day=st.sampled_from([0, 1, 45, 90]),
    minute=st.integers(0, 600),
    relation=st.sampled_from(["likes", "likes", "dislikes", "prefers", "lives_in", "works_at"]),
    object=st.sampled_from(NAMES),
    polarity=st.sampled_from([1, 1, 1, -1]),
    confidence=st.sampled_from([0.9, 0.8, 0.45, 0.2, 0.1]),
    hedge=st.sampled_from(["none", "none", "strong"]),
    mechanism=st.sampled_from(["explicit", "explicit", "observational", "imported", "user_correction"]),
    flags=st.sampled_from([(), (), ("secondhand",), ("sarcasm_detected",)]),
    session=st.sampled_from(["s1", "s2", "s3"]),
    valid_from=st.sampled_from([None, None, date(2025, 6, 1)]),
    act=st.sampled_from(["assert"] * 6 + ["retract"]),
    statement=st.sampled_from([None, "I like it", "I like it, for it is warm", "because I am cold, I like it", "hm"]),
)
FEW = settings(max_examples=10)  # a folded day takes some 100 ms, mostly of planning statements
LOGS = st.lists(SAID, max_size=16, unique_by=lambda s: (s.timestamp, s.session))
TOLD = st.builds(
    Told,
    type=st.sampled_from(["confirm", "retract", "correct", "recalled"]),
    payload=st.builds(
        lambda relation, name: {"relation": relation, "object": name},
        st.sampled_from(["likes", "lives_in"]),
        st.sampled_from(NAMES),
    ),
    day=st.sampled_from([0, 1, 45, 90]),
    minute=st.integers(0, 600),
)
MIXED = st.lists(st.one_of(SAID, SAID, TOLD), max_size=14, unique_by=lambda s: s.timestamp)


@pytest.mark.slow
@settings(max_examples=30)
@given(LOGS)
def test_the_sql_fold_is_the_naive_fold(said: list[Said]) -> None:
    assert as_naive(fold_days(said)) == naive_fold(said)


@pytest.mark.slow
@FEW
@given(MIXED, st.randoms(use_true_random=False))
def test_the_order_in_which_a_log_arrives_changes_nothing(said: list[Any], random: Any) -> None:
    shuffled = list(said)
    random.shuffle(shuffled)
    one, other = fold_days(said), fold_days(shuffled)
    assert one.edges.equals(other.edges)
    assert one.contradictions.equals(other.contradictions)


@pytest.mark.slow
@FEW
@given(MIXED, st.sampled_from([0, 1, 45]))
def test_a_fold_over_any_cut_of_the_log_equals_the_whole(said: list[Any], cut: int) -> None:
    whole = fold_days(said)
    first = fold_days([s for s in said if s.day <= cut])
    rest = fold_days([s for s in said if s.day > cut], first)
    assert rest.edges.equals(whole.edges)
    assert rest.contradictions.equals(whole.contradictions)


@FEW
@given(MIXED)
def test_a_functional_relation_has_one_active_value_and_every_edge_a_source(said: list[Any]) -> None:
    state = fold_days(said)
    rows = state.rows()
    for relation in ("lives_in", "works_at"):
        assert sum(r["relation"] == relation and r["status"] == "active" and r["polarity"] == 1 for r in rows) <= 1
    assert all(r["provenance"] and 0 <= r["confidence"] <= 1 for r in rows)
    assert len({op["op_id"] for op in state.ops}) == len(state.ops)
    assert {op["edge_id"] for op in state.ops} == {r["edge_id"] for r in rows}


@pytest.mark.parametrize("later", ["coffee", "milk"])
def test_one_value_holds_again_where_a_conflict_stood_upon_what_was_displaced(later: str) -> None:
    """Of what a retracted value had displaced and what was said against it later one can hold: what was said later."""
    said = [
        Told("confirm", {"relation": "lives_in", "object": "coffee"}),
        Said(relation="lives_in", object="tea", minute=1),
        Said(relation="lives_in", object=later, minute=83, confidence=0.2, flags=("sarcasm_detected",)),
        Told("retract", {"relation": "lives_in", "object": "tea"}, day=90),
    ]
    rows = fold_days(said).rows()
    (active,) = (row for row in rows if row["status"] == "active")
    assert active["object_id"] == entity_id(USER, later)
    assert sum(row["status"] == "superseded" for row in rows) == 1


def test_what_is_confirmed_after_it_ended_holds_again() -> None:
    said = [
        Said(relation="lives_in", object="coffee"),
        Said(relation="lives_in", object="tea", minute=1),
        Told("confirm", {"relation": "lives_in", "object": "coffee"}, minute=2),
    ]
    assert "confirmed: it holds again" in {op["reason"] for op in fold_days(said).ops}


@pytest.mark.parametrize(
    ("relation", "wanted"), [("parent_of", "attribute"), ("spouse_of", "attribute"), ("lives_in", "state")]
)
def test_what_lasts_does_not_fade_whatever_was_said_of_its_time(relation: str, wanted: str) -> None:
    (row,) = fold_days([Said(relation=relation, object="Tilda", kind="state")]).rows()
    assert row["temporal_type"] == wanted


OTHERS = st.builds(
    Said,
    minute=st.integers(0, 600),
    relation=st.sampled_from(["likes", "dislikes", "lives_in", "works_at"]),
    object=st.sampled_from(["tea", "Lena", "wife"]),
    subject=st.sampled_from(["user", "wife", "Lena"]),
    polarity=st.sampled_from([1, 1, -1]),
    hedge=st.sampled_from(["none", "strong"]),
    confidence=st.sampled_from([0.9, 0.45]),
    session=st.sampled_from(["s1", "s2"]),
).filter(lambda s: s.subject != s.object)


@pytest.mark.slow
@FEW
@given(st.lists(OTHERS, max_size=12, unique_by=lambda s: s.timestamp))
def test_a_merge_and_then_a_split_leave_the_graph_as_it_was(said: list[Said]) -> None:
    before = fold_days(said)
    joined = fold_days([Joined("wife", "Lena", day=1)], before)
    parted = fold_days([Joined("wife", "Lena", day=2, is_split=True)], joined)
    assert parted.edges.equals(before.edges)


def test_what_two_names_say_of_one_thing_cannot_both_stand() -> None:
    said = [
        Said(subject="wife", relation="lives_in", object="oslo"),
        Said(subject="Lena", relation="lives_in", object="tea", minute=5),
    ]
    state = fold_days([*said, Joined("wife", "Lena", day=1)])
    assert sorted(e["status"] for e in state.rows()) == ["active", "superseded"]
    assert [op["reason"] for op in state.ops if op["operation"] == "REVISE"] == [
        "two names became one thing, and of the other something else was said later"
    ]


def test_a_joined_name_reinforces_what_the_other_said() -> None:
    said = [Said(subject="wife"), Joined("wife", "Lena", day=1), Said(subject="Lena", day=2, session="s2")]
    (row,) = fold_days(said).rows()
    assert (row["subject_id"], row["reinforcement_count"]) == (entity_id(USER, "wife"), 1)


def test_ids_made_in_sql_are_those_made_in_python() -> None:
    row = fold_days([Said(object="tea")]).rows()[0]
    wanted = edge_id(USER, entity_id(USER, "user"), "likes", entity_id(USER, "tea"), None, 1, 1)
    assert row["edge_id"] == wanted


def test_a_move_supersedes_the_old_home_and_says_so() -> None:
    state = fold_days(
        [
            Said(relation="lives_in", object="tea"),
            Said(relation="lives_in", object="oslo", day=40, session="s2", valid_from=date(2026, 2, 1)),
        ]
    )
    old, new = sorted(state.rows(), key=lambda e: e["learned_at"])
    assert (old["status"], old["valid_to"], old["superseded_by"]) == ("superseded", date(2026, 2, 1), new["edge_id"])
    assert (new["status"], new["valid_from"], new["supersedes"]) == ("active", date(2026, 2, 1), old["edge_id"])
    assert [op["operation"] for op in state.ops] == ["INSERT", "REVISE", "REVISE"]


def test_what_has_to_be_verified_first_takes_no_facts_place() -> None:
    home = Said(relation="lives_in", object="oslo")
    claimed = Said(day=1, relation="lives_in", object="palace", requires_verification=True)
    state = fold_days([home, claimed])
    assert state.edges["status"].to_pylist() == ["active", "active"]
    again = fold_days([Said(day=2, relation="lives_in", object="palace", session="s2")], state).rows()
    assert {(e["object_id"], e["requires_verification"]): e["status"] for e in again} == {
        (entity_id(USER, "oslo"), False): "superseded",
        (entity_id(USER, "palace"), True): "active",
        (entity_id(USER, "palace"), False): "active",
    }
    assert len({e["edge_id"] for e in again}) == 3


def test_moving_back_is_a_second_spell() -> None:
    state = fold_days(
        [Said(relation="lives_in", object=o, day=d, session=f"s{d}") for d, o in enumerate(("tea", "oslo", "tea"))]
    )
    spells = sorted((e["spell"], e["status"]) for e in state.rows() if e["object_id"] == entity_id(USER, "tea"))
    assert spells == [(1, "superseded"), (2, "active")]


def test_a_repeat_in_the_same_session_refreshes_the_date_alone() -> None:
    row = fold_days([Said(), Said(minute=5)]).rows()[0]
    assert (row["confidence"], row["reinforcement_count"]) == (0.9, 0)
    assert row["last_reinforced"] == Said(minute=5).timestamp


def test_another_session_adds_a_tenth_to_what_is_left() -> None:
    state = fold_days([Said(confidence=0.45), Said(day=60, session="s2", confidence=0.45)])
    assert state.rows()[0]["confidence"] == pytest.approx(0.55)


def test_the_opposite_said_later_supersedes() -> None:
    state = fold_days([Said(), Said(day=3, polarity=-1, session="s2")])
    assert sorted((e["polarity"], e["status"]) for e in state.rows()) == [(-1, "active"), (1, "superseded")]


def test_what_somebody_is_called_leaves_the_full_name() -> None:
    full = Said(relation="has_name", value="Katrin Holm", kind="attribute")
    called = [
        Said(relation="has_name", value=name, attribute="nickname", day=day) for day, name in ((2, "Kat"), (4, "Rin"))
    ]
    names = {row["value"]: row["status"] for row in fold_days([full, *called]).rows()}
    assert names == {"Katrin Holm": "active", "Kat": "superseded", "Rin": "active"}


def test_disliking_ends_liking() -> None:
    state = fold_days([Said(), Said(day=3, relation="dislikes", session="s2")])
    assert {e["relation"]: e["status"] for e in state.rows()} == {"likes": "superseded", "dislikes": "active"}


def test_what_is_not_clear_leaves_both_sides_and_names_the_conflict() -> None:
    doubt = Said(day=3, relation="dislikes", hedge="strong", confidence=0.45, session="s2")
    state = fold_days([Said(), doubt])
    assert {e["relation"]: e["status"] for e in state.rows()} == {"likes": "contradicted", "dislikes": "contradicted"}
    (conflict,) = state.contradictions.to_pylist()
    assert (conflict["status"], conflict["reason"]) == ("open", "polarity")
    settled = fold_days([Said(day=5, session="s3")], state)
    assert {e["relation"]: e["status"] for e in settled.rows()} == {"likes": "active", "dislikes": "superseded"}
    assert settled.contradictions["status"].to_pylist() == ["settled"]


def test_what_others_say_never_displaces_the_users_own_word() -> None:
    own = Said(relation="lives_in", object="oslo")
    rumour = Said(day=3, relation="lives_in", object="tea", flags=("secondhand",), confidence=0.72, session="s2")
    state = fold_days([own, rumour])
    assert {e["object_id"]: e["status"] for e in state.rows()} == {
        entity_id(USER, "oslo"): "active",
        entity_id(USER, "tea"): "superseded",
    }


def revised(fact: dict[str, Any], outcome: str, **more: Any) -> Told:
    payload = {"edge_id": fact["edge_id"], "subject": "Korvel", "relation": "located_in", "object": "oslo"}
    return Told("revision", payload | {"outcome": outcome, **more}, day=100)


def test_a_fact_that_was_looked_up_and_holds_is_fresh_again() -> None:
    state = fold_days([Said(subject="Korvel", relation="located_in", object="oslo")])
    verified = fold_days([revised(state.rows()[0], "verified")], state).rows()[0]
    assert (verified["last_reinforced"], verified["confidence"]) == (START + timedelta(days=100), 0.9)
    assert fold_days([revised(state.rows()[0], "unknown")], state).edges.equals(state.edges)


def test_a_fact_that_has_changed_gives_way_to_what_holds_instead() -> None:
    state = fold_days([Said(subject="Korvel", relation="located_in", object="oslo")])
    changed = fold_days(
        [revised(state.rows()[0], "changed", new_object="Kotor", source="https://korvel.example")], state
    )
    found = {e["status"]: e for e in changed.rows()}
    assert found["superseded"]["superseded_by"] == found["active"]["edge_id"]
    assert (found["active"]["object_id"], found["active"]["confidence"]) == (entity_id(USER, "kotor"), 0.8)
    assert found["active"]["source_mechanism"] == "observational"


def test_what_is_looked_up_settles_a_conflict() -> None:
    doubt = Said(subject="Korvel", relation="located_in", object="tea", hedge="strong", confidence=0.4, minute=3)
    state = fold_days([Said(subject="Korvel", relation="located_in", object="oslo"), doubt])
    older = next(e for e in state.rows() if e["contradicts"] is None)
    settled = fold_days([revised(older, "verified")], state)
    assert {e["edge_id"] == older["edge_id"]: e["status"] for e in settled.rows()} == {
        True: "active",
        False: "superseded",
    }


def vented(day: int, session: str, **changes: Any) -> Said:
    return Said(day=day, relation="dislikes", flags=("emotional_state",), kind="episode", session=session, **changes)


def moods(state: Folded) -> list[tuple[str, float, str]]:
    return [(r["temporal_type"], r["confidence"], r["hedge_level"]) for r in state.rows() if r["flags"]]


def test_what_is_vented_in_three_conversations_is_a_trait_of_moderate_confidence() -> None:
    twice = fold_days([vented(0, "s1"), vented(1, "s1"), vented(2, "s2")])
    assert moods(twice) == [("episode", 0.9, "none")]
    thrice = fold_days([vented(3, "s3")], twice)
    assert moods(thrice) == [("trait", 0.65, "moderate")]
    assert moods(fold_days([vented(4, "s4"), vented(5, "s5")], thrice)) == [("trait", 0.65, "moderate")]


def test_what_was_vented_and_is_said_plainly_is_what_it_says() -> None:
    plainly = Said(day=1, relation="dislikes", kind="trait", session="s2")
    assert moods(fold_days([vented(0, "s1"), plainly])) == [("trait", 1.0, "none")]


@pytest.mark.slow
def test_no_outburst_takes_the_place_of_what_was_stated() -> None:
    stated = Said(relation="likes", kind="trait", session="s0")
    outbursts = [vented(day, f"s{day}") for day in range(1, 4)]
    for n in range(1, 4):
        state = fold_days([stated, *outbursts[:n]])
        assert {(r["relation"], r["status"]) for r in state.rows()} == {("likes", "active"), ("dislikes", "active")}
    again = Said(day=9, relation="likes", kind="trait", session="s9")
    rows = fold_days([stated, *outbursts, again]).rows()
    assert {(r["relation"], r["status"]) for r in rows} == {("likes", "active"), ("dislikes", "superseded")}


@pytest.mark.parametrize("kind", ["plan", pytest.param("wish", marks=pytest.mark.slow)])
def test_the_day_of_a_plan_is_the_one_that_was_given_last(kind: str) -> None:
    def planned(day: int, on: date | None) -> Said:
        return Said(day=day, relation="plans", kind=kind, valid_from=on, session=f"s{day}")

    said = [planned(0, date(2026, 3, 3)), planned(1, date(2026, 3, 10)), planned(2, None)]
    assert fold_days(said).edges["valid_from"].to_pylist() == [date(2026, 3, 10)]
    since = [Said(day=n, valid_from=date(2019 + n, 1, 1), session=f"s{n}") for n in (0, 1)]
    assert fold_days(since).edges["valid_from"].to_pylist() == [date(2019, 1, 1)]


def test_a_plan_that_is_taken_up_again_has_no_day_but_the_one_that_is_said() -> None:
    said = [Said(relation="plans", kind="plan", polarity=-1), Said(day=1, relation="plans", kind="plan")]
    (plan,) = [row for row in fold_days(said).rows() if row["polarity"] == 1]
    assert (plan["status"], plan["valid_from"], plan["valid_precision"]) == ("active", None, None)


def test_a_circle_is_kept_and_marked() -> None:
    said = [
        Said(subject="a", relation="part_of", object="b"),
        Said(subject="b", relation="part_of", object="c", minute=1),
        Said(subject="a", relation="has_part", object="c", minute=2),
    ]
    state = fold_days(said)
    statuses = {e["relation"]: e["status"] for e in state.rows() if e["relation"] == "has_part"}
    assert statuses == {"has_part": "contradicted"}
    assert "would make a thing part of, or above, itself" in {op["reason"] for op in state.ops}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("user", "parent_of", "Freja"), ("Freja", "child_of", "user")),
        pytest.param(("user", "spouse_of", "Lena"), ("Lena", "spouse_of", "user"), marks=pytest.mark.slow),
        pytest.param(("Lena", "sibling_of", "Tom"), ("Tom", "sibling_of", "Lena"), marks=pytest.mark.slow),
        (("Ida", "manages", "user"), ("user", "reports_to", "Ida")),
    ],
    ids=str,
)
def test_a_fact_stated_from_its_other_end_is_the_same_fact(first: Any, second: Any) -> None:
    said = [
        Said(subject=s, relation=r, object=o, day=d, session=f"s{d}") for d, (s, r, o) in enumerate((first, second))
    ]
    (row,) = fold_days(said).rows()
    assert (row["relation"], row["reinforcement_count"]) == (first[1], 1)


def test_what_was_archived_for_half_a_year_is_gone() -> None:
    state = fold_days([Said(confidence=0.15)])
    # 0.05 a month: below 0.10 after 31 days, purged 180 days later.
    kept = fold_days([Said(day=210, object="coffee")], state)
    assert len(kept.rows()) == 2
    gone = fold_days([Said(day=211, object="oslo")], kept)
    assert entity_id(USER, "tea") not in {e["object_id"] for e in gone.rows()}


@pytest.mark.slow
def test_a_fact_keeps_the_statement_that_says_why_else_the_longest() -> None:
    words = ["I like tea because it is warm", "I like tea, with a lot of milk and some sugar in it", "I like tea", None]
    for order in (words, words[::-1], [words[2], words[0], words[3], words[1]]):
        said = [Said(day=n, session=f"s{n}", statement=text) for n, text in enumerate(order)]
        (row,) = fold_days(said).rows()
        assert row["statement"] == words[0]
    (row,) = fold_days([Said(statement=words[2]), Said(day=1, session="s2", statement=words[1])]).rows()
    assert row["statement"] == words[1]


@pytest.mark.parametrize("key", ["favorite color", "favorite_color", "Favourite Colour"])
def test_an_attribute_in_another_spelling_is_the_same_attribute(key: str) -> None:
    told = Said(relation="has_attribute", attribute="favourite colour", value="teal", kind="attribute")
    again = replace(told, attribute=key, day=2, session="s2")
    (same,) = fold_days([told, again]).rows()
    assert (same["attribute"], same["reinforcement_count"]) == ("favourite colour", 1)
    changed = fold_days([told, replace(again, value="red")]).rows()
    assert {row["value"]: row["status"] for row in changed} == {"teal": "superseded", "red": "active"}


@pytest.mark.parametrize("text", ["Organisation_of a licence", "theatre dialogue", "Traveller's tree", "Ölmühle", ""])
def test_attributes_are_compared_alike_in_both_folds(text: str) -> None:
    with connect() as connection:
        install_edge_macros(connection)
        assert connection.execute("SELECT attribute_key(?)", [text]).fetchone() == (attribute_key(text),)
