"""Erasure where another user, or another conversation, said the very same: it ends, and takes nothing of theirs."""

import json
import sqlite3
from contextlib import closing
from datetime import date
from typing import Any

import orjson
import pytest

from em_pipelines.errors import ErasureIncompleteError
from em_pipelines.retrieval.packs import build, folder_of
from em_pipelines.serving.export.export import export
from em_pipelines.serving.export.formats import ExportFormat
from em_pipelines.serving.projection.noted import GraphNote, Noted
from em_pipelines.serving.snapshot import publish
from em_pipelines.storage.quarantine import SetAside

from .conftest import NORA, NOW, World, feedback, keep_answers, lines, trace_in_dagster

AGAIN = (
    "s4",
    "2026-03-24T09:00:00Z",
    "user",
    "My wife Ylva likes cloudberries. I moved to Tromsø and Torvald helped me.",
)
SAID = (*NORA, AGAIN)
SCOPES: tuple[tuple[str, Any], ...] = (
    ("fact", ("Torvald", "works_at", "aquarium")), ("entity", "Torvald"), ("session", "s2"), ("user", ""),
)  # fmt: skip


@pytest.fixture
def twins(empty: World) -> World:
    """Nora and Ivo said the very same, in every place that a home has; exports of Ivo's lie in the home, too."""
    home = empty.home
    for user in ("nora", "ivo"):
        empty.land(
            *lines(user, SAID),
            feedback(user, "add_facts", "2026-03-21T09:00:00Z", facts=[
                {"subject": "Torvald", "relation": "likes", "object": "herring",
                 "statement": "My flatmate Torvald likes herring more than cod"}]),
            {"kind": "skill_invocation", "user_id": user, "session_id": "s1", "timestamp": "2026-03-02T08:03:00Z",
             "skill_name": "search", "output_summary": "My flatmate Torvald works at the aquarium."},
            b'{"user_id": "%s", "content": "My flatmate Torvald works at the aquarium. And Torv' % user.encode(),
            name=f"{user}.jsonl",
        )  # fmt: skip
        for name in (f".landed/20260401T000000/{user}/old.jsonl", f".landed/20260401T000000/{user}/chat.json"):
            path = home.inbox / name
            path.parent.mkdir(parents=True, exist_ok=True)
            chat = [{"role": role, "content": text} for _, _, role, text in SAID]
            path.write_bytes(
                orjson.dumps({"messages": chat}) if name.endswith("t.json") else b"\n".join(
                    map(orjson.dumps, lines(user, SAID)))
            )  # fmt: skip
    empty.make()
    home.store.quarantine.add(
        SetAside(user, date(2026, 3, 5), "fold", "raised", "ValueError in fold", "") for user in ("nora", "ivo")
    )
    publish(home.store, home.snapshots, home.time_rules, date(2026, 3, 6))
    publish(home.store, home.snapshots, home.time_rules)
    build(home)
    keep_answers(empty)
    trace_in_dagster(home)
    with closing(sqlite3.connect(home.dagster_home / "runs.db")) as connection:
        said = json.dumps({"error": {"message": "at “My flatmate Torvald works at the aquarium.”"}})
        connection.execute("INSERT INTO event_logs (event) VALUES (?)", (said,))
        connection.commit()
    (home.dagster_home / "compute.err").write_text("ValueError: My flatmate Torvald works at the aquarium.\n")
    home.record.mkdir(exist_ok=True)
    GraphNote(home.record).put(Noted(NOW, "content", "checksum"))
    for form in ExportFormat:
        place = empty.folder / f"ivo.{form.value}"
        export(home, "ivo", form, date(2026, 4, 30), place)
        (home.path / "exports").mkdir(exist_ok=True)
        place.rename(home.path / "exports" / place.name)
    return empty


def scope_of(world: World, kind: str, target: Any) -> dict[str, str]:
    return {kind: world.edge_id("nora", *target) if kind == "fact" else target}


def held_of(world: World, user: str) -> Any:
    """All that stands of a user: facts, messages, answers, and the bytes of pack, inbox and exports."""
    home = world.home
    places = (folder_of(home, user), home.inbox / ".landed" / "20260401T000000" / user, home.path / "exports")
    files = {path: path.read_bytes() for place in places for path in sorted(place.rglob("*")) if path.is_file()}
    return world.facts(user), world.messages(user), sorted(world.answers(user)), files


GONE = {
    "fact": ("aquarium",),
    "entity": ("torvald", "zither", "herring"),
    "session": ("'s2'", "in season for ylva"),
    "user": ("nora",),
}


def check_gone(world: World, kind: str) -> None:
    for word in GONE[kind]:
        found = world.places(word, of=None if kind == "user" else "nora")
        of_ivo = ("exports/ivo", "inbox/.landed/20260401T000000/ivo/")
        assert [place for place in found if not place.startswith(of_ivo)] == [], (word, found)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "target"), SCOPES)
def test_what_another_said_as_well_is_no_trace(twins: World, kind: str, target: Any) -> None:
    others = held_of(twins, "ivo")
    certificate = twins.forget("nora", **scope_of(twins, kind, target))
    assert (certificate.result, certificate.n_found_after) == ("erased", 0)
    assert twins.home.book.pending() == []
    assert held_of(twins, "ivo") == others
    check_gone(twins, kind)
    twins.land(*lines("nora", SAID), name="again.jsonl")
    twins.make()
    build(twins.home)
    check_gone(twins, kind)
    assert held_of(twins, "ivo") == others


