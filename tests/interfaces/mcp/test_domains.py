"""A token of one domain: no tool, resource or prompt tells it of another, and every tool that comes is asked here."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

from em_pipelines.errors import UsageError
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.agents.probes import QUEUED
from em_pipelines.interfaces.mcp.callers import Caller, always
from em_pipelines.interfaces.mcp.desk import Desk
from em_pipelines.interfaces.mcp.server import MemoryServer
from em_pipelines.interfaces.memory import Memory
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.settings import load_settings
from tests.interfaces.agents.homes import run
from tests.interfaces.mcp.conftest import EM, ROOT, book_of, environment, serve, talk_over_stdio

NOW = datetime.now(UTC).replace(microsecond=0)
UNBOUNDED = {
    "quiet_from_hour": 0, "quiet_until_hour": 0, "ignored_cooldown_days": 0, "max_per_day": 1000, "max_per_week": 1000,
    "max_starters_per_day": 1000, "max_starters_per_week": 1000,
}  # fmt: skip
"""Whatever waits may be asked, at any hour."""
AHEAD = f"{NOW + timedelta(days=9):%-d %B %Y}"
SAID = (
    ("home", "h1", "My sister Liesbeth lives in Ghent, near the zoo."),
    ("home", "h1", "I was born on 7 June 1988. I play the oboe."),
    ("home", "h2", "I prefer rooibos. I live in Antwerp, because Liesbeth picked the street."),
    ("home", "h2", f"I plan to visit Lourdes on {AHEAD}."),
    ("home", "h3", "My colleague Joris Vandeputte loves oysters."),
    ("work", "w1", "I work at Tessenlab. My colleague Joris likes espresso."),
    ("work", "w1", "I live in Antwerp. I prefer short meetings."),
    (None, "n1", "I speak Dutch."),
)
OF_HOME = (
    "Liesbeth",
    "Ghent",
    "zoo",
    "oboe",
    "1988",
    "06-07",
    "rooibos",
    "Lourdes",
    "Vandeputte",
    "oysters",
    "h1",
    "h2",
)
QUESTIONS = (
    "Where does Liesbeth live?", "What do I play?", "When was I born?", "What do I prefer?", "Where do I live?",
    "What does Joris like?", "What are my plans?", "Who is Joris Vandeputte?",
)  # fmt: skip
Call = Callable[..., str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody who speaks of work at work, after a run; and probes about facts of both."""
    path = tmp_path_factory.mktemp("domains") / "home"
    memory = Memory(path, "sanne")
    for n, (domain, session, content) in enumerate(SAID):
        at = NOW - timedelta(days=5) + timedelta(minutes=n)
        memory.store_observation(content, session_id=session, timestamp=at, domain=domain)
    run(path)
    lake = Memory(path, "sanne").home.store.lake
    probes = [
        {
            "probe_id": f"prb_{n}", "user_id": "sanne", "kind": "verification",
            "text": f"Is it so with {fact['object']}?", "gap": fact["object"], "value": 0.5, "context_tags": [],
            "edge_id": fact["edge_id"], "template": "t", "benefit": "so that it is right",
            "generated_at": NOW, "expires_at": NOW + timedelta(days=9), "status": QUEUED, "correlation_id": "cor",
        }
        for n, fact in enumerate(memory.facts())
    ]  # fmt: skip
    probes.append({**probes[0], "probe_id": "prb_gap", "edge_id": None, "text": "Where is Ghent?", "gap": "Ghent"})
    lake.write(PROBES, NOW.date(), PROBES.from_rows(probes), "test")
    starters = [
        {
            "starter_id": f"sta_{n}", "user_id": "sanne", "kind": "date", "template": "t",
            "text": f"Soon {fact['object']}.", "value": 0.5, "context_tags": [], "edge_id": fact["edge_id"],
            "generated_at": NOW, "expires_at": NOW + timedelta(days=9), "status": QUEUED, "correlation_id": "cor",
        }
        for n, fact in enumerate(memory.facts())
    ]  # fmt: skip
    lake.write(STARTERS, NOW.date(), STARTERS.from_rows(starters), "test")
    return path


