"""Transcripts of Claude Code sessions: JSON Lines, one event a line.

    {"type": "user", "sessionId": …, "uuid": …, "timestamp": …, "message": {"role": "user", "content": TEXT or BLOCKS}}
    {"type": "assistant", …, "message": {"content": [{"type": "text", …}, {"type": "tool_use", "name": …, "input": …}]}}
    {"type": "user", …, "message": {"content": [{"type": "tool_result", "content": TEXT or BLOCKS}]}}

Each run of text, each tool call and each tool result is a message; calls and results have the role tool, whoever the
event says has spoken. A result is trusted where one of the agent's own tools has read or made it in the workspace;
what came from the web, an MCP server, a sub-agent, a file elsewhere or a tool that is not known here is untrusted, and
with it the session. What the program put into a message of the user in tags of its own (reminders, output of commands,
open files) is left out; what it wrote there to go on from an earlier session is the assistant's. Summaries, system and
file-history lines, queues, meta lines, errors of the service and conversations of sub-agents are passed over (events
marked as sidechain; flat `{"role": …, "content": …}` lines in the files of sub-agents), and so is a last line that
breaks off: its session still runs. The domain of a message is the project of the folder that its session began in.
With `landing.keeps_tool_calls` each call is a skill invocation as well.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Ignored,
    Item,
    Rejected,
    Sample,
    Source,
    dated,
    dumps,
    id_of,
    instant_of,
    iso_or_none,
    json_lines,
)
from em_pipelines.landing.formats.openai import kind_of_part, text_of
from em_pipelines.landing.formats.projects import project_of
from em_pipelines.landing.formats.tool_calls import ToolCalls
from em_pipelines.landing.reader import InputFile, Line
from em_pipelines.landing.reasons import Reason, Skip

_SPEAKING = ("user", "assistant")
OWN_TOOLS = frozenset(
    [
        "Bash",
        "BashOutput",
        "KillShell",
        "KillBash",
        "Read",
        "Write",
        "Edit",
        "MultiEdit",
        "NotebookRead",
        "NotebookEdit",
        "Glob",
        "Grep",
        "LS",
        "TodoRead",
        "TodoWrite",
        "ExitPlanMode",
        "EnterPlanMode",
        "AskUserQuestion",
    ]
)
"""Tools that reach the workspace and no further."""
PATHS = ("file_path", "notebook_path", "path")
"""Arguments that say which file a tool reads."""
_FETCHING = (
    "curl", "wget", "aria2c", "lynx", "w3m", "http", "https", "xh", "ssh", "scp", "sftp", "rsync", "ftp", "nc", "ncat",
    "telnet", "gh", "glab", "aws", "gcloud", "az", "kubectl",
)  # fmt: skip
_REACHES_OUT = re.compile(rf"\b(?:{'|'.join(_FETCHING)})\b|\bgit (?:clone|fetch|pull)\b")
"""Commands that bring something in from elsewhere."""
_PUT_IN = re.compile(
    r"<(?P<tag>[a-z]+(?:[-_][a-z]+)+|file|document|context|stdout|stderr|output|diff)\b[^<>]*>.*?</(?P=tag)>", re.DOTALL
)
"""What the program puts between the user's words: tags with a hyphen, and those for files and output."""
_TYPED = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
"""What the user typed behind a command."""
_MARKS = {
    **dict.fromkeys(_SPEAKING, frozenset({"sessionId", "message"})),
    **dict.fromkeys(("system", "attachment", "progress", "queue-operation"), frozenset({"sessionId", "timestamp"})),
    "summary": frozenset({"summary", "leafUuid"}),
    "file-history-snapshot": frozenset({"snapshot"}),
}
"""By which events are known, by their type."""
_NEVER = frozenset({""})
_OF_NATIVE = frozenset({"session_id", "turn_number"})
_INTERRUPTED = re.compile(r"^\[Request interrupted by user[^\]\n]{0,40}\]$", re.MULTILINE)
_SHOWN = {"image": "[image]", "document": "[attachment]"}
_BROKEN = (Reason.INVALID_JSON, Reason.NOT_UTF8)


