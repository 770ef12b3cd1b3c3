"""The chats in an export of Telegram, read some of it at a time: a chat alone message by message, of all chats one at a
time. A document whose parts stand in another order than Telegram writes them is read whole.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from em_pipelines.landing.formats.base import Fields, Rejected, json_document, json_elements, objects_of
from em_pipelines.landing.reader import InputFile

# A quotation mark in a string is escaped, so that nothing that somebody has written looks like a key.
_KEY = rb'(?<!\\)"%s"\s*:\s*'
_FIRST = re.compile(_KEY % rb"(messages|chats|left_chats)" + rb"([\[{])")
_ABOUT = rb'(?:"about"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*)?'
_LISTS = [
    re.compile(_KEY % name + rb"\{\s*" + _ABOUT + rb'"list"\s*:\s*(\[)', re.DOTALL)
    for name in (b"chats", b"left_chats")
]
_KEPT_BYTES = 64 * 1024
"""Of what is skipped, for a marker that lies across two chunks."""


@dataclass(frozen=True, slots=True)
class FoundChat:
    """A chat: all of it but its messages, and what gives them, as often as it is asked."""

    header: Fields
    messages: Callable[[], Iterator[Any | Rejected]]


@dataclass(frozen=True, slots=True)
class Export:
    """An export: what stands before the chats, and the chats or what cannot be read as one."""

    header: Fields
    chats: Iterator[FoundChat | Rejected]


def read_export(file: InputFile) -> Export:
    """Reads an export. Raises RuleError where the file cannot be read, or is read whole and broken."""
    start = _until(file, _FIRST, is_kept=True)
    header = _header(start[0]) if start else None
    if start is None or header is None:
        return _read_whole(file)
    if start[1] == b"messages":
        return Export({}, iter([FoundChat(header, lambda: _messages(file))]))
    return Export(header, _listed(file)) if "personal_information" in header else _read_whole(file)


def _messages(file: InputFile) -> Iterator[Any | Rejected]:
    found = _until(file, _FIRST)
    for item in json_elements(found[2], file.settings, "message", is_part=True) if found else ():
        yield item if isinstance(item, Rejected) else item[1]


def _listed(file: InputFile) -> Iterator[FoundChat | Rejected]:
    limit = file.settings.max_document_bytes
    for marker in _LISTS:
        found = _until(file, marker)
        for item in json_elements(found[2], file.settings, "chat", limit=limit, is_part=True) if found else ():
            if isinstance(item, Rejected):
                yield item
            else:
                yield _in_memory(item[1])


def _in_memory(chat: Any) -> FoundChat:
    header = chat if isinstance(chat, dict) else {"messages": None}
    messages = header.get("messages")
    return FoundChat(header, lambda: iter(messages if isinstance(messages, list) else ()))


def _read_whole(file: InputFile) -> Export:
    document = json_document(file)
    document = document if isinstance(document, dict) else {}
    folders = [document.get(name) for name in ("chats", "left_chats")]
    found = [chat for folder in folders if isinstance(folder, dict) for chat in objects_of(folder.get("list"))]
    return Export(document, map(_in_memory, [document] if "messages" in document or not found else found))


def _until(
    file: InputFile, marker: re.Pattern[bytes], *, is_kept: bool = False
) -> tuple[bytes, bytes, Iterator[bytes]] | None:
    """What stands before a marker, of it only the end unless `is_kept`; its name; and the rest from its bracket on.
    None where it is not there, or what is to be kept is too large for it."""
    chunks, before = file.chunks(), bytearray()
    for chunk in chunks:
        start = max(0, len(before) - _KEPT_BYTES)
        before += chunk
        if found := marker.search(before, start):
            rest = bytes(before[found.end() - 1 :])
            return bytes(before[: found.start()]), found[1], chain([rest], chunks)
        if not is_kept:
            del before[: max(0, len(before) - _KEPT_BYTES)]
        elif len(before) > file.settings.max_conversation_bytes:
            break
    return None


def _header(before: bytes) -> Fields | None:
    """What stands before the messages or chats as an object of its own; None where that it is not."""
    try:
        found = orjson.loads(before.rstrip().removesuffix(b",") + b"}")
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
