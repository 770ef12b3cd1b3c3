"""A request that waits says nothing of what it takes away, and those that once did are sealed and carried out."""

import re
from dataclasses import asdict
from typing import Any

import orjson
import pytest

from em_pipelines.governance.erasure.forget import carry_out
from em_pipelines.landing.erasure_requests import Request, Scope, ScopeKind, as_document
from em_pipelines.landing.planned_cuts import Cut, joined, pieces_of
from em_pipelines.language.name_matching import MARKER
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.planning import plan
from em_pipelines.redaction.veils import hidden
from em_pipelines.schema.table import Record
from em_pipelines.settings import load_settings
from em_pipelines.storage.salt import Salt
from em_pipelines.storage.sealed_texts import SentenceIndex, sealed, sealed_as_before, sealed_runs
from em_pipelines.storage.tombstones import MESSAGE

from .conftest import NORA, NOW, World, feedback, lines
from .test_crash import KilledError, kill_at

SCOPES = (
    ("entity", "Torvald"),
    *(
        pytest.param(kind, target, marks=pytest.mark.slow)
        for kind, target in (
            ("fact", ("Torvald", "works_at", "aquarium")), ("entity", "wife"), ("session", "s2"), ("user", "")
        )
    ),
)  # fmt: skip
SAID = {word.casefold() for *_, text in NORA for word in re.findall(r"\w{4,}", text)}
OWN = set(re.findall(r"\w+", str(as_document(Request("", Scope(ScopeKind.USER, ""), NOW)))))


def written(world: World) -> str:
    (path,) = world.home.book.pending_folder.glob("*.json")
    return path.read_text(encoding="utf-8")