def caller_of(home: Path, domain: str | None, scope: TokenScope = TokenScope.WRITE) -> MemoryServer:
    return MemoryServer(
        Desk(load_settings(home=home, proactive=UNBOUNDED), None), always(Caller("sanne", scope, domain))
    )


def calling(server: MemoryServer) -> Call:
    """Everything that a caller is told by a tool, errors too."""

    def call(tool: str, **arguments: Any) -> str:
        try:
            result = anyio.run(server.call_tool, tool, arguments)
        except ToolError as error:
            return f"error: {error}"
        return json.dumps(result.model_dump(mode="json"), ensure_ascii=False)

    return call


@pytest.fixture(scope="module")
def work(home: Path) -> Call:
    return calling(caller_of(home, "work"))


@pytest.fixture(scope="module")
def unbounded(home: Path) -> Call:
    return calling(caller_of(home, None))


def ids_of(home: Path) -> list[str]:
    """Every id that there is of facts and entities."""
    lake = Memory(home, "sanne").home.store.lake
    tables = [(EDGES, "edge_id"), (ENTITIES, "entity_id")]
    return [row[name] for table, name in tables for row in rows_of(lake.read(table, lake.days(table)[-1]))]


def facts_of_home(home: Path) -> dict[str, dict[str, Any]]:
    """The facts of which no source is of work or of no domain."""
    facts = Memory(home, "sanne").facts(is_all=True)
    return {f["edge_id"]: f for f in facts if all(p["session_id"].startswith("h") for p in f["provenance"])}


def asked(home: Path) -> dict[str, list[dict[str, Any]]]:
    """By tool the calls that would tell of home if anything did."""
    known = facts_of_home(home)
    sister = next(f for f in known.values() if f["relation"] == "lives_in" and f["subject"] == "Liesbeth")
    reply = " ".join(f"You said that {f['subject']} {f['relation']} {f['object']}." for f in known.values())
    return {
        "em_query": [{"question": q, "hops": 2, "limit": 50} for q in QUESTIONS],
        "em_context": [{"text": q} for q in QUESTIONS],
        "em_bootstrap": [{}, {"as_of": "2026-03-10"}],
        "em_gate": [{"query": q} for q in QUESTIONS],
        "em_get_probes": [{"limit": 20}],
        "em_get_starters": [{"limit": 20}],
        "em_get_provenance": [{"id": wanted} for wanted in ids_of(home)],
        "em_graph_snapshot": [{"limit": 500}],
        "em_check_reply": [{"text": reply, "audience": "public"}],
        "em_report_interaction": [
            {"session_id": "w9", "recalled": [sister["edge_id"]]},
            {"session_id": "w9", "domain": "home", "messages": [{"role": "user", "content": "Hello there."}]},
        ],
        "em_add_facts": [{"facts": [{"relation": "lives_in", "object": "Bruges", "subject": "Liesbet"}]}],
        "em_user_correction": [
            {"action": "confirm", "edge_id": sister["edge_id"]},
            {"action": "confirm", "edge_id": sister["edge_id"][:12]},
            {"action": "retract", "relation": "prefers"},
            {"action": "correct", "relation": "has_birthday", "new_object": "1990-01-02"},
        ],
        "em_list_imported": [{}, {"is_rejected": True}],
        "em_review_imported": [{"action": "accept", "seed_ids": [sister["edge_id"]]}],
        "em_delete_edge": [{"edge_id": sister["edge_id"], "preview_only": True}],
        "em_delete_node": [{"name": "Joris", "preview_only": True}],
    }


def tool_names() -> list[str]:
    """The tools that a client is told of."""

    async def names() -> list[str]:
        server = MemoryServer(Desk(load_settings(home=Path("nowhere")), None), always(Caller("x", TokenScope.ADMIN)))
        return [tool.name for tool in await server.list_tools()]

    return sorted(anyio.run(names))


TELLING = {
    "em_query", "em_context", "em_get_probes", "em_get_starters", "em_get_provenance", "em_graph_snapshot",
    "em_check_reply",
}  # fmt: skip
"""Tools whose calls here tell of home where nothing bounds the caller: else the test would show nothing."""


LONG = ("em_context", "em_get_provenance", "em_user_correction")
"""Tools that are called many times."""


