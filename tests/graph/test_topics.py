"""Which active facts a retraction in a message means where it names a thing and no fact: both folds decide alike."""

from dataclasses import replace

import pytest

from em_pipelines.schema.ids import entity_id
from em_pipelines.schema.vocabulary import LAST_TOLD
from tests.folding.log import USER, Folded, Said, fold_days

NAMES = {
    entity_id(USER, name): name for name in ("user", "berit", "oak stools", "herring", "odd", "raft", "fern street")
}
FORGET = Said(
    act="retract", relation="relates_to", value="oak stools", mechanism="user_correction", day=20, session="x"
)


def statuses(state: Folded) -> dict[tuple[str, str, str], str]:
    return {
        (NAMES[row["subject_id"]], row["relation"], NAMES.get(row["object_id"]) or row["value"]): row["status"]
        for row in state.rows()
    }


def reasons(state: Folded) -> set[str]:
    return {op["reason"] for op in state.ops if op["operation"] == "CONTRADICT"}


STOOLS = Said(subject="berit", object="oak stools", statement="Berit likes oak stools")


def test_a_retraction_meets_the_fact_about_the_thing_whoever_its_subject_is() -> None:
    state = fold_days([STOOLS, Said(object="herring"), FORGET])
    assert statuses(state) == {("berit", "likes", "oak stools"): "retracted", ("user", "likes", "herring"): "active"}


def test_a_thing_is_known_by_other_forms_of_its_words() -> None:
    state = fold_days([STOOLS, replace(FORGET, value="the oak stool")])
    assert set(statuses(state).values()) == {"retracted"}


def test_what_the_topic_says_and_no_fact_says_is_not_retracted() -> None:
    """The raft is owned all the same, whatever was said of selling it."""
    raft = Said(relation="owns", object="raft", statement="I own a raft")
    state = fold_days([raft, replace(FORGET, value="selling the raft")])
    assert statuses(state) == {("user", "owns", "raft"): "active"}


def test_one_statement_that_gave_several_facts_is_retracted_whole() -> None:
    both = [
        Said(subject="berit", relation="owns", object="oak stools"),
        Said(relation="likes", object="oak stools"),
    ]
    assert set(statuses(fold_days([*both, FORGET])).values()) == {"retracted"}


def test_where_statements_of_several_conversations_fit_none_is_retracted_and_the_conflict_is_open() -> None:
    state = fold_days([STOOLS, Said(relation="wants", object="oak stools", day=3, session="s2"), FORGET])
    assert set(statuses(state).values()) == {"contradicted"}
    (conflict,) = state.contradictions.to_pylist()
    assert (conflict["status"], conflict["reason"]) == ("open", "retraction")
    assert reasons(state) == {"a retraction fits it and other facts alike"}


def test_saying_one_of_them_again_decides() -> None:
    wanted = Said(relation="wants", object="oak stools", day=3, session="s2")
    state = fold_days([STOOLS, wanted, FORGET, replace(wanted, day=25, session="s9")])
    assert statuses(state)["user", "wants", "oak stools"] == "active"
    assert state.contradictions["status"].to_pylist() == ["settled"]


def test_retracting_one_of_them_decides_for_the_others() -> None:
    wanted = Said(relation="wants", object="oak stools", day=3, session="s2")
    used = Said(relation="uses", object="oak stools", subject="odd", day=5, session="s3")
    sure = Said(act="retract", object="oak stools", subject="berit", mechanism="user_correction", day=25, session="s9")
    state = fold_days([STOOLS, wanted, used, FORGET, sure])
    assert statuses(state) == {
        ("berit", "likes", "oak stools"): "retracted",
        ("user", "wants", "oak stools"): "active",
        ("odd", "uses", "oak stools"): "active",
    }
    assert set(state.contradictions["status"].to_pylist()) == {"settled"}


def test_of_one_conversation_the_latest_statement_is_meant() -> None:
    wanted = Said(relation="wants", object="oak stools", minute=3)
    state = fold_days([STOOLS, wanted, replace(FORGET, day=0, minute=5, session="s1")])
    assert statuses(state) == {("berit", "likes", "oak stools"): "active", ("user", "wants", "oak stools"): "retracted"}


