"""What goes out comes in again: the same records, the same memory."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.errors import ErasureIncompleteError, UsageError
from em_pipelines.governance.erasure.forget import carry_out
from em_pipelines.governance.erasure.forget import forget as forget_scope
from em_pipelines.landing.dead_letters import discard, open_letters
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.serving.export.records import records_of

from .conftest import NOW, TODAY, Line, World, log_of, said

Other = Callable[[str], World]


def records(world: World, user: str) -> list[tuple[str, dict[str, object]]]:
    return list(records_of(world.home.store.log, user, world.home.path))


def forget(world: World, who: str, **scope: str) -> None:
    ((kind, target),) = scope.items()
    forget_scope(world.home, Scope(ScopeKind(kind), who, target), now=NOW)


@pytest.mark.slow
def test_an_empty_home_comes_to_the_state_of_one_that_holds_the_user_alone(world: World, other: Other) -> None:
    alone = other("alone")
    alone.land(*log_of("nora"), name="nora/log.jsonl")
    alone.make()
    new = other("new")
    done = new.take(world.export("nora"))
    new.make()
    assert (done.landing.n_landed, done.n_letters) == (9, 2)
    assert new.hashes() == alone.hashes()
    assert records(new, "nora") == records(alone, "nora") == records(world, "nora")
    assert new.export("nora") == alone.export("nora") == world.export("nora")


def test_everything_of_the_user_is_in_it_and_nothing_of_others(world: World) -> None:
    found = orjson.loads(world.export("nora"))
    assert found["counts"] == {"interactions": 6, "skill_invocations": 1, "feedback": 2, "dead_letters": 2}
    assert {k: len(v) for k, v in found["records"].items()} == found["counts"]
    assert {r["user_id"] for kind in ("interactions", "feedback") for r in found["records"][kind]} == {"nora"}
    facts = {(f["subject"], f["relation"], f["object"]): f for f in found["memory"]["facts"]}
    bergen, tromso = facts["user", "lives_in", "Bergen"], facts["user", "lives_in", "Tromsø"]
    assert (bergen["status"], tromso["status"]) == ("superseded", "active")
    assert tromso["provenance"] == [{"session_id": "s2", "turn_number": 1, "said_on": "2026-03-05"}]
    assert facts["user", "likes", "rye bread"]["provenance"][0]["said_on"] == "2026-03-21"
    assert bergen["superseded_by"] == tromso["edge_id"]
    names = {entity["entity_id"]: entity["name"] for entity in found["memory"]["entities"]}
    assert names[tromso["object_id"]] == "Tromsø"
    assert names[tromso["subject_id"]] == "user"


def test_nothing_of_the_home_or_of_secrets_is_in_it(world: World, tmp_path: Path) -> None:
    world.export("nora")  # so that the ledger has hashes
    dropped = world.home.inbox / "nora" / "bad.bin"
    dropped.parent.mkdir(parents=True)
    dropped.write_bytes(b"\x00\x01\x02")
    gone = world.home.inbox / "nora" / "gone.json"
    gone.write_text("{")
    for path in (dropped, gone):
        land([path], world.home.store.log, now=NOW, settings=world.home.settings.landing, user_id="nora")
    data = world.export("nora")
    assert orjson.loads(data)["counts"]["dead_letters"] == 4
    ledger = [orjson.loads(line) for line in (world.home.record / "ledger.jsonl").read_bytes().splitlines()]
    hashes = {entry[name] for entry in ledger for name in ("user", "target", "hash", "seal", "previous_hash")}
    salt = (world.home.record / "salt").read_bytes()
    hidden = [*hashes, salt.hex(), str(world.home.path), str(tmp_path), "hunter22secret", "ivo"]
    assert [text for text in hidden if text.encode() in data] == []
    assert salt not in data


def test_importing_twice_changes_nothing(world: World, other: Other) -> None:
    data = world.export("nora")
    new = other("new")
    new.take(data)
    before = new.log()
    again = new.take(data, name="renamed.json")
    assert new.log() == before
    assert (again.landing.n_landed, again.landing.n_duplicates, again.n_letters, again.n_known_letters) == (0, 9, 0, 2)
    before = world.log()
    assert world.take(data).landing.n_landed == 0
    assert world.log() == before


@pytest.mark.slow
def test_it_merges_as_landing_the_same_records_would(world: World, other: Other) -> None:
    own = [
        said("nora", "s1", 0, "2026-03-02T08:00:00Z", "I live in Narvik."),
        said("nora", "s7", 0, "2026-03-03T08:00:00Z", "I have a dog called Pelle."),
        said("ivo", "s1", 0, "2026-03-03T08:00:00Z", "I live in Oslo."),
    ]
    landed, taken = other("landed"), other("taken")
    for target in (landed, taken):
        target.land(*own, name="own.jsonl")
    landed.land(*log_of("nora"))
    done = taken.take(world.export("nora"))
    assert done.landing.n_dead_letters == {"key_conflict": 1}
    landed.make(), taken.make()
    mine, theirs = taken.hashes(), landed.hashes()
    assert [name for name in mine if mine[name] != theirs[name]] == ["dead_letters", "all"]  # the raw line of one
    before = taken.log()
    assert taken.take(world.export("nora"), name="other.json").landing.n_new_dead_letters == 0
    assert taken.log() == before


def test_a_refused_record_can_be_replayed(world: World, other: Other) -> None:
    target = other("target")
    target.land(said("nora", "s1", 0, "2026-03-02T08:00:00Z", "I live in Narvik."))
    target.take(world.export("nora"))
    (letter,) = [x for x in open_letters(target.home.store.log) if x["reason"] == "key_conflict"]
    assert (letter["file"], letter["user_id"], letter["format"]) == ("import", "nora", "native")


def test_what_was_decided_about_dead_letters_comes_along(world: World, other: Other) -> None:
    log = world.home.store.log
    chosen = next(x for x in open_letters(log) if x["user_id"] == "nora")
    discard(log, [chosen["dead_letter_id"]])
    new = other("new")
    new.take(world.export("nora"))
    assert {(x["dead_letter_id"], x["status"]) for kind, x in records(new, "nora") if kind == "dead_letters"} == {
        (x["dead_letter_id"], x["status"]) for kind, x in records(world, "nora") if kind == "dead_letters"
    }
    assert chosen["dead_letter_id"] not in {x["dead_letter_id"] for x in open_letters(new.home.store.log)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scope", "gone"),
    [
        ({"entity": "Torvald"}, (b"Torvald", b"aquarium")),
        pytest.param({"session": "s2"}, (b"Ylva likes", b"cloudberries"), marks=pytest.mark.slow),
    ],
    ids=["entity", "session"],
)
def test_what_was_erased_is_in_no_export_and_the_rest_comes_in_again(
    world: World, other: Other, scope: dict[str, str], gone: tuple[bytes, ...]
) -> None:
    forget(world, "nora", **scope)
    data = world.export("nora")
    assert [word for word in gone if word in data] == []
    forget(world, "ivo", user="")
    new = other("new")
    new.take(data)
    new.make()
    theirs = world.hashes()
    assert new.hashes() == theirs


@pytest.mark.slow
def test_what_was_forgotten_in_the_target_stays_away(world: World, other: Other) -> None:
    data = world.export("nora")
    forget(world, "nora", entity="Torvald")
    before = world.log()
    done = world.take(data)
    assert done.landing.n_landed == 0
    assert world.log() == before
    forget(world, "nora", user="")
    done = world.take(data)
    assert (done.landing.n_landed, done.n_letters, done.landing.n_erased, done.n_erased_letters) == (0, 0, 9, 2)
    with pytest.raises(UsageError, match="nothing is held"):
        world.export("nora")


@pytest.mark.slow
def test_nothing_goes_out_while_something_waits_to_be_forgotten(world: World) -> None:
    asked = {"kind": "feedback", "type": "forget", "user_id": "nora", "entity": "Ylva"}
    world.land({**asked, "timestamp": "2026-04-01T08:00:00Z"}, name="ask.jsonl")
    for form, output in (("json", None), ("graphml", None), ("markdown", world.folder / "vault")):
        with pytest.raises(ErasureIncompleteError, match="em run"):
            world.export("nora", form, output=output)
    assert world.export("ivo")
    with world.home.lock("run"):
        carry_out(world.home)
    assert b"Ylva" not in world.export("nora")


def test_acts_stand_in_the_ledger(world: World, other: Other) -> None:
    data = world.export("nora")
    world.export("nora", "graphml")
    world.export("nora", "markdown", output=world.folder / "vault")
    new = other("new")
    new.take(data)
    assert [(e.action, e.actor) for e in world.home.ledger.of_user("nora")] == [("export", "user")] * 3
    assert [(e.action, e.count) for e in new.home.ledger.of_user("nora")] == [("import", 11)]
    assert not world.home.ledger.verify()
    assert not new.home.ledger.verify()


def test_a_document_that_was_laid_out_anew_is_taken_too(world: World, other: Other) -> None:
    found = orjson.loads(world.export("nora"))
    turned = dict(reversed(found.items())) | {"records": dict(reversed(found["records"].items()))}
    new = other("new")
    new.take(b"\xef\xbb\xbf" + orjson.dumps(turned, option=orjson.OPT_INDENT_2))
    assert records(new, "nora") == records(world, "nora")


def test_what_it_says_of_memory_is_not_believed(world: World, other: Other) -> None:
    found = orjson.loads(world.export("nora"))
    for memory in ({"facts": [{"subject": "user", "relation": "owns", "object": "the bank"}]}, 5, [[]], None, "x"):
        new = other(f"new-{type(memory).__name__}")
        new.take(orjson.dumps({**found, "memory": memory}))
        assert records(new, "nora") == records(world, "nora")


def test_settings_that_differ_are_named(world: World, other: Other) -> None:
    found = orjson.loads(world.export("nora"))
    found["settings"]["decay.curve"] = "exponential"
    assert other("new").take(orjson.dumps(found)).other_settings == ("decay.curve",)


def test_a_file_is_for_its_owner_and_appears_whole(world: World) -> None:
    path = world.folder / "nora.json"
    path.write_text("old")
    left = world.folder / f".nora.json.{2**22 + 1}.tmp"
    left.write_text("of a process that was killed")
    world.export("nora", output=path)
    assert path.read_bytes() == world.export("nora")
    assert path.stat().st_mode & 0o777 == 0o600
    assert not left.exists()
    with pytest.raises(UsageError):
        world.export("nobody", output=path)
    assert path.read_bytes() == world.export("nora")
    assert [p.name for p in world.folder.iterdir() if p.name.endswith(".tmp")] == []


@pytest.mark.parametrize("where", ["home/x.json", "home", ".", "missing/x.json", "folder"])
def test_places_that_will_not_do(world: World, where: str) -> None:
    (world.folder / "folder").mkdir()
    for form in ("json", "graphml"):
        with pytest.raises(UsageError, match="exporting to"):
            world.export("nora", form, output=world.folder / where)
    assert not list((world.folder / "folder").iterdir())


@pytest.mark.parametrize(
    "user",
    [
        "../nora",
        "' OR 1=1 --",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ["", "nora\x00", "NORA", "n" * 10_000, "nora*"]),
    ],
)
def test_a_hostile_name_is_nobodys(world: World, user: str) -> None:
    for form, output in (("json", None), ("graphml", None), ("markdown", world.folder / "vault")):
        with pytest.raises(UsageError, match="nothing is held"):
            world.export(user, form, output=output)
    assert not (world.folder / "vault").exists()


SENTENCES = st.sampled_from(
    ["I live in Bergen.", "I moved to Oslo.", "My wife Ylva likes tea.", "No, I meant coffee.", "", "[…]", "\u2028"]
)
MESSAGES = st.builds(
    lambda user, session, turn, day, content, more: said(
        user, f"s{session}", turn, f"2026-03-0{day}T08:00:0{turn}Z", content, **more
    ),
    st.sampled_from(["nora", "ivo"]), st.integers(0, 2), st.integers(0, 3), st.integers(1, 4), SENTENCES,
    st.sampled_from([{}, {"role": "assistant"}, {"speaker": "Torvald", "channel": "group"}, {"subject": "Torvald"},
                     {"trust": "untrusted"}, {"turn_number": "x"}, {"timestamp": "2031-01-01T00:00:00Z"}]),
)  # fmt: skip
FEEDBACK = st.builds(
    lambda user, day, thing: {
        "kind": "feedback", "type": "add_facts", "user_id": user, "timestamp": f"2026-03-0{day}T10:00:00Z",
        "facts": [{"relation": "likes", "object": thing}],
    },
    st.sampled_from(["nora", "ivo"]), st.integers(1, 4), st.sampled_from(["tea", "snow", "Ylva"]),
)  # fmt: skip
SKILLS = st.builds(
    lambda user, ms: {
        "kind": "skill_invocation", "user_id": user, "session_id": "s1", "timestamp": "2026-03-01T08:00:00Z",
        "skill_name": "search", "duration_ms": ms,
    },
    st.sampled_from(["nora", "ivo"]), st.integers(0, 3) | st.floats(0, 10),
)  # fmt: skip
LOGS = st.lists(MESSAGES | FEEDBACK | SKILLS | st.just(b'{"user_id": "nora", "con'), min_size=1, max_size=25)


@pytest.mark.slow
@given(LOGS)
@settings(max_examples=25)
def test_records_of_any_log_come_in_as_they_went_out(tmp_path_factory: pytest.TempPathFactory, log: list[Line]) -> None:
    folder = tmp_path_factory.mktemp("log")
    source, target = World.at(folder / "source"), World.at(folder / "target")
    source.land(*log)
    went = records(source, "nora")
    if not went:
        return
    data = source.export("nora")
    target.take(data)
    assert records(target, "nora") == went
    assert orjson.loads(target.export("nora"))["records"] == orjson.loads(data)["records"]
    assert source.take(data).landing.n_landed == 0


@pytest.mark.slow
@given(LOGS)
@settings(max_examples=4)
def test_memory_of_any_log_is_made_again(tmp_path_factory: pytest.TempPathFactory, log: list[Line]) -> None:
    folder = tmp_path_factory.mktemp("memory")
    both, alone, target = (World.at(folder / name) for name in ("both", "alone", "target"))
    own = [line for line in log if isinstance(line, bytes) or line["user_id"] == "nora"]
    both.land(*log)
    if not own or not records(both, "nora"):
        return
    alone.land(*own)
    target.take(both.export("nora", as_of=TODAY))
    assert target.make().hashes() == alone.make().hashes()