def leaks(told: str, of_home: Iterable[str], given: str) -> list[str]:
    """The words and ids of home in an answer, but for those that the caller has just said."""
    return [word for word in (*OF_HOME, *of_home) if word in told and word not in given]


@pytest.mark.parametrize(
    "tool",
    [pytest.param(one, marks=pytest.mark.slow if one in LONG else ()) for one in tool_names()],
)
def test_no_tool_tells_one_domain_of_another(
    tool: str, home: Path, tmp_path: Path, work: Call, unbounded: Call
) -> None:
    calls = asked(home)
    assert tool in calls, f"{tool} is new: say here with which arguments it would tell of another domain"
    of_home = [*facts_of_home(home)]
    if tool in TELLING:
        assert any(leaks(unbounded(tool, **given), of_home, json.dumps(given)) for given in calls[tool])
    if tool not in TELLING:
        work = calling(caller_of(shutil.copytree(home, tmp_path / "home", symlinks=True), "work"))
    for given in calls[tool]:
        told = work(tool, **given)
        assert not leaks(told, of_home, json.dumps(given)), (given, told)


def test_what_is_of_the_domain_or_of_none_is_told(work: Call) -> None:
    assert "Tessenlab" in work("em_query", question="Where do I work?")
    assert "Dutch" in work("em_context", text="What do I speak?")
    assert "Joris likes espresso" in work("em_context", text="What does Joris like?")
    assert "Antwerp" in work("em_graph_snapshot")
    assert "short meetings" in work("em_get_probes", limit=20)


def test_a_fact_of_both_is_explained_by_its_own_side_alone(home: Path, work: Call, unbounded: Call) -> None:
    (fact,) = (f for f in Memory(home, "sanne").facts() if f["object"] == "Antwerp")
    assert "Liesbeth" in unbounded("em_get_provenance", id=fact["edge_id"])
    told = work("em_get_provenance", id=fact["edge_id"])
    assert "I live in Antwerp." in told
    assert not leaks(told, facts_of_home(home), "")


def test_no_resource_and_no_prompt_tells_one_domain_of_another(home: Path) -> None:
    server, open_server = caller_of(home, "work"), caller_of(home, None)

    async def read(server: MemoryServer) -> str:
        listed = await server.list_resources()
        assert [str(one.uri) for one in listed] == ["memory://bootstrap"], "a new resource has to be asked here"
        assert [one.name for one in await server.list_prompts()] == ["memory_instructions"]
        assert not await server.list_resource_templates()
        parts = [part.content for one in listed for part in await server.read_resource(str(one.uri))]
        return "\n".join(str(part) for part in parts) + str(await server.get_prompt("memory_instructions"))

    told = anyio.run(read, server)
    assert "short meetings" in told
    assert not leaks(told, facts_of_home(home), "")
    assert leaks(anyio.run(read, open_server), facts_of_home(home), "")


@pytest.mark.slow
def test_what_is_written_with_a_domain_is_of_it(tmp_path: Path) -> None:
    path = tmp_path / "home"
    Memory(path, "sanne").store_observation("I speak Dutch.", session_id="n1", timestamp=NOW)
    run(path)
    at_home, at_work = calling(caller_of(path, "home")), calling(caller_of(path, "work"))
    at_home("em_add_facts", facts=[{"relation": "owns", "object": "harpsichord"}])
    at_home("em_user_correction", action="correct", relation="lives_in", new_object="Leuven")
    at_home("em_report_interaction", session_id="s", messages=[{"role": "user", "content": "I like marzipan."}])
    for words in ("harpsichord", "Leuven"):
        assert words in at_home("em_graph_snapshot")
        assert words not in at_work("em_graph_snapshot")
    run(path)
    for words in ("harpsichord", "Leuven", "marzipan"):
        assert words in calling(caller_of(path, "home"))("em_graph_snapshot")
        assert words not in calling(caller_of(path, "work"))("em_graph_snapshot")


@pytest.mark.slow
def test_what_is_corrected_or_confirmed_stays_where_it_was_said(tmp_path: Path) -> None:
    path = tmp_path / "home"
    memory = Memory(path, "sanne")
    memory.store_observation("I live in Ghent. I own a kayak.", session_id="h1", timestamp=NOW, domain="home")
    run(path)
    facts = {fact["relation"]: fact for fact in memory.facts()}
    memory.correct("Leuven", edge_id=facts["lives_in"]["edge_id"])
    memory.confirm(edge_id=facts["owns"]["edge_id"])
    for _ in range(2):
        assert {f["object"] for f in Memory(path, "sanne", domain="home").facts()} == {"Leuven", "kayak"}
        assert not Memory(path, "sanne", domain="work").facts()
        run(path)


