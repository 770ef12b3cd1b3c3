"""Conversations that Google AI Studio keeps in Drive, and histories in the form of the Gemini API: one JSON document.

    {"runSettings": {"model": …}, "systemInstruction": {"text": …}, "chunkedPrompt": {"chunks": [
      {"role": "user", "text": …, "createTime": …}, {"role": "model", "text": …, "isThought": true}, …]}}
    {"contents": [{"role": "user", "parts": [{"text": …}]}, {"role": "model", "parts": [{"text": …}]}]}

What an answer cites is no part of its words. Line numbers are the message's, from 1.
"""

from collections.abc import Iterator
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
    dumps,
    id_of,
    instant_of,
    iso_or_none,
    json_conversations,
    objects_of,
    slug,
)
from em_pipelines.landing.formats.openai import text_of
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, Skip

_NAME = "ai-studio"
_ROLES = {"model": "assistant", "function": "tool"}
_TOOLS = {
    "executableCode": "code",
    "codeExecutionResult": "output",
    "functionCall": "args",
    "functionResponse": "response",
}
_MEDIA = {
    "inlineImage": "image",
    "driveImage": "image",
    "driveVideo": "video",
    "youtubeVideo": "video",
    "driveAudio": "audio",
    "inlineAudio": "audio",
    "driveDocument": "attachment",
    "inlineFile": "attachment",
    "inlineData": "attachment",
    "fileData": "attachment",
}


def sniff(sample: Sample) -> bool:
    """Whether it is a document with chunks of a prompt, or with contents in parts."""
    if sample.text.lstrip()[:1] not in ("{", "["):
        return False
    return sample.has("chunkedPrompt") or sample.has("runSettings", "model") or sample.has("contents", "parts", "role")


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages of each conversation in order. Raises RuleError on a broken document."""
    for item in json_conversations(file):
        if isinstance(item, Rejected):
            yield item
            continue
        number, conversation = item
        prompt = conversation.get("chunkedPrompt")
        chunks = prompt.get("chunks") if isinstance(prompt, dict) else conversation.get("contents")
        if not isinstance(chunks, list):
            detail = f"conversation {number}: chunkedPrompt.chunks or contents: expected a list of messages"
            yield Rejected(number, Reason.MISSING_FIELD, detail, dumps(conversation))
            continue
        yield from _messages(number, conversation, chunks, source)


def _messages(number: int, conversation: Fields, chunks: list[Any], source: Source) -> Iterator[Item]:
    settings = conversation.get("runSettings")
    name = slug(source.name.removesuffix(".json"))
    shared = {
        "user_id": source.user(),
        "session_id": f"{_NAME}/{name}" if number == 1 else f"{_NAME}/{name}/{number}",
        "agent_id": id_of(settings.get("model")) if isinstance(settings, dict) else None,
        "source_format": _NAME,
    }
    at = next((found for chunk in objects_of(chunks) if (found := instant_of(chunk.get("createTime")))), None)
    system = conversation.get("systemInstruction") or conversation.get("system_instruction")
    said = {"role": "system", **system} if isinstance(system, dict) else {"role": "system", "text": system}
    for turn, chunk in enumerate([said, *chunks]):
        if not isinstance(chunk, dict):
            detail = f"message {turn}: expected a JSON object, found {type(chunk).__name__}"
            yield Rejected(turn, Reason.NOT_AN_OBJECT, detail, dumps(chunk))
            continue
        at = instant_of(chunk.get("createTime")) or (at + timedelta(seconds=1) if at and turn else at)
        if turn or system:
            yield _message(turn, chunk, shared, at)


def _message(turn: int, chunk: Fields, shared: Fields, at: datetime | None) -> Item:
    if chunk.get("isThought"):
        return Ignored(turn, Skip.REASONING)
    parts = [chunk, *(part for part in _parts(chunk) if not part.get("thought"))]
    said = [text_of(part["text"]) for part in parts if _has_text(part)]
    said = said[:1] if _has_text(chunk) else said  # the whole, which stands in parts once more
    tools = [shown for part in parts if (shown := _tool(part))]
    media = [f"[{kind}]" for part in parts for name, kind in _MEDIA.items() if name in part]
    content = "\n".join([*said, *media, *tools])
    if not content.strip():
        return Ignored(turn, Skip.EMPTY)
    fields = {
        **shared,
        "turn_number": turn,
        "role": "tool" if tools and not said else _role(chunk.get("role")),
        "content": content,
        "timestamp": iso_or_none(at),
    }
    return dated(turn, fields, f"message {turn}: no time; add `createTime`")


def _role(said: object) -> object:
    return _ROLES.get(said, said) if isinstance(said, str) else said


def _has_text(part: Fields) -> bool:
    said = text_of(part.get("text"))
    return isinstance(said, str) and bool(said)


def _parts(chunk: Fields) -> list[Fields]:
    """The parts of a message; one that is a string is its text."""
    found = chunk.get("parts")
    parts = found if isinstance(found, list) else [found]
    return [{"text": part} if isinstance(part, str) else part for part in parts if isinstance(part, str | dict)]


def _tool(part: Fields) -> str | None:
    """A call or what it gave, as text."""
    for name, inner in _TOOLS.items():
        found = part.get(name)
        if isinstance(found, dict):
            said = found.get(inner)
            return f"{found.get('name') or name} {said if isinstance(said, str) else dumps(said).decode()}"
    return None


FORMAT = Format(_NAME, sniff, convert)
