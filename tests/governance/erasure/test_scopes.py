"""Each scope on a whole home: what was erased is nowhere, what was not is everywhere, and it stays so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.governance.corrections import Corrections
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

from .conftest import IVO, NORA, World, feedback, lines

Seen = Callable[[str], list[str]]
TORVALD = {("user", "knows", "Torvald"), ("Torvald", "works_at", "aquarium"), ("Torvald", "likes", "herring")}


def of_ivo(world: World) -> Any:
    stands = {place.split("/")[0] for place in world.places("cloudberries", of="ivo")}
    return world.facts("ivo"), world.messages("ivo"), world.answers("ivo"), stands


def land_again(world: World) -> None:
    """The same logs, and a larger one that holds them, read from scratch by other code."""
    for user, said in (("nora", NORA), ("ivo", IVO)):
        world.land(*lines(user, said), name=f"again-{user}.jsonl")
    later = ("s8", "2026-03-25T09:00:00Z", "user", "I like waffles.")
    world.land(*lines("nora", (*NORA, later)), name="larger.jsonl")
    world.run_full()
    other = Pipeline(load_settings(home=world.home.path, safety={"is_health_enabled": True}))
    assert other.extractor.version != world.home.extractor.version
    World(other, world.folder).run_full()


@pytest.mark.slow
def test_an_entity_goes_with_its_facts_and_nothing_else_does(world: World, seen: Seen) -> None:
    before, others = world.facts("nora"), of_ivo(world)
    assert before >= TORVALD
    assert seen("torvald")
    certificate = world.forget("nora", entity="Torvald")
    assert seen("torvald") == []
    assert world.facts("nora") == before - TORVALD
    assert of_ivo(world) == others
    assert (certificate.result, certificate.n_found_after) == ("erased", 0)
    land_again(world)
    assert seen("torvald") == []
    assert world.facts("nora") == (before - TORVALD) | {("user", "likes", "waffles")}
    assert of_ivo(world)[:2] == others[:2]


@pytest.mark.slow
def test_an_entity_goes_by_any_of_its_names(world: World, seen: Seen) -> None:
    before = world.facts("nora")
    world.forget("nora", entity="wife")
    for word in ("ylva", "cloudberries", "nordlys", "forty"):
        assert seen(word) == [], word
    gone = {fact for fact in before if "Ylva" in fact}
    assert gone
    assert world.facts("nora") == before - gone


@pytest.mark.slow
def test_a_fact_goes_with_what_is_known_of_nothing_else(world: World, seen: Seen) -> None:
    before, others = world.facts("nora"), of_ivo(world)
    fact = ("Torvald", "works_at", "aquarium")
    world.forget("nora", fact=world.edge_id("nora", *fact))
    assert world.facts("nora") == before - {fact}
    assert seen("aquarium") == []
    assert of_ivo(world) == others
    land_again(world)
    assert world.facts("nora") == (before - {fact}) | {("user", "likes", "waffles")}
    assert seen("aquarium") == []


@pytest.mark.slow
def test_a_fact_goes_wherever_it_was_said(world: World, seen: Seen) -> None:
    before = world.facts("nora")
    fact = ("user", "owns", "Fender Rhodes")
    world.forget("nora", fact=world.edge_id("nora", *fact))
    assert world.facts("nora") == before - {fact}
    assert seen("rhodes") == []


@pytest.mark.slow
def test_a_session_goes_and_what_others_said_stays(world: World, seen: Seen) -> None:
    before, others = world.facts("nora"), of_ivo(world)
    certificate = world.forget("nora", session="s1")
    assert seen("'s1'") == []
    assert seen("zither") == []
    left = world.facts("nora")
    assert left == before - (TORVALD - {("Torvald", "likes", "herring")})  # which feedback says, of no session
    assert ("user", "owns", "Fender Rhodes") in left  # s3 says it, too
    assert of_ivo(world) == others
    assert certificate.n_records_removed == {"interactions": 3, "skill_invocations": 1}
    land_again(world)
    assert seen("'s1'") == []
    assert world.facts("nora") == left | {("user", "likes", "waffles")}


def test_a_user_goes_whole(world: World) -> None:
    others = of_ivo(world)
    assert world.places("nora")
    world.forget("nora", user="")
    assert world.places("nora") == []
    assert of_ivo(world) == others
    report = world.land(*lines("nora", NORA), name="nora.jsonl")
    assert (report.n_landed, report.n_erased, report.n_rows) == (0, len(NORA), len(NORA))
    land_again(world)
    assert world.places("nora") == []
    assert of_ivo(world)[:2] == others[:2]


@pytest.mark.slow
def test_what_is_said_later_is_new_knowledge(world: World) -> None:
    world.forget("nora", entity="Torvald")
    later = ("s7", "2026-05-01T12:30:00Z", "user", "My friend Torvald works at the harbour.")
    assert world.land(*lines("nora", (later,))).n_landed == 1
    world.make()
    assert ("Torvald", "works_at", "harbour") in world.facts("nora", "2026-05-02")
    assert ("Torvald", "works_at", "aquarium") not in world.facts("nora", "2026-05-02")


@pytest.mark.slow
def test_an_older_message_that_lands_later_is_cut(world: World, seen: Seen) -> None:
    world.forget("nora", entity="Torvald")
    older = (
        ("s0", "2026-02-01T09:00:00Z", "user", "Torvald has a boat. I like waffles."),
        ("s0", "2026-02-01T09:01:00Z", "assistant", "Waffles, and TORVALD's boat!"),
    )
    report = world.land(*lines("nora", older))
    assert (report.n_landed, report.holds_erased) == (2, True)
    assert world.messages("nora", "s0") == ["[…] I like waffles.", "[…]"]
    assert world.land(*lines("nora", older)).n_duplicates == 2
    world.make()
    assert seen("torvald") == []
    assert ("user", "likes", "waffles") in world.facts("nora")


@pytest.mark.slow
def test_an_older_message_that_states_an_erased_fact_states_it_no_more(world: World) -> None:
    world.land(*lines("nora", (("s4", "2026-03-23T09:00:00Z", "user", "I tune the Fender Rhodes weekly."),)))
    world.make()
    world.forget("nora", fact=world.edge_id("nora", "user", "owns", "Fender Rhodes"))
    world.land(*lines("nora", (("s0", "2026-02-01T09:00:00Z", "user", "I own a Fender Rhodes."),)))
    world.make()
    assert ("user", "owns", "Fender Rhodes") not in world.facts("nora")


@pytest.mark.slow
def test_memory_after_an_erasure_is_a_function_of_log_and_record(world: World) -> None:
    world.forget("nora", entity="Torvald")
    before = state_hash(world.home.store, world.home.settings.decay)
    world.run_full()
    assert state_hash(world.home.store, world.home.settings.decay) == before


@pytest.mark.parametrize(
    ("who", "scope", "hint"),
    [
        ("nobody", {"user": ""}, "nobody"),
        ("nora", {"entity": "Torwald"}, "Torvald"),
        ("nora", {"fact": "edge_00000000000000000000"}, "no fact"),
        ("nora", {"session": "s77"}, "s77"),
        ("nora", {"entity": "user"}, "--all"),
    ],
)
def test_what_nobody_knows_changes_nothing(world: World, who: str, scope: dict[str, str], hint: str) -> None:
    files = {p: p.read_bytes() for p in world.home.path.rglob("*") if p.is_file() and "lock" not in p.name}
    with pytest.raises(UsageError, match=hint):
        world.forget(who, **scope)
    assert {p: p.read_bytes() for p in files} == files
    assert world.home.book.pending() == []


@pytest.mark.slow
def test_feedback_loses_what_it_says_of_the_erased_alone(world: World) -> None:
    world.forget("nora", entity="Torvald")
    log = world.home.store.log
    left = [r for d in log.days("feedback") for r in log.read("feedback", d) if r["user_id"] == "nora"]
    assert [r["type"] for r in left] == ["add_facts"]
    assert "rye bread" in left[0]["payload"]
    again = feedback(
        "nora", "recalled", "2026-03-21T08:00:00Z", subject="Torvald", relation="works_at", object="aquarium"
    )
    assert world.land(again).n_erased == 1


@pytest.mark.slow
def test_a_fact_that_was_told_again_in_another_relation_is_erased_with_both_tellings(empty: World) -> None:
    said = (
        ("s1", "2026-04-01T09:00:00Z", "user", "I play the bassoon."),
        ("s2", "2026-04-02T09:00:00Z", "user", "I like playing the bassoon."),
    )
    empty.land(*lines("ada", said))
    empty.make()
    assert empty.facts("ada") == {("user", "did", "bassoon")}
    empty.forget("ada", fact=empty.edge_id("ada", "user", "did", "bassoon"))
    empty.make()
    assert empty.facts("ada") == set()


@pytest.mark.slow
def test_a_service_that_was_moved_to_stays_erased_though_it_was_read_as_a_place(empty: World) -> None:
    said = (
        ("s1", "2026-03-01T09:00:00Z", "user", "We use Turku for our backups."),
        ("s2", "2026-03-05T09:00:00Z", "user", "We moved from Turku to Graz."),
    )
    empty.land(*lines("ada", said))
    empty.make()
    assert empty.facts("ada") == {("user", "uses", "Graz"), ("user", "uses", "Turku")}  # the latter is denied
    empty.forget("ada", fact=empty.edge_id("ada", "user", "uses", "Graz"))
    empty.run_full()
    assert empty.facts("ada") == {("user", "uses", "Turku")}
    assert empty.messages("ada", "s2") == ["[…] We moved from Turku. […]"]


@pytest.mark.slow
def test_a_sentence_beside_a_fact_goes_with_the_name_in_it(empty: World) -> None:
    empty.land(
        *lines("nora", (("s1", "2026-03-02T08:00:00Z", "user", "I moved to Tromsø because Torvald found work there."),
                        ("s1", "2026-03-02T08:01:00Z", "user", "My friend Torvald lives in Bergen. I like knitting."))),
        feedback("nora", "add_facts", "2026-03-03T09:00:00Z", facts=[
            {"relation": "likes", "object": "rye bread", "statement": "rye bread, for Torvald bakes it"},
            {"relation": "likes", "object": "waffles", "statement": "waffles on Sundays"},
        ]),
    )  # fmt: skip
    empty.make()
    assert [place for place in empty.places("torvald") if place.startswith("lake/edges")]
    certificate = empty.forget("nora", entity="Torvald")
    assert (certificate.result, certificate.n_found_after) == ("erased", 0)
    assert empty.places("torvald") == []
    assert {("user", "likes", "knitting"), ("user", "likes", "waffles")} <= empty.facts("nora")


def among(speaker: str, content: str, turn: int) -> dict[str, Any]:
    """A message of a chat of three."""
    (said,) = lines("ada", (("s1", f"2026-03-02T10:{turn:02d}:00Z", "user", content),))
    whose = "user" if speaker == "Ada" else speaker
    return {**said, "turn_number": turn, "participants": ["Ada", "Katya", "Bea"], "speaker": speaker, "subject": whose}


@pytest.fixture
def chat(tmp_path: Path) -> World:
    made = World(Pipeline(load_settings(home=tmp_path / "home")), tmp_path)
    made.land(
        among("Ada", "Hello you two! I live in Tartu.", 0), among("Katya", "My dad lives in Ghent.", 1),
        among("Bea", "My brother lives in Utrecht.", 2), among("Katya", "My brother lives in Lyon.", 3),
    )  # fmt: skip
    made.make()
    return made


def test_a_bare_role_means_whoever_is_that_to_its_only_owner(chat: World) -> None:
    assert ("Katya's dad", "lives_in", "Ghent") in chat.facts("ada")
    chat.forget("ada", entity="dad")
    assert not [fact for fact in chat.facts("ada") if "Katya's dad" in fact]
    assert not [text for text in chat.messages("ada") if "Ghent" in text]
    assert ("user", "lives_in", "Tartu") in chat.facts("ada")


def test_whose_a_bare_role_of_several_is_has_to_be_said(chat: World) -> None:
    before = chat.facts("ada")
    with pytest.raises(UsageError, match=r"Bea's brother, Katya's brother; say whose"):
        chat.forget("ada", entity="brother")
    assert chat.facts("ada") == before


def test_a_fact_named_by_a_bare_role_is_that_of_its_only_owner(chat: World) -> None:
    said = Corrections(chat.home, "ada")
    said.retract({"subject": "dad", "relation": "lives_in", "object": "Ghent"})
    assert not said.matching("Ghent")
    chat.make()
    assert not said.matching("Ghent")
    with pytest.raises(UsageError, match=r"Bea's brother, Katya's brother; say whose"):
        said.correct({"subject": "brother", "relation": "lives_in"}, "Metz")