def sniff(sample: Sample) -> bool:
    """Whether any of the first lines is an event of a session, if only one in which nobody speaks; or, in a file of a
    sub-agent, a flat message."""
    if any(_MARKS.get(str(event.get("type")), _NEVER) <= event.keys() for event in sample.objects):
        return True
    return _is_sub_agents_file(sample.name, sample.inside) and any(map(_is_flat, sample.objects))


def _is_sub_agents_file(name: str, inside: str) -> bool:
    """Whether a file is of a sub-agent by its name or folder."""
    return fnmatchcase(name, "agent-*.jsonl*") or _is_in_their_folder(inside)


def _is_in_their_folder(inside: str) -> bool:
    return "subagents" in inside.split("/")[:-1]


def _is_of_sub_agent(event: Fields, source: Source) -> bool:
    """Whether an event is of a sub-agent: marked so, in the folder of their transcripts, or flat in a file of one."""
    if event.get("isSidechain") or _is_in_their_folder(source.inside):
        return True
    return _is_flat(event) and _is_sub_agents_file(source.name, source.inside)


def _is_flat(event: Fields) -> bool:
    """Whether an event is a message at its top level; a native record is none."""
    return {"role", "content"} <= event.keys() and "message" not in event and not event.keys() >= _OF_NATIVE


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages, numbered in each session as they come."""
    turns: Counter[str] = Counter()
    projects: dict[str, str | None] = {}
    """Of each session what it began to work on: an agent moves between folders."""
    calls = ToolCalls()
    untrusted: set[str] = set()
    """Calls of which the results come from elsewhere."""
    for item in _lines(file):
        if not isinstance(item, tuple):
            yield item
            continue
        line, event = item
        if why := _why_not(event, source):
            yield Ignored(line.number, why)
            continue
        message = _queued(event) or event.get("message")
        if not isinstance(message, dict):
            yield Rejected(line.number, Reason.MISSING_FIELD, "message: expected an object with content", line.raw)
            continue
        untrusted |= _reaching_out(message.get("content"), event.get("cwd"))
        if source.keeps_tool_calls:
            yield from calls.of(line.number, _shared(event, source), event)
        said = [one for one in _spoken(_speaker(event), message.get("content"), untrusted) if one.written.strip()]
        if not said:
            yield Ignored(line.number, _without_words(message.get("content")))
        shared = _shared(event, source)
        session_id = shared["session_id"]
        shared["domain"] = projects[session_id] = projects.get(session_id) or project_of(event.get("cwd"))
        for one in said:
            turn, turns[session_id] = turns[session_id], turns[session_id] + 1
            if not one.text.strip():
                yield Ignored(line.number, Skip.PROGRAM)
                continue
            fields = {**shared, "turn_number": turn, "role": one.role, "content": one.text}
            fields |= {"trust": "untrusted"} if one.is_untrusted else {}
            yield dated(line.number, fields, "timestamp: the event has none that can be read; add it as ISO 8601")


def _lines(file: InputFile) -> Iterator[tuple[Line, Fields] | Rejected | Ignored]:
    """The events with their lines. A last line that breaks off is of a session that still runs: it comes whole the next
    time."""
    last: Rejected | None = None
    for item in json_lines(file):
        if last:
            yield last
        last = item if isinstance(item, Rejected) else None
        if not last:
            yield item
    if last and last.reason in _BROKEN and last.raw.startswith(b"{") and not last.raw.endswith(b"}"):
        yield Ignored(last.line_number, Skip.UNFINISHED_LINE)
    elif last:
        yield last


def _why_not(event: Fields, source: Source) -> Skip | None:
    """Why nobody says anything with an event, or not in the conversation itself; None where somebody does."""
    if _is_of_sub_agent(event, source):
        return Skip.SUB_AGENT
    if _queued(event):
        return None
    kind, message = event.get("type"), event.get("message")
    if kind not in _SPEAKING:
        return Skip.PROGRAM if kind == "system" else Skip.BOOKKEEPING
    is_made_up = isinstance(message, dict) and message.get("model") == "<synthetic>"
    return Skip.PROGRAM if event.get("isMeta") or event.get("isApiErrorMessage") or is_made_up else None


def _queued(event: Fields) -> Fields | None:
    """What the user typed while the agent was at work, as a message; None for any other event."""
    found = event.get("attachment")
    if event.get("type") != "attachment" or not isinstance(found, dict) or found.get("type") != "queued_command":
        return None
    is_typed = found.get("commandMode") in (None, "prompt")
    return {"role": "user", "content": found.get("prompt")} if is_typed else None


def _without_words(content: Any) -> Skip:
    blocks = content if isinstance(content, list) else []
    has_thought = any(isinstance(block, dict) and "thinking" in str(block.get("type")) for block in blocks)
    return Skip.REASONING if has_thought else Skip.EMPTY


def _shared(event: Fields, source: Source) -> Fields:
    """The fields that all messages of one event have in common."""
    return {
        "user_id": source.user(),
        "session_id": id_of(event.get("sessionId")) or source.name.partition(".")[0],
        "timestamp": iso_or_none(instant_of(event.get("timestamp"))),
        "agent_id": "claude-code",
        "source_id": id_of(event.get("uuid")),
        "source_format": "claude-code",
    }


@dataclass(frozen=True, slots=True)
class _Said:
    """A message: who speaks, what was written, and whether it came from elsewhere. One of which nothing is left without
    what the program put in has its number all the same."""

    role: str
    written: str
    is_untrusted: bool = False

    @property
    def text(self) -> str:
        """What of it counts: of the user's what they have typed."""
        return _own_words(self.written) if self.role == "user" else self.written


