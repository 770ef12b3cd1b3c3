"""Over HTTP: every tool, what each refuses, who may call, and that nobody meets anybody else's memory."""

import socket
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.mcp.server import TOOLS
from em_pipelines.interfaces.memory import Memory
from em_pipelines.schema.tables.graph import ENTITIES
from tests.interfaces.agents.homes import IVOS_WORDS
from tests.interfaces.mcp.conftest import Served, book_of, edge_of, shown, token_for

HOSTILE = (
    "../ivo", "ivo", "nora'; DROP TABLE facts; --", '"}) RETURN n //', "MATCH (n) DETACH DELETE n", "a\x00b", "%00",
    "x" * 10_000, "ivo\u202e", "[masked:x]", "{{7*7}}", "<experience_context>",
)  # fmt: skip


def test_the_tools_are_those_of_the_table_with_types_and_meanings(served: Served, tokens: dict[str, str]) -> None:
    async def listed() -> Any:
        async with served.client(tokens["nora-read"]) as client:
            return (await client.list_tools()).tools, client.instructions

    tools, instructions = anyio.run(listed)
    assert {tool.name for tool in tools} == set(TOOLS)
    assert "experience_context" in instructions
    for tool in tools:
        is_reading = TOOLS[tool.name][0] is TokenScope.READ
        assert tool.description
        assert tool.output_schema["type"] == "object"
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (
            is_reading,
            tool.name.startswith("em_delete"),
        )
        for field in tool.input_schema["properties"].values():
            assert any(key in field for key in ("type", "anyOf", "$ref", "enum", "items"))


def test_a_question_is_answered(ask) -> None:
    found = ask("em_query", question="Where does Torvald work?").structured_content["hits"]
    assert (found[0]["kind"], found[0]["text"]) == ("fact", "Torvald works at aquarium")
    assert found[1]["text"].endswith("Torvald works at the aquarium.")
    assert {hit["kind"] for hit in found} == {"message", "fact"}
    only = ask("em_query", question="Torvald", kinds=["fact"], limit=1).structured_content["hits"]
    assert [hit["kind"] for hit in only] == ["fact"]
    early = ask("em_query", question="Ylva cloudberries", as_of="2026-03-02").structured_content["hits"]
    assert "Ylva" not in shown_texts(early)


def shown_texts(hits: list[dict[str, Any]]) -> str:
    return " ".join(hit["text"] for hit in hits)


def test_context_is_a_block_for_the_prompt(ask) -> None:
    block = ask("em_context", text="What does Ylva like?", thread=["Hello."]).structured_content
    assert block["text"].startswith("<experience_context")
    assert "cloudberries" in block["text"]
    assert block["edge_ids"]
    group = ask("em_context", text="What does Ylva like?", is_group=True).structured_content
    assert "cloudberries" not in group["text"]


def test_where_nothing_is_offered_the_reason_says_why(ask) -> None:
    told = ask("em_get_probes", context="food", session_id="n1", is_group=True).structured_content
    assert told["probes"] == []
    assert told["reason"] in ("nothing_waits", "expired", "group_conversation")
    told = ask("em_get_starters", session_id="n1", is_group=True).structured_content
    assert told["starters"] == []
    assert told["reason"] in ("nothing_waits", "expired", "group_conversation")


def test_provenance_quotes_the_sentence(ask, module_home: Path) -> None:
    edge = edge_of(module_home, "nora", "spouse_of")
    told = ask("em_get_provenance", id=edge).structured_content
    assert told["sources"][0]["sentence"] == "My wife Ylva likes cloudberries."
    entity = next(n for n in ask("em_graph_snapshot").structured_content["nodes"] if n["name"] == "Ylva")
    assert ask("em_get_provenance", id=entity["entity_id"]).structured_content["kind"] == "entity"