@pytest.mark.slow
def test_in_python_and_at_the_command_line_a_domain_bounds_as_well(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(home, "sanne", domain="work")
    observed = " ".join(f"{one.session_id} {one.content}" for one in memory.list_observations())
    assert "Tessenlab" in observed
    assert not leaks(observed, (), "")
    with pytest.raises(UsageError, match="of the domain"):
        memory.store_observation("I own a flute.", session_id="h1", domain="home")
    found = memory.retrieve_memories("Where does Liesbeth live?", across_domains=True)
    assert any("Ghent" in hit.text for hit in found), "who asks for all domains by name gets them"
    for command in (["context", "Where does Liesbeth live?"], ["bootstrap"], ["search", "Where does Liesbeth live?"]):
        arguments = [*command, "--user", "sanne", "--domain", "work", "--home", str(home)]
        subprocess.run([sys.executable, *EM, *arguments], env=environment(), cwd=ROOT, check=True)
        told = capfd.readouterr().out
        assert "Antwerp" in told or "short meetings" in told
        assert not leaks(told, facts_of_home(home), "Where does Liesbeth live?")


@pytest.mark.slow
def test_a_token_of_a_domain_bounds_its_caller(home: Path) -> None:
    book = book_of(home)
    token, made = book.create("sanne", TokenScope.READ, datetime.now(UTC), 1, "work")
    assert made.domain == "work"
    assert [one.domain for one in book_of(home).all("sanne") if one.token_id == made.token_id] == ["work"]

    async def talk(client: Any) -> Any:
        return await client.call_tool("em_graph_snapshot", {})

    told = json.dumps(talk_over_stdio(home, talk, EM_MCP_TOKEN=token).model_dump(mode="json"))
    assert "Tessenlab" in told
    assert not leaks(told, facts_of_home(home), "")


@pytest.mark.slow
def test_over_http_a_token_of_a_domain_bounds_its_caller_too(home: Path) -> None:
    token = book_of(home).create("sanne", TokenScope.READ, datetime.now(UTC), 1, "work")[0]
    server = serve(home)

    async def talk() -> Any:
        async with server.client(token) as client:
            return await client.call_tool("em_graph_snapshot", {}), await client.read_resource("memory://bootstrap")

    try:
        told = "".join(json.dumps(one.model_dump(mode="json")) for one in anyio.run(talk))
    finally:
        server.end()
    assert "Tessenlab" in told
    assert not leaks(told, facts_of_home(home), "")


@pytest.mark.slow
def test_a_domain_whose_name_is_forgotten_takes_its_tokens_along(tmp_path: Path) -> None:
    path = tmp_path / "home"
    memory = Memory(path, "sanne")
    memory.store_observation("I work at Brandel.", session_id="w1", timestamp=NOW, domain="Brandel")
    run(path)
    for domain in ("Brandel", "choir"):
        book_of(path).create("sanne", TokenScope.READ, NOW, 9, domain)
    assert memory.forget(entity="Brandel").result == "erased"
    assert [token.domain for token in book_of(path).all()] == ["choir"]


@pytest.mark.parametrize(("scope", "domain", "said"), [
    (TokenScope.ADMIN, "work", "reaches every domain"),
    (TokenScope.READ, "", "domain"),
    (TokenScope.READ, "  ", "domain"),
    (TokenScope.READ, "w" * 257, "domain"),
    (TokenScope.READ, "AKIAIOSFODNN7EXAMPLE", "secret"),
])  # fmt: skip
def test_a_token_that_cannot_be_bounded_is_not_made(home: Path, scope: TokenScope, domain: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        book_of(home).create("sanne", scope, NOW, 1, domain)


def test_a_resource_that_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    server = caller_of(tmp_path / "empty", "work")
    try:
        anyio.run(server.read_resource, "memory://elsewhere")
    except ResourceError as error:
        assert "elsewhere" in str(error)
