"""The schemas of all tools, held against each other: the same thing has one name, one meaning and a description."""

from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import pytest

from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.mcp.callers import Caller, always
from em_pipelines.interfaces.mcp.desk import Desk
from em_pipelines.interfaces.mcp.server import OLD_NAMES, TOOLS, MemoryServer
from em_pipelines.schema.vocabulary import RELATIONS
from em_pipelines.settings import load_settings

ANOTHER_NAME = {
    "question": "query", "prompt": "query", "input": "query", "q": "query", "k": "limit", "top_k": "limit",
    "max_results": "limit", "date": "as_of", "day": "as_of", "session": "session_id", "conversation_id": "session_id",
    "conversation": "session_id", "fact_id": "edge_id", "fact": "edge_id", "node": "entity", "name": "entity",
    "user": "nobody: the token says it", "user_id": "nobody: the token says it", "entity_name": "entity",
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> MemoryServer:
    return MemoryServer(Desk(load_settings(home=Path("nowhere")), None), always(Caller("x", TokenScope.ADMIN)))


@pytest.fixture(scope="module")
def tools(server: MemoryServer) -> dict[str, Any]:
    return {tool.name: tool for tool in anyio.run(server.list_tools)}


@pytest.fixture(scope="module")
def arguments(tools: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Schemas by tool and argument."""
    return {
        (name, argument): schema
        for name, tool in tools.items()
        for argument, schema in tool.input_schema["properties"].items()
    }


def test_no_argument_has_another_name_for_what_others_have(arguments) -> None:
    assert [(tool, name, ANOTHER_NAME[name]) for tool, name in arguments if name in ANOTHER_NAME] == []


def bare(schema: dict[str, Any]) -> list[str]:
    """What values may be, whatever their bounds and default."""
    options = schema.get("anyOf", [schema])
    return sorted(str(one.get("type", one.get("$ref"))) for one in options if one.get("type") != "null")


def test_one_name_is_of_one_type_in_every_tool(arguments) -> None:
    types = defaultdict(set)
    for (_, name), schema in arguments.items():
        types[name].add(tuple(bare(schema)))
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_tools_arguments_and_fields_are_described(tools, arguments) -> None:
    assert [name for name, tool in tools.items() if not tool.description] == []
    assert [key for key, schema in arguments.items() if not schema.get("description")] == []


def relations_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema below that is of a relation."""
    if isinstance(schema, dict):
        for name, one in schema.items():
            if name in ("relation", "relations") and isinstance(one, dict):
                yield one
            yield from relations_in(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from relations_in(one)


def test_relations_are_those_of_the_vocabulary_wherever_one_is_asked_for(tools) -> None:
    found = [one for tool in tools.values() for one in relations_in(tool.input_schema)]
    assert len(found) >= 3
    for schema in found:
        options = [schema, schema.get("items", {}), *schema.get("anyOf", [])]
        assert sorted(RELATIONS) in [one.get("enum") for one in options]


def test_old_names_are_of_arguments_that_there_are(arguments) -> None:
    for tool, names in OLD_NAMES.items():
        assert [new for new in names.values() if (tool, new) not in arguments] == []
        assert [old for old in names if (tool, old) in arguments] == []


def test_nothing_but_declared_tools_is_listed_and_each_says_what_it_does_to_memory(tools) -> None:
    assert set(tools) == set(TOOLS)
    for name, (scope, annotations) in TOOLS.items():
        assert annotations.read_only_hint == (scope is TokenScope.READ), name
        assert annotations.destructive_hint == (scope is TokenScope.ADMIN), name


def test_the_server_is_of_the_version_of_the_package(server: MemoryServer) -> None:
    assert server.version == version("em_pipelines")
