"""OpenAI-style chat logs: JSON Lines, one conversation a line.

    {"id": …, "user": …, "created": 1790063280, "messages": [{"role": "user", "content": …, "timestamp": …}, …]}

Content is a string, a list of parts, or one part. A message without a time of its own gets the conversation's and a
second for each message before it. Without an id, a conversation is named by its number in the file.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
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
    id_of,
    instant_of,
    iso_or_none,
    json_lines,
)
from em_pipelines.landing.reader import InputFile, Line
from em_pipelines.landing.reasons import Reason, Skip

_TIMES = ("timestamp", "created_at", "created", "create_time")
_IDS = ("session_id", "conversation_id", "thread_id", "id")
_USERS = ("user_id", "user")
_ROLES = {"developer": "system", "function": "tool"}
_TEXTS = ("text", "refusal", "value", "parts")
"""Where a part of content keeps its text: a string, or an object around one."""
_NAMED_PARTS = {
    "image_asset_pointer": "image",
    "image_url": "image",
    "input_image": "image",
    "image": "image",
    "input_audio": "audio",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "video_asset_pointer": "video",
    "input_file": "file",
    "file": "file",
}


def sniff(sample: Sample) -> bool:
    """Whether the first lines hold lists of messages with roles."""
    return any(
        isinstance(found.get("messages"), list) and all(isinstance(m, dict) and "role" in m for m in found["messages"])
        for found in sample.objects
    )


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields a message each; a line without messages is rejected whole."""
    for item in json_lines(file):
        if isinstance(item, Rejected):
            yield item
            continue
        line, conversation = item
        if not isinstance(conversation.get("messages"), list):
            yield Rejected(line.number, Reason.MISSING_FIELD, "messages: expected a list of messages", line.raw)
            continue
        yield from _messages(line, conversation, source)


def _messages(line: Line, conversation: Fields, source: Source) -> Iterator[Item]:
    metadata = conversation.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    user_id = source.user(_first(conversation, _USERS) or _first(metadata, _USERS))
    session_id = _first(conversation, _IDS) or _first(metadata, _IDS) or f"{source.name}#{line.number}"
    started_at = _first_instant(conversation) or _first_instant(metadata)
    shared = {
        "user_id": user_id,
        "session_id": session_id,
        "agent_id": id_of(conversation.get("model")),
        "source_format": "openai",
    }
    for turn, message in enumerate(conversation["messages"]):
        if isinstance(message, dict):
            yield _message(line.number, turn, message, shared, started_at)
        else:
            detail = f"message {turn}: expected a JSON object, found {type(message).__name__}"
            yield Rejected(line.number, Reason.NOT_AN_OBJECT, detail, line.raw)


def _message(number: int, turn: int, message: Fields, shared: Fields, started_at: datetime | None) -> Item:
    said = spoken(message)
    if said is None:
        return Ignored(number, Skip.TOOL_CALL if _is_call(message) else Skip.EMPTY)
    at = _first_instant(message) or (started_at + timedelta(seconds=turn) if started_at else None)
    fields = {**shared, "turn_number": turn, **said, "timestamp": iso_or_none(at)}
    return dated(
        number, fields, f"message {turn}: no time; add `timestamp` to the message or `created` to the conversation"
    )


def spoken(message: Mapping[str, Any]) -> Fields | None:
    """Role, content and source id of a message; None for a call of tools without words: what it gave follows as a
    message of its own; and for one whose content is null and has nothing in its place."""
    content = text_of(message.get("content"))
    if not content:
        content = _instead(message) or content
    if not content and (_is_call(message) or message.get("content", "") is None):
        return None
    role = message.get("role")
    return {
        "role": _ROLES.get(role, role) if isinstance(role, str) else role,
        "content": content,
        "source_id": id_of(message.get("id")),
    }


def _is_call(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call"))


def _instead(message: Mapping[str, Any]) -> str | None:
    """What stands in place of content: why there is none, or what was said aloud."""
    audio = message.get("audio")
    found = message.get("refusal") or (audio.get("transcript") if isinstance(audio, dict) else None)
    return found if isinstance(found, str) else None


def text_of(content: Any) -> Any:
    """The text of a message's content: strings as they are, the text or parts of an object, members of a list joined by
    line breaks, a word in brackets for one that is no text; anything else unchanged."""
    if isinstance(content, dict):
        said = _text_of_part(content)
        return content if said is None else said
    if not isinstance(content, list):
        return content
    return "\n".join(_shown(part) for part in content if isinstance(part, str | dict))


def _shown(part: str | Fields) -> str:
    if isinstance(part, str):
        return part
    said = _text_of_part(part)
    return f"[{_NAMED_PARTS.get(kind_of_part(part), 'attachment')}]" if said is None else said


def _text_of_part(part: Fields) -> str | None:
    """The text of an object, wherever it keeps it; None where it has none."""
    for name in _TEXTS:
        found = text_of(part.get(name))
        if isinstance(found, str) and (found or name == "text"):
            return found
    return None


def kind_of_part(part: Fields) -> str:
    """What a part says that it is; empty where it does not."""
    return id_of(part.get("type") or part.get("content_type")) or ""


def _first(found: Fields, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := id_of(found.get(name)))), None)


def _first_instant(found: Fields) -> datetime | None:
    return next((at for name in _TIMES if (at := instant_of(found.get(name)))), None)


FORMAT = Format("openai", sniff, convert, has_folders_of_users=True)
