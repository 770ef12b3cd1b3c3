"""Transcripts of Claude Code sessions: JSON Lines, one event a line.

    {"type": "user", "sessionId": …, "uuid": …, "timestamp": …, "message": {"role": "user", "content": TEXT or BLOCKS}}
    {"type": "assistant", …, "message": {"content": [{"type": "text", …}, {"type": "tool_use", "name": …, "input": …}]}}
    {"type": "user", …, "message": {"content": [{"type": "tool_result", "content": TEXT or BLOCKS}]}}

Each run of text, each tool call and each tool result is a message; calls and results have the role tool. They stay
trusted: they are output of the agent's own workspace. Summaries, system and file-history lines, meta lines and
sidechains (conversations of sub-agents) are ignored.
"""

from collections import Counter
from collections.abc import Iterator
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
from em_pipelines.landing.formats.openai import text_of
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason

_SPEAKING = ("user", "assistant")


def sniff(sample: Sample) -> bool:
    """Whether any of the first lines is an event of a session."""
    return any(
        event.get("type") in _SPEAKING and "sessionId" in event and "message" in event for event in sample.objects
    )


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages, numbered in each session as they come."""
    turns: Counter[str] = Counter()
    for item in json_lines(file):
        if isinstance(item, Rejected):
            yield item
            continue
        line, event = item
        if not _is_said(event):
            yield Ignored(line.number)
            continue
        message = event.get("message")
        if not isinstance(message, dict):
            yield Rejected(line.number, Reason.MISSING_FIELD, "message: expected an object with content", line.raw)
            continue
        said = [(role, text) for role, text in _spoken(event["type"], message.get("content")) if text.strip()]
        if not said:
            yield Ignored(line.number)
        shared = _shared(event, source)
        session_id = shared["session_id"]
        for role, text in said:
            fields = {**shared, "turn_number": turns[session_id], "role": role, "content": text}
            yield dated(line.number, fields, "timestamp: the event has none that can be read; add it as ISO 8601")
            turns[session_id] += 1


def _is_said(event: Fields) -> bool:
    """Whether somebody says something with the event, and in the conversation itself."""
    return event.get("type") in _SPEAKING and not event.get("isMeta") and not event.get("isSidechain")


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


def _spoken(role: str, content: Any) -> Iterator[tuple[str, str]]:
    """Role and text of what one event says, texts that follow each other as one."""
    if isinstance(content, str):
        yield role, content
        return
    texts: list[str] = []
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind in ("tool_use", "tool_result"):
            if texts:
                yield role, "\n".join(texts)
                texts = []
            yield "tool", _tool_text(block)
    if texts:
        yield role, "\n".join(texts)


def _tool_text(block: Fields) -> str:
    if block["type"] == "tool_use":
        return f"{id_of(block.get('name')) or 'tool'} {dumps(block.get('input')).decode()}"
    found = text_of(block.get("content"))
    return found if isinstance(found, str) else ""


FORMAT = Format("claude-code", sniff, convert)