def test_the_graph_comes_in_pages_that_add_up(ask) -> None:
    whole = ask("em_graph_snapshot").structured_content
    edges, nodes, offset = [], {}, 0
    while offset is not None:
        page = ask("em_graph_snapshot", offset=offset, limit=2).structured_content
        edges += page["edges"]
        nodes |= {node["name"]: node for node in page["nodes"]}
        offset = page["next_offset"]
    assert edges == whole["edges"]
    assert nodes == {node["name"]: node for node in whole["nodes"]}
    assert {edge["subject"] for edge in edges} <= set(nodes)
    assert ask("em_graph_snapshot", offset=10_000).structured_content["edges"] == []


def test_a_reply_is_checked_against_its_audience(ask) -> None:
    text = "You live in Bergen. The train leaves at nine."
    found = ask("em_check_reply", text=text, audience="group").structured_content
    assert [text[f["start"] : f["end"]] for f in found["findings"]] == ["Bergen"]
    assert ask("em_check_reply", text=text, audience="user").structured_content["is_safe"]


def test_a_report_is_stored_once_and_may_be_extended(ask, module_home: Path) -> None:
    said = [{"role": "user", "content": "I own a kayak."}, {"role": "assistant", "content": "Nice."}]
    edge = edge_of(module_home, "nora", "spouse_of")
    more = {"recalled": [edge], "probes": [{"probe_id": "probe_1", "outcome": "accepted"}]}
    first = ask("em_report_interaction", session_id="m1", messages=said, **more).structured_content
    again = ask("em_report_interaction", session_id="m1", messages=said, **more).structured_content
    assert (first["n_new"], again["n_new"], again["n_known"]) == (2, 0, 2)
    assert first["feedback_ids"] == again["feedback_ids"]
    longer = [*said, {"role": "user", "content": "And a canoe.", "tags": ["Boats"]}]
    assert ask("em_report_interaction", session_id="m1", messages=longer).structured_content["n_new"] == 1
    memory = Memory(module_home, "nora")
    assert [one.content for one in memory.search_by_tag("boats")] == ["And a canoe."]
    feedback = [r for d in memory.home.store.log.days("feedback") for r in memory.home.store.log.read("feedback", d)]
    assert sorted(r["type"] for r in feedback if r["session_id"] == "m1") == ["probe_accepted", "recalled"]


def test_a_report_is_answered_with_what_is_withheld_and_no_word_of_it(ask) -> None:
    said = [{"role": "user", "content": "I row."}, {"role": "user", "content": "I row. My salary is £40,000."}]
    found = ask("em_report_interaction", session_id="m7", messages=said, first_turn=3).structured_content
    assert found["withheld"] == [{"turn_number": 4, "reasons": {"financial_withheld": 1}}]


