"""The server: its tools, which scope each needs, and how whatever goes wrong is told.

A tool's failure is one sentence to its caller. What was not foreseen is told without its text, and logged by place
alone: neither side gets anybody's words, a path or a trace.
"""

import inspect
import logging
import time
import traceback
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from anyio import to_thread
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedResourceError, UnexpectedToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import AnyHttpUrl, AnyUrl, ValidationError

from em_pipelines.errors import EmError, ErasureIncompleteError, LockedError, UsageError
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.mcp.callers import Verifier, Who
from em_pipelines.interfaces.mcp.desk import Desk
from em_pipelines.interfaces.mcp.reading import ReadingTools
from em_pipelines.interfaces.mcp.writing import WritingTools
from em_pipelines.observability.work import new_id, work
from em_pipelines.retrieval.context.instructions import INSTRUCTIONS
from em_pipelines.schema.near_names import near

NAME = "em"
BOOTSTRAP = "memory://bootstrap"
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
CORRECTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
ERASES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
TOOLS = {
    "em_query": (TokenScope.READ, READS),
    "em_context": (TokenScope.READ, READS),
    "em_bootstrap": (TokenScope.READ, READS),
    "em_gate": (TokenScope.READ, READS),
    "em_get_probes": (TokenScope.READ, READS),
    "em_get_starters": (TokenScope.READ, READS),
    "em_get_provenance": (TokenScope.READ, READS),
    "em_graph_snapshot": (TokenScope.READ, READS),
    "em_check_reply": (TokenScope.READ, READS),
    "em_list_imported": (TokenScope.READ, READS),
    "em_report_interaction": (TokenScope.WRITE, ADDS),
    "em_add_facts": (TokenScope.WRITE, CORRECTS),
    "em_user_correction": (TokenScope.WRITE, CORRECTS),
    "em_review_imported": (TokenScope.WRITE, CORRECTS),
    "em_delete_edge": (TokenScope.ADMIN, ERASES),
    "em_delete_node": (TokenScope.ADMIN, ERASES),
}
"""Every tool with the scope that it needs."""
OLD_NAMES = {
    "em_query": {"question": "query"},
    "em_context": {"text": "query"},
    "em_get_probes": {"context": "query"},
    "em_delete_node": {"name": "entity"},
}
"""Arguments by the names that they had before the same thing had the same name everywhere; they are still taken."""
NOBODYS = ("user", "user_id")
DISTRIBUTION = "em_pipelines"
DEEPEST = 6
"""Frames of a failure that are logged."""

_log = logging.getLogger(__name__)


class MemoryServer(MCPServer[None]):
    """The tools of one desk, each call confined to its caller's user and scope."""

    def __init__(self, desk: Desk, who: Who, verifier: Verifier | None = None) -> None:
        # Tokens are made at the command line and nowhere else; the SDK wants an issuer named all the same.
        auth = AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None) if verifier else None
        super().__init__(
            NAME,
            instructions=INSTRUCTIONS,
            version=version(DISTRIBUTION),
            auth=auth,
            token_verifier=verifier,
            log_level="WARNING",
        )
        self._who = who
        tools = (ReadingTools(desk, who), WritingTools(desk, who))
        for name, (scope, annotations) in TOOLS.items():
            tool = getattr(tools[scope > TokenScope.READ], name)
            self.add_tool(tool, description=inspect.getdoc(tool), annotations=annotations)

        @self.prompt(name="memory_instructions", title="How to use memory")
        def memory_instructions() -> str:
            """How an agent is to treat what memory tells it."""
            return INSTRUCTIONS

        @self.resource(BOOTSTRAP, name="bootstrap", title="Memory at the start of a session", mime_type="text/markdown")
        def session_bootstrap() -> str:
            """Who it is, what is due and planned, which wishes about conduct apply today, and what was said lately."""
            with desk.reading(who()) as memory:
                return memory.bootstrap()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Calls a tool for its caller; raises ToolError, with one sentence, for whatever goes wrong."""
        arguments = _renamed(name, arguments)
        begun = time.perf_counter()
        with work("em.call", correlation_id=new_id("call"), tool=name if name in TOOLS else "unknown"):
            try:
                return await self._called(name, arguments, context)
            finally:
                is_known = name if name in TOOLS else "an unknown tool"
                _log.info("%s was called, and answered in %.0f ms", is_known, (time.perf_counter() - begun) * 1000)

    async def _called(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        try:
            await self._check(name, arguments)
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            raise ToolError(f"{name}: {_told(error.__cause__, name)}") from None
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{name}: {_first_of(error.__cause__)}") from None
            raise ToolError(str(error).removeprefix(f"Error executing tool {name}: ")) from None
        except EmError as error:
            raise ToolError(f"{name}: {_told(error, name)}") from None

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Reads a resource; raises ResourceError, with one sentence, for whatever goes wrong."""
        try:
            return await super().read_resource(uri, context)
        except UnexpectedResourceError as error:
            raise ResourceError(f"reading {BOOTSTRAP}: {_told(_root(error), BOOTSTRAP)}") from None

    async def _check(self, name: str, arguments: dict[str, Any]) -> None:
        """Raises ToolError for a tool that is none, a scope that is missing, or an argument that nobody reads."""
        if name not in TOOLS:
            meant = ", ".join(near(name, TOOLS))
            asked = f"did you mean {meant}? " if meant else ""
            raise ToolError(f"there is no tool {name!r:.80}; {asked}there are {', '.join(TOOLS)}")
        needed = TOOLS[name][0]
        caller = await to_thread.run_sync(self._who)
        if caller.scope < needed:
            raise ToolError(
                f"{name} needs the scope {needed.label}, and this caller has {caller.scope.label}; "
                "ask whoever runs the memory for a wider token"
            )
        known = (self._tool_input_schema(name) or {}).get("properties", {})
        if unknown := sorted(arguments.keys() - known.keys()):
            whose = "; whose memory it is, the token says" if unknown[0] in NOBODYS else ""
            raise ToolError(f"{name}: there is no argument {unknown[0]!r:.80}; there are {', '.join(known)}{whose}")


def _renamed(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of today; one that is given by both is refused as unknown by its old name."""
    old = OLD_NAMES.get(name, {})
    return {
        new if (new := old.get(given)) and new not in arguments else given: value for given, value in arguments.items()
    }


def _told(error: BaseException | None, doing: str) -> str:
    """What a caller is told of an error."""
    if isinstance(error, UsageError):
        return " ".join(str(error).split())
    if isinstance(error, LockedError):
        return "another process is writing to this memory; try again in a minute"
    if isinstance(error, ErasureIncompleteError):
        return "not everything could be removed yet; it is hidden from now on, and the next run goes on with it"
    if error is not None:
        frames = [f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)]
        _log.error("%s failed with %s at %s", doing, type(error).__name__, " > ".join(frames[-DEEPEST:]))
    if isinstance(error, EmError):
        return "this memory cannot be read or written as it is; whoever runs it learns more from `em doctor`"
    return "it failed here, and not by what was asked; whoever runs the memory finds the place in the server's log"


def _first_of(error: ValidationError) -> str:
    """The first argument that does not fit, and why, without what was given."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg'].removeprefix('Value error, ')}"


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error
