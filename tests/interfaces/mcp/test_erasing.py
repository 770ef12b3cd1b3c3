"""Erasing through the server: with a certificate, of the caller's memory alone, beside a run, and ending tokens."""

import signal
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.memory import Memory
from em_pipelines.schema.tables.graph import ENTITIES
from tests.interfaces.agents.homes import IVOS_WORDS
from tests.interfaces.mcp.conftest import Served, edge_of, serve, shown, token_for

MARCH = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("em_delete_edge", {"edge_id": "edge_unknown"}, "has no fact"),
        ("em_delete_edge", {"edge_id": ""}, "edge_id"),
        ("em_delete_node", {"name": "Nobody At All"}, "knows no"),
        ("em_delete_node", {"name": "user"}, "remembered person"),
        ("em_delete_node", {"name": "../ivo"}, "knows no"),
        ("em_delete_node", {"name": 'x"}) DETACH DELETE n //'}, "knows no"),
        ("em_delete_node", {"name": "Quillon"}, "knows no"),
        ("em_delete_node", {"name": "a\x00b"}, "knows no"),
        ("em_delete_node", {"name": "x" * 10_000}, "at most 500"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_erased(ask, tool: str, arguments: dict[str, str], said: str) -> None:
    result = ask(tool, **arguments)
    assert result.is_error
    assert said in result.content[0].text


def test_ids_of_another_user_erase_nothing(ask, module_home: Path) -> None:
    ivo = Memory(module_home, "ivo")
    lake = ivo.home.store.lake
    rows = lake.read(ENTITIES, lake.latest(ENTITIES, date.max)).to_pylist()
    entities = [row["entity_id"] for row in rows if row["user_id"] == "ivo"]
    before = ivo.facts(is_all=True)
    refused = [ask("em_delete_edge", edge_id=edge_of(module_home, "ivo", "lives_in"))]
    refused += [ask("em_delete_node", name=entity) for entity in entities[:2]]
    assert all(result.is_error for result in refused)
    assert not [word for word in IVOS_WORDS if word in " ".join(map(shown, refused))]
    assert Memory(module_home, "ivo").facts(is_all=True) == before


@pytest.mark.slow
def test_a_fact_is_shown_first_and_then_erased_with_a_certificate(ask, module_home: Path) -> None:
    edge = edge_of(module_home, "nora", "has_birthday")
    before = ask("em_delete_edge", edge_id=edge, preview_only=True).structured_content
    assert (before["status"], len(before["facts"])) == ("preview", 1)
    done = ask("em_delete_edge", edge_id=edge).structured_content
    assert (done["status"], done["certificate"]["n_found_after"]) == ("erased", 0)
    assert "1990" not in shown(ask("em_graph_snapshot"))
    ledger = Memory(module_home, "nora").home.ledger.of_user("nora")
    assert [(entry.action, entry.actor) for entry in ledger] == [("erase", "agent")]


@pytest.mark.slow
def test_erasing_a_user_ends_their_tokens(module_home: Path, served: Served) -> None:
    token = token_for(module_home, "lone", TokenScope.ADMIN)
    lone = Memory(module_home, "lone")
    lone.store_observation("I like rye.", session_id="s1", timestamp=MARCH)
    assert served.post(Authorization=f"Bearer {token}").status_code == 200
    lone.forget(everything=True)
    assert served.post(Authorization=f"Bearer {token}").status_code == 401
    assert b"lone" not in (module_home / "record" / "tokens.jsonl").read_bytes()


@pytest.mark.slow
def test_beside_a_run_it_is_hidden_at_once_and_left_to_the_run(ask, module_home: Path) -> None:
    entity = next(n for n in ask("em_graph_snapshot").structured_content["nodes"] if n["name"] == "Torvald")
    with Memory(module_home, "nora").home.lock("run"):
        waits = ask("em_delete_node", name=entity["entity_id"]).structured_content
    assert (waits["status"], waits["certificate"]) == ("pending", None)
    for asked in (
        ask("em_graph_snapshot"),
        ask("em_query", question="aquarium", limit=50),
        ask("em_context", text="Where does my flatmate work?"),
    ):
        assert not asked.is_error
        assert "Torvald" not in shown(asked)
    assert ask("em_get_provenance", id=entity["entity_id"]).is_error
    assert "Torvald" in shown(ask("em_query", question="Torvald", by="ivo-read"))


@pytest.mark.slow
def test_an_interrupt_ends_it_with_success(served: Served) -> None:
    assert serve(served.home).end(signal.SIGINT) == (0, "")