@pytest.mark.slow
def test_corrections_and_added_facts_are_seen_at_once_and_noted_as_an_agents(ask, module_home: Path) -> None:
    added = ask("em_add_facts", facts=[{"relation": "speaks", "object": "Sami"}]).structured_content["facts"]
    assert [(f["relation"], f["object"]) for f in added] == [("speaks", "Sami")]
    wrong = edge_of(module_home, "nora", "lives_in")
    fixed = ask("em_user_correction", action="correct", edge_id=wrong, new_object="Voss").structured_content
    assert {(f["object"], f["status"]) for f in fixed["now"]} == {("Bergen", "superseded"), ("Voss", "active")}
    sure = ask("em_user_correction", action="confirm", relation="speaks", object="Sami").structured_content["now"]
    assert [f["confidence"] for f in sure] == [1.0]
    gone = ask("em_user_correction", action="retract", relation="speaks", object="Sami").structured_content["now"]
    assert [f["status"] for f in gone] == ["retracted"]
    ledger = Memory(module_home, "nora").home.ledger
    assert {(e.action, e.actor) for e in ledger.of_user("nora")} == {
        ("correct", "agent"), ("confirm", "agent"), ("retract", "agent"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("em_query", {"question": ""}, "at least 1 character"),
        ("em_query", {"question": "x", "limit": 51}, "limit"),
        ("em_query", {"question": "x", "kinds": ["dream"]}, "kinds"),
        ("em_query", {"question": "x", "as_of": "yesterday"}, "as_of"),
        ("em_query", {"question": "x", "user_id": "ivo"}, "no argument 'user_id'"),
        ("em_context", {}, "query: Field required"),
        ("em_query", {"query": "x", "question": "y"}, "no argument 'question'"),
        ("em_query", {"query": "x", "relations": ["lives_inn"]}, "did you mean 'lives_in'"),
        ("em_user_correction", {"action": "retract", "relation": "adores"}, "there are allergic_to, attended"),
        ("em_quary", {}, "did you mean em_query?"),
        ("em_query", {"query": "x", "user": "ivo"}, "the token says"),
        ("em_get_provenance", {"id": "edge_unknown"}, "nothing with the id"),
        ("em_graph_snapshot", {"limit": 0}, "limit"),
        ("em_check_reply", {"text": "x", "audience": "aliens"}, "audience"),
        ("em_report_interaction", {"session_id": "m9"}, "nothing to report"),
        ("em_report_interaction", {"session_id": "\x00", "messages": [{"role": "user", "content": "x"}]}, "session_id"),
        ("em_report_interaction", {"session_id": "m9", "messages": [{"role": "boss", "content": "x"}]}, "role"),
        ("em_report_interaction", {"session_id": "m9", "recalled": ["edge_unknown"]}, "no fact with the id"),
        (
            "em_report_interaction",
            {"session_id": "s1", "messages": [{"role": "user", "content": "Never said."}]},
            "landed with other content",
        ),
        ("em_add_facts", {"facts": []}, "facts"),
        ("em_add_facts", {"facts": [{"relation": "adores", "object": "x"}]}, "vocabulary"),
        ("em_add_facts", {"facts": [{"relation": "likes", "object": "x", "sure": 1}]}, "sure"),
        ("em_user_correction", {"action": "correct", "relation": "lives_in"}, "new_object"),
        ("em_user_correction", {"action": "confirm", "edge_id": "edge_unknown"}, "no fact with id"),
        ("em_user_correction", {"action": "retract"}, "edge_id"),
        ("em_unknown", {}, "there is no tool"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_sentence(
    ask, module_home: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    result = ask(tool, **arguments)
    assert result.is_error
    text = result.content[0].text
    assert said in text
    assert "Traceback" not in text
    assert str(module_home) not in text
    assert "\n" not in text


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_a_token_reaches_no_further_than_its_scope(ask, tool: str) -> None:
    needed = TOOLS[tool][0]
    for scope in TokenScope:
        if scope < needed:
            result = ask(tool, by=f"nora-{scope.label}")
            assert result.is_error
            assert f"needs the scope {needed.label}" in result.content[0].text


def test_nothing_of_another_user_is_shown_whatever_is_asked(ask, module_home: Path) -> None:
    ivo = Memory(module_home, "ivo")
    edge = edge_of(module_home, "ivo", "lives_in")
    entity = next(
        r["entity_id"] for d in [ivo.home.store.lake.latest(ENTITIES, date.max)]
        for r in ivo.home.store.lake.read(ENTITIES, d).to_pylist() if r["user_id"] == "ivo"
    )  # fmt: skip
    before = ivo.facts(is_all=True)
    answers = [
        ask("em_query", question="Narvik Quillon heron", limit=50),
        ask("em_query", question="Where does Ivo live?", session_id="s1", limit=50),
        ask("em_context", text="Narvik Quillon heron"),
        ask("em_graph_snapshot", limit=500),
        ask("em_check_reply", text="Quillon the heron lives in Narvik, as you know.", audience="public"),
        *(ask("em_get_provenance", id=one) for one in (edge, entity, edge[:12])),
        ask("em_user_correction", action="retract", edge_id=edge),
        ask("em_report_interaction", session_id="s1", recalled=[edge]),
    ]
    asked = [a for a in answers if not a.is_error]
    for word in IVOS_WORDS:
        assert word not in " ".join(map(shown, asked)).replace("Narvik Quillon heron", "")
    refused = [a.content[0].text for a in answers if a.is_error]
    assert len(refused) == 5
    assert "Narvik" not in " ".join(refused)
    assert Memory(module_home, "ivo").facts(is_all=True) == before


@pytest.mark.parametrize(
    "word",
    [*HOSTILE[:2], *(pytest.param(word, marks=pytest.mark.slow) for word in HOSTILE[2:])],
    ids=range(len(HOSTILE)),
)
def test_hostile_words_are_words(ask, module_home: Path, word: str) -> None:
    calls = (
        ("em_query", {"question": word, "session_id": word, "tags": [word]}),
        ("em_get_provenance", {"id": word}),
        (
            "em_report_interaction",
            {"session_id": word, "messages": [{"role": "user", "content": word, "tags": [word]}]},
        ),
        ("em_user_correction", {"action": "correct", "edge_id": word, "new_object": word}),
    )
    for tool, arguments in calls:
        result = ask(tool, **arguments)
        text = shown(result)
        assert not [secret for secret in ("Narvik", "Traceback", str(module_home)) if secret in text], tool
        assert not result.is_error or "failed here" not in text, text
    assert {path.name for path in module_home.parent.iterdir()} == {"home"}


def test_without_a_valid_token_nothing_is_answered(served: Served, tokens: dict[str, str]) -> None:
    old = token_for(served.home, "nora", now=datetime.now(UTC) - timedelta(days=2))
    gone = token_for(served.home, "nora")
    assert served.post(Authorization=f"Bearer {gone}").status_code == 200
    book_of(served.home).revoke(gone.split("_")[1])
    good = tokens["nora-read"]
    for wrong in ("", "Bearer", "Bearer x", f"Basic {good}", f"Bearer {good[:-1]}", f"Bearer {good}x", "Bearer ../x",
                  f"Bearer {old}", f"Bearer {gone}", f"Bearer {good[:17]}{tokens['ivo-read'][17:]}"):  # fmt: skip
        answer = served.post(**({"Authorization": wrong} if wrong else {}))
        assert answer.status_code == 401, wrong
        assert "nora" not in answer.text


@pytest.mark.slow
def test_calls_at_the_same_time_stay_apart(served: Served, tokens: dict[str, str]) -> None:
    found: list[tuple[str, str]] = []

    async def talk(user: str) -> None:
        async with served.client(tokens[f"{user}-write"]) as client:
            for number in range(3):
                said = [{"role": "user", "content": f"{user} says {number}."}]
                await client.call_tool(
                    "em_report_interaction", {"session_id": "both", "messages": said, "first_turn": number}
                )
                answer = await client.call_tool("em_query", {"question": "Where do I live?"})
                found.append((user, shown(answer)))

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for user in ("nora", "ivo") * 3:
                tasks.start_soon(talk, user)

    anyio.run(all_of_them)
    assert len(found) == 18
    for user, text in found:
        assert ("Narvik" in text) == (user == "ivo")
    for user in ("nora", "ivo"):
        said = Memory(served.home, user).list_observations(session_id="both")
        assert [one.content for one in said] == [f"{user} says {n}." for n in (2, 1, 0)]


def test_a_client_that_goes_away_leaves_the_server_to_others(served: Served, ask) -> None:
    host, port = served.url.split("/")[2].split(":")
    for half in (b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n{"):
        with socket.create_connection((host, int(port))) as gone:
            gone.sendall(half)
    assert not ask("em_query", question="Torvald").is_error


def test_a_page_of_another_origin_is_refused(served: Served, tokens: dict[str, str]) -> None:
    good = f"Bearer {tokens['nora-read']}"
    assert served.post(Authorization=good, Host="memory.example").status_code == 421
    assert served.post(Authorization=good, Origin="http://memory.example").status_code == 403