def words_in(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w{4,}", text)} & (SAID - OWN)


def scope_of(world: World, kind: str, target: Any) -> Scope:
    return Scope(ScopeKind(kind), "nora", world.edge_id("nora", *target) if kind == "fact" else target)


@pytest.mark.parametrize(("kind", "target"), SCOPES)
def test_what_is_written_down_has_no_word_of_what_was_said(world: World, kind: str, target: Any) -> None:
    home = world.home
    request = home.book.request(scope_of(world, kind, target), NOW, "user")
    planned = request.with_plan(plan(home, request)[0])
    assert planned.plan is not None
    assert planned.plan.is_found
    for one in (request, planned):
        home.book.put(one)
        assert words_in(written(world)) == set()
        assert home.book.pending() == [one]


def test_a_request_of_a_log_keeps_no_name(world: World) -> None:
    world.land(feedback("nora", "forget", "2026-04-01T09:00:00Z", entity="Torvald"), name="ask.jsonl")
    assert "torvald" not in written(world).casefold()
    assert ("user", "knows", "Torvald") in world.facts("nora")
    assert any(veil.names.is_name("torvald") for veil in hidden(world.home, "nora"))


def test_a_fact_that_is_asked_for_by_words_keeps_none_of_them(world: World) -> None:
    asked = feedback("nora", "forget", "2026-04-01T09:00:00Z", edge_id="the one about Torvald")
    world.land(asked, name="ask.jsonl")
    assert "torvald" not in written(world).casefold()
    (done,) = world.carry_out()
    assert done.result == "nothing_found"


def clear_document(world: World, request: Request, names: list[str]) -> dict[str, Any]:
    """A planned request as it was written before names, sentences and messages were sealed."""
    made = request.plan
    assert made is not None
    home = world.home
    messages: dict[str, Record] = {}
    for day in home.store.log.days("interactions"):
        for record in home.store.log.read("interactions", day):
            place = (record["session_id"], str(record["turn_number"]))
            cut = made.cuts.get(home.tombstones.of(MESSAGE, record["user_id"], *place, until="").key)
            if cut:
                messages["\x1f".join(place)] = cut.of(record, home.book.names(request), home.salt)
    texts = ["My flatmate Torvald works at the aquarium.", "Say hello to Torvald from me."]
    said = {
        "names": names, "facts": [], "ids": list(made.ids), "edge_ids": list(made.edge_ids), "messages": messages,
        "records": [], "texts": texts, "days": [day.isoformat() for day in made.days], "is_found": True,
    }  # fmt: skip
    return clear_asked(request) | {"plan": said}


def clear_asked(request: Request) -> dict[str, Any]:
    return {
        "request_id": request.request_id, "kind": "entity", "user_id": "nora", "target": "Torvald",
        "cutoff": request.until, "actor": "user", "plan": None,
    }  # fmt: skip


def put_clear(world: World, document: dict[str, Any]) -> None:
    folder = world.home.book.pending_folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{document['request_id']}.json").write_bytes(orjson.dumps(document))


CLEAR = ((None, True), ("rewrite_log", True), ("remake", True), (None, False))


@pytest.mark.slow
@pytest.mark.parametrize(("killed_before", "is_planned"), CLEAR)
def test_a_request_in_clear_is_sealed_and_carried_out(
    world: World, killed_before: str | None, is_planned: bool
) -> None:
    home, before = world.home, world.facts("nora")
    request = home.book.request(Scope(ScopeKind.ENTITY, "nora", "Torvald"), NOW, "user")
    planned = request.with_plan(plan(home, request)[0])
    document = clear_document(world, planned, ["Torvald"]) if is_planned else clear_asked(request)
    if killed_before:
        home.book.put(planned)
        for _ in kill_at(killed_before):
            with pytest.raises(KilledError):
                world.carry_out()
    put_clear(world, document)
    (veil,) = hidden(home, "nora")
    assert veil.names.is_name("torvald")
    for _ in kill_at("rewrite_log"):
        with pytest.raises(KilledError):
            world.carry_out()
    assert words_in(written(world)) == set()
    again = Pipeline(load_settings(home=home.path))
    with again.lock("run"):
        (done,) = carry_out(again)
    assert done.certificate_id == request.request_id
    assert world.places("torvald", of="nora") == []
    assert world.facts("nora") == {fact for fact in before if "Torvald" not in fact}


def test_pieces_give_back_what_is_left_of_a_text() -> None:
    text = "I live in Bergen. My flatmate Torvald plays, and I own a boat! Äpfel sind gut."
    for left in (
        text, "", MARKER, f"I live in Bergen. {MARKER}", f"{MARKER} I own a boat! {MARKER} gut.", f"{MARKER}. {MARKER}",
    ):  # fmt: skip
        pieces = pieces_of(text, left)
        assert joined(text, pieces) == left
        assert not [piece for piece in pieces if isinstance(piece, str) and piece.isalnum()]
    assert joined("abc", pieces_of("abc", "abz")) == f"ab{MARKER}"


BOUNDARY = ("s1", "2026-03-02T08:00:00Z", "user", "Edda told Mr. Osei that she is ill. I row.")


@pytest.mark.slow
def test_what_an_earlier_version_planned_keeps_its_boundaries_and_stays_away(empty: World) -> None:
    home, left = empty.home, f"{MARKER} Osei that she is ill. I row."
    empty.land(*lines("nora", (BOUNDARY,)))
    empty.make()
    request = home.book.request(Scope(ScopeKind.ENTITY, "nora", "Edda"), NOW, "user")
    document = as_document(request.with_plan(plan(home, request)[0]))
    sentence = sealed_as_before("Edda told Mr. Osei", home.salt)
    assert sentence is not None
    hashes = {name: value for name, value in asdict(sentence).items() if name != "n_all"}
    (key,) = document["plan"]["cuts"]
    document["plan"]["cuts"] = {key: Cut.between(BOUNDARY[-1], left, home.salt).as_document()}
    document["plan"] = {**document["plan"], "sentences": [hashes]}
    del document["plan"]["runs"]
    put_clear(empty, {**document, "version": 2})
    (done,) = empty.carry_out()
    assert (done.result, done.n_found_after) == ("erased", 0)
    assert empty.messages("nora") == [left]
    again = empty.land(*lines("nora", (BOUNDARY,)), name="again.jsonl")
    assert (again.n_landed, again.n_duplicates) == (0, 1)
    assert empty.messages("nora") == [left]


def test_a_sentence_of_an_earlier_version_is_recognised_by_its_characters(tmp_path: Any) -> None:
    salt = Salt(tmp_path / "salt")
    before = sealed_as_before("“My flatmate plays!”", salt)
    assert before is not None
    index = SentenceIndex([before], salt)
    assert index.is_in("He wrote: “My flatmate plays!” And more.")
    assert not index.is_in("He wrote: My flatmate plays. And more.")


def test_what_is_left_of_a_sentence_is_recognised_by_a_run_of_its_words(tmp_path: Any) -> None:
    salt = Salt(tmp_path / "salt")
    gone, kept = ["Edda told Mr. Osei that she is ill.", "I think that it is good."], ["We know that it is good."]
    index = SentenceIndex((), salt, sealed_runs(gone, kept, salt))
    assert index.is_in_part("[…] OSEI, that she is\nill")
    assert not index.is_in_part("that she is ill")
    assert not index.is_in_part("We know that it is good.")
    assert not index.is_in("Osei that she is ill")


def test_a_sentence_is_recognised_by_its_hashes_alone(tmp_path: Any) -> None:
    salt = Salt(tmp_path / "salt")
    said = (
        "My flatmate Torvald works at the aquarium.",
        "“Supercalifragilistic expialidocious!”",
        "我住在北京的一个很小的房子里面。",
    )
    index = SentenceIndex(filter(None, (sealed(text, salt) for text in said)), salt)
    for text in said:
        assert index.is_in(f"He wrote: {text} And more.")
        (span,) = index.spans(f"At first. {text}")
        assert f"At first. {text}"[span.start : span.end] == text.strip("“”.!。")
        assert index.is_in(text.upper()[:-1] + "?")
    assert not index.is_in("My flatmate Torvald works at the harbour.")
    assert sealed("…", salt) is None
    assert not SentenceIndex((), salt).is_in(said[0])