def test_the_conversation_goes_before_what_was_said_elsewhere() -> None:
    wanted = Said(relation="wants", object="oak stools", day=20, session="x")
    state = fold_days([STOOLS, wanted, replace(FORGET, minute=5)])
    assert statuses(state) == {("berit", "likes", "oak stools"): "active", ("user", "wants", "oak stools"): "retracted"}


def test_what_is_said_after_a_retraction_is_not_meant_by_it() -> None:
    state = fold_days([replace(FORGET, day=0), replace(STOOLS, minute=9)])
    assert set(statuses(state).values()) == {"active"}


def test_a_named_subject_says_whose_fact_is_meant() -> None:
    other = Said(relation="wants", object="oak stools", day=3, session="s2")
    state = fold_days([STOOLS, other, replace(FORGET, subject="berit")])
    assert statuses(state) == {("berit", "likes", "oak stools"): "retracted", ("user", "wants", "oak stools"): "active"}


@pytest.mark.parametrize("topic", ["Berit and oak stools", "Berit's oak stools"])
def test_a_topic_of_two_names_both_ends(topic: str) -> None:
    other = Said(relation="wants", object="oak stools", day=3, session="s2")
    state = fold_days([STOOLS, other, replace(FORGET, value=topic)])
    assert statuses(state)["berit", "likes", "oak stools"] == "retracted"
    assert statuses(state)["user", "wants", "oak stools"] == "active"


def test_somebody_is_a_topic_and_stays_known() -> None:
    kin = Said(relation="sibling_of", object="berit")
    assert statuses(fold_days([kin, STOOLS, replace(FORGET, value="Berit")])) == {
        ("user", "sibling_of", "berit"): "active",
        ("berit", "likes", "oak stools"): "retracted",
    }


def test_everything_about_somebody_goes_with_who_they_are() -> None:
    kin = Said(relation="sibling_of", object="berit")
    everything = replace(FORGET, act="retract_all", value="Berit")
    state = fold_days([kin, replace(STOOLS, day=2, session="s2"), Said(object="herring"), everything])
    assert {fact for fact, status in statuses(state).items() if status == "active"} == {("user", "likes", "herring")}


def test_an_attribute_is_a_topic() -> None:
    """And so is what a relation is called."""
    badge = Said(relation="has_attribute", attribute="badge number", value="44")
    born = Said(relation="has_birthday", value="05-04")
    state = fold_days([badge, born, replace(FORGET, value="my badge number")])
    assert statuses(state) == {
        ("user", "has_attribute", "44"): "retracted",
        ("user", "has_birthday", "05-04"): "active",
    }
    state = fold_days([badge, born, replace(FORGET, value="my birthday")])
    assert statuses(state)["user", "has_birthday", "05-04"] == "retracted"


def test_a_topic_that_names_nothing_known_retracts_nothing() -> None:
    assert set(statuses(fold_days([STOOLS, replace(FORGET, value="it")])).values()) == {"active"}
    assert set(statuses(fold_days([STOOLS, replace(FORGET, value="the piano")])).values()) == {"active"}


THAT = replace(FORGET, value=LAST_TOLD)


def test_the_last_thing_told_is_meant_where_a_conversation_begins_so() -> None:
    state = fold_days([STOOLS, Said(object="herring", day=3, session="s2"), THAT])
    assert statuses(state) == {("berit", "likes", "oak stools"): "active", ("user", "likes", "herring"): "retracted"}


def test_where_several_things_were_told_last_none_is_retracted() -> None:
    told = [Said(object="herring", day=3, session="s2"), Said(relation="owns", object="raft", day=3, session="s2")]
    state = fold_days([STOOLS, *told, THAT])
    assert statuses(state) == {
        ("berit", "likes", "oak stools"): "active",
        ("user", "likes", "herring"): "contradicted",
        ("user", "owns", "raft"): "contradicted",
    }


def test_what_was_imported_since_was_not_told() -> None:
    state = fold_days([STOOLS, Said(object="herring", day=3, session="s2", mechanism="imported"), THAT])
    assert statuses(state) == {("berit", "likes", "oak stools"): "retracted", ("user", "likes", "herring"): "active"}