def test_what_another_said_as_well_is_no_trace_in_their_pack(empty: World) -> None:
    for user in ("nora", "ivo"):
        empty.land(*lines(user, NORA[:3]), name=f"{user}.jsonl")
    empty.make()
    build(empty.home)
    assert empty.forget("nora", entity="Torvald").result == "erased"
    assert empty.places("torvald", of="nora") == []
    assert ("user", "knows", "Torvald") in empty.facts("ivo")


@pytest.mark.slow
def test_what_another_conversation_says_as_well_is_no_trace_of_one(empty: World) -> None:
    empty.land(*lines("nora", SAID))
    empty.make()
    before = empty.facts("nora")
    assert empty.forget("nora", session="s2").result == "erased"
    assert empty.messages("nora", "s2") == []
    assert empty.messages("nora", "s4") == [AGAIN[3]]
    assert empty.facts("nora") >= {f for f in before if f[2] in {"cloudberries", "Fender Rhodes"}}


@pytest.mark.slow
def test_a_letter_that_names_nobody_goes_where_it_says_what_goes(empty: World) -> None:
    for user in ("nora", "ivo"):
        empty.land(*lines(user, NORA[:3]), name=f"{user}.jsonl")
    empty.land(b'{"text": "My flatmate Torvald works at the aquarium.', name="torn.jsonl")
    empty.make()
    assert empty.forget("nora", entity="Torvald").result == "erased"
    assert empty.places("torvald", of="nora") == []
    report = empty.land(b'{"text": "My flatmate Torvald works at the aquarium.', name="torn.jsonl")
    assert (report.n_erased, report.n_dead_letters) == (1, {})


@pytest.mark.slow
@pytest.mark.parametrize("form", list(ExportFormat))
def test_an_export_of_the_erased_that_lies_in_the_home_is_named_and_ends_when_it_is_gone(
    twins: World, form: ExportFormat
) -> None:
    place = twins.folder / f"nora.{form.value}"
    export(twins.home, "nora", form, date(2026, 4, 30), place)
    inside = twins.home.path / "exports" / place.name
    place.rename(inside)
    with pytest.raises(ErasureIncompleteError, match="exports/nora"):
        twins.forget("nora", entity="Torvald")
    assert len(twins.home.book.pending()) == 1
    inside.rename(place)
    (done,) = twins.carry_out()
    assert done.result == "erased"
    check_gone(twins, "entity")


def test_a_row_of_the_erased_in_anothers_pack_is_found(empty: World) -> None:
    """Whose a row is it says itself: what lies in the wrong place is no less a trace."""
    from em_pipelines.governance.erasure.owners import Owners
    from em_pipelines.governance.erasure.search import search
    from em_pipelines.governance.erasure.terms import Terms
    from em_pipelines.redaction.planning import plan

    for user in ("nora", "ivo"):
        empty.land(*lines(user, NORA[:3]), name=f"{user}.jsonl")
    empty.make()
    build(empty.home)
    home = empty.home
    from em_pipelines.landing.erasure_requests import Scope, ScopeKind

    request = home.book.request(Scope(ScopeKind.ENTITY, "nora", "Torvald"), NOW, "user")
    terms = Terms.of(request, plan(home, request)[0], home.book)
    own, other = folder_of(home, "nora"), folder_of(home, "ivo")
    (other / "documents.arrow").write_bytes((own / "documents.arrow").read_bytes())
    found = search(home.path, terms, Owners.of(home, "nora")).found
    assert other / "documents.arrow" in found
    assert other / "words.json" not in found


@pytest.mark.slow
def test_a_pack_of_before_rows_knew_their_user_is_told_by_its_folder(empty: World) -> None:
    import pyarrow as pa

    for user in ("nora", "ivo"):
        empty.land(*lines(user, NORA[:3]), name=f"{user}.jsonl")
    empty.make()
    build(empty.home)
    path = folder_of(empty.home, "ivo") / "documents.arrow"
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all().drop_columns(["user_id"])
        data = pa.BufferOutputStream()
        with pa.ipc.new_file(data, table.schema) as out:
            out.write_table(table)
    path.write_bytes(data.getvalue().to_pybytes())
    assert empty.forget("nora", entity="Torvald").result == "erased"


@pytest.mark.slow
@pytest.mark.parametrize("user", ["user", "messages"])
def test_who_is_called_as_a_table_or_role_is_not_found_in_it(empty: World, user: str) -> None:
    for one in (user, "ivo"):
        empty.land(*lines(one, NORA[:3]), name=f"{one}.jsonl")
    empty.make()
    build(empty.home)
    trace_in_dagster(empty.home)
    with closing(sqlite3.connect(empty.home.dagster_home / "runs.db")) as connection:
        said = json.dumps({"step_key": "messages", "role": "user"})
        connection.execute("INSERT INTO event_logs (event) VALUES (?)", (said,))
        connection.commit()
    facts = empty.facts("ivo")
    assert empty.forget(user, user="").result == "erased"
    assert empty.messages(user) == []
    assert empty.facts("ivo") == facts