def _speaker(event: Fields) -> str:
    """Who speaks in the texts of an event: what it calls the user's is the assistant's where it goes on from an earlier
    session, and a tool's where it says what a tool gave."""
    if event["type"] != "user":
        return "assistant" if event["type"] == "assistant" else "user"
    if event.get("isCompactSummary"):
        return "assistant"
    return "tool" if event.get("toolUseResult") is not None else "user"


def _reaching_out(content: Any, workspace: Any) -> set[str]:
    """The ids of calls in a message whose results come from outside of the workspace."""
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    calls = [block for block in blocks if block.get("type") == "tool_use" and isinstance(block.get("id"), str)]
    return {call["id"] for call in calls if not _is_own(call, workspace)}


def _is_own(call: Fields, workspace: Any) -> bool:
    """Whether a call stays in the workspace."""
    found = call.get("input")
    given: Fields = found if isinstance(found, dict) else {}
    if call.get("name") not in OWN_TOOLS or _REACHES_OUT.search(str(given.get("command") or "")):
        return False
    paths = [given[name] for name in PATHS if isinstance(given.get(name), str)]
    return all(_is_within(path, workspace) for path in paths)


def _is_within(path: str, workspace: Any) -> bool:
    if not isinstance(workspace, str):
        return True  # the event does not say where it was; older ones never do
    there = posixpath.normpath(posixpath.join(workspace, path))
    return there == workspace or there.startswith(f"{workspace.rstrip('/')}/")


def _spoken(role: str, content: Any, untrusted: set[str]) -> Iterator[_Said]:
    """What one event says, texts that follow each other as one."""
    texts: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        kind = kind_of_part(block) if isinstance(block, dict) else ""
        if isinstance(block, str):
            texts.append(block)
        elif (kind.endswith("text") or not kind) and isinstance(block, dict) and isinstance(text_of(block), str):
            texts.append(text_of(block))
        elif kind in _SHOWN:
            texts.append(_SHOWN[kind])
        elif kind in ("tool_use", "tool_result"):
            if texts:
                yield _Said(role, "\n".join(texts))
                texts = []
            yield _Said("tool", _tool_text(block), kind == "tool_result" and block.get("tool_use_id") in untrusted)
    if texts:
        yield _Said(role, "\n".join(texts))


def _own_words(text: str) -> str:
    """What the user has typed of a message; the rest was put in by the program."""
    return _PUT_IN.sub("", _TYPED.sub(r"\1", _INTERRUPTED.sub("", text))).strip()


def _tool_text(block: Fields) -> str:
    if block["type"] == "tool_use":
        return f"{id_of(block.get('name')) or 'tool'} {dumps(block.get('input')).decode()}"
    found = text_of(block.get("content"))
    return found if isinstance(found, str) else ""


FORMAT = Format("claude-code", sniff, convert)
